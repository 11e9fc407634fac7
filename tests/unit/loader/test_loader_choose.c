/* SPDX-License-Identifier: MIT */
/* What the loader starts, for each pair of slots, and what it reports of those that it refuses. */
#include "tests/unit/loader/loader_bench.h"
#include "tests/unit/unit.h"

static struct bench bench;

static int start(void **state)
{
	(void)state;
	bench_start(&bench);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	bench_stop(&bench);
	return 0;
}

static void an_empty_card_starts_nothing(void **state)
{
	(void)state;
	assert_int_equal(bench_boot(&bench), PB_SLOT_NONE);
	assert_int_equal(bench.reported[0], PB_LOADER_EMPTY);
	assert_int_equal(bench.reported[1], PB_LOADER_EMPTY);
}

static void an_image_is_tried_once_and_then_the_confirmed_one_starts_again(void **state)
{
	struct bench_file first, second;

	(void)state;
	bench_sign(&first, 1, 1);
	bench_sign(&second, 2, 2);
	bench_place(&bench, 0, &first, true, true);
	assert_int_equal(bench_write(&bench, &second, PB_SLOT_NONE), PB_UPDATE_DONE);
	assert_int_equal(bench_boot(&bench), 1);
	assert_int_equal(bench.staged_words[1], second.words[1]);
	assert_int_equal(bench_counter(&bench), 0);
	/* It did not come up. */
	assert_int_equal(bench_boot(&bench), 0);
	assert_int_equal(bench.staged_words[1], first.words[1]);
	assert_int_equal(bench_boot(&bench), 0);
}

static void a_confirmed_image_stays_and_the_counter_rises_with_the_confirmation(void **state)
{
	struct bench_file first, second;

	(void)state;
	bench_sign(&first, 1, 1);
	bench_sign(&second, 2, 2);
	bench_place(&bench, 0, &first, true, true);
	assert_int_equal(bench_write(&bench, &second, PB_SLOT_NONE), PB_UPDATE_DONE);
	assert_int_equal(bench_boot(&bench), 1);
	assert_true(pb_update_confirm(&bench.updater, 1));
	assert_int_equal(bench_counter(&bench), 2);
	assert_int_equal(bench_boot(&bench), 1);
	/* The former image cannot come back, whatever becomes of this one. */
	bench.model.bytes[pb_slot_image_offset(&bench.model.slots, 1) + 200] ^= 1u;
	assert_int_equal(bench_boot(&bench), PB_SLOT_NONE);
	assert_int_equal(bench.reported[0], PB_LOADER_OLD_VERSION);
	assert_int_equal(bench.reported[1], PB_LOADER_BAD_DIGEST);
}

static void a_first_image_that_did_not_come_up_is_started_again(void **state)
{
	struct bench_file first;

	(void)state;
	bench_sign(&first, 1, 1);
	bench_place(&bench, 0, &first, false, false);
	assert_int_equal(bench_boot(&bench), 0);
	assert_int_equal(bench_boot(&bench), 0);
}

static void reload(struct bench_file *file)
{
	bench_sign(file, 3, 1);
}

/* Each refusal of a slot on trial, beside a confirmed image that starts instead. */
static void a_slot_is_refused_with_the_reason(void **state)
{
	struct bench_file good, bad;

	(void)state;
	bench_sign(&good, 3, 9);
	for (int i = 0; i < 9; i++) {
		enum pb_loader_reason expected = PB_LOADER_BAD_HEADER;

		reload(&bad);
		switch (i) {
		case 0:
			bad.header.magic++;
			break;
		case 1:
			bad.header.version++;
			break;
		case 2:
			bad.header.image_bytes = 0;
			break;
		case 3:
			bad.header.image_bytes += 4u;
			break;
		case 4:
			bad.header.load_address += 4u;
			break;
		case 5:
			bad.header.security_version = PB_FUSES_COUNTER_MAX + 1u;
			break;
		case 6:
			bad.header.board[0] = 'B';
			expected = PB_LOADER_BAD_BOARD;
			break;
		case 7:
			bad.header.security_version = 2;
			expected = PB_LOADER_OLD_VERSION;
			break;
		default:
			bad.words[3]++;
			expected = PB_LOADER_BAD_DIGEST;
			break;
		}
		/* The owner of the key may err, too. */
		bench_sign_again(&bad, true);
		bench_place(&bench, 0, &good, true, true);
		assert_true(pb_update_confirm(&bench.updater, 0));
		bench_place(&bench, 1, &bad, false, false);
		assert_int_equal(bench_boot(&bench), 0);
		assert_int_equal(bench.reported[1], expected);
	}
}

static void a_foreign_key_and_a_card_without_one_start_nothing(void **state)
{
	struct bench_file file;

	(void)state;
	bench_sign(&file, 1, 1);
	bench_sign_again(&file, false);
	bench_place(&bench, 0, &file, true, true);
	assert_int_equal(bench_boot(&bench), PB_SLOT_NONE);
	assert_int_equal(bench.reported[0], PB_LOADER_BAD_SIGNATURE);
	bench_sign_again(&file, true);
	bench_place(&bench, 0, &file, true, true);
	assert_int_equal(bench_boot(&bench), 0);
	for (int fill = 0; fill < 2; fill++) {
		for (uint32_t i = 0; i < PB_FUSES_KEY_BYTES; i++)
			bench.model.bytes[i] = fill == 0 ? 0xff : 0;
		assert_int_equal(bench_boot(&bench), PB_SLOT_NONE);
		assert_int_equal(bench.reported[0], PB_LOADER_BAD_SIGNATURE);
	}
}

UNIT_SUITE(test_loader_choose)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_empty_card_starts_nothing, start, stop),
		cmocka_unit_test_setup_teardown(
			an_image_is_tried_once_and_then_the_confirmed_one_starts_again, start, stop),
		cmocka_unit_test_setup_teardown(
			a_confirmed_image_stays_and_the_counter_rises_with_the_confirmation, start, stop),
		cmocka_unit_test_setup_teardown(a_first_image_that_did_not_come_up_is_started_again, start,
						stop),
		cmocka_unit_test_setup_teardown(a_slot_is_refused_with_the_reason, start, stop),
		cmocka_unit_test_setup_teardown(a_foreign_key_and_a_card_without_one_start_nothing, start,
						stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
