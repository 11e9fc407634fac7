/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Whether an image may run. An image is copied to private memory first and checked there, twice: each check reads key and
 * counter itself, computes digest and signature itself, and has its own word for yes, so that one instruction that is
 * skipped spoils one check at most.
 */
#ifndef PB_LOADER_VERIFY_H
#define PB_LOADER_VERIFY_H

#include <stdint.h>

#include "hal/fuses.h"
#include "loader/slot.h"
#include "patchbay/abi/update.h"

/** What the first and the second check return for an image that may run; for any other they return a reason. */
#define PB_VERIFY_FIRST  0x5ac39669u
#define PB_VERIFY_SECOND 0xc3695aa6u

/** What an image is checked against. */
struct pb_verify_rules {
	const struct pb_fuses *fuses; /**< the key, and the counter */
	const char *board;            /**< the board's name, at most 31 characters */
	uint32_t load_address;        /**< where images of this board begin */
	uint32_t image_bytes;         /**< largest image that may be loaded, and room of a staged one */
};

/** An image in private memory. */
struct pb_staged_image {
	struct pb_signed_header header; /**< as it was read */
	uint32_t *words;                /**< the image; the board's memory, as large as its rules say */
};

/**
 * Copies the signed image of a slot to private memory: its header, and as much of the image as the header says.
 * @return PB_LOADER_STARTED: it is there; PB_LOADER_BAD_HEADER: it has no possible size, or no magic number;
 * PB_LOADER_BAD_FLASH
 */
enum pb_loader_reason pb_verify_stage(const struct pb_slots *slots, uint32_t slot,
				      const struct pb_verify_rules *rules, struct pb_staged_image *image);
/**
 * Checks a staged image.
 * @param yes what to return if the image may run: PB_VERIFY_FIRST or PB_VERIFY_SECOND
 * @return `yes`, or an enum pb_loader_reason
 */
uint32_t pb_verify_check(const struct pb_verify_rules *rules, const struct pb_staged_image *image,
			 uint32_t yes);

#endif
