/* SPDX-License-Identifier: MIT */
/* A card whose channels are all in use, one of them at work: each command that observes it answers, and costs no host anything. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

#define CHANNELS 8u

static struct e2e_card card;
static struct e2e_host host;
static struct pb_link *others[CHANNELS - 1u];

static void fill_card(void)
{
	struct pb_link *more;

	e2e_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	for (uint32_t i = 0; i < CHANNELS - 1u; i++)
		assert_int_equal(pb_link_open_socket(card.socket, &others[i]), PB_ERROR_OK);
	assert_int_equal(pb_link_open_socket(card.socket, &more), PB_ERROR_CARD_FULL);
	assert_true(e2e_host_round(&host, 1));
}

static void empty_card(void)
{
	assert_true(e2e_host_round(&host, 2));
	assert_true(e2e_host_close(&host));
	for (uint32_t i = 0; i < CHANNELS - 1u; i++)
		others[i]->ops->close(others[i]);
	e2e_card_stop(&card);
}

static void every_command_finds_a_full_card(void **state)
{
	static const struct {
		const char *arguments[8];
		const char *said; /* on standard output */
	} cases[] = {
		{{"info"}, "boot stage     RUNNING\n"},
		{{"stats"}, "SUBMISSIONS"},
		{{"stats", "--json"}, "\"submissions\""},
		{{"why", "1:0"}, "Queue 1:0 (node 0, priority NORMAL) does not run: "},
		{{"why", "1:1", "--json"}, "\"node\":\t1"},
		{{"trace", "follow", "--time", "0"}, " COMPLETE "},
		{{"top", "--once"}, "\n1:1        1 NORMAL   EMPTY "},
		{{"trace", "follow", "--time", "0.1", "--levels", "all"}, " LEVELS "},
	};
	static struct e2e_output output;

	(void)state;
	fill_card();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *arguments[E2E_ARGUMENTS] = {NULL};
		uint32_t count = 0;

		while (cases[i].arguments[count] != NULL) {
			arguments[count] = cases[i].arguments[count];
			count++;
		}
		arguments[count++] = "--card";
		arguments[count++] = card.socket;
		e2e_collect(e2e_spawn(E2E_PATCHBAY, arguments, NULL), &output);
		if (output.code != 0 || strstr(output.out, cases[i].said) == NULL)
			fail_msg("%s: %d: %s%s", arguments[0], output.code, output.err, output.out);
		assert_true(e2e_host_round(&host, 3 + (uint32_t)i));
	}
	empty_card();
}

/* A recorder that is killed, and one that stands still: the levels of the first are gone, and a round takes no more. */
static void an_observer_that_is_killed_leaves_no_trace(void **state)
{
	static struct e2e_output output;
	const uint64_t start = e2e_now();
	pid_t recorder, stopped;

	(void)state;
	fill_card();
	recorder = e2e_spawn(E2E_PATCHBAY,
			     E2E_ARGUMENT_LIST("trace", "follow", "--levels", "all", "--card", card.socket),
			     NULL);
	stopped = e2e_spawn(E2E_PATCHBAY, E2E_ARGUMENT_LIST("trace", "follow", "--card", card.socket), NULL);
	do {
		e2e_patchbay(&output, "trace", "follow", "--time", "0", "--card", card.socket);
		assert_int_equal(output.code, 0);
	} while (strstr(output.out, " LEVELS ") == NULL && e2e_patience(start));
	assert_int_equal(kill(stopped, SIGSTOP), 0);
	assert_int_equal(kill(recorder, SIGKILL), 0);
	for (uint32_t i = 0; i < 20; i++)
		assert_true(e2e_host_round(&host, 100 + i));
	assert_int_equal(kill(stopped, SIGKILL), 0);
	assert_int_equal(waitpid(recorder, NULL, 0), recorder);
	assert_int_equal(waitpid(stopped, NULL, 0), stopped);
	empty_card();
}

/* What a command prints, without the lines of things that go on when a card is at rest. */
static char *settled(const char *const *arguments, uint32_t count, const char *option, const char *value)
{
	static const char *const moving[] = {"heartbeat", "TICKS", "ticks", "waypoint", "clock"};
	const char *list[E2E_ARGUMENTS] = {NULL};
	char *const kept = calloc(1, sizeof(((struct e2e_output *)NULL)->out));
	static struct e2e_output output;
	bool moves;

	assert_non_null(kept);
	for (uint32_t i = 0; i < count; i++)
		list[i] = arguments[i];
	list[count] = option;
	list[count + 1u] = value;
	e2e_collect(e2e_spawn(E2E_PATCHBAY, list, NULL), &output);
	if (output.code != 0)
		fail_msg("%s %s: %d: %s", arguments[0], option, output.code, output.err);
	for (char *line = strtok(output.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		moves = false;
		for (size_t m = 0; m < sizeof(moving) / sizeof(moving[0]); m++)
			moves = moves || strstr(line, moving[m]) != NULL;
		if (!moves) {
			strcat(kept, line);
			strcat(kept, "\n");
		}
	}
	return kept;
}

/* The output for a saved card is that for the card, at rest, of each command that reads one. */
static void a_saved_card_shows_what_the_card_shows(void **state)
{
	static const struct {
		const char *arguments[6];
		const char *said;
	} cases[] = {
		{{"trace", "follow", "--time", "0"}, " COMPLETE "},
		{{"info"}, "boot stage     RUNNING\n"},
		{{"info", "--json"}, "\"boot_stage\":\t\"RUNNING\""},
		{{"stats"}, "SUBMISSIONS"},
		{{"stats", "--json"}, "\"submissions\""},
		{{"why", "1:0"},
		 "Queue 1:0 (node 0, priority NORMAL) does not run: nothing is submitted; 1 submitted"},
		{{"why", "1:1", "--json"}, "\"node\":\t1"},
		{{"top", "--once"}, "\n1:1        1 NORMAL   EMPTY                0          1      -\n"},
	};
	static struct e2e_output output;
	char path[E2E_PATH_BYTES];

	(void)state;
	fill_card();
	e2e_path(path, "saved");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t start = e2e_now();
		uint32_t count = 0;
		char *live, *saved;
		bool equal;

		while (cases[i].arguments[count] != NULL)
			count++;
		/* The firmware publishes its counters one node after the other: once it has, the card is at rest. */
		do {
			live = settled(cases[i].arguments, count, "--card", card.socket);
			e2e_patchbay(&output, "dump", path, "--card", card.socket);
			assert_int_equal(output.code, 0);
			saved = settled(cases[i].arguments, count, "--memory", path);
			equal = strcmp(live, saved) == 0;
			if (strstr(live, cases[i].said) == NULL)
				fail_msg("%s: %s", cases[i].arguments[0], live);
			if (!equal && !e2e_patience(start))
				fail_msg("%s\n%s", live, saved);
			free(live);
			free(saved);
		} while (!equal);
	}
	empty_card();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(every_command_finds_a_full_card),
		e2e_test(an_observer_that_is_killed_leaves_no_trace),
		e2e_test(a_saved_card_shows_what_the_card_shows),
	};

	return e2e_run_tests(tests);
}
