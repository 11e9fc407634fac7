/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The MCU clears what a segment slot has of the pool, in slices. This module
 * has no state; main loop only.
 */
#ifndef PB_FIRMWARE_MEMORY_WIPE_H
#define PB_FIRMWARE_MEMORY_WIPE_H

#include <stdint.h>

struct pb_firmware;

/**
 * Clears a slice of a slot's piece from byte `at` on; some slices while neither a line nor a node waits. Pre: the MCU sees
 * the piece. @return how far the piece is clear
 */
uint32_t pb_core_wipe(struct pb_firmware *firmware, uint32_t slot, uint32_t at);

#endif
