/* SPDX-License-Identifier: MIT */
/*
 * Buffers that are submitted again with a record of what their patches presume, on a simulated card, beside a second card
 * where the same happens without records. Allocations move, submissions are refused, fail in the middle of their list, and
 * are lost by a reset. After each submission that completes, the buffers of both cards have the same bytes, and so has
 * all memory that the engines wrote. One submission at a time, so that both managers place alike.
 */
#include <string.h>

#include "tests/unit/host/presumed_world.h"

#define ACTIONS   600u
#define STEPS_MAX 60u

/* The first has records, the second has none. */
static struct presumed_world worlds[2];
static uint32_t seed;

static uint32_t chance(uint32_t bound)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % bound;
}

static struct presumed_commands random_commands(void)
{
	struct presumed_commands commands = {.located = chance(2) == 0};
	/* Of few allocations, so that a list has groups; or of all. */
	const uint32_t count = chance(6) == 0 ? 4 : PRESUMED_COUNT;

	for (uint32_t i = 2 + chance(PRESUMED_COMMANDS - 2); i != 0; i--) {
		const uint32_t to = chance(count), from = chance(count);
		const uint32_t place = 4 * chance(0x200), bytes = 4 * chance(0x200);
		const uint32_t fill[] = {0x01000005, to + 1, place, bytes, chance(UINT32_MAX)};
		const uint32_t copy[] = {0x02000006, from + 1, place, to + 1, 4 * chance(0x200), bytes};
		const bool is_fill = chance(3) == 0;

		memcpy(&commands.words[commands.count], is_fill ? fill : copy,
		       is_fill ? sizeof(fill) : sizeof(copy));
		commands.count += is_fill ? 5 : 6;
	}
	return commands;
}

/* ---- comparing ---- */

static void compare_memory(void)
{
	for (uint32_t id = 1; id <= 2; id++)
		assert_memory_equal(card_bytes(&worlds[0].card, id, 0), card_bytes(&worlds[1].card, id, 0),
				    (size_t)worlds[0].segments[id - 1].bytes);
	for (uint32_t n = 0; n < PRESUMED_COUNT; n++) {
		struct pb_render_allocation one, other;

		assert_memory_equal(presumed_backing(&worlds[0], n), presumed_backing(&worlds[1], n),
				    PRESUMED_BYTES);
		assert_true(pb_residency_find(&worlds[0].manager, n + 1, &one));
		assert_true(pb_residency_find(&worlds[1].manager, n + 1, &other));
		assert_true(one.segment == other.segment && one.os_address == other.os_address);
	}
}

/* All of the buffers that completed last are as a whole patch leaves them. */
static void compare_buffer(uint32_t slot)
{
	assert_memory_equal(card_dma(&worlds[0].card, slot), card_dma(&worlds[1].card, slot),
			    CARD_DMA_STRIDE);
}

static uint64_t patches_of(struct presumed_world *world)
{
	return presumed_finish(world).patches;
}

/* ---- the random run ---- */

enum action { WELL, BADLY, UNKNOWN, LOSE, PREEMPT, MOVE, ANEW, RENDER, ACTIONS_COUNT };

/* Most often, buffers are submitted as they should be. */
static enum action random_action(void)
{
	static const enum action often[] = {WELL, WELL, WELL, WELL, WELL,  WELL,    MOVE,    MOVE,
					    ANEW, MOVE, LOSE, LOSE, BADLY, UNKNOWN, PREEMPT, RENDER};

	return often[chance(sizeof(often) / sizeof(often[0]))];
}

static void act(struct presumed_world *world, enum action action, uint32_t slot, uint32_t number,
		const struct presumed_commands *commands)
{
	switch (action) {
	case WELL:
		presumed_submit_well(world, slot);
		break;
	case BADLY:
		presumed_submit_badly(world, slot, number);
		break;
	case UNKNOWN:
		presumed_submit_unknown_context(world, slot);
		break;
	case LOSE:
	case PREEMPT:
		presumed_submit_and_lose(world, slot, number % STEPS_MAX, action == LOSE);
		break;
	case MOVE:
	case ANEW:
		presumed_move(world, number % PRESUMED_COUNT, action == ANEW);
		break;
	case RENDER:
		presumed_render(world, slot, commands);
		break;
	case ACTIONS_COUNT:
		break;
	}
}

static void run_random(uint32_t first_seed)
{
	uint32_t done[ACTIONS_COUNT] = {0};
	uint32_t grouped = 0;

	seed = first_seed;
	presumed_start(&worlds[0], true);
	presumed_start(&worlds[1], false);
	worlds[0].grouped_room = 128;
	for (uint32_t slot = 0; slot < PRESUMED_BUFFERS; slot++) {
		const struct presumed_commands commands = random_commands();

		presumed_render(&worlds[0], slot, &commands);
		presumed_render(&worlds[1], slot, &commands);
	}
	for (uint32_t i = 0; i < ACTIONS; i++) {
		const enum action action = random_action();
		const uint32_t slot = chance(PRESUMED_BUFFERS), number = chance(UINT32_MAX);
		const struct presumed_commands commands = random_commands();

		act(&worlds[0], action, slot, number, &commands);
		act(&worlds[1], action, slot, number, &commands);
		done[action]++;
		compare_memory();
		if (action == WELL) {
			compare_buffer(slot);
			grouped += worlds[0].buffers[slot].patched.grouped_words != 0;
		}
	}
	/* All of it happened, not once but often. */
	for (uint32_t i = 0; i < ACTIONS_COUNT; i++)
		assert_true(done[i] > 10);
	assert_true(worlds[0].manager.figures.splits >= 5);
	assert_true(grouped >= 5);
	assert_true(3 * patches_of(&worlds[0]) < 2 * patches_of(&worlds[1]));
	card_stop(&worlds[0].card);
	card_stop(&worlds[1].card);
}

static void bytes_are_those_of_a_whole_patch(void **state)
{
	static const uint32_t seeds[] = {0x2545f491, 1, 0xdecafbad};

	(void)state;
	for (uint32_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		run_random(seeds[i]);
}

UNIT_SUITE(test_residency_presumed)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_those_of_a_whole_patch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
