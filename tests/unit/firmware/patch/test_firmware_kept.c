/* SPDX-License-Identifier: MIT */
/*
 * Allocations that the host presumes where they are: nothing is written through them, whatever encoding the list has.
 * What a patched word must be stands in the tables; the bytes around it, errors and counts are the oracle's.
 */
#include <string.h>

#include "tests/unit/patch_oracle.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define ALLOCATIONS  3u
#define MIDDLE       1u
#define OLD          0x0badbadu
#define BASE         0x80000000u

static struct pb_allocation allocation_of(uint32_t i)
{
	struct pb_allocation allocation = oracle_allocation(BASE + 0x10000u * i, 0x1000, CARD_SEGMENT(3));

	allocation.id = 0x40u + i;
	return allocation;
}

/* ---- what is kept ---- */

static const struct kept_row {
	const char *name;
	struct pb_allocation listed; /* exclusive or, of the middle one */
	struct pb_presumed presumed; /* likewise */
	bool written;
} kept_rows[] = {
	{"as listed", {0}, {0}, false},
	{"moved", {.address_low = 0x2000}, {0}, true},
	{"moved by 4 GiB", {.address_high = 1}, {0}, true},
	{"moved, and presumed there", {.address_low = 0x2000}, {.address_low = 0x2000}, false},
	{"presumed elsewhere", {0}, {.address_low = 4}, true},
	{"presumed 4 GiB above", {0}, {.address_high = 1}, true},
	{"presumed in another segment", {0}, {.flags = CARD_SEGMENT(1)}, true},
	{"written to now", {.flags = PB_ALLOCATION_WRITE}, {0}, true},
	{"another attribute", {.flags = 0x200}, {0}, true},
	{"the other attribute bit", {.flags = 0x400}, {0}, true},
	{"bit 31 of the flags", {0}, {.flags = 0x80000000}, true},
	{"nothing presumed", {0}, {.flags = CARD_SEGMENT(3)}, true},
	{"another size", {.size_low = 0x2000}, {0}, false},
	{"a size that is wrong", {.size_low = 0x1000}, {0}, false},
};

/** One entry for each allocation, in each encoding. */
static void every_kept_row(void **state)
{
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < 2u * COUNT(kept_rows); i++) {
		const struct kept_row *row = &kept_rows[i / 2u];
		struct pb_allocation allocations[ALLOCATIONS];
		struct pb_presumed presumed[ALLOCATIONS];
		struct pb_patch_location patches[ALLOCATIONS];
		uint32_t words[5u * ALLOCATIONS];
		uint32_t buffer[ALLOCATIONS] = {OLD, OLD, OLD};
		struct oracle_list list = {
			.allocations = allocations,
			.patches = patches,
			.words = words,
			.presumed = presumed,
			.encoding = i % 2u == 0 ? PB_PATCH_ENCODING_WDDM : PB_PATCH_ENCODING_GROUPED,
			.allocation_count = ALLOCATIONS,
			.patch_count = ALLOCATIONS,
			.dma_end = sizeof(buffer),
		};

		for (uint32_t a = 0; a < ALLOCATIONS; a++) {
			allocations[a] = allocation_of(a);
			presumed[a] = oracle_presumed(&allocations[a]);
			patches[a] = (struct pb_patch_location){
				.allocation_index = a,
				.driver_id = PB_PATCH_FORMAT_SUM32,
				.allocation_offset = a,
				.patch_offset = 4u * a,
			};
		}
		for (uint32_t w = 0; w < 6u; w++)
			(&allocations[MIDDLE].address_low)[w] ^= (&row->listed.address_low)[w];
		for (uint32_t w = 0; w < 3u; w++)
			(&presumed[MIDDLE].address_low)[w] ^= (&row->presumed.address_low)[w];
		if (i % 2u != 0)
			list.patch_count = oracle_grouped(&list, ALLOCATIONS, 1, words);
		list.patch_length = list.patch_count;
		(void)oracle_run(&list, 0, (uint8_t *)buffer);
		card_equal(row->name, buffer[0], OLD);
		card_equal(row->name, buffer[MIDDLE],
			   row->written ? allocations[MIDDLE].address_low + MIDDLE : OLD);
		card_equal(row->name, buffer[2], OLD);
		card_equal(row->name, oracle_check(&card, row->name, &list, 1u + i).done, row->written);
	}
	card_stop(&card);
}

/* ---- what a list makes of it: allocations 0 and 2 are kept, 1 is not ---- */

#define ENTRY(index, format, offset)                                                                         \
	{                                                                                                    \
		.allocation_index = (index), .driver_id = PB_PATCH_FORMAT_##format, .patch_offset = (offset) \
	}
#define NEW (BASE + 0x10000u)

static const struct list_row {
	const char *name;
	enum pb_error error;
	uint32_t index;
	uint32_t done;
	struct pb_patch_location patches[4];
	uint32_t expected[4];
} list_rows[] = {
	{"one moved",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 1,
	 {ENTRY(0, SUM32, 0), ENTRY(1, SUM32, 4), ENTRY(2, SUM32, 8), ENTRY(0, SUM32, 12)},
	 {OLD, NEW, OLD, OLD}},
	{"two of it",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 2,
	 {ENTRY(1, SUM32, 0), ENTRY(0, SUM32, 4), ENTRY(2, SUM32, 8), ENTRY(1, ADDRESS32, 12)},
	 {NEW, OLD, OLD, NEW}},
	{"all of it",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 4,
	 {ENTRY(1, SUM32, 0), ENTRY(1, SUM32, 4), ENTRY(1, ADDRESS32, 8), ENTRY(1, SUM32, 12)},
	 {NEW, NEW, NEW, NEW}},
	{"nothing of it",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 0,
	 {ENTRY(0, SUM32, 0), ENTRY(2, SUM32, 4), ENTRY(2, SUM32, 8), ENTRY(0, SUM32, 12)},
	 {OLD, OLD, OLD, OLD}},
	{"bad, and skipped",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 1,
	 {ENTRY(0, COUNT, 0), ENTRY(2, SUM32, 0x1000), ENTRY(0, SUM32, 2), ENTRY(1, SUM32, 12)},
	 {OLD, OLD, OLD, NEW}},
	{"bad behind what is skipped",
	 PB_ERROR_PATCH_RANGE,
	 2,
	 1,
	 {ENTRY(1, SUM32, 0), ENTRY(2, SUM32, 4), ENTRY(1, SUM32, 16), ENTRY(1, SUM32, 12)},
	 {NEW, OLD, OLD, OLD}},
	{"no such allocation",
	 PB_ERROR_PATCH_INDEX,
	 3,
	 0,
	 {ENTRY(0, SUM32, 0), ENTRY(2, SUM32, 4), ENTRY(2, SUM32, 8), ENTRY(3, SUM32, 12)},
	 {OLD, OLD, OLD, OLD}},
	{"an index of all ones",
	 PB_ERROR_PATCH_INDEX,
	 1,
	 0,
	 {ENTRY(0, SUM32, 0), ENTRY(0xffffffff, SUM32, 4), ENTRY(2, SUM32, 8), ENTRY(1, SUM32, 12)},
	 {OLD, OLD, OLD, OLD}},
	{"a fence id names no allocation",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 1,
	 {ENTRY(0, SUM32, 0), ENTRY(0xffffffff, FENCE_ID, 4), ENTRY(2, SUM32, 8), ENTRY(2, SUM32, 12)},
	 {OLD, 0xfe, OLD, OLD}},
	{"a fence id names the one that moved",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 1,
	 {ENTRY(0, SUM32, 0), ENTRY(1, FENCE_ID, 4), ENTRY(2, SUM32, 8), ENTRY(2, SUM32, 12)},
	 {OLD, 0xfe, OLD, OLD}},
	{"a fence id names one that is kept",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 0,
	 {ENTRY(0, SUM32, 0), ENTRY(2, FENCE_ID, 4), ENTRY(2, SUM32, 8), ENTRY(2, SUM32, 12)},
	 {OLD, OLD, OLD, OLD}},
};

/* Groups; a short entry has the place and the index in its first word. */
#define HEAD(index, format, words)  PB_PATCH_FORMAT_##format << 10 | (index), (words)
#define FIXED(index, format, words) 0x40000u | PB_PATCH_FORMAT_##format << 10 | (index), (words)
#define SHORT(place, index)         (place) / 4u << 10 | (index), 0
#define ESCAPE(place, index, format)                                                                         \
	0xffc00000u | (uint32_t)PB_PATCH_FORMAT_##format << 10 | (index), (place), 0

static const struct group_row {
	const char *name;
	enum pb_error error;
	uint32_t index;
	uint32_t done;
	uint32_t start;
	uint32_t length;
	uint32_t words[16];
	uint32_t expected[4];
} group_rows[] = {
	{"one moved",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 2,
	 0,
	 14,
	 {HEAD(0, SUM32, 2), SHORT(0, 0), HEAD(1, SUM32, 4), SHORT(4, 1), SHORT(8, 1), HEAD(2, SUM32, 2),
	  SHORT(12, 2)},
	 {OLD, NEW, NEW, OLD}},
	{"empty groups",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 1,
	 0,
	 12,
	 {HEAD(0, SUM32, 0), HEAD(1, SUM32, 0), HEAD(1, SUM32, 2), SHORT(4, 1), HEAD(1, SUM32, 0),
	  HEAD(2, SUM32, 0)},
	 {OLD, NEW, OLD, OLD}},
	{"fixed",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 1,
	 0,
	 8,
	 {FIXED(0, FENCE_ID, 2), SHORT(0, 0), HEAD(2, FENCE_ID, 2), SHORT(8, 2)},
	 {0xfe, OLD, OLD, OLD}},
	{"kept, in the group of another",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 3,
	 0,
	 8,
	 {HEAD(1, SUM32, 6), SHORT(0, 0), SHORT(4, 1), SHORT(8, 2)},
	 {OLD, NEW, OLD, OLD}},
	{"moved, in the group of one that is kept",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 0,
	 0,
	 4,
	 {HEAD(2, SUM32, 2), SHORT(4, 1)},
	 {OLD, OLD, OLD, OLD}},
	{"an escape, and its format in its group only",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 3,
	 0,
	 11,
	 {HEAD(1, SUM32, 5), ESCAPE(0, 1, FENCE_ID), SHORT(4, 1), HEAD(1, SUM32, 2), SHORT(8, 1)},
	 {0xfe, 0xfe, NEW, OLD}},
	{"a later start",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 1,
	 4,
	 4,
	 {HEAD(1, SUM32, 2), SHORT(0, 1), HEAD(1, SUM32, 2), SHORT(4, 1)},
	 {OLD, NEW, OLD, OLD}},
	{"half a head",
	 PB_ERROR_PATCH_ENCODING,
	 4,
	 1,
	 0,
	 5,
	 {HEAD(1, SUM32, 2), SHORT(0, 1), HEAD(1, SUM32, 2)},
	 {NEW, OLD, OLD, OLD}},
	{"half a head behind what is skipped",
	 PB_ERROR_PATCH_ENCODING,
	 4,
	 0,
	 0,
	 5,
	 {HEAD(0, SUM32, 2), SHORT(0, 0), HEAD(1, SUM32, 2)},
	 {OLD, OLD, OLD, OLD}},
	{"a group cut off",
	 PB_ERROR_PATCH_ENCODING,
	 4,
	 1,
	 0,
	 7,
	 {HEAD(1, SUM32, 2), SHORT(0, 1), HEAD(1, SUM32, 2), SHORT(4, 1)},
	 {NEW, OLD, OLD, OLD}},
	{"a skipped group cut off",
	 PB_ERROR_PATCH_ENCODING,
	 0,
	 0,
	 0,
	 3,
	 {HEAD(0, SUM32, 2), SHORT(0, 0)},
	 {OLD, OLD, OLD, OLD}},
	{"a group of all ones",
	 PB_ERROR_PATCH_ENCODING,
	 0,
	 0,
	 0,
	 4,
	 {HEAD(0, SUM32, 0xffffffff), SHORT(0, 0)},
	 {OLD, OLD, OLD, OLD}},
	{"a group as long as wraps",
	 PB_ERROR_PATCH_ENCODING,
	 0,
	 0,
	 0,
	 4,
	 {HEAD(0, SUM32, 0xfffffffe), SHORT(0, 0)},
	 {OLD, OLD, OLD, OLD}},
	{"half an entry at a group's end",
	 PB_ERROR_PATCH_ENCODING,
	 4,
	 1,
	 0,
	 9,
	 {HEAD(1, SUM32, 3), SHORT(0, 1), SHORT(4, 1) /* cut */, HEAD(1, SUM32, 0)},
	 {NEW, OLD, OLD, OLD}},
	{"half an escape at a group's end",
	 PB_ERROR_PATCH_ENCODING,
	 2,
	 0,
	 0,
	 5,
	 {HEAD(1, SUM32, 2), ESCAPE(0, 1, SUM32)},
	 {OLD, OLD, OLD, OLD}},
	{"reserved",
	 PB_ERROR_PATCH_RESERVED,
	 4,
	 1,
	 0,
	 8,
	 {HEAD(1, SUM32, 2), SHORT(0, 1), 0x80000u | HEAD(1, SUM32, 2), SHORT(4, 1)},
	 {NEW, OLD, OLD, OLD}},
	{"reserved, of one that is kept",
	 PB_ERROR_PATCH_RESERVED,
	 0,
	 0,
	 0,
	 4,
	 {0x80000000u | HEAD(0, SUM32, 2), SHORT(4, 1)},
	 {OLD, OLD, OLD, OLD}},
	{"no such allocation, and none of its entries",
	 PB_ERROR_OK,
	 PB_INDEX_NONE,
	 1,
	 0,
	 4,
	 {HEAD(3, SUM32, 2), SHORT(4, 1)},
	 {OLD, NEW, OLD, OLD}},
	{"bad entry",
	 PB_ERROR_PATCH_RANGE,
	 8,
	 1,
	 0,
	 10,
	 {HEAD(0, SUM32, 2), SHORT(0, 0), HEAD(1, SUM32, 4), SHORT(4, 1), SHORT(16, 1)},
	 {OLD, NEW, OLD, OLD}},
	{"no such format",
	 PB_ERROR_PATCH_FORMAT,
	 2,
	 0,
	 0,
	 4,
	 {HEAD(1, COUNT, 2), SHORT(4, 1)},
	 {OLD, OLD, OLD, OLD}},
};

static struct pb_allocation three[ALLOCATIONS];
static struct pb_presumed two[ALLOCATIONS];

static struct oracle_list start_list(void)
{
	for (uint32_t a = 0; a < ALLOCATIONS; a++) {
		three[a] = allocation_of(a);
		two[a] = oracle_presumed(&three[a]);
	}
	two[1].flags = 0;
	return (struct oracle_list){
		.allocations = three,
		.presumed = two,
		.allocation_count = ALLOCATIONS,
		.dma_end = 16,
		.fence_id = 0xfe,
	};
}

static void expect(struct card *card, const char *name, const struct oracle_list *list, enum pb_error error,
		   uint32_t index, uint32_t done, const uint32_t *expected)
{
	uint32_t words[4] = {OLD, OLD, OLD, OLD};
	const struct oracle_result result = oracle_run(list, list->fence_id, (uint8_t *)words);
	struct oracle_list whole = *list; /* leaves the slots of all allocations open */

	whole.presumed = NULL;
	(void)oracle_check(card, name, &whole, 100u + index);
	card_equal(name, result.error, error);
	card_equal(name, result.index, index);
	card_equal(name, result.done, done);
	for (uint32_t w = 0; w < 4; w++)
		card_equal(name, words[w], expected[w]);
	card_equal(name, oracle_check(card, name, list, 1u + index).error, error);
}

static void every_list_row(void **state)
{
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < COUNT(list_rows); i++) {
		const struct list_row *row = &list_rows[i];
		struct oracle_list list = start_list();

		list.patches = row->patches;
		list.patch_count = list.patch_length = COUNT(row->patches);
		expect(&card, row->name, &list, row->error, row->index, row->done, row->expected);
	}
	card_stop(&card);
}

static void every_group_row(void **state)
{
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < COUNT(group_rows); i++) {
		const struct group_row *row = &group_rows[i];
		struct oracle_list list = start_list();

		list.words = row->words;
		list.encoding = PB_PATCH_ENCODING_GROUPED;
		list.patch_start = row->start;
		list.patch_length = row->length;
		list.patch_count = row->start + row->length;
		expect(&card, row->name, &list, row->error, row->index, row->done, row->expected);
	}
	card_stop(&card);
}

/* ---- the descriptor ---- */

static const struct {
	const char *name;
	uint32_t encoding;
	uint32_t from_end; /* bytes from the allocation list's start to the end of segment 0 */
	uint32_t allocations;
	enum pb_error error;
} descriptors[] = {
	{"room for all", PB_PATCH_PRESUMED, 72, 2, PB_ERROR_OK},
	{"too short", PB_PATCH_PRESUMED, 64, 2, PB_ERROR_BAD_ALLOCATION_LIST},
	{"none of it", PB_PATCH_PRESUMED, 48, 2, PB_ERROR_BAD_ALLOCATION_LIST},
	{"none of it, and not asked for", 0, 48, 2, PB_ERROR_OK},
	{"with a compact list", PB_PATCH_PRESUMED | PB_PATCH_ENCODING_COMPACT, 72, 2, PB_ERROR_UNSUPPORTED},
	{"with groups", PB_PATCH_PRESUMED | PB_PATCH_ENCODING_GROUPED, 64, 2, PB_ERROR_BAD_ALLOCATION_LIST},
	{"as many as there can be", PB_PATCH_PRESUMED, 1024u * 36u, 1024, PB_ERROR_OK},
	{"as many, too short", PB_PATCH_PRESUMED, 1024u * 36u - 8u, 1024, PB_ERROR_BAD_ALLOCATION_LIST},
	{"no allocations", PB_PATCH_PRESUMED, 0, 0, PB_ERROR_OK},
	{"another bit", PB_PATCH_PRESUMED | 0x20000u, 72, 2, PB_ERROR_UNSUPPORTED},
	{"encoding 3", PB_PATCH_PRESUMED | 3u, 72, 2, PB_ERROR_UNSUPPORTED},
};

static void every_descriptor(void **state)
{
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < COUNT(descriptors); i++) {
		const uint32_t at = CARD_SYSTEM_BYTES - descriptors[i].from_end;
		struct pb_descriptor descriptor =
			card_descriptor(&card, 1, 64, descriptors[i].allocations, 6);

		for (uint32_t a = 0; a < descriptors[i].allocations; a++) {
			const struct pb_allocation allocation = allocation_of(a);

			memcpy(card_bytes(&card, 0, at + a * 24u), &allocation, 24);
		}
		/* Six entries of SUM32, or of nothing: whatever the encoding is, words of 0 are good but for a head. */
		memset(card_bytes(&card, 0, CARD_PATCHES), 0, 6u * 24u);
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		descriptor.allocation_address_low = (uint32_t)CARD_SYSTEM_OS + at;
		descriptor.patch_encoding = descriptors[i].encoding;
		if (descriptors[i].allocations == 0)
			descriptor.patch_length = 0;
		card_equal(descriptors[i].name, card_execute(&card, 0, &descriptor).status,
			   descriptors[i].error);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

UNIT_SUITE(test_firmware_kept)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kept_row),
		cmocka_unit_test(every_list_row),
		cmocka_unit_test(every_group_row),
		cmocka_unit_test(every_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
