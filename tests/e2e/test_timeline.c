/* SPDX-License-Identifier: MIT */
/*
 * The timelines of clients that come and go, on the real image: each submission is in the lane of its queue, and on its
 * node. What is expected was noted by the clients when they submitted.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_trace.h"
#include "tests/unit/timeline_view.h"

#define CLIENTS   3u
#define ROUNDS    4u
#define NOTES_MAX 512u
/** Records that a ring holds. */
#define RING 8192u
/** Commands posted and not finished. */
#define UNDER_WAY 8u
/** More than the records of all rounds and the recorder's buffer have, in bytes. */
#define GROWTH 0x8000u

/** A submission, as its client made it. */
struct note {
	uint32_t fence, channel, handle, node;
};

static struct note notes[NOTES_MAX];
static uint32_t noted;

/** Notes the submissions of the next rounds: each has one to each queue, with one fence. */
static void run_rounds(struct e2e_host *host, uint32_t rounds)
{
	for (uint32_t r = 0; r < rounds; r++) {
		/* The fences of all rounds differ. */
		host->rounds = noted;
		for (uint32_t n = 0; n < E2E_NODES; n++) {
			assert_true(noted < NOTES_MAX);
			notes[noted++] = (struct note){host->rounds + 1u, host->link->channel,
						       host->queues[n].handle, host->queues[n].node};
		}
		assert_true(e2e_host_round(host, 0x01010101u * (noted & 0xffu)));
	}
}

static void lane_of(const struct note *note, char lane[128])
{
	snprintf(lane, 128, "channel %u, queue 0x%08x (node %u)", (unsigned)note->channel,
		 (unsigned)note->handle, (unsigned)note->node);
}

static void check_groups(const struct timeline_view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		const struct timeline_item *item = &view->items[i];
		const char *node = strstr(item->lane, "(node ");
		char group[64];

		if (item->kind == TIMELINE_RUN || (item->kind == TIMELINE_MARK && node == NULL))
			continue;
		assert_non_null(node);
		snprintf(group, sizeof(group), "queues of node %u", (unsigned)atoi(node + strlen("(node ")));
		assert_string_equal(item->group, group);
	}
}

/** Each submission is drawn once, where it belongs, and nothing else is. */
static void check_view(const struct timeline_view *view)
{
	for (uint32_t i = 0; i < noted; i++) {
		char lane[128], node[32];

		lane_of(&notes[i], lane);
		snprintf(node, sizeof(node), "node %u", (unsigned)notes[i].node);
		if (timeline_view_number(view, TIMELINE_LIFE, notes[i].fence, lane) != 1)
			fail_msg("fence %u is not once in the lane %s", (unsigned)notes[i].fence, lane);
		assert_int_equal(timeline_view_number(view, TIMELINE_PATCH, notes[i].fence, lane), 1);
		assert_int_equal(timeline_view_number(view, TIMELINE_RUN, notes[i].fence, node), 1);
	}
	assert_int_equal(timeline_view_number(view, TIMELINE_LIFE, UINT32_MAX, NULL), noted);
	assert_int_equal(timeline_view_number(view, TIMELINE_PATCH, UINT32_MAX, NULL), noted);
	assert_int_equal(timeline_view_number(view, TIMELINE_RUN, UINT32_MAX, NULL), noted);
	assert_true(timeline_view_lanes_differ(view));
	check_groups(view);
}

/** A trace for Perfetto breaks none of its rules, and has all submissions. */
static void check_perfetto(const char *path)
{
	static struct e2e_output output;
	char number[12];

	snprintf(number, sizeof(number), "%u", (unsigned)noted);
	e2e_collect(e2e_spawn("/usr/bin/python3",
			      E2E_ARGUMENT_LIST(E2E_TIMELINE "/perfetto_reader.py", path, number), NULL),
		    &output);
	if (output.code != 0)
		fail_msg("%s", output.err);
}

static void check_exports(const char *trace)
{
	static struct e2e_output output;
	char native[E2E_PATH_BYTES], events[E2E_PATH_BYTES], page[E2E_PATH_BYTES];
	struct timeline_view view;
	char *text;

	e2e_path(native, "clients.pftrace");
	e2e_path(events, "clients.json");
	e2e_path(page, "clients.html");
	e2e_patchbay(&output, "trace", "export", "--perfetto", native, "--chrome", events, "--html", page,
		     trace);
	assert_int_equal(output.code, 0);
	check_perfetto(native);
	text = (char *)e2e_read_file(events, &(size_t){0});
	timeline_view_events(text, &view);
	free(text);
	check_view(&view);
	timeline_view_free(&view);
	text = (char *)e2e_read_file(page, &(size_t){0});
	timeline_view_page(text, &view);
	free(text);
	check_view(&view);
	timeline_view_free(&view);
}

/** How many pairs of queues had one slot, on different nodes or of different channels. */
static uint32_t count_reuse(bool nodes)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < noted; i++) {
		for (uint32_t j = 0; j < i; j++)
			number += PB_HANDLE_INDEX(notes[i].handle) == PB_HANDLE_INDEX(notes[j].handle) &&
				  (nodes ? notes[i].node != notes[j].node
					 : notes[i].channel != notes[j].channel);
	}
	return number;
}

/** One client leaves and comes back. Another one without queues meanwhile: each gets slots of the other. */
static void exchange(struct e2e_host *leaving, struct e2e_host *staying, const char *socket)
{
	assert_true(e2e_host_close(leaving));
	for (uint32_t n = 0; n < E2E_NODES; n++)
		assert_int_equal(pb_queue_destroy(&staying->queues[n]), PB_ERROR_OK);
	assert_true(e2e_host_open(leaving, socket));
	for (uint32_t n = 0; n < E2E_NODES; n++)
		assert_int_equal(pb_queue_create(&staying->queues[n], &staying->channel, &staying->system, n,
						 E2E_RING_ENTRIES),
				 PB_ERROR_OK);
}

static void clients_that_come_and_go_have_lanes_of_their_own(void **state)
{
	struct e2e_host clients[CLIENTS];
	char trace[E2E_PATH_BYTES];
	struct e2e_card card;
	pid_t recorder;

	(void)state;
	noted = 0;
	e2e_path(trace, "clients.trace");
	e2e_card_start(&card, 0);
	recorder = e2e_recorder_start(&card, "PACKET=2", trace);
	for (uint32_t c = 0; c < CLIENTS; c++) {
		assert_true(e2e_host_open(&clients[c], card.socket));
		run_rounds(&clients[c], ROUNDS);
	}
	for (uint32_t turn = 0; turn < 2u * CLIENTS; turn++) {
		exchange(&clients[turn % CLIENTS], &clients[(turn + 1u) % CLIENTS], card.socket);
		for (uint32_t c = 0; c < CLIENTS; c++)
			run_rounds(&clients[c], ROUNDS);
	}
	for (uint32_t c = 0; c < CLIENTS; c++)
		assert_true(e2e_host_close(&clients[c]));
	e2e_recorder_end(recorder);
	assert_true(count_reuse(true) > 0 && count_reuse(false) > 0);
	check_exports(trace);
	e2e_card_stop(&card);
}

/** Sends commands that do nothing, several at a time. Each leaves a record. */
static void ping(struct e2e_host *host, uint32_t count)
{
	static const uint32_t arguments[PB_COMMAND_ARGUMENTS];
	uint32_t tags[UNDER_WAY], begun = 0;

	for (uint32_t done = 0; done < count; done++) {
		const uint64_t begin = e2e_now();

		for (; begun < count && begun - done < UNDER_WAY; begun++)
			assert_int_equal(pb_channel_begin(&host->channel, PB_COMMAND_PING, arguments,
							  &tags[begun % UNDER_WAY]),
					 PB_ERROR_OK);
		while (pb_channel_finish(&host->channel, tags[done % UNDER_WAY], NULL) != PB_ERROR_OK) {
			(void)host->link->ops->wait(host->link, 1000);
			assert_true(e2e_now() - begin < E2E_PATIENCE_US);
		}
	}
}

static size_t size_of(const char *path)
{
	size_t bytes;

	free(e2e_read_file(path, &bytes));
	return bytes;
}

/** Returns when the recorder has read all records so far: it keeps their order and holds back less than GROWTH. */
static void await_recorder(struct e2e_host *host, const char *trace)
{
	const size_t bytes = size_of(trace);
	const uint64_t begin = e2e_now();

	while (size_of(trace) < bytes + GROWTH) {
		ping(host, 256);
		assert_true(e2e_now() - begin < E2E_PATIENCE_US);
	}
}

/* The records that named the queues are gone when the recording begins, and again when it has lost records. */
static void queues_are_named_although_their_first_records_are_lost(void **state)
{
	char trace[E2E_PATH_BYTES];
	struct e2e_host one, other;
	struct e2e_card card;
	pid_t recorder;
	int status;

	(void)state;
	noted = 0;
	e2e_path(trace, "late.trace");
	e2e_card_start(&card, 0);
	assert_true(e2e_host_open(&one, card.socket) && e2e_host_open(&other, card.socket));
	ping(&one, RING + 1u);
	recorder = e2e_recorder_start(&card, "default", trace);
	run_rounds(&one, ROUNDS);
	run_rounds(&other, ROUNDS);
	await_recorder(&one, trace);
	assert_int_equal(kill(recorder, SIGSTOP), 0);
	assert_int_equal(waitpid(recorder, &status, WUNTRACED), recorder);
	assert_true(WIFSTOPPED(status));
	ping(&one, RING + 1u);
	assert_int_equal(kill(recorder, SIGCONT), 0);
	await_recorder(&one, trace);
	run_rounds(&other, ROUNDS);
	run_rounds(&one, ROUNDS);
	e2e_recorder_end(recorder);
	check_exports(trace);
	assert_true(e2e_host_close(&one) && e2e_host_close(&other));
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(clients_that_come_and_go_have_lanes_of_their_own),
		e2e_test(queues_are_named_although_their_first_records_are_lost),
	};

	return e2e_run_tests(tests);
}
