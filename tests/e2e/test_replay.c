/* SPDX-License-Identifier: MIT */
/* `patchbay replay` as users run it: captured submissions through the card, bad files, bad arguments. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/e2e.h"

static const char *const samples[] = {"bdw", "hsw", "hswvk", "nv40", "nv50", "snb"};

static void sample_path(char path[E2E_PATH_BYTES], const char *sample, const char *end)
{
	assert_true((size_t)snprintf(path, E2E_PATH_BYTES, E2E_DATA "/%s%s", sample, end) < E2E_PATH_BYTES);
}

static void check_same(const char *found_path, const char *expected_path)
{
	size_t found_bytes, expected_bytes;
	uint8_t *found = e2e_read_file(found_path, &found_bytes);
	uint8_t *expected = e2e_read_file(expected_path, &expected_bytes);

	assert_true(expected_bytes > 0);
	assert_string_equal((char *)found, (char *)expected);
	assert_int_equal(found_bytes, expected_bytes);
	free(found);
	free(expected);
}

/* Replays a sample and compares the result of each submission. */
static void check_sample(const char *sample, const char *option, const char *value)
{
	char file[E2E_PATH_BYTES], expected[E2E_PATH_BYTES], found[E2E_PATH_BYTES],
		start[E2E_PATH_BYTES + 16];
	static struct e2e_output output;

	sample_path(file, sample, ".subm.zst");
	sample_path(expected, sample, ".expect.tsv");
	e2e_path(found, "found.tsv");
	e2e_patchbay(&output, "replay", file, "--crc-out", found, option, value);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	snprintf(start, sizeof(start), "replay: ok %s: ", file);
	assert_memory_equal(output.out, start, strlen(start));
	check_same(found, expected);
}

static void samples_replay_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		check_sample(samples[i], NULL, NULL);
}

static void samples_replay_right_on_a_simulated_card(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		check_sample(samples[i], "--sim", NULL);
}

/* Compact lists give equal bytes, and the tool reports which lists it used. */
static void compact_lists_give_equal_bytes(void **state)
{
	char file[E2E_PATH_BYTES];
	static struct e2e_output output;

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		check_sample(samples[i], "--encoding", "compact");
	sample_path(file, "nv50", ".subm.zst");
	e2e_patchbay(&output, "replay", file, "--sim", "--encoding", "compact");
	assert_non_null(strstr(output.out, ": 20 submissions, 920 relocations, 14400 bytes; "
					   "compact patch lists of 10080 bytes\n"));
	e2e_patchbay(&output, "replay", file, "--sim", "--encoding", "wddm");
	assert_non_null(strstr(output.out, "; wddm patch lists of 22080 bytes\n"));
}

/* With other addresses the bytes differ from the table's, and are still right. */
static void a_seed_moves_the_objects(void **state)
{
	char file[E2E_PATH_BYTES], expected[E2E_PATH_BYTES], found[E2E_PATH_BYTES];
	static struct e2e_output output;
	size_t bytes;
	uint8_t *table, *moved;

	(void)state;
	sample_path(file, "bdw", ".subm.zst");
	sample_path(expected, "bdw", ".expect.tsv");
	e2e_path(found, "found.tsv");
	e2e_patchbay(&output, "replay", "--seed", "7", "--crc-out", found, file);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	table = e2e_read_file(expected, &bytes);
	moved = e2e_read_file(found, &bytes);
	assert_string_not_equal((char *)moved, (char *)table);
	free(table);
	free(moved);
}

/* Waits until a `patchbay card` reports that it is ready. */
static void await_ready(void)
{
	const uint64_t start = e2e_now();
	char path[E2E_PATH_BYTES];
	bool ready = false;

	e2e_path(path, "err");
	while (!ready) {
		size_t bytes;
		uint8_t *text;

		assert_true(e2e_patience(start));
		if (access(path, R_OK) != 0)
			continue;
		text = e2e_read_file(path, &bytes);
		ready = strstr((char *)text, "card: ready\n") != NULL;
		free(text);
	}
}

static void a_running_card_is_shared(void **state)
{
	const char *const arguments[E2E_ARGUMENTS] = {"card", "--socket"};
	const char *card_arguments[E2E_ARGUMENTS];
	char socket[E2E_PATH_BYTES];
	int status;
	pid_t card;

	(void)state;
	e2e_path(socket, "card");
	memcpy(card_arguments, arguments, sizeof(arguments));
	card_arguments[2] = socket;
	card = e2e_spawn(E2E_PATCHBAY, card_arguments, NULL);
	await_ready();
	/* Twice: what the first run held is free again. */
	check_sample("snb", "--card", socket);
	check_sample("bdw", "--card", socket);
	assert_int_equal(kill(card, SIGTERM), 0);
	assert_int_equal(waitpid(card, &status, 0), card);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- bad files ---- */

#define FLIP_MIDDLE SIZE_MAX

static const struct bad_file {
	const char *name;
	const char *sample; /**< what it is made from; NULL: `header` */
	size_t flip;        /**< byte to invert; 0: none */
	size_t keep;        /**< bytes left of it; 0: all */
	const char *header;
	size_t header_bytes;
	const char *said;
} bad_files[] = {
	{"no-magic", "bdw", 1, 0, NULL, 0, "not a SUBM file"},
	{"flipped", "bdw", FLIP_MIDDLE, 0, NULL, 0, "submission"},
	{"flipped-late", "snb", 136226 - 2, 0, NULL, 0, "checksum"},
	{"cut", "hsw", 0, 50000, NULL, 0, "cut off"},
	{"cut-early", "hsw", 0, 3, NULL, 0, "cut off"},
	{"empty", NULL, 0, 0, "", 0, "cut off"},
	{"text", NULL, 0, 0, "no submissions here, only some words", 36, "not a SUBM file"},
	{"driver", NULL, 0, 0, "SUBM\1\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\40\0\0\0\1\0\0\0\0\0\0\0", 32,
	 "driver 3"},
	{"version", NULL, 0, 0, "SUBM\2\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\40\0\0\0\1\0\0\0\0\0\0\0", 32,
	 "version 2"},
	{"headless", NULL, 0, 0, "SUBM\1\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\40\0\0\0\1\0\0\0\0\0\0\0", 32,
	 "cut off"},
};

static void make_bad_file(const struct bad_file *bad, const char *path)
{
	char sample[E2E_PATH_BYTES];
	size_t bytes;
	uint8_t *data;

	if (bad->sample == NULL) {
		e2e_write_file(path, bad->header, bad->header_bytes);
		return;
	}
	sample_path(sample, bad->sample, ".subm.zst");
	data = e2e_read_file(sample, &bytes);
	if (bad->flip != 0)
		data[bad->flip == FLIP_MIDDLE ? bytes / 2 : bad->flip] ^= 0xff;
	e2e_write_file(path, data, bad->keep != 0 ? bad->keep : bytes);
	free(data);
}

static void check_refused(const char *path, const char *said, const char *option)
{
	static struct e2e_output output;

	e2e_patchbay(&output, "replay", path, option);
	if (output.code != 2 || strstr(output.err, path) == NULL || strstr(output.err, said) == NULL)
		print_error("%s %s: exit code %d, said: %s\n", path, option != NULL ? option : "",
			    output.code, output.err);
	assert_int_equal(output.code, 2);
	assert_non_null(strstr(output.err, path));
	assert_non_null(strstr(output.err, said));
	assert_string_equal(output.out, "");
}

static void bad_files_are_refused(void **state)
{
	char path[E2E_PATH_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++) {
		e2e_path(path, bad_files[i].name);
		make_bad_file(&bad_files[i], path);
		check_refused(path, bad_files[i].said, NULL);
		check_refused(path, bad_files[i].said, "--sim");
	}
	e2e_path(path, "nonexistent");
	check_refused(path, "No such file", NULL);
	check_refused(path, "No such file", "--sim");
}

static void wrong_arguments_are_refused(void **state)
{
	static const struct e2e_refusal cases[] = {
		{{"replay", "--no-such-option", "file"}, 2, "unrecognized option"},
		{{"replay"}, 2, "FILE is missing"},
		{{"replay", "one", "two"}, 2, "give one FILE"},
		{{"replay", "file", "--seed", "seven"}, 2, "--seed seven: give a number"},
		{{"replay", "file", "--encoding", "short"},
		 2,
		 "--encoding short: give wddm, compact or grouped"},
		{{"replay", "file", "--sim", "--card", "socket"}, 2, "exclude each other"},
		{{"replay", "file", "--board", "none"}, 2, "there is no board none"},
	};

	(void)state;
	e2e_check_refusals(cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(samples_replay_right),        e2e_test(samples_replay_right_on_a_simulated_card),
		e2e_test(a_seed_moves_the_objects),    e2e_test(compact_lists_give_equal_bytes),
		e2e_test(a_running_card_is_shared),    e2e_test(bad_files_are_refused),
		e2e_test(wrong_arguments_are_refused),
	};

	return e2e_run_tests(tests);
}
