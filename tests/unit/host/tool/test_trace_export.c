/* SPDX-License-Identifier: MIT */
/* A timeline as Chrome trace events and as a page: what other programs ask of them. */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/trace_export.h"
#include "host/tool/trace_perfetto.h"
#include "patchbay/names.h"
#include "tests/unit/trace_sample.h"
#include "tests/unit/unit.h"

#define PACKETS 3000u
/** Tracks: the nodes and the card's, then those of each node's queues. */
#define TRACKS 0x60000u

static struct pb_trace_data data;
static struct pb_timeline timeline;
static struct trace_sample sample;

static int set_up(void **state)
{
	FILE *file = tmpfile();

	(void)state;
	assert_true(trace_sample_write(file, PACKETS, &sample));
	rewind(file);
	assert_null(pb_trace_file_read(file, &data));
	fclose(file);
	assert_true(pb_timeline_build(&data, &timeline));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pb_timeline_free(&timeline);
	pb_trace_data_free(&data);
	return 0;
}

static char *export(bool (*write)(FILE *, const struct pb_trace_data *, const struct pb_timeline *))
{
	char *text;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	assert_non_null(file);
	assert_true(write(file, &data, &timeline));
	fclose(file);
	return text;
}

static double number_of(const cJSON *event, const char *key)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(event, key);

	if (!cJSON_IsNumber(value))
		fail_msg("an event has no number %s: %s", key, cJSON_PrintUnformatted(event));
	return value->valuedouble;
}

static const char *text_of(const cJSON *event, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, key));

	if (text == NULL)
		fail_msg("an event has no text %s: %s", key, cJSON_PrintUnformatted(event));
	return text;
}

/** What the format asks of each phase. */
struct tracks {
	double end[TRACKS];    /* of the last span of a track */
	uint8_t open[PACKETS]; /* 1: begun, 2: ended */
	uint32_t spans, marks, names, runs;
};

static void check_event(struct tracks *tracks, const cJSON *event)
{
	const char phase = text_of(event, "ph")[0];
	const double time = number_of(event, "ts");
	const uint32_t track =
		((uint32_t)number_of(event, "pid") - 1u) << 16 ^ (uint32_t)number_of(event, "tid");

	assert_true(text_of(event, "ph")[1] == '\0' && text_of(event, "name")[0] != '\0' && time >= 0);
	assert_true(cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(event, "args")));
	assert_true(track < TRACKS);
	if (phase == 'X') {
		/* Spans of a track stand in order and side by side, so they nest. */
		assert_true(time >= tracks->end[track]);
		tracks->end[track] = time + number_of(event, "dur");
		tracks->spans++;
		tracks->runs += number_of(event, "pid") == 1;
	} else if (phase == 'b' || phase == 'e') {
		const uint32_t id = (uint32_t)number_of(event, "id");

		assert_true(id < PACKETS);
		assert_int_equal(tracks->open[id]++, phase == 'b' ? 0 : 1);
		assert_string_equal(text_of(event, "cat"), "packet");
	} else if (phase == 'i') {
		assert_non_null(strchr("gpt", text_of(event, "s")[0]));
		tracks->marks++;
	} else {
		assert_int_equal(phase, 'M');
		tracks->names++;
	}
}

static void chrome_trace_events(void **state)
{
	char *text = export(pb_trace_export_events);
	struct tracks *tracks = calloc(1, sizeof(*tracks));
	const cJSON *event;
	cJSON *root = cJSON_Parse(text);
	uint32_t runs = 0;

	(void)state;
	assert_non_null(tracks);
	assert_non_null(root);
	cJSON_ArrayForEach(event, cJSON_GetObjectItemCaseSensitive(root, "traceEvents"))
		check_event(tracks, event);
	for (uint32_t i = 0; i < PACKETS; i++) {
		assert_int_equal(tracks->open[i], 2);
		runs += timeline.packets[i].run != PB_TRACE_NEVER;
	}
	assert_int_equal(tracks->runs, runs);
	assert_int_equal(tracks->runs, PACKETS - sample.preempted);
	assert_int_equal(tracks->marks, timeline.mark_count);
	/* The group of the nodes and the card; each node and the group of its queues; each queue and its place. */
	assert_int_equal(tracks->names, 2u + 2u * TRACE_SAMPLE_NODES + 2u * TRACE_SAMPLE_QUEUES);
	assert_int_equal(tracks->spans - tracks->runs, PACKETS - sample.paging);
	cJSON_Delete(root);
	free(tracks);
	free(text);
}

static void a_page_of_its_own(void **state)
{
	static const char begin[] = "<script id=\"data\" type=\"application/json\">";
	char *text = export(pb_trace_export_page);
	char *json = strstr(text, begin), *end;
	cJSON *root, *packets;

	(void)state;
	assert_non_null(json);
	json += strlen(begin);
	end = strstr(json, "</script>");
	assert_non_null(end);
	root = cJSON_ParseWithLength(json, (size_t)(end - json));
	assert_non_null(root);
	packets = cJSON_GetObjectItemCaseSensitive(root, "packets");
	assert_int_equal(cJSON_GetArraySize(packets), PACKETS);
	assert_int_equal(cJSON_GetArraySize(packets->child), 14);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(root, "marks")),
			 (int)timeline.mark_count);
	assert_int_equal(number_of(root, "duration"), (double)timeline.duration);
	assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(root, "errors"), "1"), pb_error_name(1));
	/* Nothing from elsewhere. */
	assert_null(strstr(text, "http:"));
	assert_null(strstr(text, "https:"));
	assert_null(strstr(text, " src="));
	assert_null(strstr(text, "<link"));
	assert_null(strstr(text, "@import"));
	assert_null(strstr(end, "@DATA@"));
	cJSON_Delete(root);
	free(text);
}

static void a_full_disk(void **state)
{
	bool (*const writers[])(FILE *, const struct pb_trace_data *, const struct pb_timeline *) = {
		pb_trace_export_events, pb_trace_export_page, pb_trace_export_perfetto};

	(void)state;
	for (uint32_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		FILE *file = fopen("/dev/full", "w");

		assert_non_null(file);
		assert_false(writers[i](file, &data, &timeline));
		fclose(file);
	}
}

/* A call stands on the lane of its node's queue, and on the track of its node; one of no node on that of the card. */
static void ddi_calls_are_exported(void **state)
{
	struct pb_trace_call calls[] = {
		{10, {10, PB_DDI_SUBMIT_COMMAND, 1, PB_DDI_NAMES_PACKET, UINT32_MAX, 0}},
		{20, {20, PB_DDI_PREEMPTED, 0, PB_DDI_NAMES_PREEMPTION, 7, 0}},
		{30, {30, PB_DDI_DPC, PB_DDI_NONE, PB_DDI_NAMES_NOTHING, 0, 0xc01e0001u}},
	};
	char *page, *events;
	cJSON *root;

	(void)state;
	data.calls = calls;
	data.call_count = 3;
	page = export(pb_trace_export_page);
	events = export(pb_trace_export_events);
	data.calls = NULL;
	data.call_count = 0;
	assert_non_null(strstr(page, "\"calls\":[\n[10,\"SubmitCommand\","));
	assert_non_null(strstr(page, ",4294967295,null,0],\n[20,\"DMA_PREEMPTED\","));
	assert_non_null(strstr(page, ",null,7,0],\n[30,\"DpcRoutine\",null,null,null,3223191553]],"));
	root = cJSON_Parse(events);
	assert_non_null(root);
	cJSON_Delete(root);
	assert_non_null(strstr(events,
			       "\"name\":\"SubmitCommand\",\"s\":\"t\",\"pid\":259,\"tid\":2,\"ts\":10,"
			       "\"args\":{\"status\":\"0x00000000\",\"fence\":\"0xffffffff\"}}"));
	assert_non_null(strstr(events, "\"preemption\":\"0x7\"}}"));
	assert_non_null(strstr(events, "\"tid\":65536,\"ts\":30,\"args\":{\"status\":\"0xc01e0001\"}}"));
	free(page);
	free(events);
}

UNIT_SUITE(test_trace_export)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chrome_trace_events),
		cmocka_unit_test(ddi_calls_are_exported),
		cmocka_unit_test(a_page_of_its_own),
		cmocka_unit_test(a_full_disk),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
