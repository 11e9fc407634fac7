/* SPDX-License-Identifier: MIT */
/* Which formats have which loop of firmware/patch/general.c, and what the loops store: the others are patched one by one. */
#include <string.h>

#include "firmware/instance.h"
#include "firmware/patch/loops.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define ID           PB_FORMAT_OWN
#define ALL          UINT32_MAX
#define NOT          PB_CORE_GENERAL_NOT
#define PLAIN        PB_CORE_GENERAL_PLAIN
#define WORD         PB_CORE_GENERAL_WORD
#define CHOICE       PB_CORE_GENERAL_CHOICE
#define SPLIT        PB_CORE_GENERAL_SPLIT
#define RICH         PB_CORE_GENERAL_RICH

#define SPLITS (PB_FORMAT_WIDE | PB_FORMAT_KEEP)

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
	enum pb_core_general_kind kind;      /* where all addresses fit one word */
	enum pb_core_general_kind high_kind; /* where some do not */
	struct pb_patch_format format;
} rows[] = {
	{"all there is", WORD, WORD, FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"inside", WORD, WORD, FORMAT(ADDRESS, INSIDE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"up to the end", NOT, NOT, FORMAT(ADDRESS, END, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"low bits are flags", NOT, NOT, FORMAT(ADDRESS, PAGE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"write", PLAIN, PLAIN, FORMAT(ADDRESS, NONE, PB_FORMAT_WRITE, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"fits", WORD, PLAIN, FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"keeps", CHOICE, CHOICE, FORMAT(ADDRESS, NONE, PB_FORMAT_KEEP, 4, 0, 0, 0, FIRST, 0xff, 0, 0, 0)},
	{"signed", RICH, RICH, FORMAT(ADDRESS, NONE, PB_FORMAT_SIGNED, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"signed, inside", NOT, NOT,
	 FORMAT(ADDRESS, INSIDE, PB_FORMAT_SIGNED, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"canonical", NOT, NOT, FORMAT(ADDRESS, NONE, PB_FORMAT_CANONICAL, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"wide", RICH, RICH, FORMAT(ADDRESS, NONE, PB_FORMAT_WIDE, 4, 0, 0, 1, FIRST, ALL, ALL, 0, 0)},
	{"wide, not side by side", NOT, NOT,
	 FORMAT(ADDRESS, NONE, PB_FORMAT_WIDE, 4, 0, 0, 2, FIRST, ALL, ALL, 0, 0)},
	{"aligned to a byte", NOT, NOT, FORMAT(ADDRESS, NONE, 0, 1, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"aligned to 8", NOT, NOT, FORMAT(ADDRESS, NONE, 0, 8, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"shifted right", WORD, PLAIN, FORMAT(ADDRESS, NONE, 0, 4, 8, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"shifted far right", PLAIN, PLAIN, FORMAT(ADDRESS, NONE, 0, 4, 40, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"shifted left", RICH, RICH, FORMAT(ADDRESS, NONE, 0, 4, 0, 1, 0, FIRST, ALL, 0, 0, 0)},
	{"by the segment", CHOICE, CHOICE, FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0)},
	{"by the attribute", CHOICE, CHOICE, FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, ATTRIBUTE, ALL, 0, 0, 0)},
	{"id", CHOICE, CHOICE, FORMAT(ID, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"constant", NOT, NOT, FORMAT(CONSTANT, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"constant by the segment", CHOICE, CHOICE,
	 FORMAT(CONSTANT, NONE, 0, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0)},
	{"fence", NOT, NOT, FORMAT(FENCE, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"fence by the segment", NOT, NOT, FORMAT(FENCE, NONE, 0, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0)},
	{"the buffer itself", NOT, NOT, FORMAT(SELF, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"the buffer by the attribute", NOT, NOT, FORMAT(SELF, NONE, 0, 4, 0, 0, 0, ATTRIBUTE, ALL, 0, 0, 0)},
	{"more bits", WORD, WORD, FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 1, 1)},
	{"more bits that fit", WORD, PLAIN,
	 FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, 0xffff, 0, 0x8000, 0)},
	{"more bits that do not fit", NOT, NOT,
	 FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, 0x7fff, 0, 0x8000, 0)},
	{"more bits that fit once shifted", WORD, PLAIN,
	 FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 1, 0, 0, FIRST, 0x7fff, 0, 0x8000, 0)},
	{"more high bits that do not fit", NOT, NOT,
	 FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, ALL, 0, 0, 1)},
	{"keeps and fits", RICH, RICH,
	 FORMAT(ADDRESS, NONE, PB_FORMAT_KEEP | PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, 0xff, 0, 0, 0)},
	{"id, shifted", RICH, RICH, FORMAT(ID, NONE, 0, 4, 1, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"by the segment, written", RICH, RICH,
	 FORMAT(ADDRESS, NONE, PB_FORMAT_WRITE, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0)},
	{"split", SPLIT, SPLIT,
	 FORMAT(ADDRESS, INSIDE, SPLITS | PB_FORMAT_FITS, 4, 0, 0, 1, FIRST, ~3u, 0xff, 0, 0)},
	{"split that may lose bits", SPLIT, SPLIT,
	 FORMAT(ADDRESS, NONE, SPLITS, 4, 0, 0, 1, FIRST, ~3u, 0xff, 0, 0)},
	{"split, written", RICH, RICH,
	 FORMAT(ADDRESS, NONE, SPLITS | PB_FORMAT_WRITE, 4, 0, 0, 1, FIRST, ~3u, 0xff, 0, 0)},
	{"split, signed", RICH, RICH,
	 FORMAT(ADDRESS, NONE, SPLITS | PB_FORMAT_SIGNED, 4, 0, 0, 1, FIRST, ~3u, 0xff, 0, 0)},
	{"split, shifted", RICH, RICH, FORMAT(ADDRESS, NONE, SPLITS, 4, 2, 0, 1, FIRST, ~3u, 0xff, 0, 0)},
	{"split with more bits", RICH, RICH,
	 FORMAT(ADDRESS, NONE, SPLITS, 4, 0, 0, 1, FIRST, ~3u, 0xff, 4, 0)},
	{"split with more high bits", RICH, RICH,
	 FORMAT(ADDRESS, NONE, SPLITS, 4, 0, 0, 1, FIRST, ~3u, 0xff, 0, 1)},
	{"split by the segment", RICH, RICH,
	 FORMAT(ADDRESS, NONE, SPLITS, 4, 0, 0, 1, SEGMENT, ~3u, 0xff, 0, 0)},
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

static void check_kind(const struct row *row, uint32_t id, enum pb_core_general_kind kind)
{
	struct pb_core_cursor cursor = cursor_of(&row->format, id);
	bool ready;

	job.general.id = PB_CORE_NO_FORMAT;
	ready = pb_core_general_ready(&cursor);
	if (job.general.kind != kind || ready != (kind != NOT))
		fail_msg("%s: %u", row->name, job.general.kind);
	assert_int_equal(job.general.id, id);
	assert_int_equal(job.general.column, (row->format.flags & PB_FORMAT_WRITE) != 0);
	assert_int_equal(job.general.bounded, row->format.bound == PB_FORMAT_INSIDE ? ALL : 0);
}

static void every_kind(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		job.high = false;
		check_kind(&rows[i], ID + i, rows[i].kind);
		job.high = true;
		check_kind(&rows[i], ID + i, rows[i].high_kind);
	}
	job.high = false;
	job.general.id = PB_CORE_NO_FORMAT;
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

/** Runs one entry, of allocation 0, at the second of four words. @return whether it was an ordinary one */
static bool runs(const struct pb_patch_format *format, struct pb_core_slot slot, uint32_t offset,
		 uint32_t *buffer)
{
	static const uint32_t pending;
	const struct pb_patch_location location = {
		.driver_id = ID, .allocation_offset = offset, .patch_offset = 4};
	struct pb_core_cursor cursor = cursor_of(format, ID);
	uint32_t words[sizeof(location) / 4u];
	enum pb_core_run run;

	for (uint32_t i = 0; i < 4u; i++)
		buffer[i] = PRIOR;
	memcpy(words, &location, sizeof(words));
	job.general.id = PB_CORE_NO_FORMAT;
	job.slots[0] = slot;
	cursor.words = words;
	cursor.end = cursor.pass = words + COUNT(words);
	cursor.slots = job.slots;
	cursor.origin = (uintptr_t)buffer;
	cursor.places[PB_CORE_CLASS_ANY] = 4;
	cursor.places[PB_CORE_CLASS_ANY_WIDE] = 3;
	cursor.pending = &pending;
	assert_true(pb_core_general_ready(&cursor));
	run = pb_core_general_run(&cursor);
	assert_ptr_equal(cursor.words, cursor.end);
	/* Of its slice a half is left, it says. */
	if (run == PB_CORE_IRREGULAR)
		assert_int_equal(cursor.budget, (PB_SLICE_INSTRUCTIONS - PB_COST_PLAN) / 2u);
	if (run == PB_CORE_IRREGULAR)
		assert_int_equal(cursor.irregular.driver_id, ID);
	assert_int_equal(buffer[0], PRIOR);
	assert_int_equal(buffer[3], PRIOR);
	return run == PB_CORE_DONE;
}

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
	uint32_t buffer[4];

	(void)state;
	job.high = true;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		const struct pb_patch_format format =
			FORMAT(ADDRESS, NONE, cases[i].fits ? PB_FORMAT_FITS : 0, 4, (uint8_t)cases[i].right,
			       0, 0, FIRST, ALL, 0, 0, 0);
		const struct pb_core_slot slot = {cases[i].low, cases[i].high, {1, 0}};

		assert_int_equal(runs(&format, slot, cases[i].offset, buffer), cases[i].done);
		assert_int_equal(buffer[1], cases[i].stored);
		assert_int_equal(buffer[2], PRIOR);
	}
	job.high = false;
}

/** As plain_values, of a job whose addresses fit one word: a sum that does not is left to the slow path, if that matters. */
static void word_values(void **state)
{
	static const struct {
		uint32_t low, offset, right;
		bool fits, done;
		uint32_t stored;
	} cases[] = {
		{0x12345678, 0, 0, true, true, 0x12345678},     {0xfffffffe, 1, 0, true, true, 0xffffffff},
		{0xffffffff, 1, 0, true, false, PRIOR},         {0xffffffff, 1, 0, false, true, 0},
		{0xffffffff, 1, 8, true, false, PRIOR},         {0xffffffff, 1, 8, false, false, PRIOR},
		{0xffffff00, 0xff, 8, false, true, 0x00ffffff}, {0x80000000, 0, 31, true, true, 1},
	};
	uint32_t buffer[4];

	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		const struct pb_patch_format format =
			FORMAT(ADDRESS, NONE, cases[i].fits ? PB_FORMAT_FITS : 0, 4, (uint8_t)cases[i].right,
			       0, 0, FIRST, ALL, 0, 0, 0);
		const struct pb_core_slot slot = {cases[i].low, 0, {1, 0}};

		assert_int_equal(runs(&format, slot, cases[i].offset, buffer), cases[i].done);
		assert_int_equal(buffer[1], cases[i].stored);
		assert_int_equal(buffer[2], PRIOR);
	}
}

/** One word that the allocation chooses: by its address, id, segment or attribute. */
static void chosen_values(void **state)
{
	static const struct {
		struct pb_patch_format format;
		uint32_t low, id, kind, attribute, offset;
		uint32_t stored;
	} cases[] = {
		{FORMAT(ID, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0), 9, 0x500, 1, 3, 4, 0x504},
		{FORMAT(ID, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0), 9, ALL, 1, 3, 2, 1},
		{FORMAT(ID, NONE, 0, 4, 0, 0, 0, FIRST, 0xff00, 0, 1, 0), 9, 0x1234, 0, 0, 0, 0x1200},
		{FORMAT(CONSTANT, NONE, 0, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0), 9, 8, 0, 3, 0x1000, 0x1010},
		{FORMAT(CONSTANT, NONE, 0, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0), 9, 8, 1, 0, 0x1000, 0x1020},
		{FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0), ALL, 8, 1, 0, 2, 0x21},
		{FORMAT(CONSTANT, NONE, PB_FORMAT_KEEP, 4, 0, 0, 0, ATTRIBUTE, 0xf0, 0, 0, 0), 9, 8, 1, 3, 0,
		 0x11111181},
		{FORMAT(CONSTANT, NONE, PB_FORMAT_KEEP, 4, 0, 0, 0, ATTRIBUTE, 0xf0, 0, 0, 0), 9, 8, 1, 0,
		 0x30f, 0x11111111},
		{FORMAT(ADDRESS, NONE, PB_FORMAT_KEEP, 4, 0, 0, 0, FIRST, 0xffffff, 0, 0, 0), 0xabcdef01, 8,
		 1, 3, 0xff, 0x11cdf000},
	};
	uint32_t buffer[4];

	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		struct pb_patch_format format = cases[i].format;
		const struct pb_core_slot slot = {cases[i].low, 7, {1, 0}};

		if (format.or_by != PB_FORMAT_OR_FIRST)
			format.or_value[0] = 0x10, format.or_value[1] = 0x20;
		if (format.or_by == PB_FORMAT_OR_ATTRIBUTE)
			format.or_value[2] = 0x40, format.or_value[3] = 0x80;
		job.high = true;
		job.ids[0] = cases[i].id;
		job.tags[0] = PB_CORE_TAG(cases[i].kind, cases[i].attribute);
		assert_true(runs(&format, slot, cases[i].offset, buffer));
		assert_int_equal(buffer[1], cases[i].stored);
		assert_int_equal(buffer[2], PRIOR);
	}
	job.high = false;
}

/** Two words of an address below and between bits that stay. */
static void split_values(void **state)
{
	static const struct {
		uint32_t low, high, offset;
		bool fits, done;
		uint32_t stored, stored_high;
	} cases[] = {
		{0x1000, 0x12, 0x10, true, true, 0x1011, 0x11111112},
		{0xfffffff0, 0, 0x10, true, true, 0x00000001, 0x11111101},
		{0x1000, 0xff, 0x2, true, false, PRIOR, PRIOR},
		{0x1000, 0x100, 0, true, false, PRIOR, PRIOR},
		{0xffffffff, 0xff, 1, true, false, PRIOR, PRIOR},
		{0x1003, 0x123, 0, false, true, 0x1001, 0x11111123},
	};
	uint32_t buffer[4];

	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		const struct pb_patch_format format =
			FORMAT(ADDRESS, NONE, SPLITS | (cases[i].fits ? PB_FORMAT_FITS : 0), 4, 0, 0, 1,
			       FIRST, ~3u, 0xff, 0, 0);
		const struct pb_core_slot slot = {cases[i].low, cases[i].high, {1, 0}};

		assert_int_equal(runs(&format, slot, cases[i].offset, buffer), cases[i].done);
		assert_int_equal(buffer[1], cases[i].stored);
		assert_int_equal(buffer[2], cases[i].stored_high);
	}
}

UNIT_SUITE(test_firmware_general)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind),   cmocka_unit_test(worked_out_once),
		cmocka_unit_test(not_known),    cmocka_unit_test(plain_values),
		cmocka_unit_test(word_values),  cmocka_unit_test(chosen_values),
		cmocka_unit_test(split_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
