/* SPDX-License-Identifier: MIT */
/*
 * The clock of the trace's records, on the real image: it counts at the rate that the board states, and a restart of the
 * MCU, with which it begins anew, turns no time back. Two other clocks bound the rate: the tick, another timer of the MCU,
 * and the host's clock.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "patchbay/trace.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_trace.h"

#define TICK_US   5000
#define TICKS     200u
#define TIMES_MAX 20000u
/* How far the rate may be off, of the time that was measured. */
#define PART 20
/* What `trace decode` prints of a moment on both clocks. */
#define ANCHOR "the host's clock: 20"
#define CLOCKS "%ld.%ld the host's clock: %d-%d-%dT%d:%d:%lf"

static struct e2e_output output;

/** What `trace decode` prints of a file. The caller frees it. */
static char *decode(const char *trace)
{
	char text[E2E_PATH_BYTES], command[3 * E2E_PATH_BYTES];

	e2e_path(text, "decoded");
	snprintf(command, sizeof(command), "'%s' trace decode '%s' >'%s'", E2E_PATCHBAY, trace, text);
	assert_int_equal(system(command), 0);
	return (char *)e2e_read_file(text, &(size_t){0});
}

/** Reads the times of a decoded trace's records with a word, in microseconds. @return their number */
static uint32_t read_times(const char *trace, const char *word, int64_t times[TIMES_MAX])
{
	char *const all = decode(trace), *save = NULL;
	uint32_t count = 0;

	for (char *line = strtok_r(all, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
		long seconds, microseconds;

		if (sscanf(line, "%ld.%ld", &seconds, &microseconds) != 2 || strstr(line, word) == NULL)
			continue;
		assert_true(count < TIMES_MAX);
		times[count++] = seconds * 1000000 + microseconds;
	}
	free(all);
	return count;
}

/** Too slow it is not: a tick may come late or be lost when the MCU gets no processor, and never comes early. */
static void check_ticks(const char *trace)
{
	static int64_t times[TIMES_MAX];
	const uint32_t count = read_times(trace, "  TICK ", times);
	int64_t expected;

	assert_true(count > TICKS);
	/* The first one came late by less than a period, or the next one was lost. */
	expected = (int64_t)(count - 2u) * TICK_US;
	print_message("%u ticks in %lld us\n", (unsigned)count, (long long)(times[count - 1u] - times[0]));
	assert_true(times[count - 1u] - times[0] >= expected - expected / PART);
}

/** Reads an anchor from a line. @param host_us out: of its day */
static bool read_anchor(const char *line, int64_t *time_us, int64_t *host_us, long *late_us)
{
	int year, month, day, hour, minute;
	long seconds, microseconds;
	const char *late = strstr(line, "at most ");
	double second;

	if (sscanf(line, CLOCKS, &seconds, &microseconds, &year, &month, &day, &hour, &minute, &second) !=
		    8 ||
	    late == NULL)
		return false;
	*time_us = seconds * 1000000 + microseconds;
	*host_us = (int64_t)(second * 1e6 + 0.5) + 60000000ll * (minute + 60ll * hour + 24 * 60ll * day);
	*late_us = strtol(late + strlen("at most "), NULL, 10);
	return true;
}

/** Too fast it is not: it stands when the emulator does, and never goes faster than the host's clock. */
static void check_anchors(const char *trace)
{
	char *const all = decode(trace), *save = NULL;
	int64_t first = 0, first_host = 0, time, host, gone;
	long first_late = 0, late;
	uint32_t count = 0;

	for (char *line = strtok_r(all, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
		if (!read_anchor(line, &time, &host, &late))
			continue;
		if (count++ == 0) {
			first = time;
			first_host = host;
			first_late = late;
			continue;
		}
		gone = host - first_host;
		assert_true(time - first <= gone + gone / PART + first_late + late);
	}
	assert_true(count > 1);
	free(all);
}

/** Records so many ticks. */
static void record_ticks(const struct e2e_card *card, const char *trace)
{
	static int64_t times[TIMES_MAX];
	const pid_t recorder = e2e_recorder_start(card, "LINE=3", trace);
	const uint64_t start = e2e_now();

	do {
		usleep(100000);
		assert_true(e2e_patience(start));
	} while (read_times(trace, "  TICK ", times) <= TICKS);
	e2e_recorder_end(recorder);
}

static void the_records_have_a_counter_of_the_stated_rate(void **state)
{
	char trace[E2E_PATH_BYTES];
	struct pb_link *link;
	struct pb_trace reader;
	struct e2e_card card;

	(void)state;
	e2e_path(trace, "ticks.trace");
	e2e_card_start(&card, 0);
	assert_int_equal(pb_link_open_observer(card.socket, &link), PB_ERROR_OK);
	assert_int_equal(pb_trace_open(&reader, link), PB_ERROR_OK);
	/* A counter of the MCU, of at most a microsecond a step. */
	assert_true(reader.hertz >= 1000000u);
	link->ops->close(link);
	record_ticks(&card, trace);
	check_ticks(trace);
	check_anchors(trace);
	e2e_card_stop(&card);
}

/** Waits for firmware of an incarnation that runs. */
static void await_boot(const struct e2e_card *card, uint32_t incarnation)
{
	const uint64_t begin = e2e_now();
	struct pb_card_info info = {0};
	struct pb_link *link;

	assert_int_equal(pb_link_open_observer(card->socket, &link), PB_ERROR_OK);
	do {
		assert_true(e2e_patience(begin));
		(void)pb_card_read(link, &info);
	} while (info.incarnation != incarnation || info.boot_stage != PB_BOOT_STAGE_RUNNING);
	link->ops->close(link);
}

static void a_restart_turns_no_time_back(void **state)
{
	static int64_t times[TIMES_MAX];
	char trace[E2E_PATH_BYTES];
	struct e2e_card card;
	struct e2e_host host;
	uint32_t count;

	(void)state;
	e2e_path(trace, "restart.trace");
	e2e_card_start(&card, 1);
	assert_true(e2e_host_open(&host, card.socket));
	assert_true(e2e_host_round(&host, 1));
	host.link->ops->close(host.link);
	assert_int_equal(kill(e2e_card_mcu(&card), SIGKILL), 0);
	await_boot(&card, 2);
	e2e_patchbay(&output, "trace", "record", "--card", card.socket, trace);
	assert_int_equal(output.code, 0);
	count = read_times(trace, ".", times);
	assert_true(count > 20);
	for (uint32_t i = 1; i < count; i++)
		assert_true(times[i] >= times[i - 1u]);
	/* Both boots are within what the card's clock counts between them. */
	assert_int_equal(read_times(trace, "BOOT      stage NONE ", times), 2);
	assert_true(times[1] > times[0]);
	e2e_card_stop(&card);
}

/* The last moment of a recording is compared with the host's clock although the MCU gets no processor just then. */
static void a_recording_waits_for_an_mcu_that_stands_still(void **state)
{
	char trace[E2E_PATH_BYTES];
	struct e2e_card card;
	const char *first;
	pid_t recorder;
	char *all;

	(void)state;
	e2e_path(trace, "still.trace");
	e2e_card_start(&card, 0);
	recorder = e2e_recorder_start(&card, "default", trace);
	assert_int_equal(kill(e2e_card_mcu(&card), SIGSTOP), 0);
	assert_int_equal(kill(recorder, SIGINT), 0);
	/* It polls for a tick, and sleeps in between. */
	e2e_await_sleeps(recorder, 100);
	assert_int_equal(kill(e2e_card_mcu(&card), SIGCONT), 0);
	e2e_recorder_end(recorder);
	all = decode(trace);
	first = strstr(all, ANCHOR);
	assert_non_null(first);
	assert_non_null(strstr(first + 1, ANCHOR));
	free(all);
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(the_records_have_a_counter_of_the_stated_rate),
		e2e_test(a_restart_turns_no_time_back),
		e2e_test(a_recording_waits_for_an_mcu_that_stands_still),
	};

	return e2e_run_tests(tests);
}
