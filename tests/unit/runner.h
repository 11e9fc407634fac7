/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The table of suites that a runner holds. CMake writes it: tests/suites.cmake.
 */
#ifndef PB_TESTS_UNIT_RUNNER_H
#define PB_TESTS_UNIT_RUNNER_H

#include <stdbool.h>
#include <stddef.h>

struct unit_suite {
	const char *name;
	/** Runs the suite. @return how many of its tests failed */
	int (*run)(void);
	/** It runs only where it is named. */
	bool by_name;
};

/** All suites of the program; the last entry has no name. */
extern const struct unit_suite unit_suites[];

#endif
