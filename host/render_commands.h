/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The commands that pb_render() translates: their table, and the check of a whole command buffer. For the files of
 * Render only.
 */
#ifndef PB_HOST_RENDER_COMMANDS_H
#define PB_HOST_RENDER_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/render.h"

/** Largest number of addresses in one command. */
#define PB_RENDER_OPERANDS 2u

/** One address in a command: two words, allocation index and offset. */
struct pb_render_operand {
	uint32_t word; /**< index of the word with the allocation index; the offset is the next word */
	enum pb_render_slot_id slot; /**< SlotId of its patch location */
	bool write;                  /**< the command writes there */
};

/** Description of a command. */
struct pb_render_operation {
	uint32_t words;         /**< words of the command with its header; 0: any number from 1 */
	uint32_t nodes;         /**< bit n: nodes of kind n accept the command in a buffer */
	bool privileged;        /**< only the kernel may use it */
	uint32_t operand_count; /**< addresses in the command */
	struct pb_render_operand operands[PB_RENDER_OPERANDS]; /**< the addresses */
	/** Checks the other words and returns the bytes that each operand covers; NULL: there are no other words. */
	bool (*measure)(const uint32_t *words, uint64_t extents[PB_RENDER_OPERANDS]);
};

/** One entry of the allocation list, in private memory. */
struct pb_render_entry {
	struct pb_render_allocation known; /**< all 0 for the NULL allocation */
	uint32_t handle;                   /**< the user's handle */
	uint32_t flags;                    /**< PB_RENDER_USER_WRITE */
};

/** Input of a translation, in memory that does not change. */
struct pb_render_input {
	const uint32_t *commands;                  /**< command buffer */
	uint32_t bytes;                            /**< size of the command buffer, multiple of 4 */
	const struct pb_patch_location *locations; /**< the user's patch list */
	uint32_t location_count;                   /**< entries of the patch list */
	const struct pb_render_entry *entries;     /**< allocation list */
	uint32_t entry_count;                      /**< entries of the allocation list */
	uint32_t node;                             /**< PB_NODE_*: kind of the node */
	bool kernel;                               /**< the commands are the kernel's */
};

/** A position in a command buffer and the engine state there. */
struct pb_render_walk {
	uint32_t offset;         /**< of the next command, in bytes */
	const uint32_t *target;  /**< last TARGET command before the position; NULL: none */
	const uint32_t *texture; /**< last TEXTURE command before the position; NULL: none */
};

/** Returns the description of a command by its header word; NULL: the command does not exist. */
const struct pb_render_operation *pb_render_operation_of(uint32_t header);

/** Moves behind the command at walk->offset. Pre: the command is complete. */
void pb_render_step(const struct pb_render_input *input, struct pb_render_walk *walk);

/**
 * Checks every command, the user's patch list against the commands, and that multipass_offset lies between two
 * commands.
 */
enum pb_render_status pb_render_check(const struct pb_render_input *input, uint32_t multipass_offset);

#endif
