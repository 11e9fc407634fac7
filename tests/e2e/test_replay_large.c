/* SPDX-License-Identifier: MIT */
/* `patchbay replay` through QEMU at the limits of one submission, with self-relocations. */
#include <stdio.h>

#include "tests/e2e/e2e.h"
#include "tests/unit/subm_writer.h"

static void check_replay(const struct subm_writer *writer, const char *summary, const char *option,
			 const char *value)
{
	static struct e2e_output output;
	char file[E2E_PATH_BYTES], line[E2E_PATH_BYTES + 128];

	e2e_path(file, "large.subm");
	e2e_write_file(file, writer->bytes, writer->used);
	e2e_patchbay(&output, "replay", file, option, value);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	snprintf(line, sizeof(line), "replay: ok %s: %s", file, summary);
	assert_string_equal(e2e_last_line(output.out), line);
}

/** 1,024 objects, 40,000 relocations and 8 MiB of contents: each limit alone, the other sizes small and large. */
static void submissions_at_the_limits_replay_right(void **state)
{
	static const char summary[] = "4 submissions, 81025 relocations, 17417232 bytes; "
				      "wddm patch lists of 1944600 bytes";
	struct subm_writer writer = {0};

	(void)state;
	subm_file_header(&writer, 64, 4);
	subm_large(&writer, 1024, 40000, 640000);
	subm_large(&writer, 1024, 1024, 8u << 20);
	subm_large(&writer, 3, 40000, 8u << 20);
	subm_large(&writer, 1, 1, 16);
	check_replay(&writer, summary, NULL, NULL);
	check_replay(&writer, summary, "--seed", "3");
	subm_free(&writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(submissions_at_the_limits_replay_right),
	};

	return e2e_run_tests(tests);
}
