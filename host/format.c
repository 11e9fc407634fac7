/* SPDX-License-Identifier: MIT */
#include "host/format.h"

#include <string.h>

#define FORMAT(name, number, meaning, from, bounded, flag_bits, multiple, right, left, words, chosen_by,     \
	       low_mask, second_mask, outside, or_low, or_high, or0, or1, or2, or3)                          \
	[PB_PATCH_FORMAT_##name] = {                                                                         \
		.source = PB_FORMAT_##from,                                                                  \
		.bound = PB_FORMAT_##bounded,                                                                \
		.flags = (flag_bits),                                                                        \
		.align = (multiple),                                                                         \
		.shift_right = (right),                                                                      \
		.shift_left = (left),                                                                        \
		.step = (words),                                                                             \
		.or_by = PB_FORMAT_OR_##chosen_by,                                                           \
		.mask = (low_mask),                                                                          \
		.high_mask = (second_mask),                                                                  \
		.background = (outside),                                                                     \
		.pre_or_low = (or_low),                                                                      \
		.pre_or_high = (or_high),                                                                    \
		.or_value = {(or0), (or1), (or2), (or3)},                                                    \
	},

static const struct pb_patch_format builtin[] = {PB_PATCH_FORMATS(FORMAT)};

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
