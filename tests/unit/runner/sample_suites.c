/* SPDX-License-Identifier: MIT */
/* Suites that pass, fail, crash, and share a variable, for the test of the runner. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/runner.h"
#include "tests/unit/unit.h"

static int runs;

static int passes(void)
{
	runs++;
	(void)puts("a suite that passes");
	return 0;
}

static int fails(void)
{
	(void)puts("a suite that fails");
	return 1;
}

static int crashes(void)
{
	abort();
}

/** Fails if another suite ran in this process. */
static int is_alone(void)
{
	return runs == 0 ? 0 : 1;
}

/** Passes if its arguments are "a" and "b". */
static int has_arguments(void)
{
	const char *first = unit_argument(0), *second = unit_argument(1);

	return first != NULL && second != NULL && unit_argument(2) == NULL && strcmp(first, "a") == 0 &&
			       strcmp(second, "b") == 0
		       ? 0
		       : 1;
}

const struct unit_suite unit_suites[] = {
	{"sample_passes", passes, false},
	{"sample_fails", fails, false},
	{"sample_crashes", crashes, false},
	{"sample_alone", is_alone, false},
	{"sample_arguments", has_arguments, false},
	{"sample_long", passes, true},
	{NULL, NULL, false},
};
