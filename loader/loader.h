/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The boot loader: chooses a slot, verifies its image in private memory, and starts it (docs/boot.md).
 */
#ifndef PB_LOADER_LOADER_H
#define PB_LOADER_LOADER_H

#include <stdint.h>

#include "loader/verify.h"

/** What the board provides, beside the flash and the rules. */
struct pb_loader_ops {
	/** Notes for hosts and for a person what was decided about a slot. */
	void (*report)(uint32_t slot, enum pb_loader_reason reason);
	/** Ends the flash driver's access to the flash until the next reset. */
	void (*lock)(void);
};

/** A board's loader. */
struct pb_loader {
	const struct pb_slots *slots;
	const struct pb_verify_rules *rules;
	const struct pb_loader_ops *ops;
	struct pb_staged_image *image; /**< room for an image in private memory */
};

/** An image that may run, as pb_loader_choose() found it. */
struct pb_loader_choice {
	uint32_t slot;   /**< where it came from; PB_SLOT_NONE: no image may run */
	uint32_t first;  /**< PB_VERIFY_FIRST */
	uint32_t second; /**< PB_VERIFY_SECOND */
};

/**
 * Finds the image to start, which is staged and verified then. Marks a slot as tried before an image is started on trial,
 * and reports each slot that it refuses, and the slot that it chose.
 */
void pb_loader_choose(const struct pb_loader *loader, struct pb_loader_choice *choice);

#endif
