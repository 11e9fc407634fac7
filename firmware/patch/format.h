/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Patch formats: the built-in table, and those that channels set. The owner of
 * struct pb_core_formats and of struct pb_core_channel_formats; main loop only.
 */
#ifndef PB_FIRMWARE_PATCH_FORMAT_H
#define PB_FIRMWARE_PATCH_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/limits.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/format.h"

/** The state of this module. */
struct pb_core_formats {
	struct pb_patch_format at[PB_LIMIT_FORMATS_TOTAL]; /**< of all channels; free while mask is 0 */
};

/** A member of a channel's record. */
struct pb_core_channel_formats {
	uint32_t version; /**< counts changes to the channel's own formats */
	uint8_t slot_of
		[PB_LIMIT_FORMATS_OWN]; /**< by own number: index in pb_core_formats.at plus 1; 0: none */
};

/** The format that a DriverId names in a channel. @return NULL: there is none */
const struct pb_patch_format *pb_core_format_find(const struct pb_core_formats *formats,
						  const struct pb_core_channel_formats *own, uint32_t id);
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

/** Whether a channel has set a format of its own. @param id its DriverId: PB_FORMAT_OWN and up, below PB_LIMIT_FORMATS_OWN from there */
static inline bool pb_core_format_is_set(const struct pb_core_channel_formats *own, uint32_t id)
{
	return own->slot_of[id - PB_FORMAT_OWN] != 0;
}

#endif
