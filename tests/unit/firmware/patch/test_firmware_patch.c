/* SPDX-License-Identifier: MIT */
/* What one patch writes, what it refuses, and where a list stops. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/patch_oracle.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/** Allocations that the cases below name by index. */
enum {
	WIDE,      /* all of segment 3: GPU address 0, 2^40 bytes */
	VIDEO,     /* GPU address 0x180001234 */
	CROSSING,  /* GPU addresses 0xfffffff0 to 0x100000010 */
	NEAR_4G,   /* GPU address 0xffffff00, 256 bytes: ends at 4 GiB */
	LAST,      /* the last 16 bytes of segment 3 */
	BY_ONE,    /* GPU addresses 0xfffffff0 to 0x100000000 */
	UNBOUND,   /* */
	READ_ONLY, /* GPU address 0x5000, one byte */
	ALLOCATIONS,
};
static struct pb_allocation allocations[ALLOCATIONS];

static int set_up(void **state)
{
	const uint32_t write = PB_ALLOCATION_WRITE;

	(void)state;
	allocations[WIDE] = oracle_allocation(0, CARD_WIDE_BYTES, CARD_SEGMENT(3) | write);
	allocations[VIDEO] = oracle_allocation(CARD_VIDEO_OS + 0x1234, 0x1000, CARD_SEGMENT(1) | write);
	allocations[CROSSING] = oracle_allocation(CARD_EDGE_OS + 0xfff0, 0x20, CARD_SEGMENT(2) | write);
	allocations[BY_ONE] = oracle_allocation(CARD_EDGE_OS + 0xfff0, 0x11, CARD_SEGMENT(2) | write);
	allocations[NEAR_4G] = oracle_allocation(0xffffff00, 0x100, CARD_SEGMENT(3) | write);
	allocations[LAST] = oracle_allocation(CARD_WIDE_BYTES - 16, 16, CARD_SEGMENT(3) | write);
	allocations[UNBOUND] = oracle_allocation(0, 0, PB_ALLOCATION_UNBIND);
	allocations[READ_ONLY] = oracle_allocation(0x5000, 1, CARD_SEGMENT(3));
	return 0;
}

/**
 * The allocations that an entry names. Where another one stands, a plain one does: the firmware has short ways
 * for lists in which no allocation lies above 4 GiB or across it.
 */
static const struct pb_allocation *those_named(const struct pb_patch_location *patches, uint32_t count)
{
	static struct pb_allocation named[ALLOCATIONS];

	for (uint32_t a = 0; a < ALLOCATIONS; a++)
		named[a] = allocations[READ_ONLY];
	for (uint32_t i = 0; i < count; i++) {
		if (patches[i].allocation_index < ALLOCATIONS)
			named[patches[i].allocation_index] = allocations[patches[i].allocation_index];
	}
	return named;
}

static struct oracle_list list_of(const struct pb_patch_location *patches, uint32_t count)
{
	return (struct oracle_list){
		.allocations = those_named(patches, count),
		.patches = patches,
		.allocation_count = ALLOCATIONS,
		.patch_count = count,
		.patch_length = count,
		.dma_end = ORACLE_BUFFER_BYTES,
	};
}

/* ---- one entry: values worked out by hand ---- */

#define PRIOR_LOW  0x11111111u
#define PRIOR_HIGH 0x22222222u

static const struct {
	const char *name;
	uint32_t format;
	uint32_t allocation;
	uint32_t offset;
	enum pb_error error;
	uint32_t low;  /* of the two words at PatchOffset */
	uint32_t high; /* */
} values[] = {
	{"first byte", 0, WIDE, 0, PB_ERROR_OK, 0, PRIOR_HIGH},
	{"last 32-bit address", 0, WIDE, 0xfffffffe, PB_ERROR_OK, 0xfffffffe, PRIOR_HIGH},
	{"offset beyond what one reaches", 0, WIDE, 0xffffffff, PB_ERROR_PATCH_OFFSET, PRIOR_LOW, PRIOR_HIGH},
	{"64 bits, low word only", 1, WIDE, 0x12345678, PB_ERROR_OK, 0x12345678, 0},
	{"64 bits", 1, VIDEO, 0x10, PB_ERROR_OK, 0x80001244, 1},
	{"64 bits, last byte", 1, VIDEO, 0xfff, PB_ERROR_OK, 0x80002233, 1},
	{"64 bits, at the size", 1, VIDEO, 0x1000, PB_ERROR_PATCH_OFFSET, PRIOR_LOW, PRIOR_HIGH},
	{"64 bits, past the size", 1, VIDEO, 0x1001, PB_ERROR_PATCH_OFFSET, PRIOR_LOW, PRIOR_HIGH},
	{"64 bits, carry", 1, CROSSING, 0x10, PB_ERROR_OK, 0, 1},
	{"64 bits, behind the carry", 3, CROSSING, 0x1f, PB_ERROR_OK, 0xf, 1},
	{"64 bits, top of the segment", 3, LAST, 15, PB_ERROR_OK, 0xffffffff, 0xff},
	{"32 bits of a higher address", 0, VIDEO, 0, PB_ERROR_PATCH_VALUE, PRIOR_LOW, PRIOR_HIGH},
	{"32 bits, before the carry", 0, CROSSING, 0xf, PB_ERROR_OK, 0xffffffff, PRIOR_HIGH},
	{"32 bits, carry", 0, CROSSING, 0x10, PB_ERROR_PATCH_VALUE, PRIOR_LOW, PRIOR_HIGH},
	{"64 bits, carry of the last byte", 1, BY_ONE, 0x10, PB_ERROR_OK, 0, 1},
	{"32 bits, carry of the last byte", 0, BY_ONE, 0x10, PB_ERROR_PATCH_VALUE, PRIOR_LOW, PRIOR_HIGH},
	{"32 bits, carry, write", 2, CROSSING, 0x1f, PB_ERROR_PATCH_VALUE, PRIOR_LOW, PRIOR_HIGH},
	{"32 bits, up to 4 GiB", 2, NEAR_4G, 0xff, PB_ERROR_OK, 0xffffffff, PRIOR_HIGH},
	{"32 bits, at the size", 2, NEAR_4G, 0x100, PB_ERROR_PATCH_OFFSET, PRIOR_LOW, PRIOR_HIGH},
	{"offset at size of 1", 0, READ_ONLY, 1, PB_ERROR_PATCH_OFFSET, PRIOR_LOW, PRIOR_HIGH},
	{"offset past size of 1", 0, READ_ONLY, 2, PB_ERROR_PATCH_OFFSET, PRIOR_LOW, PRIOR_HIGH},
	{"read of read-only", 0, READ_ONLY, 0, PB_ERROR_OK, 0x5000, PRIOR_HIGH},
	{"read of read-only, 64 bits", 1, READ_ONLY, 0, PB_ERROR_OK, 0x5000, 0},
	{"write of read-only", 2, READ_ONLY, 0, PB_ERROR_PATCH_WRITE, PRIOR_LOW, PRIOR_HIGH},
	{"write of read-only, 64 bits", 3, READ_ONLY, 0, PB_ERROR_PATCH_WRITE, PRIOR_LOW, PRIOR_HIGH},
	{"sum", 4, VIDEO, 4, PB_ERROR_OK, 0x80001238, PRIOR_HIGH},
	{"sum beyond the size", 4, VIDEO, 0x10001, PB_ERROR_OK, 0x80011235, PRIOR_HIGH},
	{"sum that wraps", 4, NEAR_4G, 0x104, PB_ERROR_OK, 4, PRIOR_HIGH},
	{"sum of a large offset", 4, READ_ONLY, 0xffffffff, PB_ERROR_OK, 0x4fff, PRIOR_HIGH},
	{"64-bit sum", 5, VIDEO, 0x1000, PB_ERROR_OK, 0x80002234, 1},
	{"64-bit sum, largest positive", 5, VIDEO, 0x7fffffff, PB_ERROR_OK, 0x00001233, 2},
	{"64-bit sum, minus 1", 5, VIDEO, 0xffffffff, PB_ERROR_OK, 0x80001233, 1},
	{"64-bit sum, most negative", 5, VIDEO, 0x80000000, PB_ERROR_OK, 0x00001234, 1},
	{"64-bit sum below 0", 5, WIDE, 0xffffffff, PB_ERROR_OK, 0xffffffff, 0xffffffff},
	{"64-bit sum below 4 GiB", 5, CROSSING, 0xfffffff8, PB_ERROR_OK, 0xffffffe8, 0},
	{"unbound, 32 bits", 0, UNBOUND, 0, PB_ERROR_OK, PRIOR_LOW, PRIOR_HIGH},
	{"unbound, 64 bits and any offset", 1, UNBOUND, 0xffffffff, PB_ERROR_OK, PRIOR_LOW, PRIOR_HIGH},
	{"unbound, write", 2, UNBOUND, 1, PB_ERROR_OK, PRIOR_LOW, PRIOR_HIGH},
	{"unbound, 64-bit write", 3, UNBOUND, 1, PB_ERROR_OK, PRIOR_LOW, PRIOR_HIGH},
	{"unbound, sum", 4, UNBOUND, 1, PB_ERROR_OK, PRIOR_LOW, PRIOR_HIGH},
	{"unbound, 64-bit sum", 5, UNBOUND, 1, PB_ERROR_OK, PRIOR_LOW, PRIOR_HIGH},
};

/**
 * An entry that is good in every format, to come before another one: the first
 * of a format and those that follow it may go different ways.
 */
static struct pb_patch_location leader(uint32_t format, uint32_t place)
{
	return (struct pb_patch_location){WIDE, 0, format, 0, place, 0};
}

/** Word w of the buffer afterwards; the leader, if there is one, has zeroed the first or the first two. */
static uint32_t expected_word(uint32_t i, uint32_t w, uint32_t lead)
{
	const uint32_t zeroed = values[i].format % 2 != 0 ? 2 : 1;

	if (w < zeroed * lead)
		return 0;
	return w == 9 ? values[i].low : w == 10 ? values[i].high : 0x33333300u + w;
}

/** In a buffer of its own, so that the oracle has no part in it. */
static void values_by_hand(void **state)
{
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t n = 0; n < COUNT(values) * 2; n++) {
		const uint32_t i = n / 2;
		const uint32_t lead = n % 2;
		const struct pb_patch_location patches[] = {
			leader(values[i].format, 0),
			{values[i].allocation, 0x00ffffff, values[i].format, values[i].offset, 36,
			 0xffffffff},
		};
		struct pb_descriptor descriptor = card_descriptor(&card, 0, 64, ALLOCATIONS, 1 + lead);
		uint32_t *words = card_dma(&card, 0);

		for (uint32_t w = 0; w < 16; w++)
			words[w] = w == 9 ? PRIOR_LOW : w == 10 ? PRIOR_HIGH : 0x33333300u + w;
		memcpy(card_bytes(&card, 0, CARD_ALLOCATIONS), those_named(patches, 2), sizeof(allocations));
		card_patch(&card, 0, &patches[0]);
		card_patch(&card, lead, &patches[1]);
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		card_equal(values[i].name, card_execute(&card, 0, &descriptor).status, values[i].error);
		for (uint32_t w = 0; w < 16; w++)
			card_equal(values[i].name, words[w], expected_word(i, w, lead));
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

/* ---- one entry: every combination, against the oracle ---- */

static void every_combination(void **state)
{
	static const uint32_t offsets[] = {
		0,          1,          2,          4,          0xe,        0xf,        0x10,
		0x1f,       0x20,       0xff,       0x100,      0xfff,      0x1000,     0x7fffffff,
		0x80000000, 0x80000001, 0xffffff00, 0xfffffff0, 0xfffffffe, 0xffffffff,
	};
	struct card card;
	char row[64];

	(void)state;
	card_start(&card);
	for (uint32_t format = 0; format < PB_PATCH_FORMAT_COUNT; format++) {
		for (uint32_t a = 0; a < ALLOCATIONS; a++) {
			for (uint32_t i = 0; i < COUNT(offsets); i++) {
				const struct pb_patch_location patches[] = {
					leader(format, 0x20), {a, 1, format, offsets[i], 0x40, 0}};
				const struct oracle_list alone = list_of(&patches[1], 1);
				const struct oracle_list led = list_of(patches, 2);

				snprintf(row, sizeof(row), "format %u, allocation %u, offset 0x%x", format, a,
					 offsets[i]);
				oracle_check(&card, row, &alone, 1 + i);
				oracle_check(&card, row, &led, 1 + i);
			}
		}
	}
	card_stop(&card);
}

/* ---- the place ---- */

static const struct {
	const char *name;
	uint32_t start;
	uint32_t end;
	uint32_t place;
	uint32_t format;
	enum pb_error error;
} places[] = {
	{"first word", 0, 4096, 0, 0, PB_ERROR_OK},
	{"last word", 0, 4096, 4092, 0, PB_ERROR_OK},
	{"last two words", 0, 4096, 4088, 1, PB_ERROR_OK},
	{"two words at 4-byte alignment", 0, 4096, 4084, 1, PB_ERROR_OK},
	{"one word for two", 0, 4096, 4092, 1, PB_ERROR_PATCH_RANGE},
	{"at the end", 0, 4096, 4096, 0, PB_ERROR_PATCH_RANGE},
	{"far behind", 0, 4096, 0x80000000, 0, PB_ERROR_PATCH_RANGE},
	{"last word of all", 0, 4096, 0xfffffffc, 0, PB_ERROR_PATCH_RANGE},
	{"last word of all for two", 0, 4096, 0xfffffffc, 1, PB_ERROR_PATCH_RANGE},
	{"off by 1", 0, 4096, 1, 0, PB_ERROR_PATCH_ALIGNMENT},
	{"off by 2", 0, 4096, 2, 0, PB_ERROR_PATCH_ALIGNMENT},
	{"off by 3, 64 bits", 0, 4096, 3, 1, PB_ERROR_PATCH_ALIGNMENT},
	{"at the start", 64, 128, 64, 0, PB_ERROR_OK},
	{"before the start", 64, 128, 60, 0, PB_ERROR_PATCH_RANGE},
	{"before the start, reaching it", 64, 128, 60, 1, PB_ERROR_PATCH_RANGE},
	{"relative to the start", 64, 128, 0, 0, PB_ERROR_PATCH_RANGE},
	{"off by 1 in a part", 64, 128, 65, 0, PB_ERROR_PATCH_ALIGNMENT},
	{"last word of a part", 64, 128, 124, 0, PB_ERROR_OK},
	{"last two words of a part", 64, 128, 120, 1, PB_ERROR_OK},
	{"end of a part", 64, 128, 128, 0, PB_ERROR_PATCH_RANGE},
	{"straddling the end of a part", 64, 128, 124, 1, PB_ERROR_PATCH_RANGE},
	{"start + end is not the end", 64, 128, 188, 0, PB_ERROR_PATCH_RANGE},
	{"a part of one word", 8, 12, 8, 0, PB_ERROR_OK},
	{"a part of one word for two", 8, 12, 8, 1, PB_ERROR_PATCH_RANGE},
	{"an empty part", 8, 8, 8, 0, PB_ERROR_PATCH_RANGE},
	{"an empty part, before", 8, 8, 4, 1, PB_ERROR_PATCH_RANGE},
};

static void place_in(struct card *card, uint32_t i, uint32_t format)
{
	/* Through an unbound allocation the place is checked all the same. */
	for (uint32_t a = WIDE; a <= UNBOUND; a += UNBOUND) {
		const struct pb_patch_location patches[] = {leader(format, places[i].start),
							    {a, 0, format, 0x430, places[i].place, 0}};
		struct oracle_list list = list_of(patches, 2);

		list.dma_start = places[i].start;
		list.dma_end = places[i].end;
		if (places[i].end - places[i].start >= format_width(&format_built_in[format]))
			card_equal(places[i].name, oracle_check_both(card, places[i].name, &list, 78),
				   places[i].error);
		list.patches = &patches[1];
		list.patch_count = list.patch_length = 1;
		card_equal(places[i].name, oracle_check_both(card, places[i].name, &list, 77),
			   places[i].error);
	}
}

/** A row of format 0 goes for every format of one aligned word, one of format 1 for those of two. */
static void place_in_the_buffer(void **state)
{
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(places); i++) {
		for (uint32_t format = 0; format < PB_PATCH_FORMAT_COUNT; format++) {
			if (format_built_in[format].align == 4 &&
			    format_width(&format_built_in[format]) ==
				    format_width(&format_built_in[places[i].format]))
				place_in(&card, i, format);
		}
	}
	card_stop(&card);
}

/* ---- lists ---- */

#define LIST 200u

/** How DriverId changes along a list. */
enum mix {
	UNIFORM,
	ALTERNATING,
	RUNS,
	MIXES,
};

/** Good entries, each at a place of its own, some through an unbound allocation. */
static void make_list(struct pb_patch_location *patches, enum mix mix)
{
	for (uint32_t i = 0; i < LIST; i++) {
		const uint32_t format = mix == UNIFORM ? 1 : mix == ALTERNATING ? i % 6 : i / 13 % 6;

		patches[i] = (struct pb_patch_location){
			.allocation_index = mix != UNIFORM && i % 9 == 5 ? UNBOUND : WIDE,
			.slot = i,
			.driver_id = format,
			.allocation_offset = 0x01010101u * (i + 1u),
			.patch_offset = (LIST - 1u - i) * 8u + 4u,
			.split_offset = ~i,
		};
	}
}

static void good_lists(void **state)
{
	struct pb_patch_location patches[LIST];
	struct card card;

	(void)state;
	card_start(&card);
	for (enum mix mix = UNIFORM; mix < MIXES; mix++) {
		struct oracle_list list;

		make_list(patches, mix);
		list = list_of(patches, LIST);
		for (uint32_t length = 60; length <= 70; length++) {
			list.patch_length = length;
			card_equal("part", oracle_check(&card, "part", &list, length).error, PB_ERROR_OK);
		}
		list.patch_length = LIST;
		card_equal("whole", oracle_check(&card, "whole", &list, 5).error, PB_ERROR_OK);
	}
	card_stop(&card);
}

/** A way to spoil a good entry. */
struct fault {
	enum pb_error error;
	struct pb_patch_location patch;
};
static const struct fault faults[] = {
	{PB_ERROR_PATCH_RESERVED, {WIDE, 0x01000000, 0, 0, 0, 0}},
	{PB_ERROR_PATCH_RESERVED, {WIDE, 0x80000000, 1, 0, 0, 0}},
	{PB_ERROR_PATCH_FORMAT, {WIDE, 0, PB_PATCH_FORMAT_COUNT, 0, 0, 0}},
	{PB_ERROR_PATCH_FORMAT, {WIDE, 0, 0x100, 0, 0, 0}},
	{PB_ERROR_PATCH_FORMAT, {WIDE, 0, 0xffffffff, 0, 0, 0}},
	{PB_ERROR_PATCH_INDEX, {ALLOCATIONS, 0, 1, 0, 0, 0}},
	{PB_ERROR_PATCH_INDEX, {0x10000, 0, 0, 0, 0, 0}},
	{PB_ERROR_PATCH_INDEX, {0xffffffff, 0, 4, 0, 0, 0}},
	{PB_ERROR_PATCH_ALIGNMENT, {WIDE, 0, 5, 0, 2, 0}},
	{PB_ERROR_PATCH_RANGE, {WIDE, 0, 1, 0, 4092, 0}},
	{PB_ERROR_PATCH_OFFSET, {VIDEO, 0, 1, 0x1000, 0, 0}},
	{PB_ERROR_PATCH_OFFSET, {READ_ONLY, 0, 0, 1, 0, 0}},
	{PB_ERROR_PATCH_WRITE, {READ_ONLY, 0, 2, 0, 0, 0}},
	{PB_ERROR_PATCH_WRITE, {READ_ONLY, 0, 3, 0, 0, 0}},
	{PB_ERROR_PATCH_VALUE, {VIDEO, 0, 2, 0, 0, 0}},
	{PB_ERROR_PATCH_VALUE, {CROSSING, 0, 0, 0x10, 0, 0}},
};

/** Entries before the bad one stay, those behind it are not carried out. */
static void bad_entry_anywhere(void **state)
{
	static const uint32_t positions[] = {0, 1, 62, 63, 64, 65, 127, 128, 198, 199};
	struct pb_patch_location patches[LIST];
	struct card card;
	char row[64];

	(void)state;
	card_start(&card);
	for (enum mix mix = UNIFORM; mix < MIXES; mix++) {
		for (uint32_t f = 0; f < COUNT(faults); f++) {
			for (uint32_t p = 0; p < COUNT(positions); p++) {
				struct oracle_list list;

				make_list(patches, mix);
				patches[positions[p]] = faults[f].patch;
				list = list_of(patches, LIST);
				snprintf(row, sizeof(row), "mix %d, fault %u at %u", (int)mix, f,
					 positions[p]);
				card_equal(row, oracle_check(&card, row, &list, 9 + f).error,
					   faults[f].error);
			}
		}
	}
	card_stop(&card);
}

/** Only [start, start + length) of the list is the submission's; an index counts from the list's first. */
static void part_of_a_list(void **state)
{
	struct pb_patch_location patches[LIST];
	struct oracle_list list;
	struct card card;

	(void)state;
	card_start(&card);
	make_list(patches, RUNS);
	for (uint32_t i = 0; i < LIST; i++) {
		if (i < 70 || i >= 150)
			patches[i] = faults[i % COUNT(faults)].patch;
	}
	list = list_of(patches, LIST);
	list.patch_start = 70;
	list.patch_length = 80;
	card_equal("good part", oracle_check(&card, "good part", &list, 3).error, PB_ERROR_OK);
	list.patch_length = 81;
	card_equal("one more", oracle_check(&card, "one more", &list, 3).error,
		   faults[150 % COUNT(faults)].error);
	list.patch_start = 69;
	card_equal("one before", oracle_check(&card, "one before", &list, 3).error,
		   faults[69 % COUNT(faults)].error);
	list.patch_start = LIST;
	list.patch_length = 0;
	card_equal("none", oracle_check(&card, "none", &list, 3).error, PB_ERROR_OK);
	card_stop(&card);
}

/** What an earlier submission resolved behind the end of a shorter list does not count. */
static void earlier_lists_are_forgotten(void **state)
{
	const struct pb_patch_location patches[] = {leader(PB_PATCH_FORMAT_ADDRESS64, 0),
						    {VIDEO, 0, PB_PATCH_FORMAT_ADDRESS64, 0, 8, 0}};
	struct oracle_list list = list_of(patches, 2);
	struct card card;

	(void)state;
	card_start(&card);
	card_equal("long", oracle_check(&card, "long", &list, 4).error, PB_ERROR_OK);
	list.allocation_count = VIDEO;
	card_equal("short", oracle_check(&card, "short", &list, 4).error, PB_ERROR_PATCH_INDEX);
	list.allocation_count = 0;
	card_equal("empty", oracle_check(&card, "empty", &list, 4).error, PB_ERROR_PATCH_INDEX);
	card_stop(&card);
}

/** The old bytes have no part in the new ones. */
static void patching_again_changes_nothing(void **state)
{
	static uint8_t first[LIST * 8u + 4u];
	struct pb_patch_location patches[LIST];
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	memcpy(card_bytes(&card, 0, CARD_ALLOCATIONS), allocations, sizeof(allocations));
	make_list(patches, RUNS);
	memcpy(card_bytes(&card, 0, CARD_PATCHES), patches, sizeof(patches));
	descriptor = card_descriptor(&card, 0, sizeof(first), ALLOCATIONS, LIST);
	descriptor.flags = PB_FLAG_NULL_RENDERING | PB_FLAG_RESUBMISSION;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	memcpy(first, card_dma(&card, 0), sizeof(first));
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_memory_equal(card_dma(&card, 0), first, sizeof(first));
	card_stop(&card);
}

/** A list that fails at its end has patched a packet by then; it must not run. */
static void failed_buffer_is_not_run(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	descriptor = card_mark(&card, 0, 1);
	card_patch(&card, 1, &faults[0].patch);
	descriptor.patch_count = 2;
	descriptor.patch_length = 2;
	fence = card_execute(&card, 0, &descriptor);
	assert_int_equal(fence.status, PB_ERROR_PATCH_RESERVED);
	assert_int_equal(fence.error_index, 1);
	assert_int_equal(card_dma(&card, 0)[1], (uint32_t)CARD_VIDEO_GPU);
	card_run(&card, 1000);
	assert_int_equal(card_word(&card, 1, 0), 0);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_patch)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_by_hand),
		cmocka_unit_test(every_combination),
		cmocka_unit_test(place_in_the_buffer),
		cmocka_unit_test(good_lists),
		cmocka_unit_test(bad_entry_anywhere),
		cmocka_unit_test(part_of_a_list),
		cmocka_unit_test(earlier_lists_are_forgotten),
		cmocka_unit_test(patching_again_changes_nothing),
		cmocka_unit_test(failed_buffer_is_not_run),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
