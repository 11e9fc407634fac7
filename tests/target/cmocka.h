/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The part of cmocka 1.1 that the suites use, for the target, with cmocka's names, meanings and lines of
 * output. See cmocka's own documentation.
 */
#ifndef PB_TESTS_TARGET_CMOCKA_H
#define PB_TESTS_TARGET_CMOCKA_H

#include <stddef.h>
#include <stdint.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
	const char *name;
	CMUnitTestFunction test_func;
	CMFixtureFunction setup_func;
	CMFixtureFunction teardown_func;
	void *initial_state; /**< what the test's *state is; NULL: the group's */
};

/** Sends the text to the host. */
__attribute__((format(printf, 1, 2))) void print_message(const char *format, ...);
__attribute__((format(printf, 1, 2))) void print_error(const char *format, ...);
/** Prints the place of a failure, and ends the test. */
_Noreturn void _fail(const char *file, int line);

void cmocka_is_true(uintmax_t value, const char *text, const char *file, int line);
void cmocka_is_equal(uintmax_t left, uintmax_t right, const char *file, int line);
void cmocka_is_not_equal(uintmax_t left, uintmax_t right, const char *file, int line);
void cmocka_is_in_range(uintmax_t value, uintmax_t minimum, uintmax_t maximum, const char *file, int line);
void cmocka_is_string(const char *left, const char *right, const char *file, int line);
void cmocka_is_not_string(const char *left, const char *right, const char *file, int line);
void cmocka_is_memory(const void *left, const void *right, size_t bytes, const char *file, int line);
void cmocka_is_not_memory(const void *left, const void *right, size_t bytes, const char *file, int line);
/** Runs the tests and prints the results. @return the number that failed; -1 if the group fixture did */
int cmocka_run_group(const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
		     CMFixtureFunction teardown);

#define assert_true(c)                       cmocka_is_true((uintmax_t)(c), #c, __FILE__, __LINE__)
#define assert_false(c)                      cmocka_is_true(!(c), #c, __FILE__, __LINE__)
#define assert_non_null(c)                   cmocka_is_true((c) != NULL, #c, __FILE__, __LINE__)
#define assert_null(c)                       cmocka_is_true((c) == NULL, #c, __FILE__, __LINE__)
#define assert_int_equal(a, b)               cmocka_is_equal((uintmax_t)(a), (uintmax_t)(b), __FILE__, __LINE__)
#define assert_int_not_equal(a, b)           cmocka_is_not_equal((uintmax_t)(a), (uintmax_t)(b), __FILE__, __LINE__)
#define assert_ptr_equal(a, b)               cmocka_is_equal((uintptr_t)(a), (uintptr_t)(b), __FILE__, __LINE__)
#define assert_in_range(v, min, max)         cmocka_is_in_range((v), (min), (max), __FILE__, __LINE__)
#define assert_string_equal(a, b)            cmocka_is_string((a), (b), __FILE__, __LINE__)
#define assert_string_not_equal(a, b)        cmocka_is_not_string((a), (b), __FILE__, __LINE__)
#define assert_memory_equal(a, b, bytes)     cmocka_is_memory((a), (b), (bytes), __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, bytes) cmocka_is_not_memory((a), (b), (bytes), __FILE__, __LINE__)
/** The first argument is a string literal. */
#define fail_msg(...)                                                                                        \
	do {                                                                                                 \
		print_error("ERROR: " __VA_ARGS__);                                                          \
		print_error("\n");                                                                           \
		_fail(__FILE__, __LINE__);                                                                   \
	} while (0)

#define cmocka_unit_test(f)                                                                                  \
	{                                                                                                    \
#f, f, NULL, NULL, NULL                                                                      \
	}
#define cmocka_unit_test_setup(f, setup)                                                                     \
	{                                                                                                    \
#f, f, setup, NULL, NULL                                                                     \
	}
#define cmocka_unit_test_teardown(f, teardown)                                                               \
	{                                                                                                    \
#f, f, NULL, teardown, NULL                                                                  \
	}
#define cmocka_unit_test_setup_teardown(f, setup, teardown)                                                  \
	{                                                                                                    \
#f, f, setup, teardown, NULL                                                                 \
	}
#define cmocka_run_group_tests(tests, setup, teardown)                                                       \
	cmocka_run_group((tests), sizeof(tests) / sizeof((tests)[0]), (setup), (teardown))

#endif
