/* SPDX-License-Identifier: MIT */
/*
 * Patching again: a list that is carried out many times, with allocations that
 * move in between, leaves what it would leave had they always been where they
 * are now. This holds for random lists of any formats, those that keep bits
 * and those whose places overlap among them. No oracle says what the bytes are.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/patch_random.h"

#define LISTS       300u
#define ENTRIES     300u
#define ALLOCATIONS 24u
#define PLACEMENTS  4u
#define BYTES       ORACLE_BUFFER_BYTES
#define PAGES_BYTES (3u * BYTES)

static struct random_world world;
/** The same allocations at other places. */
static struct pb_allocation placements[PLACEMENTS][ALLOCATIONS];

/** One that is bound stays so: through an unbound one the old address stays, and may. */
static void make_placements(void)
{
	for (uint32_t a = 0; a < ALLOCATIONS; a++) {
		for (uint32_t p = 0; p < PLACEMENTS; p++) {
			do {
				placements[p][a] = random_allocation(&world);
			} while (((placements[p][a].flags ^ placements[0][a].flags) & PB_ALLOCATION_UNBIND) !=
				 0);
		}
	}
}

static bool good_everywhere(const struct pb_patch_location *patch)
{
	for (uint32_t p = 0; p < PLACEMENTS; p++) {
		world.list.allocations = placements[p];
		if (oracle_entry(&world.list, patch, world.list.fence_id) != PB_ERROR_OK)
			return false;
	}
	return true;
}

/** Each entry of a format drawn anew, so that all have their turn where one of them fits nowhere. */
static void make_list(uint32_t seed)
{
	world.seed = seed * 2654435761u | 1u;
	world.reach = seed % RANDOM_REACHES;
	world.segment = world.flags = 0;
	random_formats(&world);
	make_placements();
	world.list = (struct oracle_list){
		.patches = world.patches,
		.own = &world.own,
		.allocation_count = ALLOCATIONS,
		.patch_count = ENTRIES,
		.patch_length = ENTRIES,
		.fence_id = 0x7e000000u + seed,
	};
	random_range(&world, BYTES);
	memcpy(world.allocations, placements[0], sizeof(placements[0]));
	for (uint32_t i = 0; i < ENTRIES; i++) {
		do {
			world.patches[i] = random_entry(&world, random_format(&world));
		} while (!good_everywhere(&world.patches[i]));
	}
}

static void fill(uint8_t *pages, uint32_t seed)
{
	for (uint32_t i = 0; i < PAGES_BYTES; i++)
		pages[i] = (uint8_t)(oracle_random(&seed) >> 24);
}

static void patch_at(struct card *card, const char *row, uint32_t placement)
{
	world.list.allocations = placements[placement];
	card_equal(row, oracle_submit(card, &world.list).status, PB_ERROR_OK);
}

/** Patches of the placements in this order, from the same bytes. */
static void expect_same(struct card *card, const char *row, uint32_t seed, const uint32_t *order,
			uint32_t count)
{
	static uint8_t once[PAGES_BYTES];
	uint8_t *pages = oracle_pages(card);

	fill(pages, seed);
	patch_at(card, row, order[count - 1]);
	memcpy(once, pages, PAGES_BYTES);
	fill(pages, seed);
	for (uint32_t i = 0; i < count; i++)
		patch_at(card, row, order[i]);
	card_equal(row, memcmp(pages, once, PAGES_BYTES), 0);
}

static void moved_and_patched_again(void **state)
{
	static const uint32_t again[] = {0, 0, 0, 0, 0};
	static const uint32_t moving[] = {0, 1, 2, 3, 1, 0, 3};
	bool used[PB_FORMAT_OWN + RANDOM_FORMATS] = {false};
	struct card card;
	char row[32];

	(void)state;
	oracle_start(&card);
	for (uint32_t seed = 1; seed <= LISTS; seed++) {
		struct oracle_formats set = {0};

		snprintf(row, sizeof(row), "seed %u", seed);
		make_list(seed);
		for (uint32_t i = 0; i < RANDOM_FORMATS; i++)
			oracle_own(&card, &set, PB_FORMAT_OWN + i, &world.own.format[i]);
		for (uint32_t i = 0; i < ENTRIES; i++)
			used[world.patches[i].driver_id] = true;
		expect_same(&card, row, seed, again, sizeof(again) / sizeof(again[0]));
		expect_same(&card, row, seed, moving, sizeof(moving) / sizeof(moving[0]));
	}
	for (uint32_t format = 0; format < PB_PATCH_FORMAT_COUNT; format++)
		card_equal("format", used[format], true);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_patch_again)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moved_and_patched_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
