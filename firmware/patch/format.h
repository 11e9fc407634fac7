/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Patch formats: the built-in table, and those that channels set. The owner of
 * struct pb_core_formats and of struct pb_core_channel_formats; main loop only.
 */
#ifndef PB_FIRMWARE_PATCH_FORMAT_H
#define PB_FIRMWARE_PATCH_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/limits.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/format.h"

/** What the loops over the 24-byte list can do of a format: known from the format alone. */
enum pb_core_shape {
	PB_CORE_SHAPE_SLOW = 0,  /**< nothing: its entries always take the slow path */
	PB_CORE_SHAPE_SPLIT = 1, /**< both words of an address, of which bits stay; nothing is ORed in */
	PB_CORE_SHAPE_WORDS = 8, /**< from here on: one word */
	PB_CORE_SHAPE_HIGH = 8,  /**< as SHIFT, by 32 bits or more */
	PB_CORE_SHAPE_HIGH_INSIDE = 9,
	PB_CORE_SHAPE_SHIFT = 10,        /**< an address, shifted right, one word of it */
	PB_CORE_SHAPE_SHIFT_INSIDE = 11, /**< as SHIFT, with a bounded offset */
	PB_CORE_SHAPE_CHOICE =
		12, /**< the low word of an address; bits may stay; the allocation may choose what is ORed in */
	PB_CORE_SHAPE_CHOICE_INSIDE = 13, /**< as CHOICE, with a bounded offset */
	PB_CORE_SHAPE_ID = 14,            /**< as CHOICE, of an id */
	PB_CORE_SHAPE_CONSTANT = 15,      /**< as CHOICE, of 0 */
};

/** The state of this module. */
struct pb_core_formats {
	struct pb_patch_format at[PB_LIMIT_FORMATS_TOTAL]; /**< of all channels; free while mask is 0 */
	uint8_t shape[PB_LIMIT_FORMATS_TOTAL];             /**< enum pb_core_shape, of each in `at` */
};

/** A member of a channel's record. */
struct pb_core_channel_formats {
	uint32_t version; /**< counts changes to the channel's own formats */
	uint8_t slot_of
		[PB_LIMIT_FORMATS_OWN]; /**< by own number: index in pb_core_formats.at plus 1; 0: none */
};

/** A format, where it is kept. */
struct pb_core_format {
	const struct pb_patch_format *format; /**< NULL: there is none */
	uint32_t shape;                       /**< enum pb_core_shape */
};

/** The built-in formats, by number, and their shapes. */
extern const struct pb_patch_format pb_core_format_built_in[PB_PATCH_FORMAT_COUNT];
extern const uint8_t pb_core_format_shapes[PB_PATCH_FORMAT_COUNT];

/** Returns the shape of a format that has been checked. */
uint32_t pb_core_format_shape(const struct pb_patch_format *format);
/** Checks the arguments of FORMAT_SET. @return PB_FORMAT_REASON_NONE, or what is wrong */
enum pb_format_reason pb_core_format_check(const uint32_t *arguments);
/**
 * FORMAT_SET. Pre: the arguments are good, nothing of the channel is in flight; and the channel has set the format, or
 * its quota has one more, so that a slot is free.
 */
void pb_core_format_set(struct pb_core_formats *formats, struct pb_core_channel_formats *own,
			const uint32_t *arguments);
/** Frees all formats that a channel has set. */
void pb_core_format_forget(struct pb_core_formats *formats, struct pb_core_channel_formats *own);

/** The format that a DriverId names in a channel: it is looked for with each entry, as a channel may set it anew. */
static inline struct pb_core_format pb_core_format_find(const struct pb_core_formats *formats,
							const struct pb_core_channel_formats *own,
							uint32_t id)
{
	uint32_t slot = 0;

	if (id < PB_PATCH_FORMAT_COUNT)
		return (struct pb_core_format){&pb_core_format_built_in[id], pb_core_format_shapes[id]};
	if (id - PB_FORMAT_OWN < PB_LIMIT_FORMATS_OWN)
		slot = own->slot_of[id - PB_FORMAT_OWN];
	if (slot == 0)
		return (struct pb_core_format){NULL, PB_CORE_SHAPE_SLOW};
	return (struct pb_core_format){&formats->at[slot - 1u], formats->shape[slot - 1u]};
}

/** Whether a channel has set a format of its own. @param id its DriverId: PB_FORMAT_OWN and up, below PB_LIMIT_FORMATS_OWN from there */
static inline bool pb_core_format_is_set(const struct pb_core_channel_formats *own, uint32_t id)
{
	return own->slot_of[id - PB_FORMAT_OWN] != 0;
}

#endif
