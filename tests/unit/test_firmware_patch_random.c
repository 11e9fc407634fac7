/* SPDX-License-Identifier: MIT */
/*
 * Random patch lists of both encodings, some of them with faults, against the
 * oracle: every byte of the buffer and around it, where a list stops, and why.
 * After a bad entry the rest of the list is submitted, until its end.
 *
 *   test_firmware_patch_random [FIRST_SEED [ENTRIES]]
 *
 * A list follows from its seed alone: what fails with seed N fails again with
 * the argument N and, if one list is wanted, ENTRIES 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/patch_random.h"

/** A list goes on behind so many bad entries. */
#define FAULTS_MAX 8u
/** Entries to carry out or refuse, all lists together: the build sets RANDOM_ENTRIES. */
static uint32_t first_seed = 20240229;
static uint64_t entries_wanted = RANDOM_ENTRIES;

static uint32_t words[RANDOM_PATCHES * PB_COMPACT_ESCAPE_WORDS];

struct counts {
	uint64_t entries;
	uint32_t lists;
	uint32_t results[PB_ERROR_PATCH_ENCODING + 1u];
	uint64_t formats[256];
};

/** An entry that obeys every rule: tried until one does. An own format or a small range may leave none. */
static struct pb_patch_location good_entry(struct random_world *world, uint32_t format)
{
	struct pb_patch_location patch;

	for (uint32_t tries = 0; tries < 12; tries++) {
		patch = random_entry(world, format);
		if (oracle_entry(&world->list, &patch, 0) == PB_ERROR_OK)
			return patch;
	}
	return random_entry(world, PB_PATCH_FORMAT_SUM32);
}

/** One in eight lists is as long as the card takes at once here; the others are short. */
static void make_list(struct random_world *world, uint32_t seed)
{
	static const uint32_t runs[] = {1, 3, 20, 2000};
	const bool is_long = (world->seed = seed * 2654435761u | 1u, random_once_in(world, 8));
	const uint32_t run = runs[random_below(world, 4)];
	struct oracle_list *list = &world->list;
	uint32_t format = 0;

	world->reach = random_below(world, RANDOM_REACHES);
	world->segment = world->flags = 0;
	random_formats(world);
	*list = (struct oracle_list){
		.allocations = world->allocations,
		.patches = world->patches,
		.own = &world->own,
		.allocation_count = 1 + random_below(world, is_long ? RANDOM_ALLOCATIONS : 40),
		.patch_count = 1 + (is_long ? RANDOM_PATCHES / 2 + random_below(world, RANDOM_PATCHES / 2)
					    : random_below(world, 160)),
		.words = words,
		.encoding = random_below(world, 2),
	};
	random_range(world, is_long ? ORACLE_BUFFER_MAX : ORACLE_BUFFER_BYTES);
	for (uint32_t i = 0; i < list->allocation_count; i++)
		world->allocations[i] = random_allocation(world);
	for (uint32_t i = 0; i < list->patch_count; i++) {
		if (random_once_in(world, run))
			format = random_format(world);
		world->patches[i] = good_entry(world, format);
	}
	for (uint32_t faults = random_below(world, 6); faults > 1; faults--)
		random_fault(world, &world->patches[random_below(world, list->patch_count)]);
}

/** The same as words, or a part of them, with a bit changed now and then. */
static void make_compact(struct random_world *world)
{
	struct oracle_list *list = &world->list;
	const uint32_t loose = random_once_in(world, 3) ? world->seed : 0;

	list->patch_count = oracle_compact(list->patches, list->patch_count, loose, words);
	if (random_once_in(world, 3))
		words[random_below(world, list->patch_count)] ^= 1u << random_below(world, 32);
	if (random_once_in(world, 8))
		list->patch_count -= 1;
}

/** Submits the list, and what comes behind each bad entry. */
static void run_list(struct card *card, struct random_world *world, struct counts *counts, const char *row)
{
	struct oracle_list *list = &world->list;

	if (random_once_in(world, 4))
		list->patch_start = random_below(world, list->patch_count);
	for (uint32_t parts = 0; parts < FAULTS_MAX; parts++) {
		struct oracle_result result;

		list->patch_length = list->patch_count - list->patch_start;
		if (random_once_in(world, 8))
			list->patch_length = random_below(world, list->patch_length + 1u);
		result = oracle_check(card, row, list, world->seed);
		counts->results[result.error]++;
		counts->entries += result.done + (result.error != PB_ERROR_OK ? 1u : 0u);
		list->patch_start = result.next;
		if (list->patch_start == list->patch_count)
			break;
	}
}

/** Lists that all fail, or never do in one way, or never use a format, would test little. */
static void expect_variety(const struct counts *counts)
{
	print_message("%" PRIu64 " entries in %u lists, seeds %u to %u; parts that ended well: %u\n",
		      counts->entries, counts->lists, first_seed, first_seed + counts->lists - 1,
		      counts->results[PB_ERROR_OK]);
	for (uint32_t error = PB_ERROR_PATCH_RESERVED; error <= PB_ERROR_PATCH_ENCODING; error++)
		print_message("  %s %u\n", pb_error_name(error), counts->results[error]);
	if (counts->lists < 200)
		return; /* a replay */
	assert_true(counts->results[PB_ERROR_OK] > counts->lists / 3);
	for (uint32_t error = PB_ERROR_PATCH_RESERVED; error <= PB_ERROR_PATCH_ENCODING; error++)
		card_equal(pb_error_name(error), counts->results[error] >= 5, true);
	for (uint32_t format = 0; format < PB_PATCH_FORMAT_COUNT; format++)
		card_equal("format", counts->formats[format] != 0, true);
}

static void random_lists(void **state)
{
	static struct random_world world;
	static struct counts counts;
	struct card card;
	char row[32];

	(void)state;
	oracle_start(&card);
	for (; counts.entries < entries_wanted; counts.lists++) {
		struct oracle_formats set = {0};

		snprintf(row, sizeof(row), "seed %u", first_seed + counts.lists);
		make_list(&world, first_seed + counts.lists);
		for (uint32_t i = 0; i < RANDOM_FORMATS; i++)
			oracle_own(&card, &set, PB_FORMAT_OWN + i, &world.own.format[i]);
		for (uint32_t i = 0; i < world.list.patch_count; i++)
			counts.formats[world.patches[i].driver_id % 256]++;
		if (world.list.encoding == PB_PATCH_ENCODING_COMPACT)
			make_compact(&world);
		run_list(&card, &world, &counts, row);
	}
	card_stop(&card);
	expect_variety(&counts);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_lists),
	};

	if (count > 1)
		first_seed = (uint32_t)strtoul(arguments[1], NULL, 0);
	if (count > 2)
		entries_wanted = strtoull(arguments[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
