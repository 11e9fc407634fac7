/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/e2e/e2e_trace.h"

#include <signal.h>
#include <stdlib.h>

pid_t e2e_recorder_start(const struct e2e_card *card, const char *levels, const char *trace)
{
	const uint64_t begin = e2e_now();
	size_t bytes = 0;
	pid_t recorder;

	e2e_write_file(trace, "", 0);
	recorder = e2e_spawn(E2E_PATCHBAY,
			     E2E_ARGUMENT_LIST("trace", "record", "--card", card->socket, "--levels", levels,
					       "--time", "1000", trace),
			     NULL);
	/* The recording has begun when the file is not empty. */
	while (bytes == 0) {
		assert_true(e2e_patience(begin));
		free(e2e_read_file(trace, &bytes));
	}
	return recorder;
}

void e2e_recorder_end(pid_t recorder)
{
	static struct e2e_output output;

	kill(recorder, SIGINT);
	e2e_collect(recorder, &output);
	assert_int_equal(output.code, 0);
}
