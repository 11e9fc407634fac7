// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * pbd-test [NAME...]: runs the tests, a line "ok NAME MILLISECONDS" or "FAIL NAME MILLISECONDS" for each. Without a name
 * all but those of the life cycle; "life" are those that a guest can run alone, "i915" those of i915's uAPI, "host"
 * those of host memory.
 */
#include <string.h>

#include "guest.h"
#include "tests.h"

#define PBD_TEST_ROW(name) {#name, name},
static const struct guest_test tests[] = {PBD_TESTS(PBD_TEST_ROW)};
static const struct guest_test life[] = {PBD_LIFE(PBD_TEST_ROW)};
static const struct guest_test i915[] = {PBD_I915(PBD_TEST_ROW)};
static const struct guest_test host[] = {PBD_HOST(PBD_TEST_ROW)};
static const struct guest_test with_host[] = {PBD_WITH_HOST(PBD_TEST_ROW)};
static const struct guest_test wake[] = {PBD_WAKE(PBD_TEST_ROW)};
static const struct guest_test debug[] = {PBD_DEBUG(PBD_TEST_ROW)};

#define PBD_FAIL_ROW(name) {"fail_" #name, fail_##name},
static const struct guest_test failing[] = {
	PBD_FAIL_CALLS(PBD_FAIL_ROW) PBD_TEST_ROW(calls_that_need_no_memory_succeed_without)
		PBD_TEST_ROW(nothing_is_left_of_the_tests) PBD_FAIL_DISPLAY(PBD_FAIL_ROW)};
static const struct guest_test failing_i915[] = {PBD_FAIL_I915(PBD_FAIL_ROW)};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int main(int argc, char **argv)
{
	int failed;

	if (argc == 2 && strcmp(argv[1], "life") == 0)
		return guest_run(life, COUNT(life), 1, argv);
	if (argc == 2 && strcmp(argv[1], "i915") == 0)
		return guest_run(i915, COUNT(i915), 1, argv);
	if (argc == 2 && strcmp(argv[1], "host") == 0)
		return guest_run(host, COUNT(host), 1, argv);
	if (argc == 2 && strcmp(argv[1], "failing") == 0)
		return guest_run(failing, COUNT(failing), 1, argv);
	if (argc == 2 && strcmp(argv[1], "failing_i915") == 0)
		return guest_run(failing_i915, COUNT(failing_i915), 1, argv);
	failed = guest_run(tests, COUNT(tests), argc, argv);
	if (argc > 1) {
		failed += guest_run(life, COUNT(life), argc, argv);
		failed += guest_run(i915, COUNT(i915), argc, argv);
		failed += guest_run(host, COUNT(host), argc, argv);
		failed += guest_run(with_host, COUNT(with_host), argc, argv);
		failed += guest_run(wake, COUNT(wake), argc, argv);
		failed += guest_run(debug, COUNT(debug), argc, argv);
		failed += guest_run(failing, COUNT(failing), argc, argv);
		failed += guest_run(failing_i915, COUNT(failing_i915), argc, argv);
	}
	return failed != 0;
}
