/* SPDX-License-Identifier: MIT */
/*
 * The main program of the unit suites. Runs each suite in a process of its own,
 * so that no suite finds variables as another one left them, and a suite that
 * crashes does not end the others. One suite alone runs in this process, for a
 * debugger.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/unit/runner.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define USAGE                                                                                                \
	"usage: %s [--list] [--suite NAME]... [--test PATTERN] [ARGUMENT...]\n"                              \
	"  --list          prints the names of the suites\n"                                                 \
	"  --suite NAME    runs only suites of this name, or of one that ends in _NAME\n"                    \
	"  --test PATTERN  runs only tests whose names match; * and ? are wildcards\n"                       \
	"  ARGUMENT...     goes to the suite\n"

static struct {
	char **names;
	int count;
	char **arguments;
} wanted;

const char *unit_argument(int number)
{
	for (int i = 0; i <= number; i++) {
		if (wanted.arguments[i] == NULL)
			return NULL;
	}
	return wanted.arguments[number];
}

/** @return whether the suite is called `wish`, or its name ends in "_" and `wish` */
static bool is_called(const char *suite, const char *wish)
{
	const size_t length = strlen(suite), end = strlen(wish);

	if (strcmp(suite, wish) == 0)
		return true;
	return length > end && suite[length - end - 1] == '_' && strcmp(suite + length - end, wish) == 0;
}

static bool is_wanted(const struct unit_suite *suite)
{
	for (int i = 0; i < wanted.count; i++) {
		if (is_called(suite->name, wanted.names[i]))
			return true;
	}
	return wanted.count == 0;
}

/** @return whether all tests of the suite passed */
static bool run_apart(const struct unit_suite *suite)
{
	int status = 0;
	pid_t child;

	(void)printf("-- %s\n", suite->name);
	(void)fflush(NULL);
	child = fork();
	if (child == 0)
		exit(suite->run() == 0 ? 0 : 1);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	if (status != 0)
		(void)fprintf(stderr, "-- %s failed\n", suite->name);
	return status == 0;
}

/** Runs the suites that are wanted. @return the exit status; 2: there is no such suite */
static int run(void)
{
	const struct unit_suite *last = NULL;
	int suites = 0, failed = 0;

	for (const struct unit_suite *suite = unit_suites; suite->name != NULL; suite++) {
		if (is_wanted(suite)) {
			last = suite;
			suites++;
		}
	}
	if (suites == 1)
		return last->run() == 0 ? 0 : 1;
	for (const struct unit_suite *suite = unit_suites; suite->name != NULL; suite++) {
		if (is_wanted(suite) && !run_apart(suite))
			failed++;
	}
	(void)printf("-- %d of %d suites passed\n", suites - failed, suites);
	if (suites == 0)
		return 2;
	return failed == 0 ? 0 : 1;
}

static int list(void)
{
	for (const struct unit_suite *suite = unit_suites; suite->name != NULL; suite++)
		(void)puts(suite->name);
	return 0;
}

int main(int count, char **arguments)
{
	int at = 1;

	/* At most as many names as there are arguments: they move to the front. */
	wanted.names = arguments + 1;
	for (; at < count && strncmp(arguments[at], "--", 2) == 0; at += 2) {
		if (strcmp(arguments[at], "--list") == 0)
			return list();
		if (at + 1 == count ||
		    (strcmp(arguments[at], "--suite") != 0 && strcmp(arguments[at], "--test") != 0)) {
			(void)fprintf(stderr, USAGE, arguments[0]);
			return 2;
		}
		if (strcmp(arguments[at], "--test") == 0)
			cmocka_set_test_filter(arguments[at + 1]);
		else
			wanted.names[wanted.count++] = arguments[at + 1];
	}
	wanted.arguments = arguments + at;
	return run();
}
