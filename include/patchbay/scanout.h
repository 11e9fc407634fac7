/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where a display's picture lies in card memory: a record that the driver of a
 * display writes for whoever looks at the card from outside. The firmware does
 * not know of it. It begins a page of 4 KiB of card memory, anywhere.
 */
#ifndef PB_HOST_SCANOUT_H
#define PB_HOST_SCANOUT_H

#include <stdint.h>

#include "patchbay/abi/base.h"

#define PB_SCANOUT_MAGIC   0x4f435350u /**< "PSCO", little-endian; 0 while the record changes */
#define PB_SCANOUT_VERSION 1u          /**< version of struct pb_scanout */
/** Largest width and height of a picture, in pixels. */
#define PB_SCANOUT_EXTENT_MAX 4096u

/** A picture of pixels of 32 bits: blue in bits 0 to 7, green, red; bits 24 to 31 have no meaning. */
struct pb_scanout {
	uint32_t magic;   /**< PB_SCANOUT_MAGIC, written last */
	uint32_t version; /**< PB_SCANOUT_VERSION */
	uint32_t width;   /**< in pixels, 1 to PB_SCANOUT_EXTENT_MAX */
	uint32_t height;  /**< in rows, likewise */
	uint32_t pitch;   /**< bytes from one row to the next, multiple of 4 */
	uint32_t offset;  /**< of the first pixel, in bytes from the start of card memory, multiple of 4 */
	uint32_t updates; /**< updates of the picture that have completed, modulo 2^32 */
	uint32_t check;   /**< pb_scanout_check(): other memory hardly looks like a record */
};
PB_SIZE(pb_scanout, 32);
PB_AT(pb_scanout, magic, 0);
PB_AT(pb_scanout, version, 4);
PB_AT(pb_scanout, width, 8);
PB_AT(pb_scanout, height, 12);
PB_AT(pb_scanout, pitch, 16);
PB_AT(pb_scanout, offset, 20);
PB_AT(pb_scanout, updates, 24);
PB_AT(pb_scanout, check, 28);

/** Returns the value of `check` that fits the other words of a record. */
static inline uint32_t pb_scanout_check(const struct pb_scanout *record)
{
	uint32_t sum = record->version;

	sum = sum * 31u + record->width;
	sum = sum * 31u + record->height;
	sum = sum * 31u + record->pitch;
	sum = sum * 31u + record->offset;
	return ~(sum * 31u + record->updates);
}

#endif
