/* SPDX-License-Identifier: MIT */
#include "qemu/mcu/uart_lines.h"

#include <stddef.h>

#include "hal/shared.h"

/** Polls before the MCU sleeps: some tens of microseconds. */
#define HUNT_ROUNDS 1000u

void pb_uart_lines_begin(struct pb_uart_lines *lines)
{
	lines->from_taken = lines->block->from_mcu_taken;
	for (uint32_t line = 0; line < PB_CARD_LINES; line++) {
		lines->taken[line] = pb_shared_read32(&lines->block->to_mcu_taken[line]);
		lines->sent[line] = pb_shared_read32(&lines->block->from_mcu_taken[line]);
	}
}

void pb_uart_lines_tick(struct pb_uart_lines *lines)
{
	lines->pending |= 1u << PB_LINE_TICK;
}

/** @return the lines that the card has raised since the last call */
static __attribute__((noinline)) uint32_t poll_lines(struct pb_uart_lines *lines)
{
	const uint32_t raises = pb_shared_read32(&lines->block->to_mcu_raises);
	uint32_t raised = 0;

	if (raises == lines->raises)
		return 0;
	lines->raises = raises;
	pb_shared_acquire();
	for (uint32_t line = 0; line < PB_CARD_RAISED; line++) {
		const uint32_t count = pb_shared_read32(&lines->block->to_mcu_raised[line]);

		if (count != lines->seen[line])
			raised |= 1u << line;
		lines->seen[line] = count;
	}
	return raised;
}

/**
 * As pb_uart_lines_take(), while nothing is pending. Out of line, and found by the word that the caller has just exchanged,
 * so that a take of a line that is pending saves no register.
 */
static __attribute__((noinline)) uint32_t take_raised(uint32_t *pending)
{
	uint8_t *const lines = (uint8_t *)pending - offsetof(struct pb_uart_lines, pending);
	const uint32_t raised = poll_lines((struct pb_uart_lines *)(void *)lines);

	pb_shared_barrier();
	return raised;
}

uint32_t pb_uart_lines_take(void *context)
{
	struct pb_uart_lines *lines = context;
	/* Atomic towards interrupt handlers: a line is returned now or stays pending. */
	const uint32_t pending = __atomic_exchange_n(&lines->pending, 0, __ATOMIC_RELAXED);

	/* What is pending comes from bytes or from the last poll: raises since then are the next pass's. */
	if (pending == 0)
		return take_raised(&lines->pending);
	/* Between `taken`, stored by the handler, and the state that the caller reads. */
	pb_shared_barrier();
	return pending;
}

/** Polls the counts of raises for a while before the MCU sleeps. @return the lines raised */
static uint32_t hunt(struct pb_uart_lines *lines)
{
	uint32_t raised = 0;

	for (uint32_t round = 0; round < HUNT_ROUNDS && raised == 0; round++) {
		if (pb_lines_waiting(&lines->pending))
			break;
		raised = poll_lines(lines);
	}
	pb_shared_write32(&lines->block->mcu_polls, 0);
	/* The card may have raised a line before it could see that. */
	pb_shared_barrier();
	return raised | poll_lines(lines);
}

void pb_uart_lines_idle_enter(void *context)
{
	struct pb_uart_lines *lines = context;
	const uint32_t raised = hunt(lines);

	pb_cpu_mask_interrupts();
	lines->pending |= raised;
}

void pb_uart_lines_idle_wait(void *context)
{
	const struct pb_uart_lines *lines = context;

	if (!pb_lines_waiting(&lines->pending))
		pb_cpu_wait();
}

void pb_uart_lines_idle_leave(void *context)
{
	const struct pb_uart_lines *lines = context;

	/* Each pass polls the counts of raises: a byte would take the emulator longer than a pass takes. */
	pb_shared_write32(&lines->block->mcu_polls, 1);
	pb_cpu_unmask_interrupts();
}
