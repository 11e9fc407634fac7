/* SPDX-License-Identifier: MIT */
/*
 * The commands on a board that only a debug probe reaches: its own image on QEMU's netduinoplus2, whose gdb
 * stub is the probe.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/e2e.h"

struct board {
	pid_t mcu;
	char stub[E2E_PATH_BYTES];
	char link[E2E_PATH_BYTES + 8];
};

static bool has_passed(const char *path)
{
	size_t bytes;
	char *text = (char *)e2e_read_file(path, &bytes);
	const bool passed = strstr(text, "self-test passed") != NULL;

	free(text);
	return passed;
}

static void start(struct board *board)
{
	const uint64_t begin = e2e_now();
	char device[E2E_PATH_BYTES + 64], text[E2E_PATH_BYTES], serial[E2E_PATH_BYTES + 8];

	e2e_path(text, "text");
	(void)snprintf(serial, sizeof(serial), "file:%s", text);
	e2e_path(board->stub, "stub");
	(void)snprintf(board->link, sizeof(board->link), "gdb:%s", board->stub);
	(void)snprintf(device, sizeof(device), "socket,id=gdb,path=%s,server=on,wait=off", board->stub);
	board->mcu = e2e_spawn("/usr/bin/env",
			       E2E_ARGUMENT_LIST("qemu-system-arm", "-M", "netduinoplus2", "-nodefaults",
						 "-nographic", "-serial", serial, "-chardev", device, "-gdb",
						 "chardev:gdb", "-kernel", E2E_STM32F405),
			       NULL);
	/* The self-test uses all of the board's memory for a while. */
	while (access(text, F_OK) != 0 || !has_passed(text))
		assert_true(e2e_patience(begin));
}

static void stop(const struct board *board)
{
	int status;

	assert_int_equal(kill(board->mcu, SIGTERM), 0);
	assert_int_equal(waitpid(board->mcu, &status, 0), board->mcu);
	(void)unlink(board->stub);
}

static void info_runs_over_a_probe(void **state)
{
	static struct e2e_output output;
	struct board board;

	(void)state;
	start(&board);
	e2e_patchbay(&output, "info", "--link", board.link);
	assert_int_equal(output.code, 0);
	assert_non_null(strstr(output.out, " stm32f405\n"));
	assert_non_null(strstr(output.out, "boot stage     RUNNING\n"));
	assert_non_null(strstr(output.out, "memory         77824 bytes\n"));
	stop(&board);
}

/* The demo compares each of its pictures with its own drawing, and counts differences. */
static void the_demo_runs_over_a_probe(void **state)
{
	static struct e2e_output output;
	struct board board;
	char pictures[E2E_PATH_BYTES];

	(void)state;
	start(&board);
	e2e_path(pictures, "pictures");
	e2e_patchbay(&output, "demo", "--link", board.link, "--output", pictures, "--frames", "12");
	print_message("%s%s", output.out, output.err);
	assert_int_equal(output.code, 0);
	assert_non_null(strstr(output.out, "demo: ok 12 frames, "));
	stop(&board);
}

/* Captured submissions, as far as they fit. For the others the limit is named. Every byte is compared. */
static void replays_run_over_a_probe(void **state)
{
	static const struct {
		const char *file;
		int code;
		const char *said;
	} cases[] = {
		{E2E_DATA "/bdw.subm.zst", 0, "67 submissions, 7326 relocations, "},
		{E2E_DATA "/nv40.subm.zst", 0, "40 submissions, 1481 relocations, "},
		{E2E_DATA "/hswvk.subm.zst", 2, "this board's limit is BUFFER_BYTES_MAX = 49152"},
	};
	static struct e2e_output output;
	struct board board;

	(void)state;
	start(&board);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e2e_patchbay(&output, "replay", "--link", board.link, cases[i].file);
		print_message("%s%s", output.out, output.err);
		assert_int_equal(output.code, cases[i].code);
		assert_non_null(strstr(output.code == 0 ? output.out : output.err, cases[i].said));
	}
	stop(&board);
}

/* Flash memory holds exactly the bytes of the flashed file. */
static void flash_memory_holds_the_image(void **state)
{
	static struct e2e_output output;
	char script[E2E_PATH_BYTES], memory[E2E_PATH_BYTES], text[3 * E2E_PATH_BYTES];
	size_t bytes, found_bytes;
	uint8_t *image = e2e_read_file(E2E_STM32F405, &bytes);
	uint8_t *found;
	struct board board;

	(void)state;
	start(&board);
	e2e_path(script, "script");
	e2e_path(memory, "memory");
	(void)snprintf(text, sizeof(text),
		       "target remote %s\ndump binary memory %s 0x08000000 0x08000000+%zu\ndisconnect\n",
		       board.stub, memory, bytes);
	e2e_write_file(script, text, strlen(text));
	e2e_collect(e2e_spawn("/usr/bin/env",
			      E2E_ARGUMENT_LIST("gdb-multiarch", "-nx", "-batch", "-x", script), NULL),
		    &output);
	assert_int_equal(output.code, 0);
	found = e2e_read_file(memory, &found_bytes);
	assert_int_equal(found_bytes, bytes);
	assert_memory_equal(found, image, bytes);
	free(found);
	free(image);
	stop(&board);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(info_runs_over_a_probe),
		e2e_test(the_demo_runs_over_a_probe),
		e2e_test(replays_run_over_a_probe),
		e2e_test(flash_memory_holds_the_image),
	};

	return e2e_run_tests(tests);
}
