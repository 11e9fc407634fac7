/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Interrupt lines of the emulated card (hal/card/lines.h) over an Arm CMSDK
 * APB UART: each byte names a line. Reference: Arm Cortex-M System Design Kit
 * Technical Reference Manual, section 4.3.
 */
#ifndef PB_HAL_CORTEX_M_UART_LINES_H
#define PB_HAL_CORTEX_M_UART_LINES_H

#include "hal/card/layout.h"
#include "hal/card/lines.h"
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

extern const struct pb_lines_ops pb_uart_lines_ops;

/** Turns the UART on. Thread context, once. */
void pb_uart_lines_start(struct pb_uart_lines *lines);
/** Interrupt handlers: byte received, transmitter empty, tick. They record and no more. */
void pb_uart_lines_receive(struct pb_uart_lines *lines);
void pb_uart_lines_transmit(struct pb_uart_lines *lines);
void pb_uart_lines_tick(struct pb_uart_lines *lines);

#endif
