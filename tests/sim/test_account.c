/* SPDX-License-Identifier: MIT */
/* The claims of time on made-up histories: each one holds on a right history and is refused on a wrong one. */
#include "tests/sim/account.h"
#include "tests/unit/unit.h"

/** Two clients of one node, each with a quantum of 5 ms: half of the time each, and two quanta of slack. */
static struct pb_share half(void)
{
	return (struct pb_share){.permille = 500, .slack_us = 10000};
}

/** Adds a stretch in steps of 100 us, in which the client has `used` of each. @return false: the claim is broken */
static bool add(struct pb_share *share, uint32_t milliseconds, bool backlogged, bool usable, uint32_t used)
{
	bool held = true;

	for (uint32_t i = 0; i < milliseconds * 10u; i++)
		held = pb_share_add(share, 100, backlogged, usable, used) && held;
	return held;
}

static void a_client_that_takes_turns_of_a_quantum_has_its_share(void **state)
{
	struct pb_share share = half();

	(void)state;
	for (uint32_t turn = 0; turn < 50u; turn++) {
		assert_true(add(&share, 5, true, true, 0));
		assert_true(add(&share, 5, true, true, 100));
	}
	assert_in_range(share.most, 2000000, 3000000);
}

static void a_client_that_gets_nothing_is_noticed_when_its_slack_is_gone(void **state)
{
	struct pb_share share = half();

	(void)state;
	assert_true(add(&share, 20, true, true, 0));
	assert_false(pb_share_add(&share, 100, true, true, 0));
}

static void a_client_that_gets_a_little_less_all_the_time_is_noticed(void **state)
{
	struct pb_share share = half();

	(void)state;
	assert_true(add(&share, 95, true, true, 40));
	assert_false(add(&share, 10, true, true, 40));
}

/** What it had before the window does not pay for the window. */
static void a_client_that_had_more_before_still_gets_its_share_now(void **state)
{
	struct pb_share share = half();

	(void)state;
	assert_true(add(&share, 500, true, true, 100));
	assert_true(add(&share, 20, true, true, 0));
	assert_false(add(&share, 1, true, true, 0));
}

static void nothing_is_due_to_a_client_without_submissions(void **state)
{
	struct pb_share share = half();

	(void)state;
	assert_true(add(&share, 15, true, true, 0));
	assert_true(add(&share, 1000, false, true, 0));
	assert_true(add(&share, 15, true, true, 0));
	assert_false(add(&share, 10, true, true, 0));
}

static void time_in_which_the_engine_can_run_nothing_is_due_to_no_client(void **state)
{
	struct pb_share share = half();

	(void)state;
	assert_true(add(&share, 1000, true, false, 0));
	assert_true(add(&share, 20, true, true, 0));
	assert_false(add(&share, 1, true, true, 0));
}

static void a_reset_is_allowed_for_once(void **state)
{
	struct pb_share share = half();

	(void)state;
	pb_share_reset(&share, 3000);
	assert_true(add(&share, 26, true, true, 0));
	assert_false(add(&share, 1, true, true, 0));
	share = half();
	pb_share_reset(&share, 3000);
	/* The window that had the reset is over. */
	assert_true(add(&share, 1, false, true, 0));
	assert_true(add(&share, 20, true, true, 0));
	assert_false(add(&share, 1, true, true, 0));
}

static void a_wait_is_judged_when_it_ends_and_while_it_lasts(void **state)
{
	struct pb_patience patience = {0};

	(void)state;
	assert_true(pb_patience_check(&patience, 1000000));
	pb_patience_begin(&patience, 1000, 500);
	assert_true(pb_patience_check(&patience, 1500));
	assert_false(pb_patience_check(&patience, 1501));
	assert_false(pb_patience_end(&patience, 1501));
	assert_true(pb_patience_check(&patience, 1000000));
	pb_patience_begin(&patience, 2000, 500);
	assert_true(pb_patience_end(&patience, 2500));
	assert_int_equal(patience.most, 501);
	assert_int_equal(patience.ended, 2);
}

/** A host that asks again while it waits has waited since it asked first. */
static void a_wait_that_goes_on_does_not_begin_anew(void **state)
{
	struct pb_patience patience = {0};

	(void)state;
	pb_patience_begin(&patience, 0, 500);
	pb_patience_begin(&patience, 400, 500);
	assert_false(pb_patience_end(&patience, 501));
}

/** A hang prolongs a wait in which it begins, and no other. */
static void a_hang_prolongs_the_wait_that_it_begins_in(void **state)
{
	struct pb_patience patience = {0};

	(void)state;
	pb_patience_extend(&patience, 100);
	pb_patience_begin(&patience, 0, 500);
	pb_patience_extend(&patience, 100);
	pb_patience_extend(&patience, 100);
	assert_true(pb_patience_check(&patience, 700));
	assert_false(pb_patience_end(&patience, 701));
	pb_patience_begin(&patience, 1000, 500);
	assert_false(pb_patience_end(&patience, 1501));
}

UNIT_SUITE(test_account)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_that_takes_turns_of_a_quantum_has_its_share),
		cmocka_unit_test(a_client_that_gets_nothing_is_noticed_when_its_slack_is_gone),
		cmocka_unit_test(a_client_that_gets_a_little_less_all_the_time_is_noticed),
		cmocka_unit_test(a_client_that_had_more_before_still_gets_its_share_now),
		cmocka_unit_test(nothing_is_due_to_a_client_without_submissions),
		cmocka_unit_test(time_in_which_the_engine_can_run_nothing_is_due_to_no_client),
		cmocka_unit_test(a_reset_is_allowed_for_once),
		cmocka_unit_test(a_wait_is_judged_when_it_ends_and_while_it_lasts),
		cmocka_unit_test(a_wait_that_goes_on_does_not_begin_anew),
		cmocka_unit_test(a_hang_prolongs_the_wait_that_it_begins_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
