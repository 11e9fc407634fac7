/* SPDX-License-Identifier: MIT */
/* What the updater writes, and what it refuses to write. */
#include <string.h>

#include "qemu/mcu/flash.h"
#include "tests/unit/loader/loader_bench.h"
#include "tests/unit/unit.h"

static struct bench bench;
static struct bench_file file;

static int start(void **state)
{
	(void)state;
	bench_start(&bench);
	bench_sign(&file, 5, 1);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	bench_stop(&bench);
	return 0;
}

static void updates_take_turns_and_keep_the_image_that_came_up(void **state)
{
	(void)state;
	for (uint32_t version = 1; version < 6; version++) {
		const uint32_t slot = (version - 1u) % 2u;

		bench_sign(&file, version, version);
		assert_int_equal(pb_update_free_slot(&bench.updater, PB_SLOT_NONE), slot);
		assert_int_equal(bench_write(&bench, &file, PB_SLOT_NONE), PB_UPDATE_DONE);
		assert_int_equal(bench_boot(&bench), slot);
		assert_int_equal(bench.staged_words[0], file.words[0]);
		assert_true(pb_update_confirm(&bench.updater, slot));
		assert_true(pb_update_confirm(&bench.updater, slot));
		assert_int_equal(bench_counter(&bench), version);
		assert_int_equal(bench_write(&bench, &file, slot), PB_UPDATE_NEEDED);
	}
}

static void a_bad_update_is_written_again_where_it_was(void **state)
{
	(void)state;
	bench_place(&bench, 0, &file, true, true);
	assert_int_equal(bench_write(&bench, &file, PB_SLOT_NONE), PB_UPDATE_DONE);
	assert_int_equal(bench_boot(&bench), 1);
	assert_int_equal(bench_boot(&bench), 0);
	assert_int_equal(pb_update_free_slot(&bench.updater, PB_SLOT_NONE), 1);
	assert_int_equal(bench_write(&bench, &file, PB_SLOT_NONE), PB_UPDATE_DONE);
	assert_int_equal(bench_boot(&bench), 1);
}

static void refuse(enum pb_update_error expected)
{
	static uint8_t before[PB_CARD_FLASH_BYTES];

	memcpy(before, bench.model.bytes, sizeof(before));
	assert_int_equal(bench_write(&bench, &file, PB_SLOT_NONE), expected);
	assert_memory_equal(before, bench.model.bytes, sizeof(before));
	bench_sign(&file, 5, 1);
}

static void what_is_refused_changes_nothing(void **state)
{
	const uint32_t *words = &file.header.magic;

	(void)state;
	bench_place(&bench, 0, &file, true, true);
	assert_true(pb_update_confirm(&bench.updater, 0));
	file.header.magic++;
	refuse(PB_UPDATE_BAD_FILE);
	file.header.version++;
	refuse(PB_UPDATE_BAD_FILE);
	file.header.image_bytes -= 4u;
	refuse(PB_UPDATE_BAD_FILE);
	file.header.load_address++;
	refuse(PB_UPDATE_BAD_FILE);
	file.header.security_version = PB_FUSES_COUNTER_MAX + 1u;
	refuse(PB_UPDATE_BAD_FILE);
	file.header.security_version = 4;
	refuse(PB_UPDATE_OLD_VERSION);
	file.header.board[1]++;
	refuse(PB_UPDATE_BAD_BOARD);
	assert_int_equal(pb_update_write(&bench.updater, words, 100, PB_SLOT_NONE, PB_SLOT_NONE),
			 PB_UPDATE_BAD_FILE);
	assert_int_equal(pb_update_write(&bench.updater, words, sizeof(file), 0, 1), PB_UPDATE_ON_TRIAL);
	assert_int_equal(pb_update_write(&bench.updater, words, sizeof(file), 7, PB_SLOT_NONE),
			 PB_UPDATE_BAD_SLOT);
	assert_int_equal(bench_write(&bench, &file, 0), PB_UPDATE_NEEDED);
}

/* The later image was confirmed, and its flash has lost a bit since: the earlier one runs, and is all that the card has. */
static void the_image_that_runs_is_kept_although_a_later_one_was_confirmed(void **state)
{
	const uint32_t *words = &file.header.magic;
	uint8_t *damaged =
		bench.model.bytes + pb_slot_image_offset(&bench.model.slots, 1) + sizeof(file) / 2u;

	(void)state;
	bench_place(&bench, 0, &file, true, true);
	bench_place(&bench, 1, &file, true, true);
	*damaged ^= 1u;
	assert_int_equal(bench_boot(&bench), 0);
	assert_int_equal(pb_update_write(&bench.updater, words, sizeof(file), 0, 0), PB_UPDATE_NEEDED);
	assert_int_equal(pb_update_free_slot(&bench.updater, 0), 1);
	assert_int_equal(pb_update_write(&bench.updater, words, sizeof(file), PB_SLOT_NONE, 0),
			 PB_UPDATE_DONE);
	assert_int_equal(bench_boot(&bench), 1);
}

static void an_image_larger_than_a_slot_is_refused(void **state)
{
	(void)state;
	bench.model.slots.bytes = 0x1000u + sizeof(file) - 4u;
	assert_int_equal(bench_write(&bench, &file, PB_SLOT_NONE), PB_UPDATE_TOO_LARGE);
	bench.model.slots.bytes += 4u;
	assert_int_equal(bench_write(&bench, &file, PB_SLOT_NONE), PB_UPDATE_DONE);
}

static void an_empty_slot_is_not_confirmed(void **state)
{
	(void)state;
	assert_false(pb_update_confirm(&bench.updater, 0));
	assert_int_equal(bench_counter(&bench), 0);
}

UNIT_SUITE(test_loader_update)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(updates_take_turns_and_keep_the_image_that_came_up, start,
						stop),
		cmocka_unit_test_setup_teardown(a_bad_update_is_written_again_where_it_was, start, stop),
		cmocka_unit_test_setup_teardown(what_is_refused_changes_nothing, start, stop),
		cmocka_unit_test_setup_teardown(
			the_image_that_runs_is_kept_although_a_later_one_was_confirmed, start, stop),
		cmocka_unit_test_setup_teardown(an_image_larger_than_a_slot_is_refused, start, stop),
		cmocka_unit_test_setup_teardown(an_empty_slot_is_not_confirmed, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
