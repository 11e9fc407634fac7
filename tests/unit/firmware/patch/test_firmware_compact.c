/* SPDX-License-Identifier: MIT */
/* Compact lists word for word: what each says, and where and why a bad one stops. Places and counts are words. */
#include <string.h>

#include "tests/unit/patch_oracle.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
/** Three for each patch location that a submission may have. */
#define MOST_WORDS 196608u

/* One allocation of each kind; all is at GPU address 0x10000 but for the last index that an entry can name. */
#define ALLOCATIONS 1024u
#define LAST        1023u
static struct pb_allocation allocations[ALLOCATIONS];

static int set_up(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		allocations[i] = oracle_allocation(0x10000, 0x1000, CARD_SEGMENT(3));
	allocations[1] = oracle_allocation(0, 0, PB_ALLOCATION_UNBIND);
	allocations[LAST] = oracle_allocation(0x20000, 0x1000, CARD_SEGMENT(3));
	return 0;
}

/* The words of entries, as the drawings in include/patchbay/abi/patch.h have them. */
#define SHORT(place, index, offset)          ((place) / 4u) << 10 | (index), (offset)
#define ESCAPE(format, index, place, offset) 0xffc00000u | (format) << 10 | (index), (place), (offset)
#define WORDS_MAX                            10u

static const struct row {
	const char *name;
	enum pb_error error;
	uint32_t index;  /* of the bad word */
	uint32_t start;  /* in words */
	uint32_t length; /* in words */
	uint32_t words[WORDS_MAX];
	uint32_t expected[4]; /* words 0 to 3 of the buffer; OLD: as it was */
} rows[] = {
#define OLD      0xddddddddu
#define NONE     PB_INDEX_NONE
#define E(error) PB_ERROR_PATCH_##error
	{"short", PB_ERROR_OK, NONE, 0, 2, {SHORT(4, 0, 0x10)}, {OLD, 0x10010, OLD, OLD}},
	{"short, last index", PB_ERROR_OK, NONE, 0, 2, {SHORT(0, LAST, 0x10)}, {0x20010, OLD, OLD, OLD}},
	{"escape", PB_ERROR_OK, NONE, 0, 3, {ESCAPE(0u, 0, 8, 0x11)}, {OLD, OLD, 0x10011, OLD}},
	{"escape, last index",
	 PB_ERROR_OK,
	 NONE,
	 0,
	 3,
	 {ESCAPE(0u, LAST, 8, 0x11)},
	 {OLD, OLD, 0x20011, OLD}},
	{"escape, 64 bits", PB_ERROR_OK, NONE, 0, 3, {ESCAPE(1u, 0, 8, 2)}, {OLD, OLD, 0x10002, 0}},
	{"escape, any byte",
	 PB_ERROR_OK,
	 NONE,
	 0,
	 3,
	 {ESCAPE(18u, 0, 1, 0)},
	 {0x010000dd, 0xdddddd00, OLD, OLD}},
	{"shorts go on with the format",
	 PB_ERROR_OK,
	 NONE,
	 0,
	 7,
	 {ESCAPE(7u, 0, 0, 0), SHORT(4, 0, 0), SHORT(8, 0, 0)},
	 {0, 0, 0, OLD}},
	{"unbound ones as well",
	 PB_ERROR_OK,
	 NONE,
	 0,
	 5,
	 {ESCAPE(7u, 1, 0, 0), SHORT(4, 0, 0)},
	 {OLD, 0, OLD, OLD}},
	{"an escape back",
	 PB_ERROR_OK,
	 NONE,
	 0,
	 8,
	 {ESCAPE(7u, 0, 0, 0), ESCAPE(0u, 0, 4, 0), SHORT(8, 0, 4)},
	 {0, 0x10000, 0x10004, OLD}},
	{"a submission starts with format 0",
	 PB_ERROR_OK,
	 NONE,
	 3,
	 2,
	 {ESCAPE(7u, 0, 0, 0), SHORT(4, 0, 1)},
	 {OLD, 0x10001, OLD, OLD}},
	{"start inside an entry",
	 PB_ERROR_OK,
	 NONE,
	 1,
	 2,
	 {0xffc00000, SHORT(12, 0, 1)},
	 {OLD, OLD, OLD, 0x10001}},
	{"nothing of a list", PB_ERROR_OK, NONE, 1, 0, {0xffffffff, 0xffffffff}, {OLD, OLD, OLD, OLD}},

	{"one word", E(ENCODING), 0, 0, 1, {SHORT(0, 0, 0)}, {OLD, OLD, OLD, OLD}},
	{"one word of an escape", E(ENCODING), 0, 0, 1, {ESCAPE(0u, 0, 0, 0)}, {OLD, OLD, OLD, OLD}},
	{"two words of an escape", E(ENCODING), 0, 0, 2, {ESCAPE(0u, 0, 0, 0)}, {OLD, OLD, OLD, OLD}},
	{"half a short behind a short",
	 E(ENCODING),
	 2,
	 0,
	 3,
	 {SHORT(0, 0, 0), SHORT(4, 0, 0)},
	 {0x10000, OLD, OLD, OLD}},
	{"part of an escape behind a short",
	 E(ENCODING),
	 2,
	 0,
	 4,
	 {SHORT(0, 0, 0), ESCAPE(0u, 0, 4, 0)},
	 {0x10000, OLD, OLD, OLD}},
	{"part of an escape behind an escape",
	 E(ENCODING),
	 4,
	 1,
	 5,
	 {0, ESCAPE(0u, 0, 4, 0), ESCAPE(0u, 0, 8, 0)},
	 {OLD, 0x10000, OLD, OLD}},
	{"cut off, with an index out of range", E(ENCODING), 0, 0, 1, {LAST - 1u}, {OLD, OLD, OLD, OLD}},

	{"reserved bit 18", E(RESERVED), 0, 0, 3, {0xffc40000, 0, 0}, {OLD, OLD, OLD, OLD}},
	{"reserved bit 19", E(RESERVED), 0, 0, 3, {0xffc80000, 0, 0}, {OLD, OLD, OLD, OLD}},
	{"reserved bit 20", E(RESERVED), 0, 0, 3, {0xffd00000, 0, 0}, {OLD, OLD, OLD, OLD}},
	{"reserved bit 21",
	 E(RESERVED),
	 2,
	 0,
	 5,
	 {SHORT(0, 0, 0), 0xffe00000, 4, 0},
	 {0x10000, OLD, OLD, OLD}},
	{"reserved, format and index",
	 E(RESERVED),
	 0,
	 0,
	 3,
	 {0xffffffff, 0xffffffff, 0xffffffff},
	 {OLD, OLD, OLD, OLD}},
	{"format 26", E(FORMAT), 2, 0, 5, {SHORT(0, 0, 0), ESCAPE(26u, 0, 4, 0)}, {0x10000, OLD, OLD, OLD}},
	{"format 127", E(FORMAT), 0, 0, 3, {ESCAPE(127u, 0, 4, 0)}, {OLD, OLD, OLD, OLD}},
	{"own format not set", E(FORMAT), 0, 0, 3, {ESCAPE(128u, 0, 4, 0)}, {OLD, OLD, OLD, OLD}},
	{"format 255", E(FORMAT), 0, 0, 3, {ESCAPE(255u, LAST, 1, 0)}, {OLD, OLD, OLD, OLD}},
	{"align", E(ALIGNMENT), 0, 0, 3, {ESCAPE(0u, 0, 2, 0)}, {OLD, OLD, OLD, OLD}},
	{"behind the end", E(RANGE), 2, 0, 4, {SHORT(0, 0, 0), SHORT(16, 0, 0)}, {0x10000, OLD, OLD, OLD}},
	{"64 bits over the end",
	 E(RANGE),
	 3,
	 0,
	 5,
	 {ESCAPE(1u, 0, 0, 0), SHORT(12, 0, 0)},
	 {0x10000, 0, OLD, OLD}},
	{"farthest short", E(RANGE), 0, 0, 2, {SHORT(0xffbffcu, 0, 0)}, {OLD, OLD, OLD, OLD}},
	{"farther", E(RANGE), 0, 0, 3, {ESCAPE(0u, 0, 0xffc000, 0)}, {OLD, OLD, OLD, OLD}},
	{"farthest", E(RANGE), 0, 0, 3, {ESCAPE(0u, 0, 0xfffffffc, 0)}, {OLD, OLD, OLD, OLD}},
	{"offset",
	 E(OFFSET),
	 4,
	 0,
	 6,
	 {SHORT(0, 0, 0), SHORT(4, 0, 1), SHORT(8, 0, 0x1000)},
	 {0x10000, 0x10001, OLD, OLD}},
	{"write", E(WRITE), 0, 0, 3, {ESCAPE(2u, 0, 0, 0)}, {OLD, OLD, OLD, OLD}},
};

static void every_row(void **state)
{
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct row *row = &rows[i];
		const struct oracle_list list = {
			.allocations = allocations,
			.words = row->words,
			.encoding = PB_PATCH_ENCODING_COMPACT,
			.allocation_count = ALLOCATIONS,
			.patch_count = row->start + row->length,
			.patch_start = row->start,
			.patch_length = row->length,
			.dma_end = 16,
		};
		uint32_t words[4] = {OLD, OLD, OLD, OLD};
		struct oracle_result result = oracle_run(&list, 0, (uint8_t *)words);

		card_equal(row->name, result.error, row->error);
		card_equal(row->name, result.index, row->index);
		for (uint32_t w = 0; w < 4; w++)
			card_equal(row->name, words[w], row->expected[w]);
		result = oracle_check(&card, row->name, &list, 1 + i);
		card_equal(row->name, result.error, row->error);
		card_equal(row->name, result.index, row->index);
	}
	card_stop(&card);
}

/** An index is checked against the size of this list, whatever longer one came before. */
static void indices(void **state)
{
	static const uint32_t counts[] = {0, 1, 2, 1023, 1024, 1023, 2, 1, 0};
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < COUNT(counts) * 2; i++) {
		const uint32_t last = counts[i / 2] - i % 2;
		const uint32_t words[] = {ESCAPE(0u, last % 1024u, 4, 0)};
		const struct oracle_list list = {
			.allocations = allocations,
			.words = words,
			.encoding = PB_PATCH_ENCODING_COMPACT,
			.allocation_count = counts[i / 2],
			.patch_count = COUNT(words),
			.patch_length = COUNT(words),
			.dma_end = 16,
		};
		const bool good = last % 1024u < counts[i / 2];

		card_equal("index", oracle_check(&card, "index", &list, 1 + i).error,
			   good ? PB_ERROR_OK : PB_ERROR_PATCH_INDEX);
	}
	card_stop(&card);
}

/** The longest list, a slice or an entry longer or shorter, and a bad entry at its end. */
static void long_lists(void **state)
{
	static uint32_t words[MOST_WORDS];
	static const struct {
		const char *name;
		uint32_t length;
		uint32_t last; /* bits set in its last entry's first word */
		enum pb_error error;
		uint32_t index;
	} edges[] = {
		{"all", MOST_WORDS, 0, PB_ERROR_OK, PB_INDEX_NONE},
		{"all but half an entry", MOST_WORDS - 1, 0, PB_ERROR_PATCH_ENCODING, MOST_WORDS - 2},
		{"all but one", MOST_WORDS - 2, 0, PB_ERROR_OK, PB_INDEX_NONE},
		{"the last is bad", MOST_WORDS, 0x80000000, PB_ERROR_PATCH_RANGE, MOST_WORDS - 2},
		{"the last is cut off", MOST_WORDS, 0xffc00000, PB_ERROR_PATCH_ENCODING, MOST_WORDS - 2},
	};
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < MOST_WORDS; i += 2) {
		words[i] = i / 2 % 1024 << 10 | i / 2 % 1000;
		words[i + 1] = i / 2 % 0x1000;
	}
	for (uint32_t i = 0; i < COUNT(edges); i++) {
		struct oracle_list list = {
			.allocations = allocations,
			.words = words,
			.encoding = PB_PATCH_ENCODING_COMPACT,
			.allocation_count = ALLOCATIONS,
			.patch_count = MOST_WORDS,
			.patch_length = edges[i].length,
			.dma_end = ORACLE_BUFFER_BYTES,
		};
		struct oracle_result result;

		words[MOST_WORDS - 2] |= edges[i].last;
		result = oracle_check(&card, edges[i].name, &list, 1 + i);
		card_equal(edges[i].name, result.error, edges[i].error);
		card_equal(edges[i].name, result.index, edges[i].index);
	}
	card_stop(&card);
}

/* ---- the descriptor ---- */

static const struct {
	const char *name;
	enum pb_error error;
	struct card_edit edits[CARD_EDITS];
} descriptors[] = {
#define LIST   ((uint32_t)CARD_SYSTEM_OS + CARD_PATCHES)
#define SYSTEM ((uint32_t)CARD_SYSTEM_OS + CARD_SYSTEM_BYTES)
	{"as it is", PB_ERROR_OK, {{0}}},
	{"no such encoding", PB_ERROR_UNSUPPORTED, {CARD_SET(patch_encoding, 3)}},
	{"encoding of all ones", PB_ERROR_UNSUPPORTED, {CARD_SET(patch_encoding, 0xffffffff)}},
	{"most words", PB_ERROR_OK, {CARD_SET(patch_count, MOST_WORDS), CARD_SET(patch_length, MOST_WORDS)}},
	{"a word too many",
	 PB_ERROR_TOO_MANY_PATCHES,
	 {CARD_SET(patch_count, MOST_WORDS + 1), CARD_SET(patch_length, MOST_WORDS + 1)}},
	{"as many as there can be",
	 PB_ERROR_TOO_MANY_PATCHES,
	 {CARD_SET(patch_count, 0xffffffff), CARD_SET(patch_length, 0xffffffff)}},
	{"longer than the list",
	 PB_ERROR_BAD_PATCH_LIST,
	 {CARD_SET(patch_count, 3), CARD_SET(patch_length, 4)}},
	{"start behind the list",
	 PB_ERROR_BAD_PATCH_LIST,
	 {CARD_SET(patch_count, 4), CARD_SET(patch_start, 5), CARD_SET(patch_length, 0)}},
	{"start and length wrap",
	 PB_ERROR_BAD_PATCH_LIST,
	 {CARD_SET(patch_start, 2), CARD_SET(patch_length, 0xfffffffe)}},
	{"at an odd word", PB_ERROR_OK, {CARD_SET(patch_address_low, LIST + 4)}},
	{"off by 1", PB_ERROR_BAD_PATCH_LIST, {CARD_SET(patch_address_low, LIST + 1)}},
	{"off by 2", PB_ERROR_BAD_PATCH_LIST, {CARD_SET(patch_address_low, LIST + 2)}},
	{"up to the end of memory", PB_ERROR_OK, {CARD_SET(patch_address_low, SYSTEM - 16)}},
	{"a word beyond the end of memory",
	 PB_ERROR_BAD_PATCH_LIST,
	 {CARD_SET(patch_address_low, SYSTEM - 12)}},
	{"4 GiB up", PB_ERROR_BAD_PATCH_LIST, {CARD_SET(patch_address_high, 1)}},
	{"nowhere, with nothing to patch",
	 PB_ERROR_OK,
	 {CARD_SET(patch_address_low, 1), CARD_SET(patch_address_high, 0xffffffff),
	  CARD_SET(patch_length, 0)}},
};

/** Words of 0 everywhere: entries that patch byte 0 with allocation 0. */
static void every_descriptor(void **state)
{
	struct card card;

	(void)state;
	card_start(&card);
	card_allocation(&card, 0, 0x7000, 0x1000, CARD_SEGMENT(3));
	for (uint32_t i = 0; i < COUNT(descriptors); i++) {
		struct pb_descriptor descriptor = card_descriptor(&card, 1, 64, 1, 4);

		descriptor.patch_encoding = PB_PATCH_ENCODING_COMPACT;
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		card_edit(&descriptor, descriptors[i].edits);
		*card_dma(&card, 1) = OLD;
		card_equal(descriptors[i].name, card_execute(&card, 0, &descriptor).status,
			   descriptors[i].error);
		card_equal(descriptors[i].name, *card_dma(&card, 1),
			   descriptors[i].error == PB_ERROR_OK && descriptor.patch_length != 0 ? 0x7000
											       : OLD);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

UNIT_SUITE(test_firmware_compact)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(indices),
		cmocka_unit_test(long_lists),
		cmocka_unit_test(every_descriptor),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
