/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The end of the road after a fault or a broken assertion.
 */
#ifndef PB_HAL_HALT_H
#define PB_HAL_HALT_H

#include <stdint.h>

/** Stops this processor for good, interrupts masked. The records are already published. */
_Noreturn void pb_hal_halt(void);

/**
 * For a broken assertion: goes through the CPU's fault handler, which has all
 * registers for the records, and does not return. On a host, which has none,
 * it returns, and the caller reports without them.
 */
void pb_hal_fault(void);

#endif
