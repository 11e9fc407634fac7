/* SPDX-License-Identifier: MIT */
/*
 * The lanes of a timeline, as its exports show them: one for each queue, whichever slot it had, and what is unknown
 * after records were lost. The traces are written out here, with a schema of their own.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "host/tool/trace_export.h"
#include "tests/unit/timeline_view.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define STEPS        20u
#define SHOWN        8u

/** Events of the schema below. */
enum event {
	END = 0, /**< of a list of steps */
	BOOT = 1,
	QUEUE = 4,
	HANDLE = 5,
	FREE = 6,
	LEVELS = 7,
	SUBMIT = 16,
	PATCH = 18,
	PATCHED = 19,
	FEED = 20,
	COMPLETE = 21,
	RETURN = 22,
	STOP = 32,
	LOSS = 300, /**< no record: records are lost here */
};

static const char schema[] = "1 BOOT LIFE 1 stage:s incarnation:u\n4 QUEUE LIFE 1 channel:u node:u\n5 HANDLE "
			     "LIFE 1 handle:x of:o\n"
			     "6 FREE LIFE 1 handle:x of:o\n7 LEVELS LIFE 1 levels:x before:x\n16 SUBMIT "
			     "PACKET 2 put:u completed:u\n"
			     "18 PATCH PACKET 1 fence:x patches:u\n19 PATCHED PACKET 1 fence:x error:e\n"
			     "20 FEED PACKET 1 fence:x context:u\n21 COMPLETE PACKET 1 fence:x done:d\n"
			     "22 RETURN PACKET 1 count:u completed:u\n32 STOP SCHEDULE 1 kind:u cutoff:u\n";

struct step {
	enum event event;
	uint32_t object, first, second;
};

/* Channel and node of a queue of priority NORMAL, and the node of a submission, as the records have them. */
#define OF(channel, node) (0x20000u | (node) << 8 | (channel))
#define NODE(node)        ((node) << 16)
/* A queue is created, as the firmware writes it. */
#define CREATED(slot, generation, channel, node)                                                             \
	{QUEUE, slot, channel, node}, NAMED(slot, generation, channel, node)
#define NAMED(slot, generation, channel, node)                                                               \
	{                                                                                                    \
		HANDLE, slot, (generation) << 16 | (slot), OF(channel, node)                                 \
	}
#define FREED(slot, generation, channel, node)                                                               \
	{                                                                                                    \
		FREE, slot, (generation) << 16 | (slot), OF(channel, node)                                   \
	}
/* A submission runs. */
#define RAN(slot, fence, node)                                                                               \
	{FEED, slot, fence, 0},                                                                              \
	{                                                                                                    \
		COMPLETE, slot, fence, NODE(node)                                                            \
	}

struct shown {
	uint32_t fence;
	const char *lane;
	int node;  /**< group of the lane; -1: unknown */
	bool runs; /**< the node ran it */
};

static const struct {
	const char *name;
	struct step steps[STEPS];
	struct shown shown[SHOWN];
} rows[] = {
	{"clients on two nodes",
	 {CREATED(0, 1, 1, 0),
	  CREATED(1, 1, 2, 1),
	  CREATED(2, 1, 1, 1),
	  {FEED, 0, 1, 0},
	  {FEED, 1, 2, 0},
	  {COMPLETE, 1, 2, NODE(1)},
	  RAN(2, 3, 1),
	  {COMPLETE, 0, 1, NODE(0)}},
	 {{1, "channel 1, queue 0x00010000 (node 0)", 0, true},
	  {2, "channel 2, queue 0x00010001 (node 1)", 1, true},
	  {3, "channel 1, queue 0x00010002 (node 1)", 1, true}}},
	{"a slot is used again by another client on another node",
	 {CREATED(5, 1, 1, 0), RAN(5, 1, 0), FREED(5, 1, 1, 0), CREATED(5, 2, 2, 1), RAN(5, 2, 1)},
	 {{1, "channel 1, queue 0x00010005 (node 0)", 0, true},
	  {2, "channel 2, queue 0x00020005 (node 1)", 1, true}}},
	{"a slot is used again by its client, with equal fences",
	 {CREATED(5, 1, 1, 0), RAN(5, 7, 0), FREED(5, 1, 1, 0), CREATED(5, 2, 1, 0), RAN(5, 7, 0)},
	 {{7, "channel 1, queue 0x00010005 (node 0)", 0, true},
	  {7, "channel 1, queue 0x00020005 (node 0)", 0, true}}},
	{"a queue goes with submissions that did not run",
	 {CREATED(5, 1, 1, 0),
	  {SUBMIT, 5, 1, 0},
	  {PATCH, 5, 9, 3},
	  FREED(5, 1, 1, 0),
	  CREATED(5, 2, 2, 1),
	  RAN(5, 9, 1)},
	 {{9, "channel 1, queue 0x00010005 (node 0)", 0, false},
	  {9, "channel 2, queue 0x00020005 (node 1)", 1, true}}},
	{"a trace begins while queues are there, which are listed later",
	 {RAN(3, 1, 1),
	  {FEED, 4, 2, 0},
	  NAMED(3, 9, 2, 1),
	  NAMED(4, 8, 3, 0),
	  RAN(3, 3, 1),
	  {COMPLETE, 4, 2, NODE(0)}},
	 {{1, "channel 2, queue 0x00090003 (node 1)", 1, true},
	  {2, "channel 3, queue 0x00080004 (node 0)", 0, true},
	  {3, "channel 2, queue 0x00090003 (node 1)", 1, true}}},
	{"a trace begins while queues are there, and nothing tells which",
	 {RAN(3, 1, 1), {FEED, 4, 2, 0}},
	 {{1, "unknown queue of slot 3 (node 1)", 1, true},
	  {2, "unknown queue of slot 4 (node unknown)", -1, false}}},
	{"the end of a queue tells which it was",
	 {RAN(3, 1, 1), FREED(3, 9, 2, 1), RAN(3, 2, 0)},
	 {{1, "channel 2, queue 0x00090003 (node 1)", 1, true},
	  {2, "unknown queue of slot 3 (node 0)", 0, true}}},
	{"records are lost, and the queue is not named again",
	 {CREATED(5, 1, 1, 0),
	  RAN(5, 1, 0),
	  {FEED, 5, 2, 0},
	  {LOSS, 0, 0, 0},
	  {COMPLETE, 5, 2, NODE(0)},
	  RAN(5, 3, 0)},
	 {{1, "channel 1, queue 0x00010005 (node 0)", 0, true},
	  {2, "channel 1, queue 0x00010005 (node 0)", 0, false},
	  {2, "unknown queue of slot 5 (node 0)", 0, false},
	  {3, "unknown queue of slot 5 (node 0)", 0, true}}},
	{"records are lost, and the queue is still there",
	 {CREATED(5, 1, 1, 0), RAN(5, 1, 0), {LOSS, 0, 0, 0}, RAN(5, 2, 0), NAMED(5, 1, 1, 0), RAN(5, 3, 0)},
	 {{1, "channel 1, queue 0x00010005 (node 0)", 0, true},
	  {2, "channel 1, queue 0x00010005 (node 0)", 0, true},
	  {3, "channel 1, queue 0x00010005 (node 0)", 0, true}}},
	{"records are lost, and another queue has the slot",
	 {CREATED(5, 1, 1, 0), RAN(5, 1, 0), {LOSS, 0, 0, 0}, RAN(5, 2, 1), NAMED(5, 2, 3, 1), RAN(5, 3, 1)},
	 {{1, "channel 1, queue 0x00010005 (node 0)", 0, true},
	  {2, "channel 3, queue 0x00020005 (node 1)", 1, true},
	  {3, "channel 3, queue 0x00020005 (node 1)", 1, true}}},
	{"records are lost twice, and the queue is named after the second time",
	 {CREATED(5, 1, 1, 0),
	  RAN(5, 1, 0),
	  {LOSS, 0, 0, 0},
	  RAN(5, 2, 0),
	  {LOSS, 0, 0, 0},
	  RAN(5, 3, 0),
	  NAMED(5, 1, 1, 0)},
	 {{1, "channel 1, queue 0x00010005 (node 0)", 0, true},
	  {2, "unknown queue of slot 5 (node 0)", 0, true},
	  {3, "channel 1, queue 0x00010005 (node 0)", 0, true}}},
	{"records are lost with a whole queue, and the next one tells its handle",
	 {CREATED(5, 1, 1, 0),
	  {LOSS, 0, 0, 0},
	  RAN(5, 1, 1),
	  FREED(5, 3, 4, 1),
	  CREATED(5, 4, 1, 0),
	  RAN(5, 2, 0)},
	 {{1, "channel 4, queue 0x00030005 (node 1)", 1, true},
	  {2, "channel 1, queue 0x00040005 (node 0)", 0, true}}},
	{"an unknown slot has had queues of two nodes",
	 {RAN(5, 1, 0), RAN(5, 2, 1), RAN(5, 3, 1)},
	 {{1, "unknown queue of slot 5 (node 0)", 0, true},
	  {2, "unknown queue of slot 5 (node 1)", 1, true},
	  {3, "unknown queue of slot 5 (node 1)", 1, true}}},
	{"a node that the queue cannot have run on",
	 {CREATED(5, 1, 1, 0), RAN(5, 1, 0), RAN(5, 2, 1)},
	 {{1, "channel 1, queue 0x00010005 (node 0)", 0, true},
	  {2, "unknown queue of slot 5 (node 1)", 1, true}}},
	{"queues come and go without records for a while",
	 {CREATED(5, 1, 1, 0),
	  RAN(5, 1, 0),
	  {LEVELS, 0xffff, 0x10, 0x111111},
	  RAN(5, 2, 0),
	  {LEVELS, 0xffff, 0x111111, 0x10},
	  RAN(5, 3, 0),
	  NAMED(5, 1, 1, 0)},
	 {{1, "channel 1, queue 0x00010005 (node 0)", 0, true},
	  {2, "unknown queue of slot 5 (node 0)", 0, true},
	  {3, "channel 1, queue 0x00010005 (node 0)", 0, true}}},
	{"other levels change nothing",
	 {CREATED(5, 1, 1, 0), RAN(5, 1, 0), {LEVELS, 0xffff, 0x333333, 0x111111}, RAN(5, 2, 0)},
	 {{1, "channel 1, queue 0x00010005 (node 0)", 0, true},
	  {2, "channel 1, queue 0x00010005 (node 0)", 0, true}}},
	{"the firmware starts again and gives out the same handle",
	 {CREATED(5, 1, 1, 0),
	  RAN(5, 1, 0),
	  {FEED, 5, 2, 0},
	  {BOOT, 0xffff, 1, 8},
	  {BOOT, 0xffff, 2, 8},
	  CREATED(5, 1, 1, 0),
	  RAN(5, 2, 0)},
	 {{1, "channel 1, queue 0x00010005 (node 0)", 0, true},
	  {2, "channel 1, queue 0x00010005 (node 0)", 0, false},
	  {2, "channel 1, queue 0x00010005, incarnation 8 (node 0)", 0, true}}},
	{"a queue does not outlive the firmware",
	 {CREATED(5, 1, 1, 0), RAN(5, 1, 0), {BOOT, 0xffff, 1, 8}, RAN(5, 2, 0)},
	 {{1, "channel 1, queue 0x00010005 (node 0)", 0, true},
	  {2, "unknown queue of slot 5, incarnation 8 (node 0)", 0, true}}},
	{"firmware without HANDLE",
	 {{QUEUE, 5, 2, 1}, RAN(5, 1, 1), {QUEUE, 5, 3, 0}, RAN(5, 2, 0)},
	 {{1, "channel 2, queue of slot 5 (node 1)", 1, true},
	  {2, "channel 3, queue of slot 5 (node 0)", 0, true}}},
	{"what a host took back has the node of its queue",
	 {CREATED(5, 1, 1, 1), {PATCH, 5, 4, 2}, {PATCHED, 5, 4, 0}, {RETURN, 5, 1, 1}},
	 {{4, "channel 1, queue 0x00010005 (node 1)", 1, false}}},
};

static void write_trace(FILE *file, const struct step *steps)
{
	assert_true(pb_trace_file_begin(file, schema, 0));
	for (uint32_t i = 0; i < STEPS && steps[i].event != END; i++) {
		const struct pb_trace_record record = {.clock = 100u * i,
						       .what = steps[i].object << 16 |
							       (uint32_t)steps[i].event,
						       .arguments = {steps[i].first, steps[i].second}};

		if (steps[i].event == LOSS)
			assert_true(pb_trace_file_lost(file, 20));
		else
			assert_true(pb_trace_file_records(file, &record, 1));
	}
	rewind(file);
}

/** What an export of these steps shows. */
static void view_of(const struct step *steps,
		    bool (*write)(FILE *, const struct pb_trace_data *, const struct pb_timeline *),
		    void (*read)(const char *, struct timeline_view *), struct timeline_view *view)
{
	struct pb_timeline timeline;
	struct pb_trace_data data;
	FILE *file = tmpfile();
	size_t bytes;
	char *text;

	assert_non_null(file);
	write_trace(file, steps);
	assert_null(pb_trace_file_read(file, &data));
	fclose(file);
	assert_true(pb_timeline_build(&data, &timeline));
	file = open_memstream(&text, &bytes);
	assert_non_null(file);
	assert_true(write(file, &data, &timeline));
	fclose(file);
	read(text, view);
	free(text);
	pb_timeline_free(&timeline);
	pb_trace_data_free(&data);
}

/** The group of the lane in which a submission is drawn. */
static const char *group_of(const struct timeline_view *view, uint32_t fence, const char *lane)
{
	for (size_t i = 0; i < view->count; i++) {
		if (view->items[i].kind == TIMELINE_LIFE && view->items[i].fence == fence &&
		    strcmp(view->items[i].lane, lane) == 0)
			return view->items[i].group;
	}
	return "";
}

/** How many of the submissions shown equal one in fence and lane, or in fence and node if they ran there. */
static uint32_t number_alike(const struct shown *shown, const struct shown *one, bool ran)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < SHOWN && shown[i].lane != NULL; i++)
		number += shown[i].fence == one->fence && (ran ? shown[i].runs && shown[i].node == one->node
							       : strcmp(shown[i].lane, one->lane) == 0);
	return number;
}

static void check(const struct timeline_view *view, const struct shown *shown)
{
	uint32_t all = 0, running = 0;

	for (const struct shown *one = shown; one < shown + SHOWN && one->lane != NULL; one++) {
		char node[64], group[64];

		snprintf(node, sizeof(node), "node %d", one->node);
		snprintf(group, sizeof(group),
			 one->node < 0 ? "queues of an unknown node" : "queues of node %d", one->node);
		all++;
		running += one->runs;
		assert_int_equal(timeline_view_number(view, TIMELINE_LIFE, one->fence, one->lane),
				 number_alike(shown, one, false));
		assert_string_equal(group_of(view, one->fence, one->lane), group);
		assert_int_equal(timeline_view_number(view, TIMELINE_RUN, one->fence, node),
				 number_alike(shown, one, true));
	}
	assert_true(timeline_view_lanes_differ(view));
	assert_int_equal(timeline_view_number(view, TIMELINE_LIFE, UINT32_MAX, NULL), all);
	assert_int_equal(timeline_view_number(view, TIMELINE_RUN, UINT32_MAX, NULL), running);
}

static void each_queue_has_a_lane_of_its_own(void **state)
{
	struct timeline_view view;

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		print_message("%s\n", rows[i].name);
		view_of(rows[i].steps, pb_trace_export_events, timeline_view_events, &view);
		check(&view, rows[i].shown);
		timeline_view_free(&view);
		view_of(rows[i].steps, pb_trace_export_page, timeline_view_page, &view);
		check(&view, rows[i].shown);
		timeline_view_free(&view);
	}
}

/* STOP of two queues of one slot: each is drawn where its queue is. */
static void marks_are_in_the_lane_of_their_queue(void **state)
{
	static const struct step steps[STEPS] = {
		CREATED(5, 1, 1, 0), RAN(5, 1, 0), {STOP, 5, 0, 11}, FREED(5, 1, 1, 0),
		CREATED(5, 2, 2, 1), RAN(5, 2, 1), {STOP, 5, 0, 22},
	};
	static const struct {
		const char *text, *lane;
	} marks[] = {
		{"QUEUE     queue 5 channel 1 node 0", "channel 1, queue 0x00010005 (node 0)"},
		{"STOP      queue 5 kind 0 cutoff 11", "channel 1, queue 0x00010005 (node 0)"},
		{"FREE      queue 5 handle 0x10005 of channel 1 node 0 priority NORMAL",
		 "channel 1, queue 0x00010005 (node 0)"},
		{"QUEUE     queue 5 channel 2 node 1", "channel 2, queue 0x00020005 (node 1)"},
		{"STOP      queue 5 kind 0 cutoff 22", "channel 2, queue 0x00020005 (node 1)"},
	};
	void (*const readers[])(const char *, struct timeline_view *) = {timeline_view_events,
									 timeline_view_page};
	bool (*const writers[])(FILE *, const struct pb_trace_data *,
				const struct pb_timeline *) = {pb_trace_export_events, pb_trace_export_page};

	(void)state;
	for (uint32_t i = 0; i < 2u; i++) {
		struct timeline_view view;
		uint32_t seen = 0;

		view_of(steps, writers[i], readers[i], &view);
		for (size_t at = 0; at < view.count; at++) {
			if (view.items[at].kind != TIMELINE_MARK)
				continue;
			assert_true(seen < COUNT(marks));
			assert_string_equal(view.items[at].text, marks[seen].text);
			assert_string_equal(view.items[at].lane, marks[seen].lane);
			seen++;
		}
		assert_int_equal(seen, COUNT(marks));
		timeline_view_free(&view);
	}
}

UNIT_SUITE(test_trace_lanes)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_queue_has_a_lane_of_its_own),
		cmocka_unit_test(marks_are_in_the_lane_of_their_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
