/* SPDX-License-Identifier: MIT */
/* Pictures of displays in card memory: which records count, and what is copied. */
#include <stdlib.h>
#include <string.h>

#include "host/tool/screenshot.h"
#include "tests/unit/unit.h"

#define MEMORY_BYTES 0x8000u

static uint32_t memory[MEMORY_BYTES / 4];

static struct pb_link card(void)
{
	memset(memory, 0, sizeof(memory));
	return (struct pb_link){.memory = (uint8_t *)memory, .memory_bytes = MEMORY_BYTES};
}

/* A record of 3 x 2 pixels at the end of card memory, one row of which is behind the other's pitch. */
static struct pb_scanout right_record(void)
{
	return (struct pb_scanout){
		.magic = 0x4f435350,
		.version = 1,
		.width = 3,
		.height = 2,
		.pitch = 16,
		.offset = MEMORY_BYTES - 28,
		.updates = 9,
	};
}

static void put(uint32_t page, struct pb_scanout record)
{
	record.check = pb_scanout_check(&record);
	memcpy(&memory[page * 1024], &record, sizeof(record));
}

static void the_check_is_that_of_its_words(void **state)
{
	const struct pb_scanout record = {
		.version = 1, .width = 2, .height = 3, .pitch = 4, .offset = 5, .updates = 6};

	(void)state;
	/* ((((1 * 31 + 2) * 31 + 3) * 31 + 4) * 31 + 5) * 31 + 6 */
	assert_int_equal(pb_scanout_check(&record), ~30569571u);
}

static void records_that_do_not_fit_are_none(void **state)
{
	static const struct {
		const char *name;
		size_t word; /* index in the record */
		uint32_t value;
		bool found;
	} cases[] = {
		{"right", 6, 10, true},
		{"changing", 0, 0, false},
		{"another version", 1, 2, false},
		{"no width", 2, 0, false},
		{"wider than its pitch", 2, 5, false},
		{"too wide", 2, 4097, false},
		{"no height", 3, 0, false},
		{"a row more than there is", 3, 3, false},
		{"height that wraps", 3, 0x10000001, false},
		{"a pitch off a pixel", 4, 18, false},
		{"a word too far", 5, MEMORY_BYTES - 24, false},
		{"off a word", 5, 2, false},
		{"an offset that wraps", 5, 0xfffffffc, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pb_link link = card();
		struct pb_scanout record = right_record(), found;

		memcpy((uint8_t *)&record + 4 * cases[i].word, &cases[i].value, 4);
		put(2, record);
		if (pb_screenshot_find(&link, 1, &found) != cases[i].found)
			fail_msg("%s", cases[i].name);
	}
}

static void a_wrong_check_is_no_record(void **state)
{
	const struct pb_link link = card();
	struct pb_scanout found;

	(void)state;
	put(2, right_record());
	memory[2 * 1024 + 7] ^= 1;
	assert_false(pb_screenshot_find(&link, 1, &found));
}

static void records_begin_pages_and_have_numbers(void **state)
{
	const struct pb_link link = card();
	struct pb_scanout record = right_record(), found;

	(void)state;
	put(1, record);
	record.updates = 50;
	put(6, record);
	record.updates = 51;
	record.check = pb_scanout_check(&record);
	memcpy(&memory[3 * 1024 + 8], &record, sizeof(record));
	assert_true(pb_screenshot_find(&link, 1, &found));
	assert_int_equal(found.updates, 9);
	assert_true(pb_screenshot_find(&link, 2, &found));
	assert_int_equal(found.updates, 50);
	assert_false(pb_screenshot_find(&link, 3, &found));
}

static void pixels_are_copied_without_the_gaps(void **state)
{
	const struct pb_link link = card();
	struct pb_scanout record;
	struct pb_image image;

	(void)state;
	put(1, right_record());
	for (uint32_t i = 0; i < 7; i++)
		memory[MEMORY_BYTES / 4 - 7 + i] = 100 + i;
	assert_true(pb_screenshot_find(&link, 1, &record));
	assert_true(pb_screenshot_copy(&link, &record, &image));
	assert_int_equal(image.width, 3);
	assert_int_equal(image.height, 2);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(image.pixels[i], i < 3 ? 100 + i : 101 + i);
	free(image.pixels);
}

UNIT_SUITE(test_screenshot)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_check_is_that_of_its_words),
		cmocka_unit_test(records_that_do_not_fit_are_none),
		cmocka_unit_test(a_wrong_check_is_no_record),
		cmocka_unit_test(records_begin_pages_and_have_numbers),
		cmocka_unit_test(pixels_are_copied_without_the_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
