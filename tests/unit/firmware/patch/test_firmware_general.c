/* SPDX-License-Identifier: MIT */
/* Which formats have the loops of patch_general.c: the others are patched one by one, to the same bytes. */
#include <string.h>

#include "firmware/instance.h"
#include "firmware/patch/loops.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define ID           PB_FORMAT_OWN
#define ALL          UINT32_MAX
#define NOT          PB_CORE_GENERAL_NOT
#define PLAIN        PB_CORE_GENERAL_PLAIN
#define RICH         PB_CORE_GENERAL_RICH

static struct pb_core_job job;

/* In the order of the fields. */
#define FORMAT(source_, bound_, flags_, align_, right, left, step_, or_, mask_, high, low_bits, high_bits)   \
	{                                                                                                    \
		.source = PB_FORMAT_##source_, .bound = PB_FORMAT_##bound_, .flags = (flags_),               \
		.align = (align_), .shift_right = (right), .shift_left = (left), .step = (step_),            \
		.or_by = PB_FORMAT_OR_##or_, .mask = (mask_), .high_mask = (high), .pre_or_low = (low_bits), \
		.pre_or_high = (high_bits),                                                                  \
	}

static const struct row {
	const char *name;
	enum pb_core_general_kind kind;
	struct pb_patch_format format;
} rows[] = {
	{"all there is", PLAIN, FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"inside", PLAIN, FORMAT(ADDRESS, INSIDE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"up to the end", NOT, FORMAT(ADDRESS, END, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"low bits are flags", NOT, FORMAT(ADDRESS, PAGE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"write", PLAIN, FORMAT(ADDRESS, NONE, PB_FORMAT_WRITE, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"fits", PLAIN, FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"keeps", RICH, FORMAT(ADDRESS, NONE, PB_FORMAT_KEEP, 4, 0, 0, 0, FIRST, 0xff, 0, 0, 0)},
	{"signed", RICH, FORMAT(ADDRESS, NONE, PB_FORMAT_SIGNED, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"signed, inside", NOT, FORMAT(ADDRESS, INSIDE, PB_FORMAT_SIGNED, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"canonical", NOT, FORMAT(ADDRESS, NONE, PB_FORMAT_CANONICAL, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"wide", RICH, FORMAT(ADDRESS, NONE, PB_FORMAT_WIDE, 4, 0, 0, 1, FIRST, ALL, ALL, 0, 0)},
	{"wide, not side by side", NOT,
	 FORMAT(ADDRESS, NONE, PB_FORMAT_WIDE, 4, 0, 0, 2, FIRST, ALL, ALL, 0, 0)},
	{"aligned to a byte", NOT, FORMAT(ADDRESS, NONE, 0, 1, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"aligned to 8", NOT, FORMAT(ADDRESS, NONE, 0, 8, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"shifted right", PLAIN, FORMAT(ADDRESS, NONE, 0, 4, 8, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"shifted far right", PLAIN, FORMAT(ADDRESS, NONE, 0, 4, 40, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"shifted left", RICH, FORMAT(ADDRESS, NONE, 0, 4, 0, 1, 0, FIRST, ALL, 0, 0, 0)},
	{"by the segment", RICH, FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0)},
	{"by the attribute", RICH, FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, ATTRIBUTE, ALL, 0, 0, 0)},
	{"id", RICH, FORMAT(ID, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"constant", NOT, FORMAT(CONSTANT, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"constant by the segment", RICH, FORMAT(CONSTANT, NONE, 0, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0)},
	{"fence", NOT, FORMAT(FENCE, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"fence by the segment", NOT, FORMAT(FENCE, NONE, 0, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0)},
	{"the buffer itself", NOT, FORMAT(SELF, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"the buffer by the attribute", NOT, FORMAT(SELF, NONE, 0, 4, 0, 0, 0, ATTRIBUTE, ALL, 0, 0, 0)},
	{"more bits", PLAIN, FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 1, 1)},
	{"more bits that fit", PLAIN,
	 FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, 0xffff, 0, 0x8000, 0)},
	{"more bits that do not fit", NOT,
	 FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, 0x7fff, 0, 0x8000, 0)},
	{"more bits that fit once shifted", PLAIN,
	 FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 1, 0, 0, FIRST, 0x7fff, 0, 0x8000, 0)},
	{"more high bits that do not fit", NOT,
	 FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, ALL, 0, 0, 1)},
};

/** A cursor at an entry whose format is known. */
static struct pb_core_cursor cursor_of(const struct pb_patch_format *format, uint32_t id)
{
	job.plan = (struct pb_core_plan){
		.format = format,
		.id = id,
		.uses_allocation = format->source == PB_FORMAT_ADDRESS || format->source == PB_FORMAT_ID ||
				   format->or_by != PB_FORMAT_OR_FIRST,
	};
	return (struct pb_core_cursor){.format_id = id, .budget = PB_SLICE_INSTRUCTIONS, .job = &job};
}

static void every_kind(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_core_cursor cursor = cursor_of(&rows[i].format, ID + i);
		const bool ready = pb_core_general_ready(&cursor);

		if (job.general.kind != rows[i].kind || ready != (rows[i].kind != NOT))
			fail_msg("%s: %u", rows[i].name, job.general.kind);
		assert_int_equal(job.general.id, ID + i);
		assert_int_equal(job.general.column, (rows[i].format.flags & PB_FORMAT_WRITE) != 0);
		assert_int_equal(job.general.bounded, rows[i].format.bound == PB_FORMAT_INSIDE ? ALL : 0);
	}
}

/** It is worked out once for entries of one format, and anew when that changes. */
static void worked_out_once(void **state)
{
	struct pb_core_cursor cursor = cursor_of(&rows[0].format, ID);

	(void)state;
	assert_true(pb_core_general_ready(&cursor));
	assert_int_equal(cursor.budget, PB_SLICE_INSTRUCTIONS - PB_COST_PLAN);
	assert_true(pb_core_general_ready(&cursor));
	assert_int_equal(cursor.budget, PB_SLICE_INSTRUCTIONS - PB_COST_PLAN);
	cursor = cursor_of(&rows[2].format, ID + 1u);
	assert_false(pb_core_general_ready(&cursor));
	assert_int_equal(cursor.budget, PB_SLICE_INSTRUCTIONS - PB_COST_PLAN);
	cursor = cursor_of(&rows[0].format, ID);
	cursor.budget = PB_COST_PLAN - 1u;
	assert_true(pb_core_general_ready(&cursor));
	assert_int_equal(cursor.budget, 0);
}

/** What the last entry taught is of another format, or there is no such format. */
static void not_known(void **state)
{
	struct pb_core_cursor cursor = cursor_of(&rows[0].format, ID);

	(void)state;
	cursor.format_id = ID + 1u;
	assert_false(pb_core_general_ready(&cursor));
	cursor.format_id = ID;
	job.plan.format = NULL;
	assert_false(pb_core_general_ready(&cursor));
}

#define PRIOR 0x11111111u

/** One entry of a plain format: what of the 64 bits is stored, or that some are lost that must not be. */
static void plain_values(void **state)
{
	static const struct {
		uint32_t low, high, offset, right;
		bool fits, done;
		uint32_t stored;
	} cases[] = {
		{0x12345678, 0, 0, 0, true, true, 0x12345678},
		{0x12345678, 1, 0, 0, true, false, PRIOR},
		{0x12345678, 1, 0, 0, false, true, 0x12345678},
		{0xffffffff, 0, 1, 0, true, false, PRIOR},
		{0xffffffff, 0, 1, 0, false, true, 0},
		{0xffffffff, 0, 1, 8, true, true, 0x01000000},
		{0x12345678, 0x9a, 0x100, 8, true, true, 0x9a123457},
		{0, 0x01000000, 0, 8, true, false, PRIOR},
		{0x8000, 0x01000000, 0, 8, false, true, 0x80},
		{0x80000000, 0x7fffffff, 0, 31, true, true, 0xffffffff},
		{0, 0x80000000, 0, 31, true, false, PRIOR},
		{0, 0x80000005, 0, 32, true, true, 0x80000005},
		{0xffffffff, 0x80000001, 1, 33, true, true, 0x40000001},
		{0, 0x80000000, 0, 63, true, true, 1},
	};
	static const uint32_t pending;

	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		const struct pb_patch_location location = {
			.driver_id = ID, .allocation_offset = cases[i].offset, .patch_offset = 4};
		const struct pb_patch_format format =
			FORMAT(ADDRESS, NONE, cases[i].fits ? PB_FORMAT_FITS : 0, 4, (uint8_t)cases[i].right,
			       0, 0, FIRST, ALL, 0, 0, 0);
		uint32_t words[sizeof(location) / 4u], buffer[3] = {PRIOR, PRIOR, PRIOR};
		struct pb_core_cursor cursor = cursor_of(&format, ID);

		job.general.id = ID + 1u;
		memcpy(words, &location, sizeof(words));
		job.slots[0] = (struct pb_core_slot){cases[i].low, cases[i].high, {1, 0}};
		cursor.words = words;
		cursor.end = cursor.pass = words + COUNT(words);
		cursor.slots = job.slots;
		cursor.origin = (uintptr_t)buffer;
		cursor.places[PB_CORE_CLASS_ANY] = COUNT(buffer);
		cursor.pending = &pending;
		assert_true(pb_core_general_ready(&cursor));
		assert_int_equal(pb_core_general_run(&cursor),
				 cases[i].done ? PB_CORE_DONE : PB_CORE_IRREGULAR);
		assert_ptr_equal(cursor.words, cursor.end);
		/* Of its slice a half is left, it says. */
		if (!cases[i].done)
			assert_int_equal(cursor.budget, (PB_SLICE_INSTRUCTIONS - PB_COST_PLAN) / 2u);
		assert_int_equal(buffer[0], PRIOR);
		assert_int_equal(buffer[1], cases[i].stored);
		assert_int_equal(buffer[2], PRIOR);
	}
}

UNIT_SUITE(test_firmware_general)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind),
		cmocka_unit_test(worked_out_once),
		cmocka_unit_test(not_known),
		cmocka_unit_test(plain_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
