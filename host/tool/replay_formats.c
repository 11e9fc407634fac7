/* SPDX-License-Identifier: MIT */
#include "host/tool/replay_formats.h"

#include <stdio.h>
#include <string.h>

static struct pb_patch_format nouveau_format(const struct pb_subm_relocation *relocation)
{
	struct pb_patch_format format = {
		.source = PB_FORMAT_CONSTANT,
		.bound = PB_FORMAT_NONE,
		.align = 4,
		.or_by = PB_FORMAT_OR_FIRST,
		.mask = PB_FORMAT_ONES,
	};

	if ((relocation->flags & (PB_SUBM_LOW | PB_SUBM_HIGH)) != 0)
		format.source = PB_FORMAT_ADDRESS;
	if ((relocation->flags & (PB_SUBM_LOW | PB_SUBM_HIGH)) == PB_SUBM_HIGH)
		format.shift_right = 32;
	if ((relocation->flags & PB_SUBM_OR) == 0 ||
	    (relocation->read_domains | relocation->write_domain) == 0)
		return format;
	format.or_by = PB_FORMAT_OR_ATTRIBUTE;
	format.or_value[PB_REPLAY_ATTRIBUTE_VRAM] = relocation->read_domains;
	format.or_value[PB_REPLAY_ATTRIBUTE_GART] = relocation->write_domain;
	return format;
}

static uint32_t find(const struct pb_replay_formats *formats, const struct pb_patch_format *wanted)
{
	for (uint32_t i = 0; i < PB_PATCH_FORMAT_COUNT; i++) {
		if (memcmp(pb_format_builtin(i), wanted, sizeof(*wanted)) == 0)
			return i;
	}
	for (uint32_t i = 0; i < formats->count; i++) {
		if (memcmp(&formats->own[i], wanted, sizeof(*wanted)) == 0)
			return PB_FORMAT_OWN + i;
	}
	return PB_REPLAY_FORMAT_NONE;
}

uint32_t pb_replay_formats_number(const struct pb_replay_formats *formats, enum pb_subm_driver driver,
				  const struct pb_subm_relocation *relocation)
{
	struct pb_patch_format wanted;

	if (driver == PB_SUBM_I915)
		return relocation->width == 8 ? PB_PATCH_FORMAT_SUM64_SIGNED : PB_PATCH_FORMAT_SUM32;
	wanted = nouveau_format(relocation);
	return find(formats, &wanted);
}

/** Adds the formats that are missing for a submission. @return false: there is no room */
static bool add_missing(struct pb_replay_formats *formats, const struct pb_subm_submission *submission)
{
	for (uint32_t i = 0; i < submission->relocation_count; i++) {
		const struct pb_subm_relocation *relocation = &submission->relocations[i];

		if (pb_replay_formats_number(formats, submission->driver, relocation) !=
		    PB_REPLAY_FORMAT_NONE)
			continue;
		if (formats->count == formats->room)
			return false;
		formats->own[formats->count++] = nouveau_format(relocation);
	}
	return true;
}

bool pb_replay_formats_add(struct pb_replay_formats *formats, const struct pb_subm_submission *submission)
{
	if (add_missing(formats, submission))
		return true;
	formats->count = 0;
	formats->set = 0;
	return add_missing(formats, submission);
}

uint32_t pb_replay_formats_room(const struct pb_card_info *card)
{
	const uint32_t room = card->capabilities[PB_CAPABILITY_FORMATS_OWN];

	return room < PB_REPLAY_FORMATS_MAX ? room : PB_REPLAY_FORMATS_MAX;
}

enum pb_error pb_replay_formats_set(struct pb_replay_formats *formats, struct pb_channel *channel,
				    char *message)
{
	for (; formats->set < formats->count; formats->set++) {
		const uint32_t number = PB_FORMAT_OWN + formats->set;
		uint32_t reason = 0;
		const enum pb_error error =
			pb_format_set(channel, number, &formats->own[formats->set], &reason);

		if (error == PB_ERROR_BAD_FORMAT)
			(void)snprintf(message, PB_REPLAY_FORMATS_MESSAGE_BYTES,
				       "the firmware refused patch format %u: %s (%s)", (unsigned)number,
				       pb_format_reason_name(reason), pb_format_reason_meaning(reason));
		if (error != PB_ERROR_OK)
			return error;
	}
	return PB_ERROR_OK;
}
