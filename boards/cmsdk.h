/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the boards have in common whose card is emulated around an Arm MPS
 * board: UART 0 of the Cortex-M System Design Kit carries the interrupt lines.
 * Such a board lists boards/cmsdk.c in its board.cmake and defines pb_cmsdk and
 * PB_CMSDK_VECTORS.
 */
#ifndef PB_BOARDS_CMSDK_H
#define PB_BOARDS_CMSDK_H

#include <stdint.h>

#include "hal/cortex_m/cortex_m.h"

/** What differs from board to board. */
struct pb_cmsdk {
	uint32_t core_hertz;         /**< what SysTick counts */
	uintptr_t uart;              /**< base address of UART 0 */
	uint32_t receive_interrupt;  /**< of UART 0: external interrupt, its handler pb_cmsdk_receive */
	uint32_t transmit_interrupt; /**< likewise, pb_cmsdk_transmit */
};

/** Defined by the board; read once, by pb_board_start(). */
extern const struct pb_cmsdk pb_cmsdk;

/** Handler of UART 0's receive interrupt: records the line of the byte. Interrupt context. */
void pb_cmsdk_receive(void);
/** Handler of UART 0's transmit interrupt: sends the bytes that waited. Interrupt context. */
void pb_cmsdk_transmit(void);
/** Handler of SysTick: records the tick. Interrupt context. */
void pb_cmsdk_tick(void);

extern uint32_t pb_stack_top[];

/**
 * The vectors, once in board.c. Other interrupts are never enabled; one that came would fault on its empty entry.
 * @param receive  as pb_cmsdk.receive_interrupt
 * @param transmit as pb_cmsdk.transmit_interrupt
 */
#define PB_CMSDK_VECTORS(receive, transmit)                                                                  \
	static const struct pb_cortex_m_vectors vectors __attribute__((section(".vectors"), used)) = {       \
		PB_CORTEX_M_EXCEPTIONS(pb_cmsdk_tick),                                                       \
		.interrupts = {[receive] = pb_cmsdk_receive, [transmit] = pb_cmsdk_transmit},                \
	}

#endif
