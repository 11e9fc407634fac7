/* SPDX-License-Identifier: MIT */
#include "qemu/mcu/uart_cmsdk.h"

#include "hal/mmio.h"

#define UART_DATA            0x00u
#define UART_STATE           0x04u
#define UART_CONTROL         0x08u
#define UART_INTERRUPT_CLEAR 0x0cu
#define UART_BAUD_DIVIDER    0x10u

#define STATE_TRANSMIT_FULL        1u
#define STATE_RECEIVE_FULL         2u
#define CONTROL_TRANSMIT           1u
#define CONTROL_RECEIVE            2u
#define CONTROL_TRANSMIT_INTERRUPT 4u
#define CONTROL_RECEIVE_INTERRUPT  8u
#define INTERRUPT_TRANSMIT         1u
#define INTERRUPT_RECEIVE          2u
/** The smallest that the UART accepts. */
#define BAUD_DIVIDER 16u

#define CONTROL_QUIET (CONTROL_TRANSMIT | CONTROL_RECEIVE | CONTROL_RECEIVE_INTERRUPT)

static bool full(uintptr_t uart)
{
	return (pb_mmio_read32(uart + UART_STATE) & STATE_TRANSMIT_FULL) != 0;
}

static void put(uintptr_t uart, uint32_t byte)
{
	pb_mmio_write32(uart + UART_DATA, byte);
}

static void watch(uintptr_t uart, bool wanted)
{
	pb_mmio_write32(uart + UART_CONTROL,
			wanted ? CONTROL_QUIET | CONTROL_TRANSMIT_INTERRUPT : CONTROL_QUIET);
}

static void send_later(struct pb_uart_lines *lines, uint32_t line) __attribute__((noinline, cold));

static const struct pb_uart_kind kind = {.full = full,
					 .put = put,
					 .watch = watch,
					 .transmit = pb_uart_cmsdk_transmit,
					 .send_later = send_later};

static void send_later(struct pb_uart_lines *lines, uint32_t line)
{
	pb_uart_lines_send_later(lines, &kind, line);
}

void pb_uart_cmsdk_start(struct pb_uart_lines *lines)
{
	pb_uart_lines_begin(lines);
	pb_mmio_write32(lines->uart + UART_BAUD_DIVIDER, BAUD_DIVIDER);
	watch(lines->uart, false);
}

void pb_uart_cmsdk_receive(struct pb_uart_lines *lines)
{
	const uintptr_t uart = lines->uart;

	if ((pb_mmio_read32(uart + UART_STATE) & STATE_RECEIVE_FULL) == 0)
		return;
	/* In this order: the next byte can only come, and interrupt, once this one is read. */
	pb_mmio_write32(uart + UART_INTERRUPT_CLEAR, INTERRUPT_RECEIVE);
	pb_uart_lines_received(lines, pb_mmio_read32(uart + UART_DATA));
}

void pb_uart_cmsdk_transmit(struct pb_uart_lines *lines)
{
	pb_mmio_write32(lines->uart + UART_INTERRUPT_CLEAR, INTERRUPT_TRANSMIT);
	pb_uart_lines_sent(lines, &kind);
}

static void raise(void *context, uint32_t line)
{
	pb_uart_lines_raise(context, &kind, line);
}

const struct pb_lines_ops pb_uart_cmsdk_ops = {
	.take = pb_uart_lines_take,
	.raise = raise,
	.idle_enter = pb_uart_lines_idle_enter,
	.idle_wait = pb_uart_lines_idle_wait,
	.idle_leave = pb_uart_lines_idle_leave,
};
