/* SPDX-License-Identifier: MIT */
/*
 * Tests that fail in each way in which a test can, around two that pass: the output must show it. Not one of
 * the suites.
 */
#include <stdlib.h>

#include "tests/unit/unit.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes),
		cmocka_unit_test(numbers_differ),
		cmocka_unit_test(bytes_differ),
		cmocka_unit_test(says_so),
		cmocka_unit_test_setup(passes, refuses),
		cmocka_unit_test_setup_teardown(passes, NULL, refuses),
		cmocka_unit_test(passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
