/* SPDX-License-Identifier: MIT */
/*
 * Tests that fail in each way in which a test can, around those that pass: the output must show it. A suite that leaves
 * variables and memory behind, and one that ends the image.
 */
#include <stdlib.h>

#include "tests/unit/unit.h"

/** Of either kind: with and without an initial value. */
static int cleared, initialised = 1;

static void passes(void **state)
{
	(void)state;
	assert_int_equal(1, 1);
}

static void numbers_differ(void **state)
{
	(void)state;
	assert_int_equal(UINT64_C(0x100000002), 2);
}

static void bytes_differ(void **state)
{
	(void)state;
	assert_memory_equal("patch", "pitch", 6);
}

static void says_so(void **state)
{
	(void)state;
	fail_msg("%s", "said");
}

static int refuses(void **state)
{
	(void)state;
	return 1;
}

static void variables_are_as_at_the_start(void **state)
{
	(void)state;
	assert_int_equal(cleared, 0);
	assert_int_equal(initialised, 1);
}

static void leaves_variables_and_memory(void **state)
{
	variables_are_as_at_the_start(state);
	cleared = 1;
	initialised = 0;
	*state = malloc(16);
	assert_non_null(*state);
}

static void halts(void **state)
{
	(void)state;
	__builtin_trap();
}

UNIT_SUITE(test_target_leaves)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_variables_and_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

UNIT_SUITE(test_target_halts)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(halts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

UNIT_SUITE(test_target_fails)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes),
		cmocka_unit_test(numbers_differ),
		cmocka_unit_test(bytes_differ),
		cmocka_unit_test(says_so),
		cmocka_unit_test_setup(passes, refuses),
		cmocka_unit_test_setup_teardown(passes, NULL, refuses),
		cmocka_unit_test(variables_are_as_at_the_start),
		cmocka_unit_test(passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
