/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Flash with the slots of the loader: an erased word is all ones, and programming clears bits. A power cut may leave any
 * of the bits that an operation was to change as they were, and no other bit changed.
 */
#ifndef PB_HAL_FLASH_H
#define PB_HAL_FLASH_H

#include <stdbool.h>
#include <stdint.h>

/** A word that was erased and not programmed since. */
#define PB_FLASH_ERASED 0xffffffffu

/** Operations of a driver. Each returns whether it was carried out; offsets are multiples of 4, in bytes. */
struct pb_flash_ops {
	/** Copies words into private memory. */
	bool (*read)(void *context, uint32_t offset, uint32_t *words, uint32_t count);
	/** Clears the bits of one word that are clear in `value`; returns when that is permanent. */
	bool (*program)(void *context, uint32_t offset, uint32_t value);
	/** Erases the sector that starts at an offset. Optional: NULL where only a supervisor may erase. */
	bool (*erase)(void *context, uint32_t offset);
};

/** A flash. */
struct pb_flash {
	const struct pb_flash_ops *ops; /**< the driver */
	void *context;                  /**< the driver's */
	uint32_t sector_bytes; /**< what one erase erases, at a multiple of that; a multiple of 256 */
};

#endif
