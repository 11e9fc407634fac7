/* SPDX-License-Identifier: MIT */
/* Files of nouveau: what the reader makes of them, what their relocations mean, and which formats carry them out. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "host/tool/replay_formats.h"
#include "host/tool/replay_oracle.h"
#include "host/tool/subm.h"
#include "tests/unit/subm_writer.h"
#include "tests/unit/unit.h"

/* ---- the reader ---- */

/* One relocation of this kind. @return whether it is taken */
static bool kind_is_taken(uint32_t reloc_bits, uint32_t kind)
{
	struct pb_subm_submission submission = {0};
	struct subm_writer writer = {0};
	struct pb_subm_reader reader;
	char path[SUBM_PATH_BYTES];
	int got;

	subm_file_header(&writer, reloc_bits, 1);
	subm_nouveau(&writer);
	subm_begin(&writer, 1, 1, 1);
	subm_object(&writer, 11, 4096, 0);
	subm_relocation(&writer, 0, 0, 4, 0x11, kind);
	subm_contents(&writer, 0, 16);
	subm_end(&writer);
	subm_save(&writer, writer.used, false, path);
	assert_true(pb_subm_open(&reader, path));
	got = pb_subm_next(&reader, &submission);
	if (got != 1)
		assert_non_null(strstr(reader.error, "kind is no width"));
	pb_subm_submission_free(&submission);
	pb_subm_close(&reader);
	assert_int_equal(unlink(path), 0);
	subm_free(&writer);
	return got == 1;
}

static void test_nouveau_kinds(void **state)
{
	static const uint32_t bad[] = {0,     1,     8,     0x100,  0x108,      0x705,
				       0x804, 0xc04, 0xf04, 0x1004, 0x80000004, 0x80000104};

	(void)state;
	for (uint32_t bits = 32; bits <= 64; bits += 32) {
		for (uint32_t flags = 0; flags < 8; flags++)
			assert_true(kind_is_taken(bits, flags << 8 | 4));
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
			assert_false(kind_is_taken(bits, bad[i]));
	}
}

/* Domains are no EXEC_OBJECT flags, the alignment is none, vor and tor say nothing about writing. */
static void test_nouveau_fields(void **state)
{
	static const struct {
		uint32_t flags;
		uint32_t placed_high;
		bool written;
		bool gart;
	} cases[] = {
		{0x02000006, 0x80000000, false, false}, {0x02020006, 0x80000012, true, false},
		{0x04040406, 0x00000012, true, true},   {0x04010404, 0x7fffffff, true, true},
		{0xff00ffff, 0, false, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_subm_submission submission = {0};
		struct subm_writer writer = {0};
		struct pb_subm_reader reader;
		char path[SUBM_PATH_BYTES];

		subm_file_header(&writer, 64, 1);
		subm_nouveau(&writer);
		subm_begin(&writer, 1, 1, 1);
		subm_object(&writer, 11, 4096, 3);
		subm_set32(&writer, writer.used - 36, cases[i].flags);
		subm_set32(&writer, writer.used - 4, cases[i].placed_high);
		subm_relocation(&writer, 0, 0, 4, 0x11, 0x404);
		subm_bits(&writer, 0xbeef0201, 0xbeef0202);
		subm_contents(&writer, 0, 16);
		subm_end(&writer);
		subm_save(&writer, writer.used, false, path);
		assert_true(pb_subm_open(&reader, path));
		assert_int_equal(reader.driver, PB_SUBM_NOUVEAU);
		assert_int_equal(pb_subm_next(&reader, &submission), 1);
		assert_int_equal(submission.driver, PB_SUBM_NOUVEAU);
		assert_int_equal(submission.objects[0].written, cases[i].written);
		assert_int_equal(submission.objects[0].gart, cases[i].gart);
		assert_int_equal(submission.objects[0].alignment, 0);
		assert_int_equal(submission.objects[0].placed, (uint64_t)(cases[i].placed_high & 0x7fffffff)
								       << 32);
		assert_int_equal(submission.relocations[0].width, 4);
		assert_int_equal(submission.relocations[0].flags, PB_SUBM_OR);
		assert_int_equal(submission.relocations[0].read_domains, 0xbeef0201);
		assert_int_equal(submission.relocations[0].write_domain, 0xbeef0202);
		pb_subm_submission_free(&submission);
		pb_subm_close(&reader);
		assert_int_equal(unlink(path), 0);
		subm_free(&writer);
	}
}

/* ---- what is stored ---- */

#define ADDRESS UINT64_C(0x12fffff000)

static const struct {
	uint32_t flags;
	uint32_t delta;
	uint32_t vram;    /* vor */
	uint32_t gart;    /* tor */
	uint32_t in_vram; /* value there */
	uint32_t in_gart;
} values[] = {
	{0, 0x12345678, 1, 2, 0x12345678, 0x12345678},
	{PB_SUBM_LOW, 0x10, 1, 2, 0xfffff010, 0xfffff010},
	{PB_SUBM_LOW, 0x1004, 1, 2, 4, 4},
	{PB_SUBM_HIGH, 0xfff, 1, 2, 0x12, 0x12},
	{PB_SUBM_HIGH, 0x1000, 1, 2, 0x13, 0x13},
	{PB_SUBM_HIGH, 0xffffffff, 1, 2, 0x13, 0x13},
	{PB_SUBM_LOW | PB_SUBM_HIGH, 0x10, 1, 2, 0xfffff010, 0xfffff010},
	{PB_SUBM_OR, 0, 0xbeef0201, 0xbeef0202, 0xbeef0201, 0xbeef0202},
	{PB_SUBM_OR, 0xf0, 0x11, 0x22, 0xf1, 0xf2},
	{PB_SUBM_LOW | PB_SUBM_OR, 0x10, 0, 0x80000000, 0xfffff010, 0xfffff010},
	{PB_SUBM_LOW | PB_SUBM_OR, 0x1000, 0, 0x80000000, 0, 0x80000000},
	{PB_SUBM_HIGH | PB_SUBM_OR, 0x1000, 0x100, 0x200, 0x113, 0x213},
};

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(values) / sizeof(values[0]); i++) {
		const uint64_t address = ADDRESS;
		const uint32_t place = 0;
		const bool gart = i % 2 == 1;
		uint32_t expected = gart ? values[i / 2].in_gart : values[i / 2].in_vram;
		struct pb_subm_object object = {.size = 4096, .gart = gart};
		struct pb_subm_relocation relocation = {
			.width = 4,
			.flags = values[i / 2].flags,
			.delta = values[i / 2].delta,
			.read_domains = values[i / 2].vram,
			.write_domain = values[i / 2].gart,
		};
		struct pb_subm_submission submission = {
			.driver = PB_SUBM_NOUVEAU,
			.object_count = 1,
			.relocation_count = 1,
			.objects = &object,
			.relocations = &relocation,
		};
		uint8_t bytes[5] = {0, 0, 0, 0, 0xee};

		pb_oracle_apply(&submission, &address, &place, bytes);
		assert_memory_equal(bytes, &expected, 4);
		assert_int_equal(bytes[4], 0xee);
	}
}

/* ---- formats ---- */

static struct pb_subm_relocation relocation_of(uint32_t flags, uint32_t vram, uint32_t gart)
{
	return (struct pb_subm_relocation){
		.width = 4, .flags = flags, .read_domains = vram, .write_domain = gart};
}

static void test_format_rows(void **state)
{
	static const struct {
		uint32_t flags;
		uint32_t vram;
		uint32_t gart;
		uint32_t number; /* of a built-in, or OWN and then: */
		struct pb_patch_format format;
	} rows[] = {
		{PB_SUBM_LOW, 1, 2, PB_PATCH_FORMAT_SUM32, {0}},
		{PB_SUBM_LOW | PB_SUBM_HIGH, 1, 2, PB_PATCH_FORMAT_SUM32, {0}},
		{PB_SUBM_HIGH, 1, 2, PB_PATCH_FORMAT_HIGH32, {0}},
		{PB_SUBM_LOW | PB_SUBM_OR, 0, 0, PB_PATCH_FORMAT_SUM32, {0}},
		{0, 1, 2, PB_FORMAT_OWN, {2, 3, 0, 4, 0, 0, 0, 0, ~0u, 0, 0, 0, 0, {0}, 0}},
		{PB_SUBM_OR, 1, 2, PB_FORMAT_OWN, {2, 3, 0, 4, 0, 0, 0, 2, ~0u, 0, 0, 0, 0, {1, 2}, 0}},
		{PB_SUBM_OR | PB_SUBM_LOW,
		 0,
		 2,
		 PB_FORMAT_OWN,
		 {0, 3, 0, 4, 0, 0, 0, 2, ~0u, 0, 0, 0, 0, {0, 2}, 0}},
		{PB_SUBM_OR | PB_SUBM_HIGH,
		 1,
		 0,
		 PB_FORMAT_OWN,
		 {0, 3, 0, 4, 32, 0, 0, 2, ~0u, 0, 0, 0, 0, {1, 0}, 0}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const bool own = rows[i].number == PB_FORMAT_OWN;
		struct pb_subm_relocation relocation =
			relocation_of(rows[i].flags, rows[i].vram, rows[i].gart);
		const struct pb_subm_submission submission = {
			.driver = PB_SUBM_NOUVEAU, .relocation_count = 1, .relocations = &relocation};
		struct pb_replay_formats formats = {.room = 1};

		assert_int_equal(pb_replay_formats_number(&formats, PB_SUBM_NOUVEAU, &relocation),
				 own ? PB_REPLAY_FORMAT_NONE : rows[i].number);
		assert_true(pb_replay_formats_add(&formats, &submission));
		assert_int_equal(formats.count, own ? 1 : 0);
		assert_int_equal(pb_replay_formats_number(&formats, PB_SUBM_NOUVEAU, &relocation),
				 rows[i].number);
		if (own)
			assert_memory_equal(&formats.own[0], &rows[i].format, sizeof(rows[i].format));
	}
}

/* Adds one submission with OR relocations of these numbers. */
static bool add_numbers(struct pb_replay_formats *formats, uint32_t first, uint32_t count)
{
	struct pb_subm_relocation relocations[8];

	assert_true(count <= 4);
	for (uint32_t i = 0; i < 2 * count; i++)
		relocations[i] = relocation_of(PB_SUBM_OR, first + i % count, 0);
	return pb_replay_formats_add(formats, &(struct pb_subm_submission){.driver = PB_SUBM_NOUVEAU,
									   .relocation_count = 2 * count,
									   .relocations = relocations});
}

static uint32_t number_of(const struct pb_replay_formats *formats, uint32_t number)
{
	const struct pb_subm_relocation relocation = relocation_of(PB_SUBM_OR, number, 0);

	return pb_replay_formats_number(formats, PB_SUBM_NOUVEAU, &relocation);
}

static void test_format_slots(void **state)
{
	struct pb_replay_formats formats = {.room = 3};

	(void)state;
	assert_true(add_numbers(&formats, 10, 2));
	assert_int_equal(formats.count, 2);
	assert_int_equal(number_of(&formats, 10), PB_FORMAT_OWN);
	assert_int_equal(number_of(&formats, 11), PB_FORMAT_OWN + 1);
	formats.set = 2;
	/* One that is there, one that is new. */
	assert_true(add_numbers(&formats, 11, 2));
	assert_int_equal(formats.count, 3);
	assert_int_equal(formats.set, 2);
	assert_int_equal(number_of(&formats, 12), PB_FORMAT_OWN + 2);
	formats.set = 3;
	/* All there. */
	assert_true(add_numbers(&formats, 10, 3));
	assert_int_equal(formats.set, 3);
	/* No room beside the others: all are given up, and what it needs is to be set anew. */
	assert_true(add_numbers(&formats, 12, 2));
	assert_int_equal(formats.count, 2);
	assert_int_equal(formats.set, 0);
	assert_int_equal(number_of(&formats, 12), PB_FORMAT_OWN);
	assert_int_equal(number_of(&formats, 13), PB_FORMAT_OWN + 1);
	assert_int_equal(number_of(&formats, 10), PB_REPLAY_FORMAT_NONE);
	/* More than there are. */
	assert_false(add_numbers(&formats, 20, 4));
}

static void test_no_own_formats(void **state)
{
	struct pb_replay_formats formats = {.room = 0};

	(void)state;
	assert_false(add_numbers(&formats, 1, 1));
	assert_int_equal(formats.count, 0);
}

UNIT_SUITE(test_replay_nouveau)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nouveau_kinds), cmocka_unit_test(test_nouveau_fields),
		cmocka_unit_test(test_values),        cmocka_unit_test(test_format_rows),
		cmocka_unit_test(test_format_slots),  cmocka_unit_test(test_no_own_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
