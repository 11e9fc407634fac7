/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Interrupt lines of the emulated card (qemu/mcu/lines.h) over a 16550 UART
 * with byte-wide registers: each byte names a line. Reference: National
 * Semiconductor PC16550D data sheet, section 8.
 */
#ifndef PB_QEMU_MCU_UART_16550_H
#define PB_QEMU_MCU_UART_16550_H

#include "hal/mmio.h"
#include "qemu/mcu/uart_lines.h"

#define PB_UART_16550_DATA             0u
#define PB_UART_16550_INTERRUPT_ENABLE 1u
#define PB_UART_16550_INTERRUPT        2u /* why; read */
#define PB_UART_16550_LINE_STATUS      5u
#define PB_UART_16550_ENABLE_RECEIVE   1u
#define PB_UART_16550_ENABLE_TRANSMIT  2u
#define PB_UART_16550_REASON           7u /* a full FIFO and a byte that has waited are one reason */
#define PB_UART_16550_REASON_TRANSMIT  2u
#define PB_UART_16550_REASON_RECEIVE   4u
#define PB_UART_16550_STATUS_SENT      0x20u

/** Their context is a struct pb_uart_lines. */
extern const struct pb_lines_ops pb_uart_16550_ops;

/** Enables the UART. Called by the board, once, in thread context. */
void pb_uart_16550_start(struct pb_uart_lines *lines);

/* ---- struct pb_uart_kind ---- */

static inline __attribute__((always_inline)) bool pb_uart_16550_full(uintptr_t uart)
{
	return (pb_mmio_read8(uart + PB_UART_16550_LINE_STATUS) & PB_UART_16550_STATUS_SENT) == 0;
}

static inline __attribute__((always_inline)) void pb_uart_16550_put(uintptr_t uart, uint32_t byte)
{
	pb_mmio_write8(uart + PB_UART_16550_DATA, (uint8_t)byte);
}

static inline __attribute__((always_inline)) void pb_uart_16550_watch(uintptr_t uart, bool wanted)
{
	pb_mmio_write8(uart + PB_UART_16550_INTERRUPT_ENABLE,
		       wanted ? PB_UART_16550_ENABLE_RECEIVE | PB_UART_16550_ENABLE_TRANSMIT
			      : PB_UART_16550_ENABLE_RECEIVE);
}

static inline __attribute__((always_inline)) void pb_uart_16550_transmit(struct pb_uart_lines *lines)
{
	pb_uart_lines_sent(lines, &(const struct pb_uart_kind){.full = pb_uart_16550_full,
							       .put = pb_uart_16550_put,
							       .watch = pb_uart_16550_watch});
}

/**
 * Handler of the UART's interrupt: records a line, or sends the next byte that
 * waits. Inline, as with a call the interrupt's entry would save every register.
 */
static inline __attribute__((always_inline)) void pb_uart_16550_interrupt(struct pb_uart_lines *lines)
{
	/* One reason at a time, the first of them; reading it clears that of the transmitter. The others come again. */
	const uint32_t reason = pb_mmio_read8(lines->uart + PB_UART_16550_INTERRUPT) & PB_UART_16550_REASON;

	if (reason == PB_UART_16550_REASON_RECEIVE)
		pb_uart_lines_received(lines, pb_mmio_read8(lines->uart + PB_UART_16550_DATA));
	else if (reason == PB_UART_16550_REASON_TRANSMIT)
		pb_uart_16550_transmit(lines);
}

#endif
