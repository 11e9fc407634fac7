/* SPDX-License-Identifier: MIT */
/*
 * Random patch lists of both encodings, some of them with faults, against the
 * oracle: every byte of the buffer and around it, where a list stops, and why.
 * After a bad entry the rest of the list is submitted, until its end.
 *
 *   unit_firmware --suite patch_random [FIRST_SEED [ENTRIES]]
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

struct counts {
	uint64_t entries;
	uint32_t lists;
	uint32_t results[PB_ERROR_PATCH_ENCODING + 1u];
	uint64_t formats[256];
};

/** Submits the list, and what comes behind each bad entry. */
static void run_list(struct card *card, struct random_world *world, struct counts *counts, const char *row)
{
	struct oracle_list *list = &world->list;

	random_start(world);
	for (uint32_t parts = 0; parts < FAULTS_MAX; parts++) {
		struct oracle_result result;

		random_length(world);
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
		random_list(&world, first_seed + counts.lists);
		for (uint32_t i = 0; i < RANDOM_FORMATS; i++)
			oracle_own(&card, &set, PB_FORMAT_OWN + i, &world.own.format[i]);
		for (uint32_t i = 0; i < world.entries; i++)
			counts.formats[world.patches[i].driver_id % 256]++;
		run_list(&card, &world, &counts, row);
	}
	card_stop(&card);
	expect_variety(&counts);
}

UNIT_SUITE(test_firmware_patch_random)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_lists),
	};

	if (unit_argument(0) != NULL)
		first_seed = (uint32_t)strtoul(unit_argument(0), NULL, 0);
	if (unit_argument(1) != NULL)
		entries_wanted = strtoull(unit_argument(1), NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
