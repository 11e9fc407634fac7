/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* Writes the page host/tool/timeline.html with the data of a timeline. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/timeline_page.h"
#include "host/tool/trace_cause.h"
#include "host/tool/trace_export.h"
#include "host/tool/trace_wakes.h"
#include "patchbay/abi/channel.h"
#include "patchbay/names.h"

/** Text of the page that the data replace. */
#define DATA_MARK "@DATA@"

/** Group of a mark: its colour and its key in the legend. The numbers are indices of MARKS in the page. */
enum mark_group {
	MARK_INTERRUPT,
	MARK_PREEMPTION,
	MARK_RESET,
	MARK_ERROR,
	MARK_OTHER,
};

/* Of what a node's engine is asked for. */
static enum mark_group group_of_state(uint32_t state)
{
	switch (state) {
	case PB_NODE_STATE_RUNNING:
		return MARK_OTHER;
	case PB_NODE_STATE_STOPPING:
		return MARK_PREEMPTION;
	default:
		return MARK_RESET;
	}
}

static enum mark_group group_of(uint32_t event, const struct pb_trace_record *record)
{
	switch (event) {
	case PB_TRACE_INTERRUPT:
		return MARK_INTERRUPT;
	case PB_TRACE_STOP:
	case PB_TRACE_RETURN:
	case PB_TRACE_RESUME:
		return MARK_PREEMPTION;
	case PB_TRACE_NODE:
		return group_of_state(record->arguments[0]);
	case PB_TRACE_BOOT:
		return MARK_RESET;
	case PB_TRACE_REFUSE:
	case PB_TRACE_BLAME:
		return MARK_ERROR;
	case PB_TRACE_COMMAND:
		return record->arguments[1] != 0 ? MARK_ERROR : MARK_OTHER;
	default:
		return MARK_OTHER;
	}
}

static void write_number(FILE *file, uint64_t value, uint64_t none)
{
	if (value == none)
		fputs(",null", file);
	else
		fprintf(file, ",%" PRIu64, value);
}

static void write_row(FILE *file, const struct pb_packet *packet)
{
	const uint64_t times[] = {packet->submit, packet->patch, packet->patched,
				  packet->feed,   packet->run,   packet->end};

	fprintf(file, "[%d,%u", (int)packet->kind, packet->lane);
	write_number(file, packet->node, PB_TRACE_UNKNOWN);
	write_number(file, packet->context, PB_TRACE_UNKNOWN);
	fprintf(file, ",%u,%u,%u,%u", packet->fence_id, packet->error, packet->patches, packet->feeds);
	for (uint32_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		write_number(file, times[i], PB_TRACE_NEVER);
	fputc(']', file);
}

static void write_lane(FILE *file, const struct pb_lane *lane)
{
	char name[PB_LANE_NAME_BYTES];

	pb_lane_name(lane, name);
	fprintf(file, "[\"%s\"", name);
	write_number(file, lane->channel, PB_TRACE_UNKNOWN);
	write_number(file, lane->handle, PB_TRACE_UNKNOWN);
	write_number(file, lane->node, PB_TRACE_UNKNOWN);
	if (lane->priority == PB_TRACE_UNKNOWN)
		fputs(",null]", file);
	else
		fprintf(file, ",\"%s\"]", pb_priority_name(lane->priority));
}

static void write_mark(FILE *file, const struct pb_trace_schema *schema, const struct pb_mark *mark)
{
	const uint32_t event = schema->kinds[PB_TRACE_WHAT_EVENT(mark->record.what)].event;
	const uint32_t object = PB_TRACE_WHAT_OBJECT(mark->record.what);
	char text[PB_TRACE_TEXT_BYTES];

	pb_trace_schema_print(schema, &mark->record, text);
	fprintf(file, "[%" PRIu64 ",%d,\"%s\"", mark->time, (int)group_of(event, &mark->record), text);
	write_number(file, mark->lane, PB_LANE_NONE);
	write_number(file, event == PB_TRACE_NODE ? object : PB_TRACE_NONE, PB_TRACE_NONE);
	fputc(']', file);
}

static void write_id(FILE *file, const struct pb_ddi_call *call, enum pb_ddi_names names)
{
	if (call->names == (uint32_t)names)
		fprintf(file, ",%u", call->id);
	else
		fputs(",null", file);
}

/** Writes a DDI call: its packet's fence id, or null, and the id of a preemption, or null. */
static void write_call(FILE *file, const struct pb_timeline *timeline, const struct pb_trace_call *at)
{
	const struct pb_ddi_call *call = &at->call;
	const uint32_t lane =
		call->node != PB_DDI_NONE ? pb_trace_lane_on(timeline, call->node) : PB_LANE_NONE;

	fprintf(file, "[%" PRIu64 ",\"%s\"", at->time, pb_ddi_name(call->function));
	write_number(file, lane, PB_LANE_NONE);
	write_id(file, call, PB_DDI_NAMES_PACKET);
	write_id(file, call, PB_DDI_NAMES_PREEMPTION);
	fprintf(file, ",%u]", call->status);
}

/** Writes the end of a frame of a host as a call that has no queue and no fence, but the numbers of the host and of the frame. */
static void write_host_frame(FILE *file, const struct pb_trace_guest *at)
{
	fprintf(file, "[%" PRIu64 ",\"host frame\",null,null,null,0,%u,%u]", at->time, (unsigned)at->guest,
		(unsigned)at->event.card_us);
}

/**
 * Writes an event of a guest or of a host as a call: on the lane of its queue, with its fence; a signal with its error; of
 * a host also its number.
 */
static void write_guest(FILE *file, const struct pb_timeline *timeline, const struct pb_trace_guest *at)
{
	const struct pb_lanes *lanes = &timeline->lanes;
	uint32_t lane = 0;

	if (at->packet != PB_TRACE_GUEST_ALONE)
		lane = timeline->packets[at->packet].lane;
	else
		while (lane < lanes->count && lanes->lanes[lane].handle != at->event.queue)
			lane++;
	fprintf(file, "[%" PRIu64 ",\"%s %s\"", at->time,
		pb_guest_event_is_host(&at->event) ? "host" : "guest", pb_guest_event_name(at->event.kind));
	write_number(file, lane, lanes->count);
	if (at->event.kind == PB_GUEST_HOST_INTERRUPT ||
	    (at->event.kind == PB_GUEST_HOST_SEEN && at->packet == PB_TRACE_GUEST_ALONE))
		fputs(",null", file);
	else
		fprintf(file, ",%u", (unsigned)pb_guest_event_fence(&at->event));
	fprintf(file, ",null,%u", at->event.kind == PB_GUEST_SIGNAL ? (unsigned)at->event.detail : 0);
	if (pb_guest_event_is_host(&at->event))
		fprintf(file, ",%u", (unsigned)at->guest);
	fputc(']', file);
}

/** Orders indexes of events by the numbers of their hosts, then by place. */
static int by_host(const void *left, const void *right, void *argument)
{
	const size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const struct pb_trace_guest *const events = argument;

	if (events[a].guest != events[b].guest)
		return events[a].guest < events[b].guest ? -1 : 1;
	return (a > b) - (a < b);
}

/** Writes the processes of hosts: number, name, process id, channel. @return false: out of memory */
static bool write_hosts(FILE *file, const struct pb_trace_data *data)
{
	size_t *events = calloc(data->guest_count + 1u, sizeof(*events));
	const char *comma = "";
	size_t count = 0;

	if (events == NULL)
		return false;
	for (size_t i = 0; i < data->guest_count; i++) {
		if (pb_guest_event_is_host(&data->guest[i].event))
			events[count++] = i;
	}
	qsort_r(events, count, sizeof(*events), by_host, data->guest);
	for (size_t i = 0; i < count; i++) {
		const struct pb_trace_guest *at = &data->guest[events[i]];

		if (i != 0 && at->guest == data->guest[events[i - 1u]].guest)
			continue;
		fprintf(file, "%s[%u,\"%s\",%u,%" PRIu64 "]", comma, (unsigned)at->guest, at->event.comm,
			(unsigned)at->event.pid, at->event.file);
		comma = ",\n";
	}
	free(events);
	return true;
}

/** Writes the signals that let a packet go on: the two packets, the times of WAIT, or null, and of WAKE. */
static void write_wakes(FILE *file, const struct pb_wakes *wakes)
{
	for (size_t i = 0; i < wakes->count; i++) {
		const struct pb_wake *wake = &wakes->wakes[i];

		fprintf(file, "%s[%zu,%zu", i == 0 ? "" : ",\n", wake->from, wake->to);
		write_number(file, wake->since, PB_TRACE_NEVER);
		fprintf(file, ",%" PRIu64 "]", wake->time);
	}
}

/** Writes the frames of each queue: a packet that presents ends one. Index of the packet, and of the frame in its queue. */
static bool write_frames(FILE *file, const struct pb_timeline *timeline)
{
	uint32_t *frames = calloc(timeline->lanes.count + 1u, sizeof(*frames));
	const char *comma = "";

	for (size_t i = 0; frames != NULL && i < timeline->packet_count; i++) {
		const struct pb_packet *packet = &timeline->packets[i];

		if (packet->kind != PB_PACKET_PRESENT)
			continue;
		fprintf(file, "%s[%zu,%u]", comma, i, ++frames[packet->lane]);
		comma = ",\n";
	}
	free(frames);
	return frames != NULL;
}

/** Writes the numbers of the card's nodes, also of those that had nothing to run. */
static void write_nodes(FILE *file, const struct pb_trace_data *data)
{
	for (uint32_t n = 0; n < data->nodes; n++)
		fprintf(file, "%s%u", n == 0 ? "" : ",", n);
}

static void write_errors(FILE *file)
{
	const char *comma = "";

	fputs("\"errors\":{", file);
	for (uint32_t error = 1; error < 256u; error++) {
		if (strcmp(pb_error_name(error), "?") == 0)
			continue;
		fprintf(file, "%s\"%u\":\"%s\"", comma, error, pb_error_name(error));
		comma = ",";
	}
	fputs("}}", file);
}

static bool write_data(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline,
		       const struct pb_wakes *wakes)
{
	fprintf(file, "{\"duration\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"lanes\":[\n", timeline->duration,
		data->lost);
	for (size_t i = 0; i < timeline->lanes.count; i++) {
		fputs(i == 0 ? "" : ",\n", file);
		write_lane(file, &timeline->lanes.lanes[i]);
	}
	fputs("],\"packets\":[\n", file);
	for (size_t i = 0; i < timeline->packet_count; i++) {
		fputs(i == 0 ? "" : ",\n", file);
		write_row(file, &timeline->packets[i]);
	}
	fputs("],\"marks\":[\n", file);
	for (size_t i = 0; i < timeline->mark_count; i++) {
		fputs(i == 0 ? "" : ",\n", file);
		write_mark(file, &data->schema, &timeline->marks[i]);
	}
	fputs("],\"calls\":[\n", file);
	for (size_t i = 0; i < data->call_count; i++) {
		fputs(i == 0 ? "" : ",\n", file);
		write_call(file, timeline, &data->calls[i]);
	}
	for (size_t i = 0; i < data->guest_count; i++) {
		fputs(i == 0 && data->call_count == 0 ? "" : ",\n", file);
		if (data->guest[i].event.kind == PB_GUEST_HOST_FRAME)
			write_host_frame(file, &data->guest[i]);
		else
			write_guest(file, timeline, &data->guest[i]);
	}
	fputs("],\"hosts\":[", file);
	if (!write_hosts(file, data))
		return false;
	fputs("],\"wakes\":[\n", file);
	write_wakes(file, wakes);
	fputs("],\"frames\":[\n", file);
	if (!write_frames(file, timeline))
		return false;
	fputs("],\"nodes\":[", file);
	write_nodes(file, data);
	fputs("],", file);
	write_errors(file);
	return true;
}

bool pb_trace_export_page(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline)
{
	const char *const mark = strstr(pb_timeline_page, DATA_MARK);
	struct pb_wakes wakes;
	bool good = pb_wakes_find(data, timeline, &wakes);

	fwrite(pb_timeline_page, 1, (size_t)(mark - pb_timeline_page), file);
	good = good && write_data(file, data, timeline, &wakes);
	fputs(mark + strlen(DATA_MARK), file);
	free(wakes.wakes);
	return good && fflush(file) == 0 && ferror(file) == 0;
}
