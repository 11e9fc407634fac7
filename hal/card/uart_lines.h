/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The MCU's end of the interrupt lines of the emulated card (hal/card/lines.h),
 * whatever the UART: what it keeps, and the protocol. A driver of a kind of
 * UART names its operations in a constant `struct pb_uart_kind` and hands it to
 * the inline functions here, so that no call is left of either.
 */
#ifndef PB_HAL_CARD_UART_LINES_H
#define PB_HAL_CARD_UART_LINES_H

#include "hal/card/layout.h"
#include "hal/card/lines.h"
#include "hal/cpu.h"
#include "hal/lines.h"

/** A UART and the lines behind it. The board fills in the first two. */
struct pb_uart_lines {
	uintptr_t uart;                   /**< base address */
	struct pb_card_line_block *block; /**< in card memory */
	uint32_t pending;                 /**< lines raised and not taken; written by interrupt handlers */
	uint32_t unsent;                  /**< lines whose byte waits for the transmitter */
	uint32_t seen[PB_CARD_NODES];     /**< raises of the nodes' lines, when they were looked at last */
	uint32_t taken[PB_CARD_LINES];
	uint32_t sent[PB_CARD_LINES];
};

/** How to work a kind of UART at an address. */
struct pb_uart_kind {
	/** The transmitter takes no byte now. */
	bool (*full)(uintptr_t uart);
	/** Sends a byte; the transmitter is not full. */
	void (*put)(uintptr_t uart, uint32_t byte);
	/** Lets it interrupt while the transmitter takes a byte, or not. */
	void (*watch)(uintptr_t uart, bool wanted);
	/** Its handler of a transmitter that takes a byte: calls pb_uart_lines_sent. */
	void (*transmit)(struct pb_uart_lines *lines);
};

/** Begins where a former MCU stopped. Thread context, before the UART is turned on. */
void pb_uart_lines_begin(struct pb_uart_lines *lines);
/** Handler of the tick: records and no more. */
void pb_uart_lines_tick(struct pb_uart_lines *lines);
/** The operations of struct pb_lines_ops that have nothing to do with the UART. */
uint32_t pb_uart_lines_take(void *context);
void pb_uart_lines_idle_enter(void *context);
void pb_uart_lines_idle_wait(void *context);
void pb_uart_lines_idle_leave(void *context);

/** A byte has come. Interrupt handler. */
static inline __attribute__((always_inline)) void pb_uart_lines_received(struct pb_uart_lines *lines,
									 uint32_t line)
{
	if (line >= PB_CARD_LINES)
		return;
	pb_shared_write32(&lines->block->to_mcu_taken[line], ++lines->taken[line]);
	lines->pending |= 1u << line;
}

/** The transmitter may take a byte. Interrupt handler, or interrupts are masked. */
static inline __attribute__((always_inline)) void pb_uart_lines_sent(struct pb_uart_lines *lines,
								     const struct pb_uart_kind *kind)
{
	uint32_t line = 0;

	if (lines->unsent == 0) {
		kind->watch(lines->uart, false);
		return;
	}
	/* An interrupt may stay pending although what it told of has been used; another one comes. */
	if (kind->full(lines->uart))
		return;
	/* Not by the library, where the CPU cannot count zeros: a handler that calls nobody has less to save. */
	while ((lines->unsent >> line & 1u) == 0)
		line++;
	kind->put(lines->uart, line);
	lines->unsent &= lines->unsent - 1u;
}

/** Sends now if the transmitter is free, else from its interrupt. */
static inline void pb_uart_lines_send(struct pb_uart_lines *lines, const struct pb_uart_kind *kind,
				      uint32_t line)
{
	if (lines->unsent == 0 && !kind->full(lines->uart)) {
		kind->put(lines->uart, line);
		return;
	}
	pb_cpu_mask_interrupts();
	lines->unsent |= 1u << line;
	kind->watch(lines->uart, true);
	/* It may have become free meanwhile, and then no interrupt would come. */
	if (!kind->full(lines->uart))
		kind->transmit(lines);
	pb_cpu_unmask_interrupts();
}

/** Operation raise of struct pb_lines_ops. */
static inline void pb_uart_lines_raise(struct pb_uart_lines *lines, const struct pb_uart_kind *kind,
				       uint32_t line)
{
	struct pb_card_line_block *block = lines->block;
	const uint32_t sent = lines->sent[line];

	pb_shared_barrier();
	if (pb_shared_read32(&block->from_mcu_taken[line]) != sent)
		return; /* its byte is on the way */
	lines->sent[line] = sent + 1u;
	pb_shared_write32(&block->from_mcu_sent[line], sent + 1u);
	pb_uart_lines_send(lines, kind, line);
}

#endif
