/* SPDX-License-Identifier: MIT */
#include "tests/target/cmocka.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/target/semihost.h"

/** Longest text that a suite prints. More is cut off. */
#define TEXT_BYTES 1024u
/** Number of differing bytes that cmocka prints. */
#define DIFFERENCES_SHOWN 16u
#define TESTS_MAX         256u

enum result { PASSED, FAILED, ERROR /**< of its fixture */ };

static const char *const result_marks[] = {"[       OK ]", "[  FAILED  ]", "[  ERROR   ]"};

/** Where a failed test continues. */
static jmp_buf out;

static void print(const char *format, va_list arguments)
{
	static char text[TEXT_BYTES];
	const int length = vsnprintf(text, sizeof(text), format, arguments);

	if (length > 0)
		semihost_write(text, (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

void print_message(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print(format, arguments);
	va_end(arguments);
}

void print_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print(format, arguments);
	va_end(arguments);
}

_Noreturn void _fail(const char *file, int line)
{
	print_error("[   LINE   ] --- %s:%d: error: Failure!\n", file, line);
	longjmp(out, 1);
}

void cmocka_is_true(uintmax_t value, const char *text, const char *file, int line)
{
	if (value != 0)
		return;
	print_error("%s\n", text);
	_fail(file, line);
}

void cmocka_is_equal(uintmax_t left, uintmax_t right, const char *file, int line)
{
	if (left == right)
		return;
	print_error("%#llx != %#llx\n", (unsigned long long)left, (unsigned long long)right);
	_fail(file, line);
}

void cmocka_is_not_equal(uintmax_t left, uintmax_t right, const char *file, int line)
{
	if (left != right)
		return;
	print_error("%#llx == %#llx\n", (unsigned long long)left, (unsigned long long)right);
	_fail(file, line);
}

void cmocka_is_in_range(uintmax_t value, uintmax_t minimum, uintmax_t maximum, const char *file, int line)
{
	if (value >= minimum && value <= maximum)
		return;
	print_error("%llu is not within the range %llu-%llu\n", (unsigned long long)value,
		    (unsigned long long)minimum, (unsigned long long)maximum);
	_fail(file, line);
}

void cmocka_is_string(const char *left, const char *right, const char *file, int line)
{
	if (strcmp(left, right) == 0)
		return;
	print_error("\"%s\" != \"%s\"\n", left, right);
	_fail(file, line);
}

void cmocka_is_not_string(const char *left, const char *right, const char *file, int line)
{
	if (strcmp(left, right) != 0)
		return;
	print_error("\"%s\" == \"%s\"\n", left, right);
	_fail(file, line);
}

static void print_differences(const uint8_t *left, const uint8_t *right, size_t bytes)
{
	size_t differences = 0;

	for (size_t i = 0; i < bytes; i++) {
		if (left[i] == right[i])
			continue;
		if (differences++ < DIFFERENCES_SHOWN)
			print_error("difference at offset %zu 0x%02x 0x%02x\n", i, left[i], right[i]);
	}
	print_error("%zu bytes differ\n", differences);
}

void cmocka_is_memory(const void *left, const void *right, size_t bytes, const char *file, int line)
{
	if (memcmp(left, right, bytes) == 0)
		return;
	print_differences(left, right, bytes);
	_fail(file, line);
}

void cmocka_is_not_memory(const void *left, const void *right, size_t bytes, const char *file, int line)
{
	if (memcmp(left, right, bytes) != 0)
		return;
	print_error("%zu bytes of %p and %p are the same\n", bytes, left, right);
	_fail(file, line);
}

/** @return false: the test failed */
static bool run_function(CMUnitTestFunction function, void **state)
{
	if (setjmp(out) != 0)
		return false;
	function(state);
	return true;
}

/** @return false: the fixture failed, or reported an error. There may be none. */
static bool run_fixture(CMFixtureFunction function, void **state)
{
	if (function == NULL)
		return true;
	if (setjmp(out) != 0)
		return false;
	return function(state) == 0;
}

static size_t number_of(enum result result, const enum result *results, size_t count)
{
	size_t number = 0;

	for (size_t i = 0; i < count; i++)
		number += results[i] == result;
	return number;
}

static enum result run_test(const struct CMUnitTest *test, void *group_state)
{
	enum result result = ERROR;
	void *own = test->initial_state != NULL ? test->initial_state : group_state;

	print_message("[ RUN      ] %s\n", test->name);
	if (run_fixture(test->setup_func, &own)) {
		result = run_function(test->test_func, &own) ? PASSED : FAILED;
		if (!run_fixture(test->teardown_func, &own))
			result = ERROR;
	}
	print_message("%s %s\n", result_marks[result], test->name);
	return result;
}

static void print_failed(const struct CMUnitTest *tests, const enum result *results, size_t count)
{
	print_message("[  FAILED  ] %zu test(s), listed below:\n", number_of(FAILED, results, count));
	for (size_t i = 0; i < count; i++) {
		if (results[i] == FAILED)
			print_message("%s %s\n", result_marks[FAILED], tests[i].name);
	}
	print_message("\n %zu FAILED TEST(S)\n", count - number_of(PASSED, results, count));
}

int cmocka_run_group(const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
		     CMFixtureFunction teardown)
{
	static enum result results[TESTS_MAX];
	size_t passed;
	void *state = NULL;

	print_message("[==========] Running %zu test(s).\n", count);
	if (count > TESTS_MAX || !run_fixture(setup, &state)) {
		print_error("[  FAILED  ] GROUP SETUP\n");
		return -1;
	}
	for (size_t i = 0; i < count; i++)
		results[i] = run_test(&tests[i], state);
	if (!run_fixture(teardown, &state)) {
		print_error("[  FAILED  ] GROUP TEARDOWN\n");
		return -1;
	}
	passed = number_of(PASSED, results, count);
	print_message("[==========] %zu test(s) run.\n[  PASSED  ] %zu test(s).\n", count, passed);
	if (passed != count)
		print_failed(tests, results, count);
	return (int)(count - passed);
}
