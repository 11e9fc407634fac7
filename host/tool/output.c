/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *name = "patchbay";

/* The reason of a write that failed earlier is lost. What follows broken output does no harm, and fails likewise. */
static const char *earlier_reason(void)
{
	return write(STDOUT_FILENO, "\n", 1) < 0 ? strerror(errno) : "a write failed";
}

/* A descriptor that was closed before the program began is no error if nothing was printed. */
static void check(void)
{
	const bool pending = __fpending(stdout) != 0;
	const char *reason = NULL;

	if (ferror(stdout) != 0)
		reason = earlier_reason();
	if (fclose(stdout) != 0 && reason == NULL && (errno != EBADF || pending))
		reason = strerror(errno);
	if (reason == NULL)
		return;
	fprintf(stderr, "%s: standard output: %s\n", name, reason);
	_exit(1);
}

void pb_output_check(const char *program)
{
	static bool registered;

	name = program;
	if (!registered)
		(void)atexit(check);
	registered = true;
}
