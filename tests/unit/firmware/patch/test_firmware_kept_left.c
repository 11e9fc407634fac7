/* SPDX-License-Identifier: MIT */
/* Allocations that an earlier, longer list kept are none of a shorter one: what names them is wrong, and not skipped. */
#include <string.h>

#include "tests/unit/patch_oracle.h"

#define LONG  40u
#define SHORT 20u

static struct pb_allocation allocations[LONG];
static struct pb_presumed presumed[LONG];
static struct pb_patch_location patches[LONG];
static uint32_t words[5u * LONG];

/** A list of which all is kept. @param count of its allocations; an entry for each of LONG @param first the first index that an entry has */
static struct oracle_list list_of(uint32_t count, uint32_t first, bool grouped)
{
	struct oracle_list list = {
		.allocations = allocations,
		.patches = patches,
		.words = words,
		.presumed = presumed,
		.encoding = grouped ? PB_PATCH_ENCODING_GROUPED : PB_PATCH_ENCODING_WDDM,
		.allocation_count = count,
		.patch_count = LONG,
		.dma_end = 4u * LONG,
	};

	for (uint32_t i = 0; i < LONG; i++) {
		allocations[i] = oracle_allocation(0x80000000u + 0x1000u * i, 0x1000, CARD_SEGMENT(3));
		presumed[i] = oracle_presumed(&allocations[i]);
		patches[i] = (struct pb_patch_location){
			.allocation_index = (i + first) % LONG,
			.driver_id = PB_PATCH_FORMAT_SUM32,
			.patch_offset = 4u * i,
		};
	}
	if (grouped)
		list.patch_count = oracle_grouped(&list, LONG, 1, words);
	list.patch_length = list.patch_count;
	return list;
}

static void left_over_tags(void **state)
{
	static const struct {
		const char *name;
		uint32_t first; /* index of the first entry */
		bool grouped;
	} rows[] = {
		{"behind some that are kept", 0, false}, {"from the start", SHORT, false},
		{"the last one", LONG - 1u, false},      {"groups behind some that are kept", 0, true},
		{"groups from the start", SHORT, true},
	};
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oracle_list list = list_of(LONG, rows[i].first, rows[i].grouped);

		card_equal(rows[i].name, oracle_check(&card, rows[i].name, &list, 1u + 2u * i).error,
			   PB_ERROR_OK);
		list = list_of(SHORT, rows[i].first, rows[i].grouped);
		card_equal(rows[i].name, oracle_check(&card, rows[i].name, &list, 2u + 2u * i).error,
			   PB_ERROR_PATCH_INDEX);
	}
	card_stop(&card);
}

UNIT_SUITE(test_firmware_kept_left)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(left_over_tags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
