/* SPDX-License-Identifier: MIT */
/*
 * The main program of the unit suites. Runs each suite in a process of its own,
 * so that no suite finds variables as another one left them, and a suite that
 * crashes does not end the others. One suite alone runs in this process, for a
 * debugger. Both outputs are written a line at a time, so that they stay in order
 * in a file.
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
	"usage: %s [--list] [--brief] [--suite NAME]... [--test PATTERN] [ARGUMENT...]\n"                    \
	"  --list          prints the names of the suites\n"                                                 \
	"  --brief         prints only what suites print that fail\n"                                        \
	"  --suite NAME    runs only suites of this name, or of one that ends in _NAME; without it\n"        \
	"                  all suites run but those that take long\n"                                        \
	"  --test PATTERN  runs only tests whose names match; * and ? are wildcards\n"                       \
	"  ARGUMENT...     goes to the suite\n"

static struct {
	const char *program;
	char **names;
	int count;
	char **arguments;
	bool brief;
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
	return wanted.count == 0 && !suite->by_name;
}

/** Runs a suite in the process that fork() made for it. `output`: the file that gets what it prints; NULL: ours */
static _Noreturn void run_child(const struct unit_suite *suite, FILE *output)
{
	if (output != NULL &&
	    (dup2(fileno(output), STDOUT_FILENO) < 0 || dup2(fileno(output), STDERR_FILENO) < 0))
		exit(1);
	exit(suite->run() == 0 ? 0 : 1);
}

static void copy(FILE *from)
{
	char bytes[4096];
	size_t count;

	rewind(from);
	while ((count = fread(bytes, 1, sizeof(bytes), from)) > 0)
		(void)fwrite(bytes, 1, count, stdout);
}

static void print_failure(const struct unit_suite *suite, int status)
{
	if (WIFSIGNALED(status))
		(void)printf("-- %s: signal %d: %s\n", suite->name, WTERMSIG(status),
			     strsignal(WTERMSIG(status)));
	(void)printf("-- %s failed; alone: %s --suite %s\n", suite->name, wanted.program, suite->name);
}

/** @return whether all tests of the suite passed */
static bool run_apart(const struct unit_suite *suite)
{
	FILE *output = wanted.brief ? tmpfile() : NULL;
	int status = 0;
	pid_t child;

	if (!wanted.brief)
		(void)printf("-- %s\n", suite->name);
	(void)fflush(NULL);
	child = fork();
	if (child == 0)
		run_child(suite, output);
	if (child < 0 || waitpid(child, &status, 0) != child)
		status = -1;
	if (status != 0 && output != NULL)
		copy(output);
	if (output != NULL)
		(void)fclose(output);
	if (status != 0)
		print_failure(suite, status);
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
	if (suites == 1 && !wanted.brief) {
		(void)printf("-- %s\n", last->name);
		return last->run() == 0 ? 0 : 1;
	}
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

/** @return how many words the option takes; 0: there is no such option, or its name is missing. `next`: NULL at the end */
static int take_option(const char *option, char *next)
{
	if (strcmp(option, "--brief") == 0) {
		wanted.brief = true;
		return 1;
	}
	if (next != NULL && strcmp(option, "--test") == 0) {
		cmocka_set_test_filter(next);
		return 2;
	}
	if (next != NULL && strcmp(option, "--suite") == 0) {
		wanted.names[wanted.count++] = next;
		return 2;
	}
	return 0;
}

int main(int count, char **arguments)
{
	int at = 1;

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	/* At most as many names as there are arguments: they move to the front. */
	wanted.program = arguments[0];
	wanted.names = arguments + 1;
	while (at < count && strncmp(arguments[at], "--", 2) == 0) {
		const int words = take_option(arguments[at], arguments[at + 1]);

		if (strcmp(arguments[at], "--list") == 0)
			return list();
		if (words == 0) {
			(void)fprintf(stderr, USAGE, arguments[0]);
			return 2;
		}
		at += words;
	}
	wanted.arguments = arguments + at;
	return run();
}
