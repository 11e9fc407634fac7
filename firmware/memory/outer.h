/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Outer memory (hal/outer_memory.h): what of it backs segments stands in the
 * pool, behind what the MCU sees. The card clears each piece before a client
 * gets it, one piece at a time. The owner of struct pb_core_outer; main loop
 * only.
 */
#ifndef PB_FIRMWARE_MEMORY_OUTER_H
#define PB_FIRMWARE_MEMORY_OUTER_H

#include <stdbool.h>
#include <stdint.h>

struct pb_firmware;

/** The state of this module. */
struct pb_core_outer {
	uint32_t clearing; /**< the segment slot whose piece the card clears; 0: none */
};

/**
 * Has the card clear the piece of a segment slot. Called in pass after pass until it returns true.
 * @param gone the segment is gone: nothing is started, but a clear of the piece that runs is awaited
 */
bool pb_core_outer_clear(struct pb_firmware *firmware, uint32_t slot, bool gone);

#endif
