/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which patch format carries out a captured relocation: a built-in one, or one
 * of the channel's own.
 */
#ifndef PB_HOST_TOOL_REPLAY_FORMATS_H
#define PB_HOST_TOOL_REPLAY_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/abi/format.h"
#include "host/tool/subm.h"

/** Own formats that are used, whatever a board has. */
#define PB_REPLAY_FORMATS_MAX 16u
/** No format: pb_replay_formats_add has not seen the submission. */
#define PB_REPLAY_FORMAT_NONE 0xffffffffu

/*
 * Attribute of an allocation, by which formats of nouveau choose their bits:
 * which memory the object was in. All objects stand in one segment, as its
 * addresses are all that matters here.
 */
#define PB_REPLAY_ATTRIBUTE_VRAM 0u
#define PB_REPLAY_ATTRIBUTE_GART 1u

/** The channel's own formats, the first of them being PB_FORMAT_OWN. */
struct pb_replay_formats {
	uint32_t room;  /**< how many the channel has, PB_REPLAY_FORMATS_MAX at most */
	uint32_t count; /**< in use */
	uint32_t set;   /**< of these, as the card knows them */
	struct pb_patch_format own[PB_REPLAY_FORMATS_MAX];
};

/** DriverId for a relocation, or PB_REPLAY_FORMAT_NONE. */
uint32_t pb_replay_formats_number(const struct pb_replay_formats *formats, enum pb_subm_driver driver,
				  const struct pb_subm_relocation *relocation);
/**
 * Takes up what a submission needs. Where there is no room left for it, all
 * formats of earlier submissions are given up; `set` tells what the card lacks.
 * @return false: the submission needs more than the channel has
 */
bool pb_replay_formats_add(struct pb_replay_formats *formats, const struct pb_subm_submission *submission);

#endif
