/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Allocations on a simulated card, a model of their contents in plain memory,
 * and what commands mean there: worked out from the commands, not from what
 * Render makes of them.
 */
#ifndef PB_TESTS_UNIT_RENDER_WORLD_H
#define PB_TESTS_UNIT_RENDER_WORLD_H

#include "patchbay/render.h"
#include "tests/unit/card_fixture.h"

/** Entries of the user's allocation list: NULL, then the allocations. */
#define WORLD_LIST  6u
#define WORLD_BYTES 2048u /**< of each allocation */
#define WORLD_WORDS 512u  /**< room for commands */

struct world {
	struct card card;
	uint32_t seed;
	struct pb_render_device device;
	struct pb_render_user_allocation list[WORLD_LIST];
	uint32_t model[WORLD_LIST][WORLD_BYTES / 4];
	uint32_t shift;             /**< bytes that all allocations have been moved by since they were made */
	bool paged_out[WORLD_LIST]; /**< the device does not know its address during Render */
	uint32_t words[WORLD_WORDS];
	uint32_t count;
	uint64_t staging[1024];
	struct pb_render_arguments arguments;
};

/** The number of an allocation in the list, which is also its handle: 1, 2 in segment 1; 3, 4, 5 across 4 GiB in 2. */
void world_start(struct world *world);
void world_stop(struct world *world);
/** xorshift */
uint32_t world_random(struct world *world, uint32_t bound);

/** Memory of an allocation, where it is now. */
uint32_t *world_memory(const struct world *world, uint32_t number);
/** Random contents for all of them, and the same in the model. */
void world_scramble(struct world *world);
/** Moves all allocations elsewhere; their old memory is filled with a pattern, which has to stay. */
void world_move(struct world *world);
/** Fails if memory and model differ, or anything was written where allocations had been. */
void world_compare(const struct world *world, const char *row);

/** Appends a legal FILL, COPY, COPY_RECT or NOP. */
void world_add_random(struct world *world);
/** Carries out all commands in the model. DRAW is none of it. */
void world_model_run(struct world *world);

/** Prepares a call for the commands, from the start, with outputs in card memory. */
void world_arguments(struct world *world);
/** New outputs of these sizes in card memory. */
void world_outputs(struct world *world, uint32_t dma_size, uint32_t locations_size);
/** Writes into the allocation list where each allocation is now, as who pages it in would. */
void world_page_in(const struct world *world);
/** A descriptor of what was rendered. */
struct pb_descriptor world_descriptor(const struct world *world);
/** Submits and waits. @return its status */
enum pb_error world_execute(struct world *world, uint32_t node, const struct pb_descriptor *descriptor);

#endif
