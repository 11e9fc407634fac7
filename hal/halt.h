/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The end of the road after a broken assertion.
 */
#ifndef PB_HAL_HALT_H
#define PB_HAL_HALT_H

#include <stdint.h>

/** Stops this processor for good, interrupts masked. The fatal record is already published. */
_Noreturn void pb_hal_halt(void);

#endif
