/* SPDX-License-Identifier: MIT */
/* Traces in files: their schema, their clock, what is refused, and what packets they come to. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "host/tool/trace_timeline.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/submission.h"
#include "tests/unit/trace_sample.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static struct pb_trace_schema schema;

/* ---- the schema ---- */

static void records_in_words(void **state)
{
	static const struct {
		uint32_t event, object, first, second;
		const char *text;
	} cases[] = {
		{PB_TRACE_BOOT, 0xffff, 4, 7, "BOOT      stage RUNNING incarnation 7"},
		{PB_TRACE_FEED, 3, 0x1234, 9, "FEED      queue 3 fence 0x1234 context 9"},
		{PB_TRACE_COMPLETE, 0, 5, 0x20000 | PB_ERROR_ENGINE_HANG,
		 "COMPLETE  queue 0 fence 0x5 done ENGINE_HANG node 2"},
		{PB_TRACE_PATCHED, 1, 6, 0, "PATCHED   queue 1 fence 0x6 error OK"},
		{PB_TRACE_KIND, 1, 6, 0x0b, "KIND      queue 1 fence 0x6 flags paging present null 0xb"},
		{PB_TRACE_NODE, 1, 2, 3, "NODE      node 1 state 2 event 3"},
		{PB_TRACE_COMMAND, 0xffff, 16, 0, "COMMAND   code QUERY error OK"},
		{PB_TRACE_COMMAND, 0xffff, 99, 9999, "COMMAND   code ? error ?"},
		{PB_TRACE_HANDLE, 2, 0x10002, 0x30103,
		 "HANDLE    queue 2 handle 0x10002 of channel 3 node 1 priority HIGH"},
		{PB_TRACE_FREE, 2, 0x10002, 0x20008,
		 "FREE      queue 2 handle 0x10002 of channel 8 node 0 priority NORMAL"},
		{PB_TRACE_LEVELS, 0xffff, 0x333333, 0x111111, "LEVELS    levels 0x333333 before 0x111111"},
		{PB_TRACE_TICK, 0xffff, 1, 1, "TICK     "},
		{250, 8, 1, 0xabc, "event 250 object 8 arguments 0x1 0xabc"},
	};

	(void)state;
	assert_int_equal(pb_trace_schema_parse(PB_TRACE_SCHEMA, &schema), 0);
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		const struct pb_trace_record record = {.what = PB_TRACE_WHAT(cases[i].event, cases[i].object),
						       .arguments = {cases[i].first, cases[i].second}};
		char text[PB_TRACE_TEXT_BYTES];

		pb_trace_schema_print(&schema, &record, text);
		assert_string_equal(text, cases[i].text);
	}
}

static void schemas_that_cannot_be_read(void **state)
{
	static const struct {
		const char *text;
		uint32_t line;
	} cases[] = {
		{"", 0},
		{"1 BOOT LIFE 1 stage:s -\n", 0},
		{"1 BOOT LIFE 1 stage:s -", 0},
		{"1 BOOT LIFE 1 stage:s -\n2 NEWS OTHER 9 a:z b:q\n", 0},
		{"0 BOOT LIFE 1 stage:s -\n", 1},
		{"256 BOOT LIFE 1 stage:s -\n", 1},
		{"1 BOOT LIFE 1 stage:s\n", 1},
		{"1 BOOT LIFE 1 stage -\n", 1},
		{"1 BOOT LIFE 1 stage:sx -\n", 1},
		{"1 boot LIFE 1 stage:s -\n", 1},
		{"1 BOOT LIFE one stage:s -\n", 1},
		{"1 BOOT LIFE 1 - -\n\n", 2},
		{"1 BOOT LIFE 1 - -\n<script>\n", 2},
	};
	char longest[200];

	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(pb_trace_schema_parse(cases[i].text, &schema), cases[i].line);
	memset(longest, 'A', sizeof(longest) - 1u);
	longest[sizeof(longest) - 1u] = '\0';
	assert_int_equal(pb_trace_schema_parse(longest, &schema), 1);
}

static void levels_in_words(void **state)
{
	static const struct {
		const char *text;
		bool right;
		uint32_t levels;
	} cases[] = {
		{"off", true, 0},
		{"default", true, 0x111111},
		{"all", true, 0x333333},
		{"PACKET=2", true, 0x111121},
		{"LIFE=0,LINE=3", true, 0x311110},
		{"packet=0,schedule=2,node=3,control=0", true, 0x103201},
		{"", false, 0},
		{"PACKET", false, 0},
		{"PACKET=", false, 0},
		{"PACKET=4", false, 0},
		{"PACKET=12", false, 0},
		{"PACKETS=1", false, 0},
		{"PACKET=1,", false, 0},
		{"=1", false, 0},
		{"all,PACKET=1", false, 0},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		uint32_t levels;

		print_message("\"%s\"\n", cases[i].text);
		assert_int_equal(pb_trace_levels_parse(cases[i].text, &levels), cases[i].right);
		if (cases[i].right)
			assert_int_equal(levels, cases[i].levels);
	}
}

/* ---- files ---- */

static FILE *begin(const char *text)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_true(pb_trace_file_begin(file, text, 0));
	return file;
}

static void read_back(FILE *file, struct pb_trace_data *data)
{
	rewind(file);
	assert_null(pb_trace_file_read(file, data));
	fclose(file);
}

static void times_do_not_wrap(void **state)
{
	/* Never written; the clock wraps; it steps back, as a card does that starts again. */
	static const struct pb_trace_record records[] = {
		{0, 0, {0, 0}}, {0xfffffff0u, 1, {0, 1}}, {0x10, 2, {2, 3}},        {0x1000, 3, {4, 5}},
		{5, 4, {6, 7}}, {6, 5, {8, 9}},           {0x80000005u, 6, {1, 1}},
	};
	static const uint64_t times[] = {0, 0x20, 0x1010, 0x1010, 0x1011, 0x80001010};
	FILE *file = begin("1 BOOT LIFE 1 stage:s -\n");
	struct pb_trace_data data;

	(void)state;
	assert_true(pb_trace_file_records(file, records, COUNT(records)));
	assert_true(pb_trace_file_anchor(
		file, &(struct pb_trace_anchor){.nanoseconds = 0x123456789abcdefu, .error_us = 3},
		0x80000069u));
	assert_true(pb_trace_file_lost(file, 30));
	assert_true(pb_trace_file_lost(file, 12));
	read_back(file, &data);
	assert_int_equal(data.count, COUNT(times));
	for (uint32_t i = 0; i < COUNT(times); i++) {
		assert_int_equal(data.moments[i].time, times[i]);
		assert_memory_equal(&data.moments[i].record, &records[i + 1u], sizeof(records[0]));
	}
	assert_int_equal(data.lost, 42);
	assert_int_equal(data.anchor_count, 1);
	assert_int_equal(data.anchors[0].nanoseconds, 0x123456789abcdefu);
	assert_int_equal(data.anchors[0].error_us, 3);
	assert_int_equal(data.anchors[0].time, 0x80001010 + 100);
	assert_string_equal(data.schema.kinds[1].name, "BOOT");
	pb_trace_data_free(&data);
}

/* A call has the time that the anchor gives it, which stands behind it; those before the first record are left out. */
static void ddi_calls_have_the_clock_of_the_records(void **state)
{
	static const struct pb_trace_record records[] = {{0xfffffff0u, 1, {0, 1}}, {0x1000, 2, {2, 3}}};
	static const struct pb_ddi_call calls[] = {
		{0x7fffffff0u, PB_DDI_RENDER, 0, PB_DDI_NAMES_NOTHING, 0, 0},
		{0x800000000u, PB_DDI_PATCH, 0, PB_DDI_NAMES_PACKET, UINT32_MAX, 0},
		{0x800000020u, PB_DDI_PREEMPTED, 1, PB_DDI_NAMES_PREEMPTION, 7, 0},
		{0x800001110u, PB_DDI_DPC, PB_DDI_NONE, PB_DDI_NAMES_NOTHING, 0, 5},
	};
	static const uint64_t times[] = {0, 0x20, 0x1110};
	FILE *file = begin("1 BOOT LIFE 1 stage:s -\n");
	struct pb_trace_data data;

	(void)state;
	assert_true(pb_trace_file_records(file, records, COUNT(records)));
	assert_true(pb_trace_file_calls(file, calls, COUNT(calls)));
	assert_true(pb_trace_file_anchor(file, &(struct pb_trace_anchor){.host_us = 0x800001010u}, 0x1000));
	read_back(file, &data);
	assert_int_equal(data.call_count, COUNT(times));
	for (uint32_t i = 0; i < COUNT(times); i++) {
		assert_int_equal(data.calls[i].time, times[i]);
		assert_int_equal(data.calls[i].call.host_us, calls[i + 1u].host_us);
		assert_int_equal(data.calls[i].call.function, calls[i + 1u].function);
		assert_int_equal(data.calls[i].call.node, calls[i + 1u].node);
		assert_int_equal(data.calls[i].call.names, calls[i + 1u].names);
		assert_int_equal(data.calls[i].call.id, calls[i + 1u].id);
		assert_int_equal(data.calls[i].call.status, calls[i + 1u].status);
	}
	assert_string_equal(pb_ddi_name(PB_DDI_RESTART_FROM_TIMEOUT), "RestartFromTimeout");
	assert_string_equal(pb_ddi_name(0), "?");
	assert_string_equal(pb_ddi_name(1000), "?");
	pb_trace_data_free(&data);
}

static void files_that_cannot_be_read(void **state)
{
#define PIECE(kind, length) (kind), 0, 0, 0, (length)&0xff, ((length) >> 8) & 0xff, ((length) >> 16) & 0xff, 0
	static const struct {
		const char *wrong; /* NULL: it can */
		uint8_t bytes[32];
		uint32_t length;
	} cases[] = {
		{NULL, {0}, 0},
		{NULL, {PIECE(77, 3), 1, 2, 3}, 11},
		{"the file is cut off", {PIECE(77, 3), 1, 2}, 10},
		{"the file is cut off", {77, 0, 0}, 3},
		{"a piece is too long", {PIECE(77, 0x100001)}, 8},
		{"a piece of records is cut off", {PIECE(2, 8), 0}, 16},
		{"a piece of calls is cut off", {PIECE(7, 8), 0}, 16},
		{"the schema of the trace is invalid", {PIECE(1, 2), 'X', '\n'}, 10},
		{NULL, {PIECE(3, 2), 1, 1}, 10},
	};
	struct pb_trace_data data;
	FILE *file = tmpfile();

	(void)state;
	fputs("PBTRACE3", file);
	rewind(file);
	assert_string_equal(pb_trace_file_read(file, &data), "the file is no trace");
	fclose(file);
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		const char *wrong;

		file = begin("");
		fwrite(cases[i].bytes, 1, cases[i].length, file);
		rewind(file);
		wrong = pb_trace_file_read(file, &data);
		pb_trace_data_free(&data);
		fclose(file);
		if (cases[i].wrong == NULL)
			assert_null(wrong);
		else
			assert_string_equal(wrong, cases[i].wrong);
	}
}

/* ---- packets ---- */

/* An expected packet has the slot of its queue as its lane. */

struct step {
	uint32_t time, event, object, first, second;
};

static void build(const char *text, const struct step *steps, uint32_t count, struct pb_trace_data *data,
		  struct pb_timeline *timeline)
{
	FILE *file = begin(text);

	for (uint32_t i = 0; i < count; i++) {
		const struct pb_trace_record record = {.clock = 1000u + steps[i].time,
						       .what = PB_TRACE_WHAT(steps[i].event, steps[i].object),
						       .arguments = {steps[i].first, steps[i].second}};

		assert_true(pb_trace_file_records(file, &record, 1));
	}
	read_back(file, data);
	assert_true(pb_timeline_build(data, timeline));
}

#define NEVER PB_TRACE_NEVER

static void expect(const struct pb_timeline *timeline, const struct pb_packet *expected, uint32_t count)
{
	assert_int_equal(timeline->packet_count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct pb_packet *packet = &timeline->packets[i];

		print_message("packet %u\n", i);
		assert_int_equal(packet->kind, expected[i].kind);
		assert_int_equal(timeline->lanes.lanes[packet->lane].slot, expected[i].lane);
		assert_int_equal(packet->node, expected[i].node);
		assert_int_equal(packet->fence_id, expected[i].fence_id);
		assert_int_equal(packet->error, expected[i].error);
		assert_int_equal(packet->patches, expected[i].patches);
		assert_int_equal(packet->feeds, expected[i].feeds);
		assert_int_equal(packet->submit, expected[i].submit);
		assert_int_equal(packet->patch, expected[i].patch);
		assert_int_equal(packet->patched, expected[i].patched);
		assert_int_equal(packet->feed, expected[i].feed);
		assert_int_equal(packet->run, expected[i].run);
		assert_int_equal(packet->end, expected[i].end);
	}
}

/* Two queues of a node, and what becomes of packets in them. */
static const struct step way[] = {
	{0, PB_TRACE_QUEUE, 0, 2, 1},
	{1, PB_TRACE_SUBMIT, 0, 1, 0},
	{2, PB_TRACE_PATCH, 0, 50, 7},
	{3, PB_TRACE_SUBMIT, 0, 3, 0},
	{4, PB_TRACE_PATCHED, 0, 50, 0},
	{5, PB_TRACE_FEED, 0, 50, 1},
	{6, PB_TRACE_KIND, 5, 9, PB_FLAG_PRESENT},
	{7, PB_TRACE_FEED, 5, 9, 1},
	{8, PB_TRACE_FEED, 0, 51, 1},
	{10, PB_TRACE_COMPLETE, 0, 50, PB_TRACE_DONE(1, 0)},
	{13, PB_TRACE_COMPLETE, 5, 9, PB_TRACE_DONE(1, 0)},
	{14, PB_TRACE_NODE, 1, 2, 2},
	{15, PB_TRACE_FEED, 0, 51, 1},
	{20, PB_TRACE_COMPLETE, 0, 51, PB_TRACE_DONE(1, PB_ERROR_ENGINE_HANG)},
	{21, PB_TRACE_KIND, 5, 9, PB_FLAG_PAGING},
	{22, PB_TRACE_FEED, 5, 9, 65},
	{23, PB_TRACE_COMPLETE, 5, 9, PB_TRACE_DONE(1, 0)},
	{24, PB_TRACE_STOP, 0, 1, 4},
	{25, PB_TRACE_RETURN, 0, 1, 4},
	{26, PB_TRACE_SUBMIT, 0, 4, 3},
	{27, PB_TRACE_FEED, 5, 10, 1},
	{28, PB_TRACE_FEED, 0, 52, 1},
	{30, PB_TRACE_TICK, 0xffff, 0, 0},
};

static const struct pb_packet way_packets[] = {
	{PB_PACKET_RENDER, 0, 1, 1, 50, 0, 0, 7, 1, 1, 2, 4, 5, 5, 5, 10},
	{PB_PACKET_PRESENT, 5, 1, 1, 9, 0, 0, 0, 1, NEVER, NEVER, NEVER, 7, 7, 10, 13},
	{PB_PACKET_FAILED, 0, 1, 1, 51, 0, PB_ERROR_ENGINE_HANG, 0, 2, 3, NEVER, NEVER, 8, 15, 15, 20},
	{PB_PACKET_PAGING, 5, 1, 65, 9, 0, 0, 0, 1, NEVER, NEVER, NEVER, 22, 22, 22, 23},
	{PB_PACKET_PREEMPTED, 0, 1, 0, 0, 0, 0, 0, 0, 3, NEVER, NEVER, NEVER, NEVER, NEVER, 25},
	{PB_PACKET_OPEN, 5, 1, 1, 10, 0, 0, 0, 1, NEVER, NEVER, NEVER, 27, 27, 27, 30},
	{PB_PACKET_OPEN, 0, 1, 1, 52, 0, 0, 0, 1, 26, NEVER, NEVER, 28, 28, NEVER, 30},
};

static void packets_of_all_kinds(void **state)
{
	struct pb_timeline timeline;
	struct pb_trace_data data;

	(void)state;
	build(PB_TRACE_SCHEMA, way, COUNT(way), &data, &timeline);
	expect(&timeline, way_packets, COUNT(way_packets));
	assert_int_equal(timeline.lanes.count, 2);
	assert_int_equal(timeline.lanes.lanes[timeline.packets[0].lane].channel, 2);
	assert_int_equal(timeline.lanes.lanes[timeline.packets[1].lane].channel, PB_TRACE_UNKNOWN);
	assert_int_equal(timeline.duration, 30);
	assert_int_equal(timeline.mark_count, 5); /* QUEUE, NODE, STOP, RETURN, TICK */
	pb_timeline_free(&timeline);
	pb_trace_data_free(&data);
}

/* The same from another build: its numbers are others, and it has an event that we have not. */
static void a_schema_of_another_build(void **state)
{
	static const char text[] =
		"7 QUEUE LIFE 1 channel:u node:u\n8 SUBMIT PACKET 2 put:u completed:u\n"
		"20 PATCH PACKET 1 fence:x patches:u\n21 PATCHED PACKET 1 fence:x error:e\n"
		"22 FEED PACKET 1 fence:x context:u\n23 COMPLETE PACKET 1 fence:x done:d\n"
		"18 RETURN PACKET 1 count:u completed:u\n17 KIND PACKET 1 fence:x flags:f\n"
		"19 STOP SCHEDULE 1 kind:u cutoff:u\n33 NODE NODE 1 state:u event:u\n"
		"200 WEATHER SKY 1 clouds:q -\n";
	static const uint32_t numbers[256] = {
		[PB_TRACE_QUEUE] = 7,    [PB_TRACE_SUBMIT] = 8, [PB_TRACE_PATCH] = 20,
		[PB_TRACE_PATCHED] = 21, [PB_TRACE_FEED] = 22,  [PB_TRACE_COMPLETE] = 23,
		[PB_TRACE_RETURN] = 18,  [PB_TRACE_KIND] = 17,  [PB_TRACE_STOP] = 19,
		[PB_TRACE_NODE] = 33,    [PB_TRACE_TICK] = 200,
	};
	struct step steps[COUNT(way)];
	struct pb_timeline timeline;
	struct pb_trace_data data;
	char words[PB_TRACE_TEXT_BYTES];

	(void)state;
	memcpy(steps, way, sizeof(steps));
	for (uint32_t i = 0; i < COUNT(way); i++)
		steps[i].event = numbers[way[i].event];
	build(text, steps, COUNT(way), &data, &timeline);
	expect(&timeline, way_packets, COUNT(way_packets));
	pb_trace_schema_print(&data.schema, &data.moments[data.count - 1u].record, words);
	assert_string_equal(words, "WEATHER   clouds 0");
	pb_timeline_free(&timeline);
	pb_trace_data_free(&data);
}

/* What began before the trace did, and more submissions than there can be. */
static void what_is_not_there(void **state)
{
	static const struct step steps[] = {
		{0, PB_TRACE_PATCHED, 1, 3, 0}, {1, PB_TRACE_COMPLETE, 1, 3, PB_TRACE_DONE(0, 0)},
		{2, PB_TRACE_SUBMIT, 2, 10, 7}, {3, PB_TRACE_SUBMIT, 2, 1000, 0},
		{4, PB_TRACE_RETURN, 2, 3, 0},
	};
	static const struct pb_packet expected[] = {
		{PB_PACKET_RENDER, 1, 0, 0, 3, 0, 0, 0, 0, NEVER, NEVER, 0, NEVER, NEVER, NEVER, 1},
		{PB_PACKET_PREEMPTED, 2, PB_TRACE_UNKNOWN, 0, 0, 0, 0, 0, 0, NEVER, NEVER, NEVER, NEVER,
		 NEVER, NEVER, 4},
		{PB_PACKET_PREEMPTED, 2, PB_TRACE_UNKNOWN, 0, 0, 0, 0, 0, 0, NEVER, NEVER, NEVER, NEVER,
		 NEVER, NEVER, 4},
		{PB_PACKET_PREEMPTED, 2, PB_TRACE_UNKNOWN, 0, 0, 0, 0, 0, 0, 2, NEVER, NEVER, NEVER, NEVER,
		 NEVER, 4},
	};
	struct pb_timeline timeline;
	struct pb_trace_data data;

	(void)state;
	build(PB_TRACE_SCHEMA, steps, COUNT(steps), &data, &timeline);
	expect(&timeline, expected, COUNT(expected));
	pb_timeline_free(&timeline);
	pb_trace_data_free(&data);
}

/* A client may give fence ids as it likes: here all are 7, three of them at a time. */
static void packets_with_one_fence_id(void **state)
{
	static const struct step steps[] = {
		{0, PB_TRACE_QUEUE, 0, 2, 1},
		{1, PB_TRACE_SUBMIT, 0, 1, 0},
		{2, PB_TRACE_KIND, 0, 7, PB_FLAG_PAGING},
		{3, PB_TRACE_PATCH, 0, 7, 11},
		{4, PB_TRACE_SUBMIT, 0, 3, 0},
		{5, PB_TRACE_PATCHED, 0, 7, 0},
		{6, PB_TRACE_FEED, 0, 7, 1},
		{7, PB_TRACE_PATCH, 0, 7, 22},
		{8, PB_TRACE_PATCHED, 0, 7, 0},
		{9, PB_TRACE_FEED, 0, 7, 1},
		{10, PB_TRACE_PATCH, 0, 7, 33},
		{12, PB_TRACE_COMPLETE, 0, 7, PB_TRACE_DONE(1, 0)},
		{13, PB_TRACE_PATCHED, 0, 7, 0},
		{14, PB_TRACE_FEED, 0, 7, 1},
		{16, PB_TRACE_COMPLETE, 0, 7, PB_TRACE_DONE(1, PB_ERROR_ENGINE_HANG)},
		{18, PB_TRACE_FEED, 0, 7, 1},
		{20, PB_TRACE_COMPLETE, 0, 7, PB_TRACE_DONE(1, 0)},
	};
	static const struct pb_packet expected[] = {
		{PB_PACKET_PAGING, 0, 1, 1, 7, 0, 0, 11, 1, 1, 3, 5, 6, 6, 6, 12},
		{PB_PACKET_FAILED, 0, 1, 1, 7, 0, PB_ERROR_ENGINE_HANG, 22, 1, 4, 7, 8, 9, 9, 12, 16},
		{PB_PACKET_RENDER, 0, 1, 1, 7, 0, 0, 33, 2, 4, 10, 13, 14, 18, 18, 20},
	};
	struct pb_timeline timeline;
	struct pb_trace_data data;

	(void)state;
	build(PB_TRACE_SCHEMA, steps, COUNT(steps), &data, &timeline);
	expect(&timeline, expected, COUNT(expected));
	pb_timeline_free(&timeline);
	pb_trace_data_free(&data);
}

static void a_busy_card(void **state)
{
	uint32_t counts[PB_PACKET_OPEN + 1] = {0};
	uint64_t ends[TRACE_SAMPLE_NODES] = {0};
	struct trace_sample sample;
	struct pb_timeline timeline;
	struct pb_trace_data data;
	FILE *file = tmpfile();

	(void)state;
	assert_true(trace_sample_write(file, 5000, &sample));
	read_back(file, &data);
	assert_true(pb_timeline_build(&data, &timeline));
	assert_int_equal(timeline.packet_count, 5000);
	for (size_t i = 0; i < timeline.packet_count; i++) {
		const struct pb_packet *packet = &timeline.packets[i];

		counts[packet->kind]++;
		if (packet->run == NEVER)
			continue;
		/* An engine runs one at a time. */
		assert_true(packet->run >= ends[packet->node] && packet->end > packet->run);
		assert_true(packet->submit <= packet->feed && packet->feed <= packet->run);
		ends[packet->node] = packet->end;
	}
	assert_int_equal(counts[PB_PACKET_RENDER], sample.render);
	assert_int_equal(counts[PB_PACKET_PRESENT], sample.present);
	assert_int_equal(counts[PB_PACKET_PAGING], sample.paging);
	assert_int_equal(counts[PB_PACKET_PREEMPTED], sample.preempted);
	assert_int_equal(counts[PB_PACKET_FAILED], sample.failed);
	assert_true(sample.preempted > 10 && sample.failed > 5 && sample.present > 100);
	pb_timeline_free(&timeline);
	pb_trace_data_free(&data);
}

UNIT_SUITE(test_trace_tool)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_in_words),
		cmocka_unit_test(schemas_that_cannot_be_read),
		cmocka_unit_test(levels_in_words),
		cmocka_unit_test(times_do_not_wrap),
		cmocka_unit_test(ddi_calls_have_the_clock_of_the_records),
		cmocka_unit_test(files_that_cannot_be_read),
		cmocka_unit_test(packets_of_all_kinds),
		cmocka_unit_test(a_schema_of_another_build),
		cmocka_unit_test(what_is_not_there),
		cmocka_unit_test(packets_with_one_fence_id),
		cmocka_unit_test(a_busy_card),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
