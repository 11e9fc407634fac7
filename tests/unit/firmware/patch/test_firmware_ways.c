/* SPDX-License-Identifier: MIT */
/*
 * An entry says the same whichever way it takes: first of its format, and
 * behind others of it, where loops have been made for that format. Formats are
 * random; allocations and offsets are those at which something changes.
 */
#include <stdio.h>

#include "tests/unit/patch_random.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define LEAD         2u /* good entries ahead of the one that is looked at */

static const uint32_t offsets[] = {0, 0xfff, 0x1000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

#define ALLOCATIONS 8u
#define GOOD        0u /* for the entries ahead: nothing of them is near an edge */
static struct pb_allocation allocations[ALLOCATIONS];

static void make_allocations(void)
{
	const uint32_t wide = CARD_SEGMENT(3) | PB_ALLOCATION_WRITE;

	allocations[GOOD] = oracle_allocation(0, 0x1000, wide);
	allocations[1] = oracle_allocation(0x1000, UINT64_C(0xffffffff), wide);
	allocations[2] = oracle_allocation(UINT64_C(0x300000000), UINT64_C(0x200000000), wide);
	allocations[3] = oracle_allocation(UINT64_C(0x7ffff000), 0x80000000, CARD_SEGMENT(3));
	allocations[4] =
		oracle_allocation(CARD_VIDEO_OS, 0x1000, CARD_SEGMENT(1) | PB_ALLOCATION_WRITE | 0x400);
	allocations[5] = oracle_allocation(ORACLE_TOP_OS, ORACLE_TOP_BYTES, CARD_SEGMENT(6) | 0x200);
	allocations[6] = oracle_allocation(0, 0, PB_ALLOCATION_UNBIND);
	allocations[7] = oracle_allocation(ORACLE_SIGN_OS, ORACLE_SMALL_BYTES, CARD_SEGMENT(4) | 0x600);
	allocations[1].id = 0xffffffff;
	allocations[2].id = 0x80000000;
	allocations[7].id = 1;
}

static enum pb_error check(struct card *card, const char *row, struct oracle_list *list, uint32_t seed)
{
	list->patch_start = 0;
	list->patch_length = list->patch_count;
	return oracle_check_both(card, row, list, seed);
}

/** @return whether entries ahead were good, so that a loop had its chance */
static bool look_at(struct card *card, const struct oracle_formats *own, uint32_t driver_id, uint32_t edge,
		    uint32_t seed)
{
	const uint32_t align = own->format[driver_id - PB_FORMAT_OWN].align;
	struct pb_patch_location patches[LEAD + 1u];
	struct oracle_list list = {
		.allocations = allocations,
		.patches = patches,
		.own = own,
		.allocation_count = ALLOCATIONS,
		.patch_count = LEAD,
		.dma_end = ORACLE_BUFFER_BYTES,
	};
	char row[64];

	for (uint32_t i = 0; i <= LEAD; i++)
		patches[i] = (struct pb_patch_location){
			.allocation_index = GOOD, .driver_id = driver_id, .patch_offset = 0x40u * i + align};
	snprintf(row, sizeof(row), "seed %u, format %u, edge %u", seed, driver_id, edge);
	if (check(card, row, &list, 1u + edge) != PB_ERROR_OK)
		return false;
	patches[LEAD].allocation_index = edge / COUNT(offsets);
	patches[LEAD].allocation_offset = offsets[edge % COUNT(offsets)];
	list.patch_count = LEAD + 1u;
	check(card, row, &list, 1u + edge);
	return true;
}

/** Random ones seldom have loops: every second becomes one that has. */
static void prefer_loops(struct oracle_formats *own)
{
	for (uint32_t i = 0; i < RANDOM_FORMATS; i += 2) {
		struct pb_patch_format *format = &own->format[i];

		format->source = PB_FORMAT_ADDRESS;
		format->bound = (uint8_t)(i / 2u % PB_FORMAT_BOUNDS);
		format->align = 4;
		format->flags &= (uint8_t)~PB_FORMAT_CANONICAL;
		format->step = (format->flags & PB_FORMAT_WIDE) != 0 ? 1 : 0;
	}
}

static void every_way_says_the_same(void **state)
{
	static struct random_world world;
	struct card card;
	uint32_t looked_at = 0;

	(void)state;
	make_allocations();
	oracle_start(&card);
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct oracle_formats own = {0};

		world.seed = seed * 2654435761u | 1u;
		random_formats(&world);
		prefer_loops(&world.own);
		for (uint32_t i = 0; i < RANDOM_FORMATS; i++) {
			oracle_own(&card, &own, PB_FORMAT_OWN + i, &world.own.format[i]);
			for (uint32_t edge = 0; edge < ALLOCATIONS * COUNT(offsets); edge++) {
				if (!look_at(&card, &own, PB_FORMAT_OWN + i, edge, seed))
					break;
				looked_at++;
			}
		}
	}
	card_stop(&card);
	assert_true(looked_at > SEEDS * RANDOM_FORMATS * ALLOCATIONS * COUNT(offsets) / 2u);
}

UNIT_SUITE(test_firmware_ways)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_says_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
