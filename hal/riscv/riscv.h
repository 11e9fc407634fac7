/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The parts of a RISC-V core in machine mode that every board shares: start-up,
 * traps, timer. References: The RISC-V Instruction Set Manual, volume II,
 * version 20211203, sections 3.1 (machine CSRs), 3.2 (mtime) and 3.7 (PMP).
 */
#ifndef PB_HAL_RISCV_RISCV_H
#define PB_HAL_RISCV_RISCV_H

#include <stdint.h>

#include "hal/fault.h"
#include "hal/protect.h"

/** Attribute of an interrupt handler: it preserves every register and returns from the trap. */
#define PB_RISCV_INTERRUPT __attribute__((interrupt("machine"), aligned(4)))

/** First instruction of the image: guards the stack, then pb_start(). */
void pb_riscv_reset(void);
/** Trap handler of every exception and of unexpected interrupts: reports, then halts. */
void pb_riscv_fault(void);
/** Defined by the board: handler of the machine timer interrupt. */
PB_RISCV_INTERRUPT void pb_riscv_timer(void);
/** Defined by the board: handler of the machine external interrupt. */
PB_RISCV_INTERRUPT void pb_riscv_external(void);

/** Sets the function that publishes the records; pb_riscv_fault() calls it once. Thread context. */
void pb_riscv_on_fault(pb_fault_report report);
/** Makes all accesses below the stack fault, also where stores would be lost without one. Called by the reset code. */
void pb_riscv_guard_stack(void);
/**
 * Closes all memory but the image's own and the regions listed, at most PB_REGIONS_MAX, until the next reset. Called by
 * the board, once. If the unit has too few entries, or more regions are listed, pb_hal_protection() has it, and the
 * image does not run.
 */
void pb_riscv_protect(const struct pb_region *regions, uint32_t count);
/** Enables the two interrupts. Called by the board, once, in thread context. */
void pb_riscv_interrupts_enable(void);

/** The machine timer as a tick. The board fills in the first three. */
struct pb_riscv_tick {
	uintptr_t time;    /**< address of mtime */
	uintptr_t compare; /**< address of this hart's mtimecmp */
	uint32_t period;   /**< between two ticks, in units of mtime */
	uint64_t next;     /**< when the next is due */
};

/** Starts the tick. Called by the board, once, in thread context. */
void pb_riscv_tick_start(struct pb_riscv_tick *tick);
/** Schedules the next tick. Called by the handler of a tick. */
void pb_riscv_tick_next(struct pb_riscv_tick *tick);

#endif
