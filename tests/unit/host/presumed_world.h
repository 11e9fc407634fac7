/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A simulated card with a manager of video memory and some buffers that are submitted again and again: one submission at a
 * time, so that two such worlds in which the same happens place alike.
 */
#ifndef PB_TESTS_UNIT_HOST_PRESUMED_WORLD_H
#define PB_TESTS_UNIT_HOST_PRESUMED_WORLD_H

#include "patchbay/residency.h"
#include "tests/unit/card_fixture.h"

#define PRESUMED_COUNT    14u
#define PRESUMED_BYTES    0x4000u
#define PRESUMED_BUFFERS  4u
#define PRESUMED_COMMANDS 10u
#define PRESUMED_BACKINGS 0x280000u

struct presumed_buffer {
	struct pb_residency_patched patched;
	struct pb_residency_presumption entries[PRESUMED_COUNT + 1];
	struct pb_group_cursor cursors[PRESUMED_COUNT + 1];
	struct pb_residency_submission work;
};

struct presumed_world {
	struct card card;
	struct pb_segment aperture;
	struct pb_queue paging;
	struct pb_residency_segment segments[3];
	struct pb_residency_allocation array[PRESUMED_COUNT];
	struct pb_residency manager;
	struct presumed_buffer buffers[PRESUMED_BUFFERS];
	uint64_t staging[1024];
	bool records;          /* the buffers have records */
	uint32_t grouped_room; /* words for a list in groups, of each record; 0: none */
};

struct presumed_commands {
	uint32_t words[6 * PRESUMED_COMMANDS];
	uint32_t count;
	bool located; /* Render knows where the allocations are */
};

/** Starts a card and its manager, with all allocations paged out. @param records the buffers have records */
void presumed_start(struct presumed_world *world, bool records);
/** Starts the manager, on a channel that has segments, a context and queue 0. */
void presumed_start_manager(struct presumed_world *world);
/** Backing store of an allocation, by its number from 0. */
uint8_t *presumed_backing(const struct presumed_world *world, uint32_t number);
/** Where buffer and lists of a slot lie. */
struct pb_render_output presumed_output(const struct presumed_world *world, uint32_t slot);
/** Begins the record of a buffer. */
void presumed_begin_record(struct presumed_world *world, uint32_t slot);
/** Renders a buffer anew, and begins its record. */
void presumed_render(struct presumed_world *world, uint32_t slot, const struct presumed_commands *commands);
/** Waits for all that was submitted. */
struct pb_fence presumed_finish(struct presumed_world *world);
void presumed_submit(struct presumed_world *world, uint32_t slot);
/** Submits and waits, and fails unless it completes without an error. */
void presumed_submit_well(struct presumed_world *world, uint32_t slot);
/** Lists an allocation without WriteOperation that the buffer writes to: the locations before that one are carried out. */
void presumed_submit_badly(struct presumed_world *world, uint32_t slot, uint32_t bad);
void presumed_submit_unknown_context(struct presumed_world *world, uint32_t slot);
/** Submits packets without patches, and does not wait. */
void presumed_submit_idle(struct presumed_world *world, const uint32_t *words, uint32_t count);
/**
 * Submits behind a buffer that keeps the engine busy. After some steps of the card, a preemption returns the submission,
 * or a reset aborts or returns it: its patches may have been carried out, in part, or not.
 */
void presumed_submit_and_lose(struct presumed_world *world, uint32_t slot, uint32_t steps, bool reset);
/** Pages an allocation out. @param anew it is removed, and another one is added with its number */
void presumed_move(struct presumed_world *world, uint32_t number, bool anew);

#endif
