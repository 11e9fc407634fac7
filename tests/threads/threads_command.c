/* SPDX-License-Identifier: MIT */
/*
 * threads [--from SEED] [--count N] [--without LOCK|FILE:LINE] [--shim yes]: 66 if ThreadSanitizer finds a race, 1 if a rule is
 * broken. A planted fault that breaks a rule before a race is found: 3.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/threads/fibers.h"
#include "tests/threads/library.h"
#include "tests/threads/shim.h"

static int usage(void)
{
	fputs("usage: threads [--from SEED] [--count N] [--without LOCK|FILE:LINE] [--shim yes]\n", stderr);
	return 2;
}

/** Plants a fault: a lock, or a place in a source that takes one. @return false: there is no such lock */
static bool plant(const char *what)
{
	pb_fibers_planted();
	if (strchr(what, ':') == NULL)
		return pb_library_remove(what) || pb_shim_remove(what);
	pb_fibers_leave_out(what);
	return true;
}

int main(int count, char **words)
{
	void (*schedule)(uint64_t seed) = pb_library_schedule;
	uint64_t from = 0, schedules = 1000;

	for (int i = 1; i + 1 < count; i += 2) {
		if (strcmp(words[i], "--from") == 0)
			from = strtoull(words[i + 1], NULL, 0);
		else if (strcmp(words[i], "--count") == 0)
			schedules = strtoull(words[i + 1], NULL, 0);
		else if (strcmp(words[i], "--shim") == 0)
			schedule = pb_shim_schedule;
		else if (strcmp(words[i], "--without") != 0 || !plant(words[i + 1]))
			return usage();
	}
	if (count % 2 == 0)
		return usage();
	for (uint64_t seed = from; seed < from + schedules; seed++)
		schedule(seed);
	printf("%llu schedules\n", (unsigned long long)schedules);
	return 0;
}
