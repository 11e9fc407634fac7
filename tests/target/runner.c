/* SPDX-License-Identifier: MIT */
/*
 * Runs the suite of an image: between the board's start-up and the suite's main, like the start files of a C
 * library on a host. The linker redirects main and the board's pb_hal_halt to these functions.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/target/cmocka.h"
#include "tests/target/heap.h"
#include "tests/target/semihost.h"

#define FAILED        1u
#define HALTED        2u
#define LINE_BYTES    256u
#define ARGUMENTS_MAX 8

int __real_main(int count, char **arguments);
int __wrap_main(void);
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

/** The words of the command line. The first is the program's name. */
static int split(char *line, char *arguments[ARGUMENTS_MAX])
{
	int count = 0;

	while (*line != '\0' && count < ARGUMENTS_MAX - 1) {
		arguments[count++] = line;
		line += strcspn(line, " ");
		if (*line != '\0')
			*line++ = '\0';
	}
	return count;
}

int __wrap_main(void)
{
	static char line[LINE_BYTES];
	static char *arguments[ARGUMENTS_MAX];
	int failed, count = 0;

	heap_start();
	if (semihost_command_line(line, sizeof(line)))
		count = split(line, arguments);
	failed = __real_main(count, arguments);
	if (failed == 0 && heap_used() != 0) {
		print_error("[   LEAK   ] %zu bytes\n", heap_used());
		failed = 1;
	}
	print_message("[   HEAP   ] %zu bytes at most\n", heap_most());
	semihost_exit(failed == 0 ? 0 : FAILED);
}
