/* SPDX-License-Identifier: MIT */
/* Formats: what goes to the firmware, what its answer means, and the rows of the built-in ones. */
#include <string.h>

#include "patchbay/format.h"
#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

static uint32_t answer_error;
static uint32_t answer_reason;

static void answer(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment != FAKE_REPLY)
		return;
	fake->reply.error = answer_error;
	fake->reply.results[0] = answer_reason;
}

/* A format with another number in each of its fields, and the words that it is. */
static const struct pb_patch_format every_field = {
	.source = 1,
	.bound = 2,
	.flags = 3,
	.align = 4,
	.shift_right = 5,
	.shift_left = 6,
	.step = 7,
	.or_by = 8,
	.mask = 0x11111111,
	.high_mask = 0x22222222,
	.background = 0x33333333,
	.pre_or_low = 0x44444444,
	.pre_or_high = 0x55555555,
	.or_value = {0x66666666, 0x77777777, 0x88888888, 0x99999999},
	.reserved = 0xaaaaaaaa,
};
static const uint32_t every_word[PB_COMMAND_ARGUMENTS] = {
	0x85,       0x04030201, 0x08070605, 0x11111111, 0x22222222, 0x33333333, 0x44444444,
	0x55555555, 0x66666666, 0x77777777, 0x88888888, 0x99999999, 0xaaaaaaaa, 0,
};

static void set_sends_the_format_and_reads_the_reason(void **state)
{
	static const struct {
		uint32_t error;
		uint32_t reason;
		enum pb_error expected;
		uint32_t expected_reason;
	} cases[] = {
		{PB_ERROR_OK, PB_FORMAT_REASON_NONE, PB_ERROR_OK, PB_FORMAT_REASON_NONE},
		{PB_ERROR_BAD_FORMAT, PB_FORMAT_REASON_NUMBER, PB_ERROR_BAD_FORMAT, PB_FORMAT_REASON_NUMBER},
		{PB_ERROR_BAD_FORMAT, PB_FORMAT_REASON_RESERVED, PB_ERROR_BAD_FORMAT,
		 PB_FORMAT_REASON_RESERVED},
		/* A later firmware may know more of them. */
		{PB_ERROR_BAD_FORMAT, 0xfffffff0, PB_ERROR_BAD_FORMAT, 0xfffffff0},
		/* Only a bad format has a reason. */
		{PB_ERROR_OK, 7, PB_ERROR_OK, PB_FORMAT_REASON_NONE},
		{PB_ERROR_BUSY, 7, PB_ERROR_BUSY, PB_FORMAT_REASON_NONE},
		{PB_ERROR_UNSUPPORTED, 7, PB_ERROR_UNSUPPORTED, PB_FORMAT_REASON_NONE},
		{12345, 7, PB_ERROR_PROTOCOL, PB_FORMAT_REASON_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_firmware fake;
		struct pb_channel channel;
		struct pb_segment system;
		uint32_t reason = 99;

		fake_start(&fake);
		fake_open(&fake, &channel, &system);
		answer_error = cases[i].error;
		answer_reason = cases[i].reason;
		fake.tamper = answer;
		assert_int_equal(pb_format_set(&channel, 0x85, &every_field, &reason), cases[i].expected);
		assert_int_equal(reason, cases[i].expected_reason);
		assert_int_equal(fake.last_command[0], PB_COMMAND_FORMAT_SET);
		assert_memory_equal(&fake.last_command[2], every_word, sizeof(every_word));
		assert_int_equal(pb_format_set(&channel, 0x85, &every_field, NULL), cases[i].expected);
		fake_stop(&fake);
	}
}

static void set_without_an_answer_has_no_reason(void **state)
{
	struct fake_firmware fake;
	struct pb_channel channel;
	struct pb_segment system;
	uint32_t reason = 99;

	(void)state;
	fake_start(&fake);
	fake_open(&fake, &channel, &system);
	fake_unplug(&fake);
	assert_int_equal(pb_format_set(&channel, 128, &every_field, &reason), PB_ERROR_NO_CARD);
	assert_int_equal(reason, PB_FORMAT_REASON_NONE);
	fake_stop(&fake);
}

/* Rows as the comments of include/patchbay/abi/format.h describe them, and as their words. */
static void builtin_rows(void **state)
{
	static const struct {
		uint32_t number;
		uint8_t bytes[8]; /* source, bound, flags, align, right, left, step, or_by */
		uint32_t words[9];
	} rows[] = {
		{0, {0, 0, 0x08, 4, 0, 0, 0, 0}, {0xffffffff}},
		{1, {0, 0, 0x20, 4, 0, 0, 1, 0}, {0xffffffff, 0xffffffff}},
		{2, {0, 0, 0x09, 4, 0, 0, 0, 0}, {0xffffffff}},
		{6, {0, 3, 0x26, 4, 0, 0, 1, 0}, {0xffffffff, 0xffffffff}},
		{7, {0, 3, 0, 4, 32, 0, 0, 0}, {0xffffffff}},
		{8, {2, 3, 0, 4, 0, 0, 0, 1}, {0xffffffff, 0, 0, 0, 0, 0xbeef0201, 0xbeef0202}},
		{13, {0, 3, 0, 4, 8, 0, 0, 0}, {0xffffffff, 0, 0, 0, 0x80}},
		{14, {0, 0, 0x38, 4, 0, 0, 1, 0}, {0xfffffffc, 0xff}},
		{15, {2, 3, 0x10, 4, 0, 0, 0, 2}, {0xf00, 0, 0, 0, 0, 0, 0x100, 0x200, 0x400}},
		{16, {1, 3, 0, 4, 0, 0, 0, 0}, {0xffffffff}},
		{17, {0, 0, 0x08, 4, 0, 0, 0, 0}, {0x0fffffff, 0, 0xa0000000}},
		{18, {0, 0, 0x08, 1, 0, 0, 0, 0}, {0xffffffff}},
		{22, {0, 3, 0x10, 4, 24, 16, 0, 0}, {0x00ff0000}},
		{23, {3, 3, 0, 4, 0, 0, 0, 0}, {0xffffffff}},
		{25, {4, 0, 0x20, 4, 0, 0, 1, 0}, {0xffffffff, 0xffffffff}},
	};
	static const uint32_t zero;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint8_t *format = (const uint8_t *)pb_format_builtin(rows[i].number);

		print_message("format %u\n", rows[i].number);
		assert_non_null(format);
		assert_memory_equal(format, rows[i].bytes, 8);
		assert_memory_equal(format + 8, rows[i].words, 36);
		assert_memory_equal(format + 44, &zero, 4);
	}
	for (uint32_t number = 0; number < 26; number++)
		assert_non_null(pb_format_builtin(number));
	assert_null(pb_format_builtin(26));
	assert_null(pb_format_builtin(PB_FORMAT_OWN));
	assert_null(pb_format_builtin(UINT32_MAX));
}

static void reasons_have_names(void **state)
{
	(void)state;
	assert_string_equal(pb_format_reason_name(0), "NONE");
	assert_string_equal(pb_format_reason_name(6), "SHIFT");
	assert_string_equal(pb_format_reason_name(11), "RESERVED");
	assert_string_equal(pb_format_reason_meaning(6), "a shift out of its range");
	assert_string_equal(pb_format_reason_name(12), "?");
	assert_string_equal(pb_format_reason_meaning(UINT32_MAX), "?");
}

UNIT_SUITE(test_host_format)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_sends_the_format_and_reads_the_reason),
		cmocka_unit_test(set_without_an_answer_has_no_reason),
		cmocka_unit_test(builtin_rows),
		cmocka_unit_test(reasons_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
