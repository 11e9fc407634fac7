/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Patch formats: the built-in ones, and a channel's own. docs/formats.md lists
 * which formats serve which driver.
 */
#ifndef PB_HOST_FORMAT_H
#define PB_HOST_FORMAT_H

#include "patchbay/abi/format.h"
#include "patchbay/channel.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns a built-in format as the firmware has it; NULL if no built-in format has this number. */
const struct pb_patch_format *pb_format_builtin(uint32_t number);

/**
 * Sets one of the channel's own formats. The firmware validates it; after an error the number keeps its previous
 * format. Blocks for at most PB_COMMAND_TIMEOUT_US.
 * Threads: commands; waits.
 * @param driver_id from PB_FORMAT_OWN on, PB_CAPABILITY_FORMATS_OWN numbers
 * @param format copied
 * @param reason NULL, or out: enum pb_format_reason; NONE unless the error is PB_ERROR_BAD_FORMAT
 * @retval PB_ERROR_BAD_FORMAT `driver_id` is out of range, or the format is invalid
 * @retval PB_ERROR_BUSY the channel has admitted submissions: wait for their fences first
 * @retval PB_ERROR_NO_SPACE the card holds no more formats of channels
 */
enum pb_error pb_format_set(struct pb_channel *channel, uint32_t driver_id,
			    const struct pb_patch_format *format, uint32_t *reason);

#ifdef __cplusplus
}
#endif

#endif
