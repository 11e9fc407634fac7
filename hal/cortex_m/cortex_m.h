/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The parts of an M-profile core that every board shares: vectors, start-up,
 * faults, tick. References: Armv7-M Architecture Reference Manual, B1.5
 * (exceptions), B3.2 (system control), B3.3 (SysTick), B3.4 (NVIC), B3.5 (MPU),
 * C1.8 (DWT).
 * Armv8-M Mainline has all of this in its Secure state, in which it starts; its
 * manual, B3.21 (stack limit checks).
 */
#ifndef PB_HAL_CORTEX_M_CORTEX_M_H
#define PB_HAL_CORTEX_M_CORTEX_M_H

#include <stdint.h>

#include "hal/fault.h"
#include "hal/protect.h"

/** External interrupts in the vector table. A part that has more says so in its board.cmake, for all files alike. */
#ifndef PB_CORTEX_M_INTERRUPTS
#define PB_CORTEX_M_INTERRUPTS 32u
#endif

/** 1: the core has vector instructions (M-profile Vector Extension), and only loops in assembly use them; else 0. */
#ifndef PB_CORTEX_M_VECTORS
#define PB_CORTEX_M_VECTORS 0
#endif

typedef void (*pb_cortex_m_handler)(void);

/** The vector table; a board places one in section .vectors. */
struct pb_cortex_m_vectors {
	uint32_t *initial_stack; /**< first word above the stack */
	pb_cortex_m_handler reset;
	pb_cortex_m_handler nmi;
	pb_cortex_m_handler hard_fault;
	pb_cortex_m_handler memory_management;
	pb_cortex_m_handler bus_fault;
	pb_cortex_m_handler usage_fault;
	pb_cortex_m_handler reserved_7_10[4];
	pb_cortex_m_handler supervisor_call;
	pb_cortex_m_handler debug_monitor;
	pb_cortex_m_handler reserved_13;
	pb_cortex_m_handler pend_supervisor;
	pb_cortex_m_handler tick;
	pb_cortex_m_handler interrupts[PB_CORTEX_M_INTERRUPTS];
};

/** Reset handler: guards the stack, enables vector instructions where there are any, then pb_start(). */
void pb_cortex_m_reset(void);
/** Handler of every fault and of unexpected exceptions: reports, then halts. Handler mode. */
void pb_cortex_m_fault(void);

/** What stands in every board's vectors before its interrupts. @param tick_handler of SysTick */
#define PB_CORTEX_M_EXCEPTIONS(tick_handler)                                                                 \
	.initial_stack = pb_stack_top, .reset = pb_cortex_m_reset, .nmi = pb_cortex_m_fault,                 \
	.hard_fault = pb_cortex_m_fault, .memory_management = pb_cortex_m_fault,                             \
	.bus_fault = pb_cortex_m_fault, .usage_fault = pb_cortex_m_fault,                                    \
	.supervisor_call = pb_cortex_m_fault, .debug_monitor = pb_cortex_m_fault,                            \
	.pend_supervisor = pb_cortex_m_fault, .tick = (tick_handler)

/** Sets the function that publishes the records; pb_cortex_m_fault() calls it once, in handler mode. Thread context. */
void pb_cortex_m_on_fault(pb_fault_report report);
/** Makes all accesses below the stack fault. Called by the reset code, before any variable is used. */
void pb_cortex_m_guard_stack(void);
/**
 * Closes all memory but the image's own and the regions listed, at most PB_REGIONS_MAX of them. Called by the board, once.
 * Protects nothing if the unit has too few regions, or more are listed: pb_hal_protection(). Then the image does not run.
 * Pre: the image has been checked, as its vectors cannot be read any more if they lie at address 0.
 */
void pb_cortex_m_protect(const struct pb_region *regions, uint32_t count);
/** Starts SysTick on the core clock. Called by the board, once. @param cycles between two ticks, 2..2^24 */
void pb_cortex_m_tick_start(uint32_t cycles);
/** Returns the core cycles since the last tick, less than those of a tick. */
uint32_t pb_cortex_m_tick_cycles(void);
/** The core's counter of cycles (DWT_CYCCNT), for a board's `counter`. A core without it reads as 0. */
#define PB_CORTEX_M_CYCLES 0xe0001004u
/** Starts that counter. Called by the board, once. */
void pb_cortex_m_cycles_start(void);
/** Enables an external interrupt. @param number from 0, exception 16 */
void pb_cortex_m_interrupt_enable(uint32_t number);

#endif
