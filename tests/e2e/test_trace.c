/* SPDX-License-Identifier: MIT */
/*
 * `patchbay trace` on the real image: while a job runs, after a crash, after a boot that failed, and from a
 * saved copy of card memory.
 */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_image.h"
#include "tests/e2e/e2e_trace.h"

#define ROUNDS 30u

static struct e2e_output output;

static void attempt(const char *const *arguments)
{
	e2e_collect(e2e_spawn(E2E_PATCHBAY, arguments, NULL), &output);
	if (output.code != 0)
		fail_msg("patchbay trace failed: %s", output.err);
}

#define run(...) attempt(E2E_ARGUMENT_LIST("trace", __VA_ARGS__))

/* What decode prints of a file. The caller frees it. */
static char *decode(const char *trace)
{
	char text[E2E_PATH_BYTES], command[3 * E2E_PATH_BYTES];

	e2e_path(text, "decoded");
	snprintf(command, sizeof(command), "'%s' trace decode '%s' >'%s'", E2E_PATCHBAY, trace, text);
	assert_int_equal(system(command), 0);
	return (char *)e2e_read_file(text, &(size_t){0});
}

static uint32_t count(const char *text, const char *word)
{
	uint32_t found = 0;

	for (; (text = strstr(text, word)) != NULL; text += strlen(word))
		found++;
	return found;
}

/* ---- a job ---- */

/* Each of two submissions of a round has its whole path in the trace. */
static void check_path(const char *text)
{
	const char *at = text;

	assert_int_equal(count(text, " COMPLETE "), 2u * ROUNDS);
	assert_int_equal(count(text, " done OK node 0\n"), ROUNDS);
	assert_int_equal(count(text, " done OK node 1\n"), ROUNDS);
	assert_int_equal(count(text, " PATCH "), 2u * ROUNDS);
	assert_int_equal(count(text, " PATCHED "), 2u * ROUNDS);
	assert_int_equal(count(text, " FEED "), 2u * ROUNDS);
	assert_int_equal(count(text, " QUEUE "), 2);
	assert_int_equal(count(text, " lost"), 0);
	for (const char *word = " PATCH "; at != NULL && word != NULL;) {
		at = strstr(at, word);
		word = strcmp(word, " PATCH ") == 0     ? " PATCHED "
		       : strcmp(word, " PATCHED ") == 0 ? " FEED "
		       : strcmp(word, " FEED ") == 0    ? " COMPLETE "
							: NULL;
	}
	assert_non_null(at);
	assert_true(count(text, "the host's clock: 20") >= 2);
}

static void check_events(const char *path)
{
	char *text = (char *)e2e_read_file(path, &(size_t){0});
	cJSON *root = cJSON_Parse(text);
	const cJSON *event;
	uint32_t ran = 0;

	assert_non_null(root);
	cJSON_ArrayForEach(event, cJSON_GetObjectItemCaseSensitive(root, "traceEvents"))
	{
		const cJSON *phase = cJSON_GetObjectItemCaseSensitive(event, "ph");
		const cJSON *pid = cJSON_GetObjectItemCaseSensitive(event, "pid");

		ran += strcmp(phase->valuestring, "X") == 0 && pid->valuedouble == 1;
	}
	assert_int_equal(ran, 2u * ROUNDS);
	cJSON_Delete(root);
	free(text);
}

static void a_trace_has_the_whole_path_of_a_submission(void **state)
{
	char trace[E2E_PATH_BYTES], native[E2E_PATH_BYTES], events[E2E_PATH_BYTES], page[E2E_PATH_BYTES];
	struct e2e_card card;
	struct e2e_host host;
	pid_t recorder;
	char *text;

	(void)state;
	e2e_path(trace, "job.trace");
	e2e_path(native, "job.pftrace");
	e2e_path(events, "job.json");
	e2e_path(page, "job.html");
	e2e_card_start(&card, 0);
	recorder = e2e_recorder_start(&card, "PACKET=2", trace);
	assert_true(e2e_host_open(&host, card.socket));
	for (uint32_t i = 1; i <= ROUNDS; i++)
		assert_true(e2e_host_round(&host, i));
	assert_true(e2e_host_close(&host));
	e2e_recorder_end(recorder);
	text = decode(trace);
	check_path(text);
	free(text);
	run("export", "--perfetto", native, "--chrome", events, "--html", page, trace);
	check_events(events);
	e2e_card_stop(&card);
}

/* What docs/tour.md shows: the second submission of the demo's first picture, with all records. */
static void the_trace_is_as_the_tour_shows(void **state)
{
	static const char *const way[] = {
		"  HANDLE    queue 0 handle 0x10000 of channel 1 node 0 priority NORMAL\n",
		"  SUBMIT    queue 0 put 2 completed ",
		"  PATCH     queue 0 fence 0x1 patches 19\n",
		"  PATCHED   queue 0 fence 0x1 error OK\n",
		"  FEED      queue 0 fence 0x1 context 0\n",
		"  COMPLETE  queue 0 fence 0x1 done OK node 0\n",
	};
	char trace[E2E_PATH_BYTES], pictures[E2E_PATH_BYTES];
	struct e2e_card card;
	const char *at;
	pid_t recorder;
	char *text;

	(void)state;
	e2e_path(trace, "tour.trace");
	e2e_path(pictures, "pictures");
	e2e_card_start(&card, 0);
	recorder = e2e_recorder_start(&card, "all", trace);
	e2e_patchbay(&output, "demo", "--card", card.socket, "--frames", "1", "--output", pictures);
	assert_int_equal(output.code, 0);
	e2e_recorder_end(recorder);
	text = decode(trace);
	at = text;
	for (uint32_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		at = strstr(at, way[i]);
		if (at == NULL)
			fail_msg("not there, or not in this order: %s", way[i]);
	}
	free(text);
	e2e_card_stop(&card);
}

/* ---- firmware that died ---- */

static void await_death(const struct e2e_card *card, uint32_t incarnation)
{
	const uint64_t begin = e2e_now();
	struct pb_card_info info = {0};
	struct pb_link *link;

	assert_int_equal(pb_link_open_socket(card->socket, &link), PB_ERROR_OK);
	do {
		assert_true(e2e_patience(begin));
		(void)pb_card_read(link, &info);
	} while (info.mcu_state != PB_MCU_DEAD || info.incarnation != incarnation);
	link->ops->close(link);
}

static void save_memory(const struct e2e_card *card, const char *path)
{
	struct pb_link *link;

	assert_int_equal(pb_link_open_socket(card->socket, &link), PB_ERROR_OK);
	e2e_write_file(path, link->memory, link->memory_bytes);
	link->ops->close(link);
}

static void expect_last(const char *text, const char *event, const char *words)
{
	const char *last = NULL;

	for (const char *at = text; (at = strstr(at, event)) != NULL; at++)
		last = at;
	assert_non_null(last);
	if (strncmp(last, words, strlen(words)) != 0)
		fail_msg("the last is not \"%s\" but \"%.60s\"", words, last);
}

static void a_crash_leaves_its_trace(void **state)
{
	char image[E2E_PATH_BYTES], trace[E2E_PATH_BYTES], memory[E2E_PATH_BYTES], again[E2E_PATH_BYTES];
	struct e2e_card card;
	char *live, *saved;

	(void)state;
	e2e_path(image, "image.elf");
	e2e_path(trace, "crash.trace");
	e2e_path(memory, "memory.bin");
	e2e_path(again, "again.trace");
	(void)e2e_image_write(image, "pb_core_resolve", E2E_IMAGE_FAULTS);
	e2e_card_start_image(&card, image, 0);
	e2e_host_meets_fault(card.socket);
	await_death(&card, 1);
	run("record", "--card", card.socket, trace);
	live = decode(trace);
	assert_int_equal(count(live, " QUEUE "), 2);
	expect_last(live, "  PATCH", "  PATCH     queue 0 fence 0x1 patches ");
	assert_int_equal(count(live, " FEED ") + count(live, " COMPLETE "), 0);
	save_memory(&card, memory);
	e2e_card_stop(&card);
	run("record", "--memory", memory, again);
	saved = decode(again);
	/* Firmware that is dead shows no clock, so that the host's cannot be set beside it. */
	assert_true(strlen(saved) > 500);
	assert_string_equal(live, saved);
	free(saved);
	free(live);
}

static void a_failed_boot_leaves_its_trace(void **state)
{
	char image[E2E_PATH_BYTES], bad[E2E_PATH_BYTES], trace[E2E_PATH_BYTES];
	struct e2e_card card;
	uint8_t *bytes;
	size_t size;
	char *text;

	(void)state;
	e2e_path(image, "image.elf");
	e2e_path(bad, "bad.elf");
	e2e_path(trace, "boot.trace");
	bytes = e2e_read_file(e2e_image(), &size);
	e2e_write_file(image, bytes, size);
	free(bytes);
	e2e_image_write_asserting(bad);
	e2e_card_start_image(&card, image, 1);
	bytes = e2e_read_file(bad, &size);
	e2e_write_file(image, bytes, size);
	free(bytes);
	assert_int_equal(kill(e2e_card_mcu(&card), SIGKILL), 0);
	await_death(&card, 2);
	run("record", "--card", card.socket, trace);
	text = decode(trace);
	/* The trace of the previous boot is included. */
	assert_int_equal(count(text, "BOOT      stage RUNNING incarnation 1\n"), 1);
	assert_int_equal(count(text, "BOOT      stage STARTED incarnation 2\n"), 1);
	expect_last(text, "BOOT ", "BOOT      stage ENGINES_RESET incarnation 2\n");
	free(text);
	e2e_card_stop(&card);
}

/* ---- the command ---- */

static void follow_prints_new_records(void **state)
{
	struct e2e_card card;

	(void)state;
	e2e_card_start(&card, 0);
	run("follow", "--card", card.socket, "--time", "0");
	assert_non_null(strstr(output.out, "BOOT      stage RUNNING incarnation 1\n"));
	run("follow", "--card", card.socket, "--time", "0", "--levels", "all");
	assert_non_null(strstr(output.out, "COMMAND   code TRACE error OK\n"));
	assert_non_null(strstr(output.out, "TIME "));
	e2e_card_stop(&card);
	run("follow", "--sim", "--time", "0.01");
	assert_non_null(strstr(output.out, "BOOT      stage RUNNING incarnation 1\n"));
}

static void wrong_arguments_are_refused(void **state)
{
	static const struct e2e_refusal cases[] = {
		{{"trace"}, 2, "Usage: patchbay trace COMMAND"},
		{{"trace", "nothing"}, 2, "Usage: patchbay trace COMMAND"},
		{{"trace", "record", "file"}, 2, "give FILE.trace, and either a card or --memory"},
		{{"trace", "record", "--sim"}, 2, "give FILE.trace"},
		{{"trace", "record", "--sim", "--memory", "x", "y"}, 2, "either a card or --memory"},
		{{"trace", "record", "--memory", "x", "--levels", "all", "y"}, 2, "without --levels"},
		{{"trace", "record", "--sim", "--levels", "some", "y"}, 2, "--levels some: give off"},
		{{"trace", "record", "--sim", "--time", "-1", "y"}, 2, "--time -1: give 0"},
		{{"trace", "record", "--sim", "one", "two"}, 2, "give one FILE"},
		{{"trace", "record", "--sim", "/nonexistent/x"}, 1, "/nonexistent/x: No such file"},
		{{"trace", "record", "--sim", "/dev/full"}, 1, "/dev/full: No space left on device"},
		{{"trace", "record", "--memory", "/dev/null", "/dev/null"},
		 1,
		 "/dev/null: the file is empty"},
		{{"trace", "follow"}, 2, "give a card"},
		{{"trace", "decode"}, 2, "FILE.trace is missing"},
		{{"trace", "decode", "/dev/null"}, 1, "/dev/null: the file is no trace"},
		{{"trace", "export", "x"}, 2, "at least one of --perfetto"},
		{{"trace", "export", "--html", "x", "/nonexistent/x"}, 1, "No such file"},
	};

	(void)state;
	e2e_check_refusals(cases, sizeof(cases) / sizeof(cases[0]));
	e2e_patchbay(&output, "trace", "--help");
	assert_int_equal(output.code, 0);
	assert_non_null(strstr(output.out, "export"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(a_trace_has_the_whole_path_of_a_submission),
		e2e_test(the_trace_is_as_the_tour_shows),
		e2e_test(a_crash_leaves_its_trace),
		e2e_test(a_failed_boot_leaves_its_trace),
		e2e_test(follow_prints_new_records),
		e2e_test(wrong_arguments_are_refused),
	};

	return e2e_run_tests(tests);
}
