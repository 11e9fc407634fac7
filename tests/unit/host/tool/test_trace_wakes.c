/* SPDX-License-Identifier: MIT */
/* Which packet's end lets another one go on, and what the page has of it: signals, frames, and nodes that are idle. */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/trace_cause.h"
#include "host/tool/trace_export.h"
#include "host/tool/trace_wakes.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/submission.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define NEVER        PB_TRACE_NEVER
#define DONE         PB_TRACE_DONE(0, PB_ERROR_OK)

struct step {
	uint32_t time, event, slot, first, second;
};

/** A wake that is to be found: fences of its packets, and its times. */
struct found {
	uint32_t from, to;
	uint64_t since, time;
};

static void build(const struct step *steps, uint32_t count, struct pb_trace_data *data,
		  struct pb_timeline *timeline)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_true(pb_trace_file_begin(file, PB_TRACE_SCHEMA, 0));
	assert_true(pb_trace_file_nodes(file, 4));
	for (uint32_t i = 0; i < count && steps[i].event != 0; i++) {
		const struct pb_trace_record record = {.clock = steps[i].time,
						       .what = PB_TRACE_WHAT(steps[i].event, steps[i].slot),
						       .arguments = {steps[i].first, steps[i].second}};

		assert_true(pb_trace_file_records(file, &record, 1));
	}
	rewind(file);
	assert_null(pb_trace_file_read(file, data));
	fclose(file);
	assert_true(pb_timeline_build(data, timeline));
}

/* Times count from the first record, at 0. */
static const struct {
	const char *name;
	struct step steps[16];
	struct found found[3];
	uint32_t count;
} cases[] = {
	{"a paging buffer",
	 {{0, PB_TRACE_KIND, 0, 5, PB_FLAG_PAGING},
	  {1, PB_TRACE_FEED, 0, 5, 64},
	  {2, PB_TRACE_WAIT, 1, 0, 77},
	  {10, PB_TRACE_COMPLETE, 0, 5, DONE},
	  {12, PB_TRACE_WAKE, 1, 0, 0},
	  {13, PB_TRACE_PATCH, 1, 9, 3},
	  {15, PB_TRACE_PATCHED, 1, 9, 0},
	  {16, PB_TRACE_FEED, 1, 9, 1},
	  {20, PB_TRACE_COMPLETE, 1, 9, DONE}},
	 {{5, 9, 2, 12}},
	 1},
	/* The one before the waiting one is still with the engine, and the one behind is patched later. */
	{"packets around",
	 {{0, PB_TRACE_FEED, 1, 8, 1},
	  {1, PB_TRACE_WAIT, 1, 0, 77},
	  {2, PB_TRACE_FEED, 0, 4, 1},
	  {3, PB_TRACE_COMPLETE, 0, 4, DONE},
	  {4, PB_TRACE_FEED, 0, 5, 1},
	  {5, PB_TRACE_COMPLETE, 0, 5, DONE},
	  {6, PB_TRACE_WAKE, 1, 0, 0},
	  {7, PB_TRACE_COMPLETE, 1, 8, DONE},
	  {8, PB_TRACE_FEED, 1, 9, 1},
	  {9, PB_TRACE_FEED, 1, 10, 1},
	  {10, PB_TRACE_COMPLETE, 1, 9, DONE},
	  {11, PB_TRACE_COMPLETE, 1, 10, DONE}},
	 {{5, 9, 1, 6}},
	 1},
	{"one after the other",
	 {{0, PB_TRACE_WAIT, 1, 0, 77},
	  {1, PB_TRACE_COMPLETE, 0, 5, DONE},
	  {2, PB_TRACE_WAKE, 1, 0, 0},
	  {2, PB_TRACE_WAIT, 1, 2, 78},
	  {3, PB_TRACE_COMPLETE, 2, 6, DONE},
	  {4, PB_TRACE_WAKE, 1, 2, 0},
	  {5, PB_TRACE_FEED, 1, 9, 1},
	  {6, PB_TRACE_COMPLETE, 1, 9, DONE}},
	 {{5, 9, 0, 2}, {6, 9, 2, 4}},
	 2},
	{"the beginning is lost",
	 {{0, PB_TRACE_COMPLETE, 0, 5, DONE},
	  {1, PB_TRACE_WAKE, 1, 0, 0},
	  {2, PB_TRACE_FEED, 1, 9, 1},
	  {3, PB_TRACE_TICK, 0xffff, 0, 0}},
	 {{5, 9, NEVER, 1}},
	 1},
	/* The queue waited for has closed: nothing of it has ended meanwhile. */
	{"no signal",
	 {{0, PB_TRACE_COMPLETE, 0, 5, DONE},
	  {1, PB_TRACE_WAIT, 1, 0, 77},
	  {2, PB_TRACE_WAKE, 1, 0, 0},
	  {3, PB_TRACE_FEED, 1, 9, 1},
	  {4, PB_TRACE_COMPLETE, 1, 9, DONE}},
	 {{0}},
	 0},
	/* What is returned to the host is not done, and signals nothing. */
	{"a packet that is returned",
	 {{0, PB_TRACE_FEED, 0, 5, 1},
	  {1, PB_TRACE_FEED, 0, 6, 1},
	  {2, PB_TRACE_WAIT, 1, 0, 77},
	  {3, PB_TRACE_COMPLETE, 0, 5, DONE},
	  {4, PB_TRACE_RETURN, 0, 1, 0},
	  {5, PB_TRACE_WAKE, 1, 0, 0},
	  {6, PB_TRACE_FEED, 1, 9, 1},
	  {7, PB_TRACE_COMPLETE, 1, 9, DONE}},
	 {{5, 9, 2, 5}},
	 1},
	{"nothing goes on",
	 {{0, PB_TRACE_WAIT, 1, 0, 77}, {1, PB_TRACE_COMPLETE, 0, 5, DONE}, {2, PB_TRACE_WAKE, 1, 0, 0}},
	 {{0}},
	 0},
};

static void a_signal_leads_to_the_packet_that_waited(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		struct pb_timeline timeline;
		struct pb_trace_data data;
		struct pb_wakes wakes;

		print_message("%s\n", cases[i].name);
		build(cases[i].steps, COUNT(cases[i].steps), &data, &timeline);
		assert_true(pb_wakes_find(&data, &timeline, &wakes));
		assert_int_equal(wakes.count, cases[i].count);
		for (size_t w = 0; w < wakes.count; w++) {
			const struct found *found = &cases[i].found[w];

			assert_int_equal(timeline.packets[wakes.wakes[w].from].fence_id, found->from);
			assert_int_equal(timeline.packets[wakes.wakes[w].to].fence_id, found->to);
			assert_int_equal(wakes.wakes[w].since, found->since);
			assert_int_equal(wakes.wakes[w].time, found->time);
		}
		free(wakes.wakes);
		pb_timeline_free(&timeline);
		pb_trace_data_free(&data);
	}
}

/* ---- the host's calls ---- */

/* A packet that is patched at 20, fed at 30 and ends at 50; another one, of the same fence, on another node. */
static const struct step called[] = {
	{0, PB_TRACE_QUEUE, 0, 1, 0},  {0, PB_TRACE_QUEUE, 1, 1, 1},
	{20, PB_TRACE_PATCH, 0, 7, 1}, {21, PB_TRACE_PATCHED, 0, 7, 0},
	{30, PB_TRACE_FEED, 0, 7, 1},  {50, PB_TRACE_COMPLETE, 0, 7, DONE},
	{90, PB_TRACE_FEED, 1, 7, 1},  {95, PB_TRACE_COMPLETE, 1, 7, PB_TRACE_DONE(1, PB_ERROR_OK)},
};

static void no_effect_stands_before_its_cause(void **state)
{
	static const struct {
		uint32_t function, node, names, id;
		uint64_t at, expected;
	} rows[] = {
		{PB_DDI_RENDER, 0, PB_DDI_NAMES_PACKET, 7, 19, 19},
		{PB_DDI_RENDER, 0, PB_DDI_NAMES_PACKET, 7, 24, 20},
		{PB_DDI_BUILD_PAGING_BUFFER, 0, PB_DDI_NAMES_PACKET, 7, 21, 20},
		{PB_DDI_PATCH, 0, PB_DDI_NAMES_PACKET, 7, 21, 20},
		{PB_DDI_SUBMIT_COMMAND, 0, PB_DDI_NAMES_PACKET, 7, 33, 20},
		{PB_DDI_SUBMIT_COMMAND, 1, PB_DDI_NAMES_PACKET, 7, 99, 90},
		{PB_DDI_COMPLETED, 0, PB_DDI_NAMES_PACKET, 7, 44, 50},
		{PB_DDI_COMPLETED, 0, PB_DDI_NAMES_PACKET, 7, 51, 51},
		{PB_DDI_COMPLETED, 1, PB_DDI_NAMES_PACKET, 7, 44, 95},
		/* Of no packet that is there. */
		{PB_DDI_COMPLETED, 0, PB_DDI_NAMES_PACKET, 8, 44, 44},
		{PB_DDI_COMPLETED, 2, PB_DDI_NAMES_PACKET, 7, 44, 44},
		{PB_DDI_PREEMPTED, 0, PB_DDI_NAMES_PREEMPTION, 7, 44, 44},
		{PB_DDI_DPC, PB_DDI_NONE, PB_DDI_NAMES_NOTHING, 7, 44, 44},
	};
	struct pb_trace_call calls[COUNT(rows)];
	struct pb_timeline timeline;
	struct pb_trace_data data;

	(void)state;
	build(called, COUNT(called), &data, &timeline);
	for (uint32_t i = 0; i < COUNT(rows); i++)
		calls[i] = (struct pb_trace_call){.time = rows[i].at,
						  .call = {.function = rows[i].function,
							   .node = rows[i].node,
							   .names = rows[i].names,
							   .id = rows[i].id}};
	data.calls = calls;
	data.call_count = COUNT(rows);
	pb_trace_order_calls(&data, &timeline);
	for (uint32_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(calls[i].time, rows[i].expected);
	data.calls = NULL;
	data.call_count = 0;
	pb_timeline_free(&timeline);
	pb_trace_data_free(&data);
}

/* ---- the page ---- */

/** The data of a page. The caller deletes them. */
static cJSON *page_of(const struct step *steps, uint32_t count)
{
	static const char begins[] = "<script id=\"data\" type=\"application/json\">";
	struct pb_timeline timeline;
	struct pb_trace_data data;
	char *text = NULL, *json;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	cJSON *root;

	assert_non_null(file);
	build(steps, count, &data, &timeline);
	assert_true(pb_trace_export_page(file, &data, &timeline));
	assert_int_equal(fclose(file), 0);
	json = strstr(text, begins);
	assert_non_null(json);
	json += strlen(begins);
	root = cJSON_ParseWithLength(json, (size_t)(strstr(json, "</script>") - json));
	assert_non_null(root);
	free(text);
	pb_timeline_free(&timeline);
	pb_trace_data_free(&data);
	return root;
}

static void expect_json(const cJSON *root, const char *member, const char *expected)
{
	char *text = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(root, member));

	assert_string_equal(text, expected);
	free(text);
}

/* Two queues present: each counts its own frames; a present that failed shows none. */
static const struct step frames[] = {
	{0, PB_TRACE_KIND, 0, 1, PB_FLAG_PRESENT},
	{1, PB_TRACE_COMPLETE, 0, 1, DONE},
	{2, PB_TRACE_COMPLETE, 0, 2, DONE},
	{3, PB_TRACE_KIND, 1, 3, PB_FLAG_REDIRECTED_PRESENT},
	{4, PB_TRACE_COMPLETE, 1, 3, PB_TRACE_DONE(1, PB_ERROR_OK)},
	{5, PB_TRACE_KIND, 0, 4, PB_FLAG_PRESENT},
	{6, PB_TRACE_COMPLETE, 0, 4, PB_TRACE_DONE(0, PB_ERROR_ENGINE_HANG)},
	{7, PB_TRACE_KIND, 0, 5, PB_FLAG_PRESENT},
	{8, PB_TRACE_COMPLETE, 0, 5, DONE},
};

static void the_page_has_signals_frames_and_idle_nodes(void **state)
{
	cJSON *root = page_of(cases[0].steps, COUNT(cases[0].steps));

	(void)state;
	expect_json(root, "wakes", "[[0,1,2,12]]");
	expect_json(root, "frames", "[]");
	expect_json(root, "nodes", "[0,1,2,3]");
	cJSON_Delete(root);
	root = page_of(frames, COUNT(frames));
	expect_json(root, "frames", "[[0,1],[2,1],[4,2]]");
	expect_json(root, "wakes", "[]");
	cJSON_Delete(root);
}

UNIT_SUITE(test_trace_wakes)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_leads_to_the_packet_that_waited),
		cmocka_unit_test(no_effect_stands_before_its_cause),
		cmocka_unit_test(the_page_has_signals_frames_and_idle_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
