/* SPDX-License-Identifier: MIT */
#include "patchbay/format.h"

#include <string.h>

static const struct pb_patch_format builtin[] = {PB_PATCH_FORMATS(PB_PATCH_FORMAT_ROW)};

const struct pb_patch_format *pb_format_builtin(uint32_t number)
{
	return number < PB_PATCH_FORMAT_COUNT ? &builtin[number] : NULL;
}

enum pb_error pb_format_set(struct pb_channel *channel, uint32_t driver_id,
			    const struct pb_patch_format *format, uint32_t *reason)
{
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {driver_id};
	uint32_t results[PB_REPLY_RESULTS] = {0};
	enum pb_error error;

	memcpy(&arguments[1], format, sizeof(*format));
	error = pb_channel_command(channel, PB_COMMAND_FORMAT_SET, arguments, results);
	if (reason != NULL)
		*reason = error == PB_ERROR_BAD_FORMAT ? results[0] : (uint32_t)PB_FORMAT_REASON_NONE;
	return error;
}
