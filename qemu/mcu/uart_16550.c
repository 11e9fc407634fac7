/* SPDX-License-Identifier: MIT */
#include "qemu/mcu/uart_16550.h"

#define FIFO_CONTROL      2u
#define LINE_CONTROL      3u
#define FIFO_ON_AND_EMPTY 7u /* an interrupt for each byte */
#define LINE_8_BITS       3u

static void send_later(struct pb_uart_lines *lines, uint32_t line) __attribute__((noinline, cold));

static const struct pb_uart_kind kind = {.full = pb_uart_16550_full,
					 .put = pb_uart_16550_put,
					 .watch = pb_uart_16550_watch,
					 .transmit = pb_uart_16550_transmit,
					 .send_later = send_later};

static void send_later(struct pb_uart_lines *lines, uint32_t line)
{
	pb_uart_lines_send_later(lines, &kind, line);
}

void pb_uart_16550_start(struct pb_uart_lines *lines)
{
	pb_uart_lines_begin(lines);
	pb_mmio_write8(lines->uart + LINE_CONTROL, LINE_8_BITS);
	pb_mmio_write8(lines->uart + FIFO_CONTROL, FIFO_ON_AND_EMPTY);
	pb_uart_16550_watch(lines->uart, false);
}

static void raise(void *context, uint32_t line)
{
	pb_uart_lines_raise(context, &kind, line);
}

const struct pb_lines_ops pb_uart_16550_ops = {
	.take = pb_uart_lines_take,
	.raise = raise,
	.idle_enter = pb_uart_lines_idle_enter,
	.idle_wait = pb_uart_lines_idle_wait,
	.idle_leave = pb_uart_lines_idle_leave,
};
