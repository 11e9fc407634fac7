/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Outer memory: card memory outside of the MCU's window. Engines and hosts
 * reach it at its offset from the start of card memory, as they reach the rest.
 * The MCU does not, so the firmware hands it out but keeps nothing there and
 * reads nothing from it; the card clears it on request (hal/engine_memory.h).
 */
#ifndef PB_HAL_OUTER_MEMORY_H
#define PB_HAL_OUTER_MEMORY_H

#include <stdint.h>

/** Where outer memory lies. Whole pages. */
struct pb_outer_memory {
	/** From the first byte of card memory; behind what the MCU sees of it, and apart from host memory. */
	uint32_t offset;
	uint32_t bytes; /**< 0: there is none. offset + bytes is below 2^32 */
};

#endif
