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

/** Of a function that an interrupt enters: it keeps every register and ends with the return from it. */
#define PB_RISCV_INTERRUPT __attribute__((interrupt("machine"), aligned(4)))

/** First instruction of the image: sets up memory, with a guard below the stack, and calls main. */
void pb_riscv_reset(void);
/** Where every exception goes, and interrupts that nobody expects: reports and stops. */
void pb_riscv_fault(void);
/** Interrupt handlers, which the board has: machine timer, machine external. */
PB_RISCV_INTERRUPT void pb_riscv_timer(void);
PB_RISCV_INTERRUPT void pb_riscv_external(void);

/** Who publishes the records; called once. */
void pb_riscv_on_fault(pb_fault_report report);
/** Start-up's: nothing may be touched below the stack. Running over its end must fault; what lies there may swallow stores. */
void pb_riscv_guard_stack(void);
/** Closes all memory but the image's own and these regions, at most PB_REGIONS_MAX, until the next reset. */
void pb_riscv_protect(const struct pb_region *regions, uint32_t count);
/** Lets the two interrupts through. Thread context, once. */
void pb_riscv_interrupts_enable(void);

/** The machine timer as a tick. The board fills in the first three. */
struct pb_riscv_tick {
	uintptr_t time;    /**< address of mtime */
	uintptr_t compare; /**< address of this hart's mtimecmp */
	uint32_t period;   /**< between two ticks, in units of mtime */
	uint64_t next;     /**< when the next is due */
};

/** Starts it. Thread context, once. */
void pb_riscv_tick_start(struct pb_riscv_tick *tick);
/** In the handler of a tick: asks for the next. */
void pb_riscv_tick_next(struct pb_riscv_tick *tick);

#endif
