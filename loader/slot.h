/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The two slots of the flash: where they lie, what is recorded of each, and which one is started. docs/boot.md has the
 * state machine.
 *
 * A slot begins with one sector for its record. The signed image (patchbay/abi/update.h) begins with the next sector.
 */
#ifndef PB_LOADER_SLOT_H
#define PB_LOADER_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/flash.h"

/** Slots, numbered from 0; users see A and B. */
#define PB_SLOTS 2u
/** No slot. */
#define PB_SLOT_NONE PB_SLOTS

/** Where the slots lie in the flash. */
struct pb_slots {
	const struct pb_flash *flash;
	uint32_t offset[PB_SLOTS]; /**< of each, at the start of a sector */
	uint32_t bytes;            /**< of each, its record included */
};

/**
 * A slot's record: words from its first byte on, written in this order. A mark is complete if both words are there; a
 * power cut leaves another value. Written by the updater, but for `tried`, which the loader writes.
 */
struct pb_slot_record {
	uint32_t sequence[2];  /**< number of the update, and its complement */
	uint32_t written[2];   /**< PB_SLOT_MARK: the signed image is here to its end */
	uint32_t tried[2];     /**< any value but erased: the image was started once, or was about to be */
	uint32_t confirmed[2]; /**< PB_SLOT_MARK: the image came up */
};

/** First and second word of a mark that is complete. */
#define PB_SLOT_MARK(word) ((word) == 0 ? 0x4b52414du : 0xb4adbeb2u)

/** What a record says. */
struct pb_slot_state {
	uint32_t sequence; /**< number of the update; 0: unknown */
	bool written;      /**< the image is complete */
	bool tried;        /**< it was started, or was about to be */
	bool confirmed;    /**< it came up */
};

/** Returns where a slot's signed image begins in the flash. */
uint32_t pb_slot_image_offset(const struct pb_slots *slots, uint32_t slot);
/** Returns the largest signed image that a slot holds, in bytes. */
uint32_t pb_slot_image_bytes(const struct pb_slots *slots);
/** Reads the record of a slot. @return false: the flash could not be read, and `state` is that of an empty slot */
bool pb_slot_read(const struct pb_slots *slots, uint32_t slot, struct pb_slot_state *state);
/** Returns whether a slot that is chosen is started on trial: it was never started, and is not confirmed. */
bool pb_slot_on_trial(const struct pb_slot_state *state);
/**
 * Chooses the order in which the slots are to be tried: first an image on trial, then confirmed ones, then those that were
 * tried and did not come up; of equals the later update. Empty slots are left out.
 * @param order the slots, PB_SLOT_NONE behind the last one
 */
void pb_slot_order(const struct pb_slot_state states[PB_SLOTS], uint32_t order[PB_SLOTS]);
/** Marks a slot as tried. @return whether that is permanent */
bool pb_slot_mark_tried(const struct pb_slots *slots, uint32_t slot);
/** Marks a slot as confirmed. @return whether that is permanent */
bool pb_slot_mark_confirmed(const struct pb_slots *slots, uint32_t slot);
/** Marks a slot as written, with the number of its update. @return whether that is permanent */
bool pb_slot_mark_written(const struct pb_slots *slots, uint32_t slot, uint32_t sequence);

#endif
