/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The MCU's end of the interrupt lines of the emulated card (qemu/mcu/lines.h),
 * for any UART: state and protocol. A driver of a kind of UART names its
 * operations in a constant `struct pb_uart_kind` and passes it to the inline
 * functions here, so that the compiler inlines those operations as well.
 */
#ifndef PB_QEMU_MCU_UART_LINES_H
#define PB_QEMU_MCU_UART_LINES_H

#include "hal/cpu.h"
#include "hal/lines.h"
#include "qemu/mcu/layout.h"
#include "qemu/mcu/lines.h"

/** Lines that the card raises have lower numbers than this. */
#define PB_CARD_RAISED PB_LINE_NODE(PB_CARD_NODES)

/** A UART and the lines behind it. The board fills in `uart` and `block`. */
struct pb_uart_lines {
	/* First, and as far from the start as to_mcu_taken in the block: an index is all that it takes to reach one. */
	uint32_t sent[PB_CARD_LINES];     /**< bytes sent, by line */
	uint32_t taken[PB_CARD_LINES];    /**< bytes received, by line */
	uintptr_t uart;                   /**< base address */
	struct pb_card_line_block *block; /**< in card memory */
	const uint32_t *from_taken;       /**< from_mcu_taken of the block */
	uint32_t pending;                 /**< pending lines; written by interrupt handlers */
	uint32_t unsent;                  /**< lines whose byte waits for the transmitter */
	uint32_t raises;                  /**< count of all raises, when last polled */
	uint32_t seen[PB_CARD_RAISED];    /**< count of each line's raises, when last polled */
};

/** Operations of a kind of UART, at a base address. */
struct pb_uart_kind {
	/** Returns whether the transmitter is full. */
	bool (*full)(uintptr_t uart);
	/** Sends a byte. Pre: the transmitter is not full. */
	void (*put)(uintptr_t uart, uint32_t byte);
	/** Enables or disables the interrupt of a transmitter that is not full. */
	void (*watch)(uintptr_t uart, bool wanted);
	/** Handler of that interrupt: calls pb_uart_lines_sent(). */
	void (*transmit)(struct pb_uart_lines *lines);
	/** Calls pb_uart_lines_send_later(); out of line, so that raising a line has no call but at its end. */
	void (*send_later)(struct pb_uart_lines *lines, uint32_t line);
};

/** Continues the counts of the MCU that ran before. Thread context, before the UART is enabled. */
void pb_uart_lines_begin(struct pb_uart_lines *lines);
/** Handler of the tick: records it, and nothing else. Interrupt context. */
void pb_uart_lines_tick(struct pb_uart_lines *lines);
/** Operation take of struct pb_lines_ops: polls the counts of raises, too. */
uint32_t pb_uart_lines_take(void *context);
/** Operation idle_enter of struct pb_lines_ops: polls the counts of raises for a while before it masks interrupts. */
void pb_uart_lines_idle_enter(void *context);
/** Operation idle_wait of struct pb_lines_ops. */
void pb_uart_lines_idle_wait(void *context);
/** Operation idle_leave of struct pb_lines_ops. */
void pb_uart_lines_idle_leave(void *context);

/** Records the line of a received byte. Interrupt context. */
static inline __attribute__((always_inline)) void pb_uart_lines_received(struct pb_uart_lines *lines,
									 uint32_t line)
{
	if (line >= PB_CARD_LINES)
		return;
	lines->pending |= 1u << line;
	pb_shared_write32(&lines->block->to_mcu_taken[line], ++lines->taken[line]);
}

/** Sends the next byte that waits, if the transmitter is free. Interrupt context, or interrupts are masked. */
static inline __attribute__((always_inline)) void pb_uart_lines_sent(struct pb_uart_lines *lines,
								     const struct pb_uart_kind *kind)
{
	uint32_t line = 0;

	if (lines->unsent == 0) {
		kind->watch(lines->uart, false);
		return;
	}
	/* An interrupt may stay pending although the transmitter is full again; another one comes. */
	if (kind->full(lines->uart))
		return;
	/* A loop, as a library function would be called where the CPU cannot count zeros: a handler without calls saves fewer registers. */
	while ((lines->unsent >> line & 1u) == 0)
		line++;
	kind->put(lines->uart, line);
	lines->unsent &= lines->unsent - 1u;
}

/** Sends the byte of a line from the transmitter's interrupt. Thread context. */
static inline void pb_uart_lines_send_later(struct pb_uart_lines *lines, const struct pb_uart_kind *kind,
					    uint32_t line)
{
	pb_cpu_mask_interrupts();
	lines->unsent |= 1u << line;
	kind->watch(lines->uart, true);
	/* The transmitter may have become free meanwhile, and then no interrupt would come. */
	if (!kind->full(lines->uart))
		kind->transmit(lines);
	pb_cpu_unmask_interrupts();
}

/**
 * Operation raise of struct pb_lines_ops: sends the byte of a line now if the transmitter is free, else by send_later(). Thread
 * context.
 */
static inline __attribute__((always_inline)) void
pb_uart_lines_raise(struct pb_uart_lines *lines, const struct pb_uart_kind *kind, uint32_t line)
{
	const uint32_t *from_taken = lines->from_taken;
	const uint32_t sent = lines->sent[line];

	pb_shared_barrier();
	if (pb_shared_read32(&from_taken[line]) != sent)
		return; /* its byte is on the way */
	lines->sent[line] = sent + 1u;
	if (lines->unsent != 0 || kind->full(lines->uart))
		kind->send_later(lines, line);
	else
		kind->put(lines->uart, line);
}

#endif
