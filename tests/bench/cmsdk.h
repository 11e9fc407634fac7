/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The bench on a board around UARTs of the Cortex-M System Design Kit. The emulator runs with -icount shift=10: an
 * instruction takes 1024 ns, so that the difference of two readings of SysTick gives the number of instructions exactly.
 * The second UART is connected to the first one outside, in both directions.
 */
#ifndef PB_TESTS_BENCH_CMSDK_H
#define PB_TESTS_BENCH_CMSDK_H

#include <stdint.h>

#include "hal/cortex_m/cortex_m.h"

/** What an instruction takes. */
#define PB_BENCH_INSTRUCTION_NS 1024u

/** What differs from board to board. */
struct pb_bench_cmsdk {
	uintptr_t uart;             /**< address of the second UART, the bench's */
	uint32_t receive_interrupt; /**< external interrupt of the first UART, the firmware's */
	uint32_t megahertz;         /**< of SysTick */
	uint32_t alarm_interrupt;   /**< external interrupt of the alarm */
	pb_cortex_m_handler alarm;  /**< its handler; NULL: the board has no alarm */
};

/** Defined by the board's file; constant. */
extern const struct pb_bench_cmsdk pb_bench_cmsdk;

#endif
