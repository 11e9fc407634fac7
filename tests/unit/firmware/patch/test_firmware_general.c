/* SPDX-License-Identifier: MIT */
/* Which formats have which shape, and what firmware/patch/mixed.c stores for each: the others take the slow path. */
#include <string.h>

#include "firmware/instance.h"
#include "firmware/patch/loops.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define ID           PB_FORMAT_OWN
#define ALL          UINT32_MAX
#define SHAPE(name)  PB_CORE_SHAPE_##name

#define SPLITS (PB_FORMAT_WIDE | PB_FORMAT_KEEP)

static struct pb_firmware firmware;
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
	enum pb_core_shape shape;
	struct pb_patch_format format;
} rows[] = {
	{"all there is", SHAPE(SHIFT), FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"inside", SHAPE(SHIFT_INSIDE), FORMAT(ADDRESS, INSIDE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"up to the end", SHAPE(SLOW), FORMAT(ADDRESS, END, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"low bits are flags", SHAPE(SLOW), FORMAT(ADDRESS, PAGE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"write", SHAPE(SHIFT), FORMAT(ADDRESS, NONE, PB_FORMAT_WRITE, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"fits", SHAPE(SHIFT), FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"keeps", SHAPE(CHOICE), FORMAT(ADDRESS, NONE, PB_FORMAT_KEEP, 4, 0, 0, 0, FIRST, 0xff, 0, 0, 0)},
	{"signed", SHAPE(SLOW), FORMAT(ADDRESS, NONE, PB_FORMAT_SIGNED, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"signed, inside", SHAPE(SLOW),
	 FORMAT(ADDRESS, INSIDE, PB_FORMAT_SIGNED, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"canonical", SHAPE(SLOW),
	 FORMAT(ADDRESS, NONE, PB_FORMAT_CANONICAL, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"wide", SHAPE(SLOW), FORMAT(ADDRESS, NONE, PB_FORMAT_WIDE, 4, 0, 0, 1, FIRST, ALL, ALL, 0, 0)},
	{"wide, not side by side", SHAPE(SLOW),
	 FORMAT(ADDRESS, NONE, PB_FORMAT_WIDE, 4, 0, 0, 2, FIRST, ALL, ALL, 0, 0)},
	{"aligned to a byte", SHAPE(SLOW), FORMAT(ADDRESS, NONE, 0, 1, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"aligned to 8", SHAPE(SLOW), FORMAT(ADDRESS, NONE, 0, 8, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"shifted right", SHAPE(SHIFT), FORMAT(ADDRESS, NONE, 0, 4, 8, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"shifted far right", SHAPE(HIGH), FORMAT(ADDRESS, NONE, 0, 4, 40, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"shifted left", SHAPE(SLOW), FORMAT(ADDRESS, NONE, 0, 4, 0, 1, 0, FIRST, ALL, 0, 0, 0)},
	{"by the segment", SHAPE(CHOICE), FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0)},
	{"by the attribute", SHAPE(CHOICE), FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, ATTRIBUTE, ALL, 0, 0, 0)},
	{"id", SHAPE(ID), FORMAT(ID, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"constant", SHAPE(SLOW), FORMAT(CONSTANT, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"constant by the segment", SHAPE(CONSTANT),
	 FORMAT(CONSTANT, NONE, 0, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0)},
	{"fence", SHAPE(SLOW), FORMAT(FENCE, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"fence by the segment", SHAPE(SLOW), FORMAT(FENCE, NONE, 0, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0)},
	{"the buffer itself", SHAPE(SLOW), FORMAT(SELF, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"the buffer by the attribute", SHAPE(SLOW),
	 FORMAT(SELF, NONE, 0, 4, 0, 0, 0, ATTRIBUTE, ALL, 0, 0, 0)},
	{"more bits", SHAPE(SHIFT), FORMAT(ADDRESS, NONE, 0, 4, 0, 0, 0, FIRST, ALL, 0, 1, 1)},
	{"more bits that fit", SHAPE(SHIFT),
	 FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, 0xffff, 0, 0x8000, 0)},
	{"more bits that do not fit", SHAPE(SHIFT),
	 FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, 0x7fff, 0, 0x8000, 0)},
	{"more bits that fit once shifted", SHAPE(SHIFT),
	 FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 1, 0, 0, FIRST, 0x7fff, 0, 0x8000, 0)},
	{"more high bits that do not fit", SHAPE(SHIFT),
	 FORMAT(ADDRESS, NONE, PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, ALL, 0, 0, 1)},
	{"keeps and fits", SHAPE(SLOW),
	 FORMAT(ADDRESS, NONE, PB_FORMAT_KEEP | PB_FORMAT_FITS, 4, 0, 0, 0, FIRST, 0xff, 0, 0, 0)},
	{"id, shifted", SHAPE(SLOW), FORMAT(ID, NONE, 0, 4, 1, 0, 0, FIRST, ALL, 0, 0, 0)},
	{"by the segment, written", SHAPE(SLOW),
	 FORMAT(ADDRESS, NONE, PB_FORMAT_WRITE, 4, 0, 0, 0, SEGMENT, ALL, 0, 0, 0)},
	{"split", SHAPE(SPLIT),
	 FORMAT(ADDRESS, INSIDE, SPLITS | PB_FORMAT_FITS, 4, 0, 0, 1, FIRST, ~3u, 0xff, 0, 0)},
	{"split that may lose bits", SHAPE(SPLIT),
	 FORMAT(ADDRESS, NONE, SPLITS, 4, 0, 0, 1, FIRST, ~3u, 0xff, 0, 0)},
	{"split, written", SHAPE(SLOW),
	 FORMAT(ADDRESS, NONE, SPLITS | PB_FORMAT_WRITE, 4, 0, 0, 1, FIRST, ~3u, 0xff, 0, 0)},
	{"split, signed", SHAPE(SLOW),
	 FORMAT(ADDRESS, NONE, SPLITS | PB_FORMAT_SIGNED, 4, 0, 0, 1, FIRST, ~3u, 0xff, 0, 0)},
	{"split, shifted", SHAPE(SLOW), FORMAT(ADDRESS, NONE, SPLITS, 4, 2, 0, 1, FIRST, ~3u, 0xff, 0, 0)},
	{"split with more bits", SHAPE(SLOW),
	 FORMAT(ADDRESS, NONE, SPLITS, 4, 0, 0, 1, FIRST, ~3u, 0xff, 4, 0)},
	{"split with more high bits", SHAPE(SLOW),
	 FORMAT(ADDRESS, NONE, SPLITS, 4, 0, 0, 1, FIRST, ~3u, 0xff, 0, 1)},
	{"split by the segment", SHAPE(SLOW),
	 FORMAT(ADDRESS, NONE, SPLITS, 4, 0, 0, 1, SEGMENT, ~3u, 0xff, 0, 0)},
	{"keeps, inside", SHAPE(CHOICE_INSIDE),
	 FORMAT(ADDRESS, INSIDE, PB_FORMAT_KEEP, 4, 0, 0, 0, FIRST, 0xff, 0, 0, 0)},
	{"shifted far right, inside", SHAPE(HIGH_INSIDE),
	 FORMAT(ADDRESS, INSIDE, 0, 4, 32, 0, 0, FIRST, ALL, 0, 0, 0)},
};

static void every_shape(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		if (pb_core_format_shape(&rows[i].format) != rows[i].shape)
			fail_msg("%s: %u", rows[i].name, pb_core_format_shape(&rows[i].format));
	}
}

/** The table of the built-in formats has what would be found of each. */
static void built_in_shapes(void **state)
{
	(void)state;
	for (uint32_t id = 0; id < PB_PATCH_FORMAT_COUNT; id++)
		assert_int_equal(pb_core_format_shapes[id],
				 pb_core_format_shape(&pb_core_format_built_in[id]));
}

#define PRIOR 0x11111111u

/** Gives the channel a format of its own, whatever FORMAT_SET says of it. */
static void set_own(const struct pb_patch_format *format)
{
	firmware.formats.at[0] = *format;
	firmware.formats.shape[0] = (uint8_t)pb_core_format_shape(format);
	firmware.channels[1].formats.slot_of[0] = 1;
}

/** Patches one entry, of allocation 0, at the second of four words. */
static enum pb_error patches(const struct pb_patch_format *format, struct pb_core_slot slot, uint32_t offset,
			     uint32_t *buffer)
{
	static const uint32_t pending;
	const struct pb_patch_location location = {
		.driver_id = ID, .allocation_offset = offset, .patch_offset = 4};
	uint32_t words[sizeof(location) / 4u];
	struct pb_core_cursor cursor = {
		.words = words,
		.end = words + COUNT(words),
		.pass = words + COUNT(words),
		.slots = job.slots,
		.origin = (uintptr_t)buffer,
		.places = {[PB_CORE_CLASS_ANY] = 4, [PB_CORE_CLASS_ANY_WIDE] = 3},
		.pending = &pending,
		.firmware = &firmware,
		.job = &job,
	};
	enum pb_error error;

	for (uint32_t i = 0; i < 4u; i++)
		buffer[i] = PRIOR;
	memcpy(words, &location, sizeof(words));
	set_own(format);
	job.channel = &firmware.channels[1];
	job.target = (void *)buffer;
	job.bytes = 16;
	job.allocation_count = 1;
	job.slots[0] = slot;
	error = pb_core_list_slices(&cursor);
	assert_ptr_equal(cursor.words, error == PB_ERROR_OK ? cursor.end : words);
	assert_int_equal(buffer[0], PRIOR);
	assert_int_equal(buffer[3], PRIOR);
	return error;
}

/** One entry of a shifted address: what of the 64 bits is stored, or that some are lost that must not be. */
static void shifted_values(void **state)
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
		{0xfffffffe, 0, 1, 0, true, true, 0xffffffff},
		{0xffffff00, 0, 0xff, 8, false, true, 0x00ffffff},
		{0x80000000, 0, 0, 31, true, true, 1},
	};
	uint32_t buffer[4];

	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		const struct pb_patch_format format =
			FORMAT(ADDRESS, NONE, cases[i].fits ? PB_FORMAT_FITS : 0, 4, (uint8_t)cases[i].right,
			       0, 0, FIRST, ALL, 0, 0, 0);
		const struct pb_core_slot slot = {cases[i].low, cases[i].high, {1, 0}};

		assert_int_equal(patches(&format, slot, cases[i].offset, buffer),
				 cases[i].done ? PB_ERROR_OK : PB_ERROR_PATCH_VALUE);
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
		job.ids[0] = cases[i].id;
		job.tags[0] = PB_CORE_TAG(cases[i].kind, cases[i].attribute);
		assert_int_equal(patches(&format, slot, cases[i].offset, buffer), PB_ERROR_OK);
		assert_int_equal(buffer[1], cases[i].stored);
		assert_int_equal(buffer[2], PRIOR);
	}
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

		assert_int_equal(patches(&format, slot, cases[i].offset, buffer),
				 cases[i].done ? PB_ERROR_OK : PB_ERROR_PATCH_VALUE);
		assert_int_equal(buffer[1], cases[i].stored);
		assert_int_equal(buffer[2], cases[i].stored_high);
	}
}

/* ---- formats that change ---- */

#define RUN 3u /* entries before and behind each change */

/** The arguments of FORMAT_SET. @param flags and shift_right of a format of one word that is otherwise plain */
static void set_arguments(uint32_t *arguments, uint32_t or_by, uint32_t shift_right, uint32_t mask,
			  uint32_t or_value)
{
	memset(arguments, 0, PB_COMMAND_ARGUMENTS * sizeof(*arguments));
	arguments[0] = ID;
	arguments[1] = PB_FORMAT_ADDRESS | PB_FORMAT_NONE << 8 | 4u << 24;
	arguments[2] = shift_right | or_by << 24;
	arguments[3] = mask;
	arguments[8] = or_value;
}

/** Patches entries of format ID with one job of channel 1, from allocation 0. @return what is wrong with one */
static enum pb_error patch_run(uint32_t *buffer)
{
	static const uint32_t pending;
	struct pb_patch_location list[RUN];
	uint32_t words[sizeof(list) / 4u];
	struct pb_core_cursor cursor = {
		.words = words,
		.end = words + COUNT(words),
		.pass = words + COUNT(words),
		.slots = job.slots,
		.origin = (uintptr_t)buffer,
		.places = {[PB_CORE_CLASS_ANY] = RUN, [PB_CORE_CLASS_ANY_WIDE] = RUN - 1u},
		.pending = &pending,
		.format_id = job.format_id,
		.firmware = &firmware,
		.job = &job,
	};
	enum pb_error error;

	for (uint32_t i = 0; i < RUN; i++) {
		list[i] = (struct pb_patch_location){.driver_id = ID, .patch_offset = i * 4u};
		buffer[i] = PRIOR;
	}
	memcpy(words, list, sizeof(words));
	error = pb_core_list_slices(&cursor);
	job.format_id = cursor.format_id;
	return error;
}

/**
 * Whatever the commands allow: between two passes of one job a format is set anew with another shape, is forgotten, and
 * its place goes to another channel. No entry is carried out by what the format was.
 */
static void a_format_is_used_as_it_is_now(void **state)
{
	static const struct {
		uint32_t or_by, shift_right, mask, or_value;
		uint32_t stored; /* of address 0x12345678 */
	} formats[] = {
		{PB_FORMAT_OR_FIRST, 8, ALL, 0, 0x00123456},
		{PB_FORMAT_OR_FIRST, 4, ALL, 0, 0x01234567},
		{PB_FORMAT_OR_SEGMENT, 0, ALL, 0x1, 0x12345679},
		{PB_FORMAT_OR_FIRST, 32, ALL, 0, 0x00000009},
		{PB_FORMAT_OR_FIRST, 0, 0xff, 0x100, 0x78},
		{PB_FORMAT_OR_FIRST, 0, 0xff00, 0x100, 0x5700},
		{PB_FORMAT_OR_SEGMENT, 8, ALL, 0x1, 0x09123457},
	};
	struct pb_core_channel *const channels = firmware.channels;
	uint32_t arguments[PB_COMMAND_ARGUMENTS];
	uint32_t buffer[RUN];

	(void)state;
	memset(&firmware, 0, sizeof(firmware));
	memset(&job, 0, sizeof(job));
	job.channel = &channels[1];
	job.target = (void *)buffer;
	job.bytes = sizeof(buffer);
	job.allocation_count = 1;
	job.slots[0] = (struct pb_core_slot){0x12345678, 0x9, {1, 1}};
	for (uint32_t i = 0; i < 2u * COUNT(formats); i++) {
		const uint32_t k = i % COUNT(formats);
		const bool high = formats[k].shift_right != 0 && formats[k].shift_right < 32u;

		set_arguments(arguments, formats[k].or_by, formats[k].shift_right, formats[k].mask,
			      formats[k].or_value);
		assert_int_equal(pb_core_format_check(arguments), PB_FORMAT_REASON_NONE);
		pb_core_format_set(&firmware.formats, &channels[1].formats, arguments);
		assert_int_equal(patch_run(buffer), PB_ERROR_OK);
		for (uint32_t n = 0; n < RUN; n++)
			assert_int_equal(buffer[n],
					 formats[k].stored |
						 (high ? 9u << (32u - formats[k].shift_right) : 0));
	}
	pb_core_format_forget(&firmware.formats, &channels[1].formats);
	assert_int_equal(patch_run(buffer), PB_ERROR_PATCH_FORMAT);
	assert_int_equal(buffer[0], PRIOR);
	pb_core_format_set(&firmware.formats, &channels[2].formats, arguments);
	assert_int_equal(patch_run(buffer), PB_ERROR_PATCH_FORMAT);
	assert_int_equal(buffer[0], PRIOR);
	job.channel = &channels[2];
	assert_int_equal(patch_run(buffer), PB_ERROR_OK);
}

/* ---- all formats in one list ---- */

#define MIXED 600u

static uint32_t list_words[MIXED * sizeof(struct pb_patch_location) / 4u];
static uint32_t target[2u * MIXED];

/** A job with an allocation that is bound, and a cursor at its long list. @param pending whether a line waits: one slice */
static struct pb_core_cursor cursor_of(const struct pb_patch_location *list, bool pending)
{
	static const uint32_t lines[] = {0, 1};

	memset(&firmware, 0, sizeof(firmware));
	memset(&job, 0, sizeof(job));
	job.channel = &firmware.channels[1];
	job.target = (void *)target;
	job.bytes = sizeof(target);
	job.allocation_count = 2;
	job.slots[1] = (struct pb_core_slot){0x02345678, 0, {0x1000, 0x1000}};
	job.ids[1] = 0x77;
	job.tags[1] = PB_CORE_TAG(0, 2);
	memcpy(list_words, list, sizeof(list_words));
	return (struct pb_core_cursor){
		.words = list_words,
		.end = list_words + COUNT(list_words),
		.pass = list_words + COUNT(list_words),
		.slots = job.slots,
		.origin = (uintptr_t)target,
		.places = {2u * MIXED, 2u * MIXED, 2u * MIXED - 1u, 2u * MIXED, 2u * MIXED - 1u},
		.pending = &lines[pending],
		.firmware = &firmware,
		.job = &job,
	};
}

/** In one long list, in no order, the formats that have loops, constants, descriptors, or the slow path alone. */
static void a_mix_of_all(void **state)
{
	static const uint32_t ids[] = {
		PB_PATCH_FORMAT_SUM32,       PB_PATCH_FORMAT_HIGH32,  PB_PATCH_FORMAT_NOUVEAU_DMA,
		PB_PATCH_FORMAT_NOUVEAU_OR,  PB_PATCH_FORMAT_SHIFT1,  PB_PATCH_FORMAT_NOUVEAU_LOW_OR,
		PB_PATCH_FORMAT_ID32,        PB_PATCH_FORMAT_TILING,  PB_PATCH_FORMAT_SPLIT40,
		PB_PATCH_FORMAT_UNALIGNED32, PB_PATCH_FORMAT_LOW24,   PB_PATCH_FORMAT_HIGH8_1,
		PB_PATCH_FORMAT_SHIFT8,      PB_PATCH_FORMAT_FIELD28, PB_PATCH_FORMAT_SHIFT8_SECTOR,
	};
	/* Of address 0x02345678, id 0x77, attribute 2, in memory; bits that stay are those of PRIOR. */
	static const uint32_t low[] = {
		0x02345678, 0,          0xbeef0201, 1,          0x011a2b3c,
		0x02345679, 0x77,       0x11111211, 0x02345679, 0x02345678,
		0x11345678, 0x11110211, 0x00023456, 0xa2345678, 0x80023456,
	};
	static struct pb_patch_location list[MIXED];
	struct pb_core_cursor cursor;
	uint32_t random = 1;

	(void)state;
	for (uint32_t i = 0; i < MIXED; i++) {
		random = random * 1664525u + 1013904223u;
		/* Runs of one to three; every eighth allocation is not bound. */
		list[i] = (struct pb_patch_location){
			.allocation_index = i % 8u != 0,
			.driver_id = i % 4u != 0 && random >> 30 != 0 ? list[i - 1u].driver_id
								      : ids[(random >> 16) % COUNT(ids)],
			.patch_offset = i * 8u,
		};
		target[2u * i] = target[2u * i + 1u] = PRIOR;
	}
	cursor = cursor_of(list, false);
	assert_int_equal(pb_core_list_slices(&cursor), PB_ERROR_OK);
	assert_ptr_equal(cursor.words, cursor.end);
	for (uint32_t i = 0; i < MIXED; i++) {
		uint32_t stored = PRIOR;
		const bool split = list[i].driver_id == PB_PATCH_FORMAT_SPLIT40 && i % 8u != 0;

		for (uint32_t k = 0; k < COUNT(ids); k++)
			if (ids[k] == list[i].driver_id && i % 8u != 0)
				stored = low[k];
		if (target[2u * i] != stored)
			fail_msg("entry %u, format %u: %x", i, list[i].driver_id, target[2u * i]);
		assert_int_equal(target[2u * i + 1u], split ? PRIOR & ~0xffu : PRIOR);
	}
}

/** While a line waits, one slice is carried out: about as many instructions, whatever the formats are. */
static void a_slice_of_each(void **state)
{
	static const struct {
		uint32_t before, format, most;
	} slices[] = {
		{PB_PATCH_FORMAT_ADDRESS32, PB_PATCH_FORMAT_ADDRESS32, 24},
		{PB_PATCH_FORMAT_ADDRESS32, PB_PATCH_FORMAT_SPLIT40, 15},
		{PB_PATCH_FORMAT_SPLIT40, PB_PATCH_FORMAT_SPLIT40, 15},
		{PB_PATCH_FORMAT_HIGH32, PB_PATCH_FORMAT_LOW24, 7},
		{PB_PATCH_FORMAT_LOW24, PB_PATCH_FORMAT_LOW24, 7},
		{PB_PATCH_FORMAT_SPLIT40, PB_PATCH_FORMAT_UNALIGNED32, 2},
	};
	static struct pb_patch_location list[MIXED];

	(void)state;
	for (uint32_t i = 0; i < COUNT(slices); i++) {
		struct pb_core_cursor cursor;

		for (uint32_t k = 0; k < MIXED; k++)
			list[k] = (struct pb_patch_location){
				.allocation_index = 1, .driver_id = slices[i].format, .patch_offset = k * 8u};
		cursor = cursor_of(list, true);
		cursor.format_id = slices[i].before;
		assert_int_equal(pb_core_list_slices(&cursor), PB_ERROR_OK);
		assert_in_range((uint32_t)(cursor.words - list_words) / 6u, 1, slices[i].most);
	}
}

UNIT_SUITE(test_firmware_general)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape),    cmocka_unit_test(built_in_shapes),
		cmocka_unit_test(shifted_values), cmocka_unit_test(chosen_values),
		cmocka_unit_test(split_values),   cmocka_unit_test(a_format_is_used_as_it_is_now),
		cmocka_unit_test(a_mix_of_all),   cmocka_unit_test(a_slice_of_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
