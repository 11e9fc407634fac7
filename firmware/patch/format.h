/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Patch formats: the built-in table, and those that channels set. The owner of
 * struct pb_core_formats and of struct pb_core_channel_formats; main loop only.
 */
#ifndef PB_FIRMWARE_PATCH_FORMAT_H
#define PB_FIRMWARE_PATCH_FORMAT_H

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
/** FORMAT_SET. Pre: nothing of the channel is in flight. @param reason set to enum pb_format_reason @return OK, BAD_FORMAT or NO_SPACE */
enum pb_error pb_core_format_set(struct pb_core_formats *formats, struct pb_core_channel_formats *own,
				 const uint32_t *arguments, uint32_t *reason);
/** Frees all formats that a channel has set. */
void pb_core_format_forget(struct pb_core_formats *formats, struct pb_core_channel_formats *own);

#endif
