/* SPDX-License-Identifier: MIT */
/* Chrome trace events ("Trace Event Format", Chromium project). */
#include "host/tool/trace_export.h"

#include <inttypes.h>

#include "patchbay/names.h"

/** Process ids of the groups of tracks: nodes, then the queues of each node, those of an unknown node last. */
#define NODES_PID  1u
#define QUEUES_PID 2u
#define NODES      256u
/** Thread id for marks without a queue: above all nodes. */
#define CARD_TID 0x10000u
/** Process id of the DDI calls of a WDDM kernel, behind the queues of an unknown node. */
#define CALLS_PID (QUEUES_PID + NODES + 1u)
/** Process id of the frames of hosts. */
#define FRAMES_PID (CALLS_PID + 1u)

/** Process id of the queues of a node, or of an unknown node. */
static uint32_t queues_pid(uint32_t node)
{
	return QUEUES_PID + (node < NODES ? node : NODES);
}

/** A lane's track: thread id 0 belongs to the process. */
static uint32_t lane_tid(uint32_t lane)
{
	return lane + 1u;
}

static void write_name(FILE *file, const char *of, uint32_t pid, uint32_t tid, const char *name)
{
	fprintf(file,
		"{\"ph\":\"M\",\"name\":\"%s\",\"ts\":0,\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"%s\"}}",
		of, pid, tid, name);
}

static void write_number(FILE *file, const char *name, uint32_t value)
{
	if (value == PB_TRACE_UNKNOWN)
		fprintf(file, ",\"%s\":\"unknown\"", name);
	else
		fprintf(file, ",\"%s\":%u", name, value);
}

static void write_arguments(FILE *file, const struct pb_timeline *timeline, const struct pb_packet *packet)
{
	const struct pb_lane *lane = &timeline->lanes.lanes[packet->lane];

	fprintf(file, "\"args\":{\"fence\":\"0x%x\"", packet->fence_id);
	write_number(file, "channel", lane->channel);
	if (lane->handle == PB_TRACE_UNKNOWN)
		fputs(",\"queue\":\"unknown\"", file);
	else
		fprintf(file, ",\"queue\":\"0x%08x\"", lane->handle);
	write_number(file, "node", packet->node);
	fprintf(file, ",\"kind\":\"%s\",\"error\":\"%s\",\"patches\":%u", pb_packet_kind_name(packet->kind),
		pb_error_name(packet->error), packet->patches);
	if (packet->context != PB_TRACE_UNKNOWN)
		fprintf(file, ",\"context\":%u", packet->context);
	fputs("}}", file);
}

static void write_span(FILE *file, uint32_t pid, uint32_t tid, const char *name, uint64_t from, uint64_t to,
		       const struct pb_timeline *timeline, const struct pb_packet *packet)
{
	fprintf(file,
		",\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"packet\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
		",\"dur\":%" PRIu64 ",",
		name, pid, tid, from, to - from);
	write_arguments(file, timeline, packet);
}

static void write_asynchronous(FILE *file, char phase, uint64_t time, const struct pb_timeline *timeline,
			       const struct pb_packet *packet)
{
	fprintf(file,
		",\n{\"ph\":\"%c\",\"name\":\"fence "
		"0x%x\",\"cat\":\"packet\",\"id\":%zu,\"pid\":%u,\"tid\":%u,"
		"\"ts\":%" PRIu64 ",",
		phase, packet->fence_id, (size_t)(packet - timeline->packets),
		queues_pid(timeline->lanes.lanes[packet->lane].node), lane_tid(packet->lane), time);
	write_arguments(file, timeline, packet);
}

static void write_packet(FILE *file, const struct pb_timeline *timeline, const struct pb_packet *packet)
{
	const uint32_t queue = queues_pid(timeline->lanes.lanes[packet->lane].node);

	write_asynchronous(file, 'b', pb_packet_begin(packet), timeline, packet);
	write_asynchronous(file, 'e', packet->end, timeline, packet);
	if (packet->patch != PB_TRACE_NEVER && packet->patched != PB_TRACE_NEVER)
		write_span(file, queue, lane_tid(packet->lane), "patching", packet->patch, packet->patched,
			   timeline, packet);
	if (packet->run != PB_TRACE_NEVER)
		write_span(file, NODES_PID, packet->node, pb_packet_kind_name(packet->kind), packet->run,
			   packet->end, timeline, packet);
}

static void write_mark(FILE *file, const struct pb_trace_schema *schema, const struct pb_timeline *timeline,
		       const struct pb_mark *mark)
{
	const struct pb_trace_kind *kind = &schema->kinds[PB_TRACE_WHAT_EVENT(mark->record.what)];
	uint32_t pid = NODES_PID, tid = CARD_TID;
	char text[PB_TRACE_TEXT_BYTES];

	if (mark->lane != PB_LANE_NONE) {
		pid = queues_pid(timeline->lanes.lanes[mark->lane].node);
		tid = lane_tid(mark->lane);
	} else if (kind->event == PB_TRACE_NODE) {
		tid = PB_TRACE_WHAT_OBJECT(mark->record.what);
	}
	pb_trace_schema_print(schema, &mark->record, text);
	fprintf(file,
		",\n{\"ph\":\"i\",\"name\":\"%s\",\"s\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
		",\"args\":{\"text\":\"%s\"}}",
		kind->known ? kind->name : "event", tid == CARD_TID ? "g" : "t", pid, tid, mark->time, text);
}

/** Writes a DDI call on the track of its node; those of no node on that of the card. */
static void write_call(FILE *file, const struct pb_trace_call *at)
{
	const struct pb_ddi_call *call = &at->call;

	fprintf(file,
		",\n{\"ph\":\"i\",\"name\":\"%s\",\"s\":\"t\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
		",\"args\":{\"status\":\"0x%08x\"",
		pb_ddi_name(call->function), CALLS_PID, call->node < NODES ? call->node + 1u : CARD_TID,
		at->time, call->status);
	if (call->names != PB_DDI_NAMES_NOTHING)
		fprintf(file, ",\"%s\":\"0x%x\"",
			call->names == PB_DDI_NAMES_PREEMPTION ? "preemption" : "fence", call->id);
	fputs("}}", file);
}

/** Names the track of a host's frames. */
static void name_frames(FILE *file, const struct pb_trace_guest *at)
{
	fprintf(file,
		",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"ts\":0,\"pid\":%u,\"tid\":%" PRIu64
		",\"args\":{\"name\":\"host %s %u, channel %" PRIu64 "\"}}",
		FRAMES_PID, at->guest + UINT64_C(1), at->event.comm, (unsigned)at->event.pid, at->event.file);
}

/** Writes the ends of the frames of hosts: each host has a track, which is named again behind another one's frame. */
static void write_frames(FILE *file, const struct pb_trace_data *data)
{
	const struct pb_trace_guest *last = NULL;

	for (size_t i = 0; i < data->guest_count; i++) {
		const struct pb_trace_guest *at = &data->guest[i];

		if (at->event.kind != PB_GUEST_HOST_FRAME)
			continue;
		if (last == NULL) {
			fputs(",\n", file);
			write_name(file, "process_name", FRAMES_PID, 0, "frames of hosts");
		}
		if (last == NULL || last->guest != at->guest)
			name_frames(file, at);
		last = at;
		fprintf(file,
			",\n{\"ph\":\"i\",\"name\":\"frame %u\",\"s\":\"t\",\"pid\":%u,\"tid\":%" PRIu64
			",\"ts\":%" PRIu64 "}",
			(unsigned)at->event.card_us, FRAMES_PID, at->guest + UINT64_C(1), at->time);
	}
}

/** Writes the name of a node, once. */
static void write_node(FILE *file, uint32_t node, bool named[NODES])
{
	char name[16];

	if (node >= NODES || named[node])
		return;
	snprintf(name, sizeof(name), "node %u", node);
	fputs(",\n", file);
	write_name(file, "thread_name", NODES_PID, node, name);
	named[node] = true;
}

/** Writes the names of the nodes that have a packet or an event. */
static void write_nodes(FILE *file, const struct pb_trace_schema *schema, const struct pb_timeline *timeline)
{
	bool named[NODES] = {false};

	for (size_t i = 0; i < timeline->packet_count; i++)
		write_node(file, timeline->packets[i].node, named);
	for (size_t i = 0; i < timeline->mark_count; i++) {
		const struct pb_mark *mark = &timeline->marks[i];

		if (mark->lane == PB_LANE_NONE &&
		    schema->kinds[PB_TRACE_WHAT_EVENT(mark->record.what)].event == PB_TRACE_NODE)
			write_node(file, PB_TRACE_WHAT_OBJECT(mark->record.what), named);
	}
}

/** Writes the names of the queues, and of their groups: those of a node stand side by side. */
static void write_lanes(FILE *file, const struct pb_timeline *timeline)
{
	char name[PB_LANE_NAME_BYTES];

	for (uint32_t i = 0; i < timeline->lanes.count; i++) {
		const struct pb_lane *lane = &timeline->lanes.lanes[i];
		const uint32_t pid = queues_pid(lane->node);

		snprintf(name, sizeof(name),
			 lane->node < NODES ? "queues of node %u" : "queues of an unknown node", lane->node);
		fputs(",\n", file);
		if (i == 0 || pid != queues_pid(lane[-1].node)) {
			write_name(file, "process_name", pid, 0, name);
			fputs(",\n", file);
		}
		pb_lane_name(lane, name);
		write_name(file, "thread_name", pid, lane_tid(i), name);
		fprintf(file,
			",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"ts\":0,\"pid\":%u,\"tid\":%u,"
			"\"args\":{\"sort_index\":%u}}",
			pid, lane_tid(i), i);
	}
}

bool pb_trace_export_events(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline)
{
	fprintf(file, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"lost\":%" PRIu64 "},\"traceEvents\":[\n",
		data->lost);
	write_name(file, "process_name", NODES_PID, 0, "nodes");
	fputs(",\n", file);
	write_name(file, "thread_name", NODES_PID, CARD_TID, "card");
	write_nodes(file, &data->schema, timeline);
	write_lanes(file, timeline);
	for (size_t i = 0; i < timeline->packet_count; i++)
		write_packet(file, timeline, &timeline->packets[i]);
	for (size_t i = 0; i < timeline->mark_count; i++)
		write_mark(file, &data->schema, timeline, &timeline->marks[i]);
	if (data->call_count != 0) {
		fputs(",\n", file);
		write_name(file, "process_name", CALLS_PID, 0, "DDI calls, by node");
	}
	for (size_t i = 0; i < data->call_count; i++)
		write_call(file, &data->calls[i]);
	write_frames(file, data);
	fputs("\n]}\n", file);
	return fflush(file) == 0 && ferror(file) == 0;
}
