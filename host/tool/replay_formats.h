/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Choice of the patch format for a captured relocation: a built-in one, or one
 * of the channel's own.
 */
#ifndef PB_HOST_TOOL_REPLAY_FORMATS_H
#define PB_HOST_TOOL_REPLAY_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/tool/subm.h"
#include "patchbay/format.h"
#include "patchbay/patchbay.h"

/** Largest number of the channel's own formats in use. */
#define PB_REPLAY_FORMATS_MAX 16u
/** No format: pb_replay_formats_add() was not called for the submission. */
#define PB_REPLAY_FORMAT_NONE 0xffffffffu
/** Size of the buffer for a message about a format, in bytes. */
#define PB_REPLAY_FORMATS_MESSAGE_BYTES 200u

/*
 * Attribute of an allocation, by which formats of nouveau choose their bits: the
 * memory that held the object. In a replay all objects lie in one segment.
 */
#define PB_REPLAY_ATTRIBUTE_VRAM 0u /**< video memory */
#define PB_REPLAY_ATTRIBUTE_GART 1u /**< system memory through the GART */

/** The channel's own formats, numbered from PB_FORMAT_OWN. */
struct pb_replay_formats {
	uint32_t room;  /**< formats that the channel has, PB_REPLAY_FORMATS_MAX at most */
	uint32_t count; /**< formats in use */
	uint32_t set;   /**< formats in use that are set on the card */
	struct pb_patch_format own[PB_REPLAY_FORMATS_MAX]; /**< the first `count` are in use */
};

/** Returns the DriverId for a relocation, or PB_REPLAY_FORMAT_NONE. */
uint32_t pb_replay_formats_number(const struct pb_replay_formats *formats, enum pb_subm_driver driver,
				  const struct pb_subm_relocation *relocation);
/**
 * Adds the formats that a submission needs. If there is no room, all formats of earlier submissions are dropped first,
 * and `set` becomes 0.
 * @return false: the submission needs more formats than the channel has
 */
bool pb_replay_formats_add(struct pb_replay_formats *formats, const struct pb_subm_submission *submission);

/** Returns how many formats of its own the channel can use here. */
uint32_t pb_replay_formats_room(const struct pb_card_info *card);
/**
 * Sets the formats that the card lacks. Pre: no submission is in flight. Blocks.
 * @param message out: of BAD_FORMAT, which format was refused and why; PB_REPLAY_FORMATS_MESSAGE_BYTES at most
 */
enum pb_error pb_replay_formats_set(struct pb_replay_formats *formats, struct pb_channel *channel,
				    char *message);

#endif
