/* SPDX-License-Identifier: MIT */
#include "hal/cortex_m/uart_lines.h"

#include "hal/mmio.h"
#include "hal/shared.h"

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

/** Looks at the engines before it sleeps: some tens of microseconds. */
#define HUNT_ROUNDS 1000u

#define CONTROL_QUIET (CONTROL_TRANSMIT | CONTROL_RECEIVE | CONTROL_RECEIVE_INTERRUPT)

static void mask_interrupts(void)
{
	__asm__ volatile("cpsid i" ::: "memory");
}

static void unmask_interrupts(void)
{
	__asm__ volatile("cpsie i" ::: "memory");
}

void pb_uart_lines_start(struct pb_uart_lines *lines)
{
	for (uint32_t line = 0; line < PB_CARD_LINES; line++) {
		lines->taken[line] = pb_shared_read32(&lines->block->to_mcu_taken[line]);
		lines->sent[line] = pb_shared_read32(&lines->block->from_mcu_taken[line]);
	}
	pb_mmio_write32(lines->uart + UART_BAUD_DIVIDER, BAUD_DIVIDER);
	pb_mmio_write32(lines->uart + UART_CONTROL, CONTROL_QUIET);
}

void pb_uart_lines_receive(struct pb_uart_lines *lines)
{
	const uintptr_t uart = lines->uart;
	uint32_t line;

	if ((pb_mmio_read32(uart + UART_STATE) & STATE_RECEIVE_FULL) == 0)
		return;
	/* In this order: the next byte can only come, and interrupt, once this one is read. */
	pb_mmio_write32(uart + UART_INTERRUPT_CLEAR, INTERRUPT_RECEIVE);
	line = pb_mmio_read32(uart + UART_DATA);
	if (line >= PB_CARD_LINES)
		return;
	pb_shared_write32(&lines->block->to_mcu_taken[line], ++lines->taken[line]);
	lines->pending |= 1u << line;
}

void pb_uart_lines_transmit(struct pb_uart_lines *lines)
{
	pb_mmio_write32(lines->uart + UART_INTERRUPT_CLEAR, INTERRUPT_TRANSMIT);
	if (lines->unsent == 0) {
		pb_mmio_write32(lines->uart + UART_CONTROL, CONTROL_QUIET);
		return;
	}
	/* An interrupt stays pending although send() has used what it told of; another one comes. */
	if ((pb_mmio_read32(lines->uart + UART_STATE) & STATE_TRANSMIT_FULL) != 0)
		return;
	pb_mmio_write32(lines->uart + UART_DATA, (uint32_t)__builtin_ctz(lines->unsent));
	lines->unsent &= lines->unsent - 1u;
}

void pb_uart_lines_tick(struct pb_uart_lines *lines)
{
	lines->pending |= 1u << PB_LINE_TICK;
}

/** @return the nodes' lines that the card has raised since this was asked last */
static __attribute__((noinline)) uint32_t look(struct pb_uart_lines *lines)
{
	uint32_t raised = 0;

	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		const uint32_t count = pb_shared_read32(&lines->block->to_mcu_raised[PB_LINE_NODE(n)]);

		if (count != lines->seen[n])
			raised |= 1u << PB_LINE_NODE(n);
		lines->seen[n] = count;
	}
	return raised;
}

static uint32_t take(void *context)
{
	struct pb_uart_lines *lines = context;
	/* An interrupt between load and store makes the exclusive store fail, and this tries again. */
	const uint32_t pending = __atomic_exchange_n(&lines->pending, 0, __ATOMIC_RELAXED);

	/* Between `taken`, stored by the handler, and whatever the caller looks at. */
	pb_shared_barrier();
	return pending;
}

/** Sends now if the transmitter is free, else from its interrupt. */
static void send(struct pb_uart_lines *lines, uint32_t line)
{
	if (lines->unsent == 0 && (pb_mmio_read32(lines->uart + UART_STATE) & STATE_TRANSMIT_FULL) == 0) {
		pb_mmio_write32(lines->uart + UART_DATA, line);
		return;
	}
	mask_interrupts();
	lines->unsent |= 1u << line;
	pb_mmio_write32(lines->uart + UART_CONTROL, CONTROL_QUIET | CONTROL_TRANSMIT_INTERRUPT);
	/* It may have become free meanwhile, and then no interrupt would come. */
	if ((pb_mmio_read32(lines->uart + UART_STATE) & STATE_TRANSMIT_FULL) == 0)
		pb_uart_lines_transmit(lines);
	unmask_interrupts();
}

static void raise(void *context, uint32_t line)
{
	struct pb_uart_lines *lines = context;

	struct pb_card_line_block *block = lines->block;
	const uint32_t sent = lines->sent[line];

	pb_shared_barrier();
	if (pb_shared_read32(&block->from_mcu_taken[line]) != sent)
		return; /* its byte is on the way */
	lines->sent[line] = sent + 1u;
	pb_shared_write32(&block->from_mcu_sent[line], sent + 1u);
	send(lines, line);
}

/**
 * Before it sleeps it looks at the nodes' raises for a while, so that their engines need not interrupt. While it works
 * they do: between two slices of a long job there is no other look. @return what was raised
 */
static uint32_t hunt(struct pb_uart_lines *lines)
{
	uint32_t raised = 0;

	pb_shared_write32(&lines->block->mcu_looks, 1);
	for (uint32_t round = 0; round < HUNT_ROUNDS && raised == 0; round++) {
		if (pb_lines_waiting(&lines->pending))
			break;
		raised = look(lines);
	}
	pb_shared_write32(&lines->block->mcu_looks, 0);
	/* The card may have raised a line before it could see that. */
	pb_shared_barrier();
	return raised | look(lines);
}

static void idle_enter(void *context)
{
	struct pb_uart_lines *lines = context;
	const uint32_t raised = hunt(lines);

	mask_interrupts();
	lines->pending |= raised;
}

static void idle_wait(void *context)
{
	const struct pb_uart_lines *lines = context;

	if (!pb_lines_waiting(&lines->pending))
		__asm__ volatile("dsb\n\twfi" ::: "memory");
}

static void idle_leave(void *context)
{
	(void)context;
	unmask_interrupts();
}

const struct pb_lines_ops pb_uart_lines_ops = {
	.take = take,
	.raise = raise,
	.idle_enter = idle_enter,
	.idle_wait = idle_wait,
	.idle_leave = idle_leave,
};
