/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The updater, which a card's supervisor runs: writes a signed image to the slot that is not needed, and confirms an image
 * that came up. It verifies no signature: the loader alone decides what runs. What it does may end with a power cut in any
 * write; the card then starts what it started before, or the new image.
 */
#ifndef PB_LOADER_UPDATE_H
#define PB_LOADER_UPDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/fuses.h"
#include "loader/slot.h"
#include "patchbay/abi/update.h"

/* X(NAME, number, meaning) */
#define PB_UPDATE_ERRORS(X)                                                                                  \
	X(DONE, 0, "the update is written; the next start of the MCU tries it")                              \
	X(BAD_FILE, 1, "no signed image: its magic number, layout or size is wrong")                         \
	X(TOO_LARGE, 2, "the image is larger than a slot")                                                   \
	X(OLD_VERSION, 3, "the security version is less than the card's counter")                            \
	X(ON_TRIAL, 4, "the image that runs is on trial: not confirmed yet")                                 \
	X(NEEDED, 5, "the slot holds the only image that came up")                                           \
	X(BAD_FLASH, 6, "the flash could not be read, erased or programmed")                                 \
	X(BAD_BOARD, 7, "the image is for another board")                                                    \
	X(BAD_SLOT, 8, "there is no such slot")

/** What became of an update. */
enum pb_update_error {
#define PB_UPDATE_ERROR_ENUM(name, number, meaning) PB_UPDATE_##name = (number),
	PB_UPDATE_ERRORS(PB_UPDATE_ERROR_ENUM)
#undef PB_UPDATE_ERROR_ENUM
};

/** A card's flash and fuses, as its supervisor reaches them. */
struct pb_updater {
	const struct pb_slots *slots;
	const struct pb_fuses *fuses;
	const char *board;     /**< the board's name */
	uint32_t load_address; /**< where images of this board begin */
};

/**
 * Returns the slot that an update is to be written to: neither the one whose image runs nor, where none runs, the one that
 * the next start of the MCU would choose.
 * @param running slot of the image that runs now; PB_SLOT_NONE: not known
 */
uint32_t pb_update_free_slot(const struct pb_updater *updater, uint32_t running);
/**
 * Writes a signed image to a slot. The slot is unusable from the first write to the last one; the other slot is not
 * touched.
 * @param file   the signed image
 * @param bytes  its size
 * @param slot   a slot, or PB_SLOT_NONE: pb_update_free_slot()
 * @param running slot of the image that runs now; it is kept, as a later image may be confirmed but damaged. PB_SLOT_NONE:
 * not known
 */
enum pb_update_error pb_update_write(const struct pb_updater *updater, const uint32_t *file, uint32_t bytes,
				     uint32_t slot, uint32_t running);
/**
 * Confirms the image of a slot, which has come up, and raises the counter to its security version. Does nothing that has
 * been done, so that the supervisor calls it at each start.
 * @return whether the flash and the fuses have all of it
 */
bool pb_update_confirm(const struct pb_updater *updater, uint32_t slot);

#endif
