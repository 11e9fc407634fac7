/* SPDX-License-Identifier: MIT */
/* `patchbay demo` as users run it: the emulated and the simulated card draw equal pictures. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/e2e.h"

#define FRAMES 6u

static size_t count_files(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL)
		count += entry->d_name[0] != '.' ? 1u : 0u;
	closedir(directory);
	return count;
}

static void draw(const char *folder, const char *option)
{
	static struct e2e_output output;

	e2e_patchbay(&output, "demo", "--frames", "6", "--output", folder, option);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	assert_memory_equal(e2e_last_line(output.out), "demo: ok 6 frames, ", 19);
	/* All frames on one sheet, and the timeline. */
	assert_int_equal(count_files(folder), FRAMES + 2u);
}

static uint8_t *read_frame(const char *folder, unsigned frame, size_t *bytes)
{
	char path[2 * E2E_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/frame-%04u.png", folder, frame);
	return e2e_read_file(path, bytes);
}

static void emulated_and_simulated_cards_draw_equal_pictures(void **state)
{
	char emulated[E2E_PATH_BYTES], simulated[E2E_PATH_BYTES];

	(void)state;
	e2e_path(emulated, "emulated");
	e2e_path(simulated, "simulated");
	draw(emulated, NULL);
	draw(simulated, "--sim");
	for (unsigned frame = 0; frame < FRAMES; frame++) {
		size_t one_bytes, other_bytes;
		uint8_t *one = read_frame(emulated, frame, &one_bytes);
		uint8_t *other = read_frame(simulated, frame, &other_bytes);

		assert_true(one_bytes > 1000);
		assert_int_equal(one_bytes, other_bytes);
		assert_memory_equal(one, other, one_bytes);
		assert_memory_equal(one + 1, "PNG", 3);
		free(one);
		free(other);
	}
}

/* The pictures depend on patching: without patching the first submission faults. */
static void check_without_patches(const char *option)
{
	static struct e2e_output output;
	char folder[E2E_PATH_BYTES], path[2 * E2E_PATH_BYTES];
	size_t bytes;
	char *text;

	e2e_path(folder, "pictures");
	e2e_patchbay(&output, "demo", "--frames", "6", "--output", folder, "--no-patches", option);
	assert_int_equal(output.code, 1);
	assert_null(strstr(output.out, "demo: ok"));
	assert_non_null(strstr(output.err, "frame 0: 3D node: ENGINE_FAULT: "));
	assert_string_equal(e2e_last_line(output.out), "demo: failed");
	/* No picture, but what the firmware did up to the failure. */
	assert_int_equal(count_files(folder), 1);
	snprintf(path, sizeof(path), "%s/timeline.html", folder);
	text = (char *)e2e_read_file(path, &bytes);
	assert_in_range(bytes, 10000, 1000000);
	assert_non_null(strstr(text, "\"packets\":[\n["));
	free(text);
}

static void the_demo_fails_without_patching(void **state)
{
	(void)state;
	check_without_patches(NULL);
	check_without_patches("--sim");
}

static void wrong_arguments_are_refused(void **state)
{
	static const char *const cases[][E2E_ARGUMENTS] = {
		{"demo", "--frames", "0"},
		{"demo", "--frames", "many"},
		{"demo", "--no-such-option"},
		{"demo", "--board", "none"},
	};
	static struct e2e_output output;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e2e_collect(e2e_spawn(E2E_PATCHBAY, cases[i], NULL), &output);
		assert_int_equal(output.code, 2);
		assert_string_not_equal(output.err, "");
		assert_string_equal(output.out, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(emulated_and_simulated_cards_draw_equal_pictures),
		e2e_test(the_demo_fails_without_patching),
		e2e_test(wrong_arguments_are_refused),
	};

	return e2e_run_tests(tests);
}
