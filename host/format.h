/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Patch formats of a channel. docs/formats.md says which serve which driver.
 */
#ifndef PB_HOST_FORMAT_H
#define PB_HOST_FORMAT_H

#include "firmware/abi/format.h"
#include "host/patchbay.h"

/** A built-in format as the firmware has it; NULL if no such number is built in. */
const struct pb_patch_format *pb_format_builtin(uint32_t number);

/**
 * Sets one of the channel's own formats. The firmware judges it; one that it
 * refuses leaves the number as it was.
 * @param driver_id PB_FORMAT_OWN and up, PB_CAPABILITY_FORMATS_OWN of them
 * @param reason NULL, or where enum pb_format_reason goes: NONE unless the error is BAD_FORMAT
 * @retval PB_ERROR_BAD_FORMAT there is no such number, or the format cannot be
 * @retval PB_ERROR_BUSY the channel has admitted work: wait for its fences first
 */
enum pb_error pb_format_set(struct pb_channel *channel, uint32_t driver_id,
			    const struct pb_patch_format *format, uint32_t *reason);

#endif
