/* SPDX-License-Identifier: MIT */
/* The compact encoding: words worked out by hand, and a decoder that knows the layout from its description alone. */
#include <stdbool.h>
#include <string.h>

#include "patchbay/compact.h"
#include "tests/unit/unit.h"

#define ROOM 16u

struct entry {
	uint32_t allocation;
	uint32_t format;
	uint32_t offset;
	uint32_t place;
};

static struct pb_patch_location location(struct entry entry)
{
	return (struct pb_patch_location){
		.allocation_index = entry.allocation,
		.slot = 0x00abcdef,
		.driver_id = entry.format,
		.allocation_offset = entry.offset,
		.patch_offset = entry.place,
		.split_offset = 0x12345678,
	};
}

struct good {
	const char *name;
	uint32_t count;
	struct entry entries[4];
	uint32_t used;
	uint32_t words[ROOM];
};

static const struct good goods[] = {
	{"none", 0, {{0}}, 0, {0}},
	{"first", 1, {{0, 0, 0, 0}}, 2, {0x00000000, 0x00000000}},
	{"one", 1, {{1, 0, 0x10, 4}}, 2, {0x00000401, 0x00000010}},
	{"last short place", 1, {{1023, 0, ~0u, 0xffbffc}}, 2, {0xffbfffff, 0xffffffff}},
	{"first escaped place", 1, {{1023, 0, 7, 0xffc000}}, 3, {0xffc003ff, 0x00ffc000, 7}},
	{"last place", 1, {{0, 0, 7, 0xfffffffc}}, 3, {0xffc00000, 0xfffffffc, 7}},
	{"unaligned", 2, {{1, 0, 5, 6}, {2, 0, 5, 8}}, 5, {0xffc00001, 6, 5, 0x00000802, 5}},
	{"a run",
	 3,
	 {{2, 5, 1, 8}, {3, 5, 2, 16}, {0, 5, 3, 4}},
	 7,
	 {0xffc01402, 8, 1, 0x00001003, 2, 0x00000400, 3}},
	{"there and back",
	 3,
	 {{1, 0, 1, 4}, {1, 255, 2, 8}, {1, 0, 3, 12}},
	 8,
	 {0x00000401, 1, 0xffc3fc01, 8, 2, 0xffc00001, 12, 3}},
	/* The example of docs/formats.md. */
	{"example",
	 4,
	 {{1, 0, 0x40, 0x10}, {2, 3, 0, 0x18}, {2, 3, 0x100, 0x20}, {1, 3, 8, 0x1000000}},
	 10,
	 {0x00001001, 0x40, 0xffc00c02, 0x18, 0, 0x00002002, 0x100, 0xffc00c01, 0x01000000, 8}},
	{"an escape for its place keeps the format",
	 4,
	 {{0, 128, 1, 0}, {0, 128, 2, 0xffc004}, {0, 128, 3, 2}, {0, 128, 4, 12}},
	 11,
	 {0xffc20000, 0, 1, 0xffc20000, 0xffc004, 2, 0xffc20000, 2, 3, 0x00000c00, 4}},
};

static void words_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		const struct good *good = &goods[i];
		struct pb_patch_location list[4];
		uint32_t words[ROOM + 1];
		uint32_t used = 99, taken = 99;

		print_message("%s\n", good->name);
		memset(words, 0xee, sizeof(words));
		for (uint32_t e = 0; e < good->count; e++)
			list[e] = location(good->entries[e]);
		/* With exactly the room that it takes. */
		assert_int_equal(pb_compact_encode(list, good->count, words, good->used, &used, &taken),
				 PB_ERROR_OK);
		assert_int_equal(used, good->used);
		assert_int_equal(taken, good->count);
		assert_memory_equal(words, good->words, good->used * sizeof(*words));
		assert_int_equal(words[good->used], 0xeeeeeeee);
	}
}

/* Entry 2 is the bad one; those before it are encoded: 2 + 3 words. */
static void bad_entries(void **state)
{
	static const struct {
		const char *name;
		struct pb_patch_location entry;
		uint32_t room;
		enum pb_error expected;
	} bads[] = {
		{"good", {1023, 0x00ffffff, 255, ~0u, ~0u, ~0u}, ROOM, PB_ERROR_OK},
		{"lowest reserved bit", {0, 0x01000000, 0, 0, 0, 0}, ROOM, PB_ERROR_PATCH_RESERVED},
		{"highest reserved bit", {0, 0x80000000, 0, 0, 0, 0}, ROOM, PB_ERROR_PATCH_RESERVED},
		{"format 256", {0, 0, 256, 0, 0, 0}, ROOM, PB_ERROR_PATCH_FORMAT},
		{"format ~0", {0, 0, ~0u, 0, 0, 0}, ROOM, PB_ERROR_PATCH_FORMAT},
		{"index 1024", {1024, 0, 7, 0, 0, 0}, ROOM, PB_ERROR_PATCH_INDEX},
		{"index ~0", {~0u, 0, 0, 0, 0, 0}, ROOM, PB_ERROR_PATCH_INDEX},
		{"short, no room", {0, 0, 7, 0, 0, 0}, 5, PB_ERROR_NO_SPACE},
		{"short, half the room", {0, 0, 7, 0, 0, 0}, 6, PB_ERROR_NO_SPACE},
		{"short, enough", {0, 0, 7, 0, 0, 0}, 7, PB_ERROR_OK},
		{"escape, two of three", {0, 0, 0, 0, 0, 0}, 7, PB_ERROR_NO_SPACE},
		{"escape, enough", {0, 0, 0, 0, 0, 0}, 8, PB_ERROR_OK},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		const struct pb_patch_location list[3] = {
			location((struct entry){1, 0, 0, 0}),
			location((struct entry){1, 7, 0, 4}),
			bads[i].entry,
		};
		const bool good = bads[i].expected == PB_ERROR_OK;
		uint32_t words[ROOM];
		uint32_t used, taken;

		print_message("%s\n", bads[i].name);
		memset(words, 0xee, sizeof(words));
		assert_int_equal(pb_compact_encode(list, 3, words, bads[i].room, &used, &taken),
				 bads[i].expected);
		assert_int_equal(taken, good ? 3 : 2);
		if (good)
			continue;
		assert_int_equal(used, 5);
		assert_int_equal(words[5], 0xeeeeeeee);
	}
}

static void no_room_at_all(void **state)
{
	const struct pb_patch_location list[1] = {location((struct entry){0, 0, 0, 0})};
	uint32_t words[1] = {0xeeeeeeee};
	uint32_t used, taken;

	(void)state;
	assert_int_equal(pb_compact_encode(list, 1, words, 0, &used, &taken), PB_ERROR_NO_SPACE);
	assert_int_equal(pb_compact_encode(list, 1, words, 1, &used, &taken), PB_ERROR_NO_SPACE);
	assert_int_equal(used, 0);
	assert_int_equal(taken, 0);
	assert_int_equal(words[0], 0xeeeeeeee);
}

/* ---- random lists against a decoder ---- */

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Places around the limits, and runs of formats of every length. */
static struct pb_patch_location random_location(uint32_t *seed, uint32_t format)
{
	static const uint32_t places[] = {0,        4,        0xffbff8,  0xffbffc,
					  0xffc000, 0xffc004, 0x1000000, 0xfffffffc};
	const uint32_t pick = next_random(seed) % 16;
	const uint32_t place = pick < 8 ? places[pick] : next_random(seed) % 0x100000 * 4;

	return location((struct entry){next_random(seed) % 1024, format, next_random(seed) << 8 ^ pick,
				       place + (next_random(seed) % 8 == 0 ? next_random(seed) % 4 : 0)});
}

/* Walks the stream by its description. @return words of the entry at `at`; the fewest that could stand there in `best` */
static uint32_t decode(const uint32_t *at, uint32_t *format, struct entry *entry, uint32_t *best)
{
	const uint32_t before = *format;
	const bool escape = at[0] >= 0xffc00000;

	if (escape) {
		assert_int_equal(at[0] >> 18 & 0xf, 0);
		*format = at[0] >> 10 & 0xff;
		*entry = (struct entry){at[0] % 1024, *format, at[2], at[1]};
	} else {
		*entry = (struct entry){at[0] % 1024, before, at[1], at[0] / 1024 * 4};
	}
	*best = entry->format == before && entry->place % 4 == 0 && entry->place <= 0xffbffc ? 2 : 3;
	return escape ? 3 : 2;
}

#define RANDOM_ENTRIES 300u

static void random_lists(void **state)
{
	uint32_t seed = 2026;

	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		static struct pb_patch_location list[RANDOM_ENTRIES];
		static uint32_t words[PB_COMPACT_WORDS_MAX(RANDOM_ENTRIES)];
		const uint32_t change = 1 + next_random(&seed) % 40;
		uint32_t used, taken, at = 0, format = 0;

		for (uint32_t i = 0, own = 0; i < RANDOM_ENTRIES; i++) {
			own = next_random(&seed) % change == 0 ? next_random(&seed) % 256 : own;
			list[i] = random_location(&seed, own);
		}
		assert_int_equal(pb_compact_encode(list, RANDOM_ENTRIES, words,
						   PB_COMPACT_WORDS_MAX(RANDOM_ENTRIES), &used, &taken),
				 PB_ERROR_OK);
		for (uint32_t i = 0; i < RANDOM_ENTRIES; i++) {
			struct entry entry;
			uint32_t best;
			const uint32_t length = decode(&words[at], &format, &entry, &best);

			assert_int_equal(length, best);
			assert_int_equal(entry.allocation, list[i].allocation_index);
			assert_int_equal(entry.format, list[i].driver_id);
			assert_int_equal(entry.offset, list[i].allocation_offset);
			assert_int_equal(entry.place, list[i].patch_offset);
			for (uint32_t word = at; word < at + length; word++)
				assert_int_equal(pb_compact_index(words, used, word), i);
			at += length;
		}
		assert_int_equal(at, used);
		assert_int_equal(pb_compact_index(words, used, used), PB_INDEX_NONE);
	}
}

/* Two parts behind each other: each starts from format 0, and entries are counted through both. */
static void parts(void **state)
{
	static const uint32_t expected[] = {0xffc01001, 4,  1, 0x00000802, 2,
					    0xffc01003, 12, 3, 0x00001004, 4};
	static const uint32_t owner[] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 3};
	const struct pb_patch_location list[4] = {
		location((struct entry){1, 4, 1, 4}),
		location((struct entry){2, 4, 2, 8}),
		location((struct entry){3, 4, 3, 12}),
		location((struct entry){4, 4, 4, 16}),
	};
	uint32_t words[10];
	uint32_t first, second, taken;

	(void)state;
	assert_int_equal(pb_compact_encode(list, 2, words, 10, &first, &taken), PB_ERROR_OK);
	assert_int_equal(pb_compact_encode(list + 2, 2, words + first, 10 - first, &second, &taken),
			 PB_ERROR_OK);
	assert_int_equal(first, 5);
	assert_int_equal(second, 5);
	assert_memory_equal(words, expected, sizeof(expected));
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(pb_compact_index(words, 10, i), owner[i]);
	assert_int_equal(pb_compact_index(words, 10, 10), PB_INDEX_NONE);
	assert_int_equal(pb_compact_index(words, 10, PB_INDEX_NONE), PB_INDEX_NONE);
	assert_int_equal(pb_compact_index(words, 0, 0), PB_INDEX_NONE);
	/* An entry cut off by the end of the words is an entry. */
	assert_int_equal(pb_compact_index(words, 6, 5), 2);
}

/* ---- groups ---- */

static const struct good groups[] = {
	{"none", 0, {{0}}, 0, {0}},
	{"one of two",
	 2,
	 {{1, 0, 0x10, 4}, {1, 0, 0x20, 8}},
	 6,
	 {0x001, 4, 0x00000401, 0x10, 0x00000801, 0x20}},
	{"two of one", 2, {{1, 3, 1, 4}, {2, 3, 2, 8}}, 8, {0xc01, 2, 0x401, 1, 0xc02, 2, 0x802, 2}},
	{"there and back",
	 3,
	 {{1, 0, 1, 0}, {0, 0, 2, 0}, {1, 0, 3, 0}},
	 12,
	 {1, 2, 1, 1, 0, 2, 0, 2, 1, 2, 1, 3}},
	{"another format in a group",
	 3,
	 {{2, 0, 1, 0}, {2, 1, 2, 8}, {2, 1, 3, 16}},
	 9,
	 {2, 7, 2, 1, 0xffc00402, 8, 2, 0x1002, 3}},
	{"an escape at its beginning", 1, {{2, 5, 1, 2}}, 5, {0x1402, 3, 0xffc01402, 2, 1}},
	{"no allocation", 1, {{~0u, 22, 0, 4}}, 4, {0x45800, 2, 0x400, 0}},
	{"the last of all", 1, {{1023, 255, 0, 4}}, 4, {0x3ffff, 2, 0x7ff, 0}},
};

/** As words_by_hand(), and with less room: the first entries are as if they were all. */
static void groups_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		const struct good *good = &groups[i];
		struct pb_patch_location list[4];

		print_message("%s\n", good->name);
		for (uint32_t e = 0; e < good->count; e++)
			list[e] = location(good->entries[e]);
		for (uint32_t room = 0; room <= good->used; room++) {
			uint32_t words[ROOM + 1], fewer[ROOM + 1];
			uint32_t used = 99, taken = 99, again = 99, all = 99;

			memset(words, 0xee, sizeof(words));
			memset(fewer, 0xee, sizeof(fewer));
			assert_int_equal(pb_grouped_encode(list, good->count, words, room, &used, &taken),
					 room == good->used ? PB_ERROR_OK : PB_ERROR_NO_SPACE);
			assert_true(used <= room && taken <= good->count);
			assert_int_equal(taken == good->count, room == good->used);
			assert_int_equal(pb_grouped_encode(list, taken, fewer, ROOM, &again, &all),
					 PB_ERROR_OK);
			assert_int_equal(again, used);
			assert_memory_equal(words, fewer, sizeof(words));
			if (room == good->used)
				assert_memory_equal(words, good->words, used * sizeof(words[0]));
		}
	}
}

static void bad_entries_of_groups(void **state)
{
	static const struct {
		struct entry entry;
		uint32_t slot;
		enum pb_error error;
	} rows[] = {
		{{1024, 0, 0, 0}, 0, PB_ERROR_PATCH_INDEX},
		{{~1u, 0, 0, 0}, 0, PB_ERROR_PATCH_INDEX},
		{{0, 256, 0, 0}, 0, PB_ERROR_PATCH_FORMAT},
		{{~0u, 256, 0, 0}, 0, PB_ERROR_PATCH_FORMAT},
		{{0, 0, 0, 0}, 0x01000000, PB_ERROR_PATCH_RESERVED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pb_patch_location list[2] = {location((struct entry){0}), location(rows[i].entry)};
		uint32_t words[ROOM], used, taken;

		list[1].slot = rows[i].slot;
		assert_int_equal(pb_grouped_encode(list, 2, words, ROOM, &used, &taken), rows[i].error);
		assert_int_equal(used, 4);
		assert_int_equal(taken, 1);
	}
}

/* Each word of each group's entries names its entry; the heads, an empty group's too, name none. */
static void words_of_groups(void **state)
{
	static const uint32_t none = PB_INDEX_NONE;
	const uint32_t words[] = {1,          5, 0x00000001, 0,
				  0xffc00401, 8, 0,              /* two entries, the second an escape */
				  2,          0,                 /* none */
				  0x00040000, 2, 0x00001000, 0}; /* one */
	const uint32_t owner[] = {none, none, 0, 0, 1, 1, 1, none, none, none, none, 2, 2};

	(void)state;
	for (uint32_t i = 0; i < 13; i++)
		assert_int_equal(pb_grouped_index(words, 13, i), owner[i]);
	assert_int_equal(pb_grouped_index(words, 13, 13), none);
	assert_int_equal(pb_grouped_index(words, 0, 0), none);
	assert_int_equal(pb_grouped_index(words, 7, none), none);
}

/* ---- sorted groups ---- */

static const struct {
	const char *name;
	uint32_t count;
	struct entry entries[4];
	uint32_t groups;
	uint32_t used;
	uint32_t words[ROOM];
} sorted[] = {
	{"none", 0, {{0}}, 0, 0, {0}},
	{"one", 1, {{2, 0, 0x10, 4}}, 1, 4, {2, 2, 0x402, 0x10}},
	{"there and back",
	 3,
	 {{1, 0, 1, 0}, {0, 0, 2, 0}, {1, 0, 3, 0}},
	 2,
	 10,
	 {0, 2, 0, 2, 1, 4, 1, 1, 1, 3}},
	{"entries of an allocation keep their order and their formats",
	 4,
	 {{2, 5, 1, 8}, {0, 7, 2, 0}, {2, 5, 3, 4}, {2, 6, 4, 12}},
	 2,
	 13,
	 {0x1c00, 2, 0, 2, 0x1402, 7, 0x802, 1, 0x402, 3, 0xffc01802, 12, 4}},
	{"an escape at its beginning", 1, {{2, 5, 1, 2}}, 1, 5, {0x1402, 3, 0xffc01402, 2, 1}},
};

/** With exactly the room that it takes, and with one word less. */
static void sorted_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sorted) / sizeof(sorted[0]); i++) {
		const uint32_t used = sorted[i].used;
		struct pb_group_cursor cursors[3];
		struct pb_patch_location list[4];
		uint32_t words[ROOM + 1];
		uint32_t written = 99, groups_written = 99;

		print_message("%s\n", sorted[i].name);
		memset(words, 0xee, sizeof(words));
		memset(cursors, 0xee, sizeof(cursors));
		for (uint32_t e = 0; e < sorted[i].count; e++)
			list[e] = location(sorted[i].entries[e]);
		assert_int_equal(pb_grouped_sort(list, sorted[i].count, cursors, 3, words, used, &written,
						 &groups_written),
				 PB_ERROR_OK);
		assert_int_equal(written, used);
		assert_int_equal(groups_written, sorted[i].groups);
		assert_memory_equal(words, sorted[i].words, used * sizeof(words[0]));
		assert_int_equal(words[used], 0xeeeeeeee);
		if (used == 0)
			continue;
		memset(words, 0xee, sizeof(words));
		assert_int_equal(pb_grouped_sort(list, sorted[i].count, cursors, 3, words, used - 1, &written,
						 &groups_written),
				 PB_ERROR_NO_SPACE);
		assert_int_equal(words[used - 1], 0xeeeeeeee);
	}
}

static void bad_entries_of_sorted_groups(void **state)
{
	static const struct {
		struct entry entry;
		uint32_t slot;
		enum pb_error error;
	} rows[] = {
		{{2, 0, 0, 0}, 0, PB_ERROR_OK},
		{{3, 0, 0, 0}, 0, PB_ERROR_PATCH_INDEX},
		{{~0u, 0, 0, 0}, 0, PB_ERROR_PATCH_INDEX},
		{{0, 256, 0, 0}, 0, PB_ERROR_PATCH_FORMAT},
		{{0, 0, 0, 0}, 0x80000000, PB_ERROR_PATCH_RESERVED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pb_patch_location list[2] = {location((struct entry){0}), location(rows[i].entry)};
		struct pb_group_cursor cursors[3];
		uint32_t words[ROOM], used, count;

		list[1].slot = rows[i].slot;
		assert_int_equal(pb_grouped_sort(list, 2, cursors, 3, words, ROOM, &used, &count),
				 rows[i].error);
	}
}

#define SORTED_ENTRIES 36u

/** The words are those of pb_grouped_encode() for a list that was sorted here, without a word of the code under test. */
static void sorting_first_is_no_difference(void **state)
{
	static struct pb_patch_location list[SORTED_ENTRIES], by_allocation[SORTED_ENTRIES];
	static uint32_t words[PB_GROUPED_WORDS_MAX(SORTED_ENTRIES)], expected[sizeof(words) / 4];
	struct pb_group_cursor cursors[16];
	uint32_t seed = 1811;

	(void)state;
	for (uint32_t round = 0; round < 100; round++) {
		uint32_t used, expected_words, count, taken, at = 0, named = 0;

		for (uint32_t i = 0; i < SORTED_ENTRIES; i++) {
			list[i] = random_location(&seed, next_random(&seed) % 4);
			list[i].allocation_index = next_random(&seed) % (1 + round % 16);
		}
		for (uint32_t a = 0; a < 16; a++) {
			const uint32_t before = at;

			for (uint32_t i = 0; i < SORTED_ENTRIES; i++)
				if (list[i].allocation_index == a)
					by_allocation[at++] = list[i];
			named += at != before;
		}
		assert_int_equal(pb_grouped_encode(by_allocation, SORTED_ENTRIES, expected,
						   sizeof(expected) / 4, &expected_words, &taken),
				 PB_ERROR_OK);
		assert_int_equal(pb_grouped_sort(list, SORTED_ENTRIES, cursors, 16, words, sizeof(words) / 4,
						 &used, &count),
				 PB_ERROR_OK);
		assert_int_equal(used, expected_words);
		assert_int_equal(count, named);
		assert_memory_equal(words, expected, used * sizeof(words[0]));
	}
}

UNIT_SUITE(test_host_compact)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_by_hand),
		cmocka_unit_test(bad_entries),
		cmocka_unit_test(no_room_at_all),
		cmocka_unit_test(random_lists),
		cmocka_unit_test(parts),
		cmocka_unit_test(groups_by_hand),
		cmocka_unit_test(bad_entries_of_groups),
		cmocka_unit_test(words_of_groups),
		cmocka_unit_test(sorted_by_hand),
		cmocka_unit_test(bad_entries_of_sorted_groups),
		cmocka_unit_test(sorting_first_is_no_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
