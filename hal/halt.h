/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How the firmware ends after a fault or a broken assertion.
 */
#ifndef PB_HAL_HALT_H
#define PB_HAL_HALT_H

#include <stdint.h>

/** Stops this processor for good, with interrupts masked. Pre: the records are published. Any context. */
_Noreturn void pb_hal_halt(void);

/**
 * Enters the CPU's fault handler, for a broken assertion, so that the records
 * have all registers; does not return. On a host, which has no such handler,
 * returns, and the caller reports without registers. Any context.
 */
void pb_hal_fault(void);

#endif
