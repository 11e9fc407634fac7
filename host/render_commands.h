/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The commands that pb_render translates: their table, and the check of a
 * whole command buffer. Shared by the files of Render only.
 */
#ifndef PB_HOST_RENDER_COMMANDS_H
#define PB_HOST_RENDER_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/render.h"

/** Addresses in one command. */
#define PB_RENDER_OPERANDS 2u

/** One address in a command: two words, allocation index and offset. */
struct pb_render_operand {
	uint32_t word; /**< of the index; the offset follows */
	enum pb_render_slot_id slot;
	bool write;
};

/** What a command looks like. */
struct pb_render_operation {
	uint32_t words; /**< of the whole command; 0: any number from 1 */
	uint32_t nodes; /**< bit PB_NODE_*: which kinds have it in a buffer */
	bool privileged;
	uint32_t operand_count;
	struct pb_render_operand operands[PB_RENDER_OPERANDS];
	/** Checks all other words, and says how many bytes each operand reaches; NULL: no other words count. */
	bool (*measure)(const uint32_t *words, uint64_t extents[PB_RENDER_OPERANDS]);
};

/** One entry of the allocation list, in private memory. */
struct pb_render_entry {
	struct pb_render_allocation known; /**< zeros for the NULL allocation */
	uint32_t handle;
	uint32_t flags; /**< PB_RENDER_USER_WRITE */
};

/** All that is to be translated, in memory that does not change. */
struct pb_render_input {
	const uint32_t *commands;
	uint32_t bytes; /**< multiple of 4 */
	const struct pb_patch_location *locations;
	uint32_t location_count;
	const struct pb_render_entry *entries;
	uint32_t entry_count;
	uint32_t node;
	bool kernel;
};

/** A place in a command buffer and the state there. */
struct pb_render_walk {
	uint32_t offset;         /**< in bytes, of the next command */
	const uint32_t *target;  /**< the last TARGET command before it; NULL: none */
	const uint32_t *texture; /**< the last TEXTURE command */
};

/** What the header of a command in checked memory stands for. */
const struct pb_render_operation *pb_render_operation_of(uint32_t header);

/** Steps over the command at walk->offset, which is a complete one. */
void pb_render_step(const struct pb_render_input *input, struct pb_render_walk *walk);

/**
 * Checks every command, the user's patch list against them, and that
 * multipass_offset lies between two commands.
 */
enum pb_render_status pb_render_check(const struct pb_render_input *input, uint32_t multipass_offset);

#endif
