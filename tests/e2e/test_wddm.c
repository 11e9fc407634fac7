/* SPDX-License-Identifier: MIT */
/* The commands as a WDDM kernel, on the real image: what goes through the miniport's functions gives equal bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/e2e.h"

#define FRAMES 6u

/* ---- the demo ---- */

static void draw(struct e2e_output *output, const char *folder, const char *option)
{
	e2e_patchbay(output, "demo", "--frames", "6", "--output", folder, option);
	assert_string_equal(output->err, "");
	assert_int_equal(output->code, 0);
}

static void check_frames(const char *one, const char *other)
{
	for (unsigned frame = 0; frame < FRAMES; frame++) {
		char path[2 * E2E_PATH_BYTES];
		size_t bytes, other_bytes;
		uint8_t *contents, *other_contents;

		snprintf(path, sizeof(path), "%s/frame-%04u.png", one, frame);
		contents = e2e_read_file(path, &bytes);
		snprintf(path, sizeof(path), "%s/frame-%04u.png", other, frame);
		other_contents = e2e_read_file(path, &other_bytes);
		assert_true(bytes > 1000);
		assert_int_equal(bytes, other_bytes);
		assert_memory_equal(contents, other_contents, bytes);
		free(contents);
		free(other_contents);
	}
}

/* Packets are patched, run as rendered, are preempted; one hangs, and the engine is reset. No picture differs. */
static void the_demo_draws_equal_frames_through_the_miniport(void **state)
{
	static struct e2e_output output;
	char direct[E2E_PATH_BYTES], wddm[E2E_PATH_BYTES];
	unsigned submitted, patched, rendered, paging, completed, preemptions, returned, timeouts, aborted;

	(void)state;
	e2e_path(direct, "direct");
	e2e_path(wddm, "wddm");
	draw(&output, direct, NULL);
	draw(&output, wddm, "--wddm");
	assert_int_equal(sscanf(strstr(output.out, ".html\n") + 6,
				"%u packets submitted: %u patched, %u as rendered, %u paging; %u completed\n"
				"%u preemptions, which returned %u packets; %u timeouts, which aborted %u\n",
				&submitted, &patched, &rendered, &paging, &completed, &preemptions, &returned,
				&timeouts, &aborted),
			 9);
	assert_int_equal(submitted, patched + rendered + paging);
	assert_true(submitted >= completed + returned + aborted);
	assert_true(patched > 20 && rendered >= 2 && paging > 20);
	assert_true(preemptions >= 4);
	assert_int_equal(timeouts, 1);
	assert_int_equal(aborted, 1);
	assert_non_null(strstr(output.out, "paging buffers built through a second mapping\n"));
	check_frames(direct, wddm);
}

/* Without Patch the first packet whose allocations have moved since Render faults. */
static void the_demo_fails_without_patch(void **state)
{
	static struct e2e_output output;
	char folder[E2E_PATH_BYTES];

	(void)state;
	e2e_path(folder, "pictures");
	e2e_patchbay(&output, "demo", "--frames", "6", "--output", folder, "--wddm", "--no-patches");
	assert_int_equal(output.code, 1);
	assert_non_null(strstr(output.err, "patchbay demo: frame 0: "));
	assert_non_null(strstr(output.err, "a submission of the context failed"));
	assert_string_equal(e2e_last_line(output.out), "demo: failed");
}

static void wrong_arguments_are_refused(void **state)
{
	static const struct {
		const char *arguments[E2E_ARGUMENTS];
		const char *said;
	} cases[] = {
		{{"demo", "--wddm", "--card", "socket"}, "--wddm takes the whole card"},
	};
	static struct e2e_output output;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e2e_collect(e2e_spawn(E2E_PATCHBAY, cases[i].arguments, NULL), &output);
		assert_int_equal(output.code, 2);
		assert_non_null(strstr(output.err, cases[i].said));
		assert_string_equal(output.out, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(the_demo_draws_equal_frames_through_the_miniport),
		e2e_test(the_demo_fails_without_patch),
		e2e_test(wrong_arguments_are_refused),
	};

	return e2e_run_tests(tests);
}
