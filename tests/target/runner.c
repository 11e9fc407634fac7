/* SPDX-License-Identifier: MIT */
/*
 * The main program of an image of suites. Runs them one after another, each with the memory of a program that has just
 * started. The first word of the command line is the image; words after it name the suites to run.
 */
#include "tests/unit/runner.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/target/cmocka.h"
#include "tests/target/heap.h"
#include "tests/target/semihost.h"
#include "tests/unit/unit.h"

#define FAILED     1u
#define HALTED     2u
#define LINE_BYTES 256u

/* From linker/sections.ld: the variables of the image, and what they are when it starts. */
extern uint32_t pb_data_start[], pb_data_end[], pb_data_load[], pb_bss_start[], pb_bss_end[];

int main(void);
_Noreturn void __wrap_pb_hal_halt(void);

/** A CPU fault, a failed assertion, or a call of a C library function that is missing here. */
_Noreturn void __wrap_pb_hal_halt(void)
{
	print_error("[  HALTED  ] a CPU fault or a failed assertion\n");
	semihost_exit(HALTED);
}

/** The function behind assert() of <assert.h>, in newlib and in picolibc. */
_Noreturn void __assert_func(const char *file, int line, const char *function, const char *text)
{
	print_error("%s:%d: %s: %s\n", file, line, function, text);
	__wrap_pb_hal_halt();
}

/** An image has no arguments but names of suites. */
const char *unit_argument(int number)
{
	(void)number;
	return NULL;
}

/** @return whether the name is a word of the line */
static bool is_named(const char *name, const char *line)
{
	const size_t length = strlen(name);

	for (const char *at = strstr(line, name); at != NULL; at = strstr(at + length, name)) {
		if (at != line && at[-1] == ' ' && (at[length] == ' ' || at[length] == '\0'))
			return true;
	}
	return false;
}

/** Gives all variables the values that they have at the start of the image. The caller's own are on the stack. */
static void forget(void)
{
	memcpy(pb_data_start, pb_data_load, (size_t)(pb_data_end - pb_data_start) * sizeof(uint32_t));
	memset(pb_bss_start, 0, (size_t)(pb_bss_end - pb_bss_start) * sizeof(uint32_t));
}

/** @return whether all tests passed and all memory was freed */
static bool run_suite(const struct unit_suite *suite)
{
	bool passed;

	forget();
	heap_start();
	print_message("-- %s\n", suite->name);
	passed = suite->run() == 0;
	if (passed && heap_used() != 0) {
		print_error("[   LEAK   ] %zu bytes\n", heap_used());
		passed = false;
	}
	print_message("[   HEAP   ] %zu bytes at most\n", heap_most());
	return passed;
}

int main(void)
{
	char line[LINE_BYTES];
	const char *names = semihost_command_line(line, sizeof(line)) ? strchr(line, ' ') : NULL;
	bool passed = true;

	for (const struct unit_suite *suite = unit_suites; suite->name != NULL; suite++) {
		if (names == NULL ? !suite->by_name : is_named(suite->name, line))
			passed = run_suite(suite) && passed;
	}
	semihost_exit(passed ? 0 : FAILED);
}
