/* SPDX-License-Identifier: MIT */
/* Messages of the command when something that it needs is missing. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"

static void a_missing_emulator_is_reported(void **state)
{
	static const char *const cases[][E2E_ARGUMENTS] = {
		{"card"},
		{"demo"},
		{"info"},
		{"replay", E2E_DATA "/snb.subm.zst"},
	};
	const struct pb_machine *machine = pb_machine_find(e2e_board());
	static struct e2e_output output;
	char empty[E2E_PATH_BYTES], said[E2E_PATH_BYTES];

	(void)state;
	assert_non_null(machine);
	snprintf(said, sizeof(said), "%s is not installed; Debian package %s has it", machine->program,
		 machine->package);
	e2e_path(empty, "empty");
	assert_int_equal(mkdir(empty, 0700), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e2e_collect(e2e_spawn(E2E_PATCHBAY, cases[i], empty), &output);
		assert_int_equal(output.code, 1);
		assert_non_null(strstr(output.err, said));
		assert_string_equal(output.out, "");
	}
}

/* A copy of the command in a build folder without images. */
static void copy_command(char path[E2E_PATH_BYTES])
{
	static const char *const folders[] = {"build", "build/host", "build/host/host"};
	size_t bytes;
	uint8_t *data = e2e_read_file(E2E_PATCHBAY, &bytes);

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		e2e_path(path, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	e2e_path(path, "build/host/host/patchbay");
	e2e_write_file(path, data, bytes);
	assert_int_equal(chmod(path, 0700), 0);
	free(data);
}

static void a_missing_image_is_reported(void **state)
{
	static const char *const cases[][E2E_ARGUMENTS] = {
		{"card"},
		{"demo"},
		{"info"},
		{"replay", E2E_DATA "/snb.subm.zst"},
	};
	static struct e2e_output output;
	const char *const board = e2e_board();
	char command[E2E_PATH_BYTES], name[E2E_PATH_BYTES], image[E2E_PATH_BYTES], said[E2E_PATH_BYTES];

	(void)state;
	copy_command(command);
	snprintf(name, sizeof(name), "build/%s/patchbay-%s.elf", board, board);
	e2e_path(image, name);
	snprintf(said, sizeof(said),
		 "or build it: cmake -B build/%s -G Ninja -DPB_BOARD=%s && cmake --build build/%s\n", board,
		 board, board);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e2e_collect(e2e_spawn(command, cases[i], NULL), &output);
		assert_int_equal(output.code, 1);
		assert_non_null(strstr(output.err, image));
		assert_non_null(strstr(output.err, said));
		assert_string_equal(output.out, "");
	}
}

static void a_wrong_image_is_reported(void **state)
{
	static struct e2e_output output;
	char path[E2E_PATH_BYTES];

	(void)state;
	e2e_path(path, "none.elf");
	e2e_patchbay(&output, "card", "--image", path);
	assert_int_equal(output.code, 1);
	assert_non_null(strstr(output.err, path));
	assert_non_null(strstr(output.err, "No such file"));
}

/* The simulated card needs neither. */
static void the_simulated_card_needs_no_emulator(void **state)
{
	static struct e2e_output output;
	char command[E2E_PATH_BYTES], empty[E2E_PATH_BYTES];

	(void)state;
	copy_command(command);
	e2e_path(empty, "empty");
	assert_int_equal(mkdir(empty, 0700), 0);
	e2e_collect(e2e_spawn(command, E2E_ARGUMENT_LIST("replay", "--sim", E2E_DATA "/snb.subm.zst"), empty),
		    &output);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(a_missing_emulator_is_reported),
		e2e_test(a_missing_image_is_reported),
		e2e_test(a_wrong_image_is_reported),
		e2e_test(the_simulated_card_needs_no_emulator),
	};

	return e2e_run_tests(tests);
}
