/* SPDX-License-Identifier: MIT */
/* Perfetto's trace format: https://perfetto.dev/docs/reference/synthetic-track-event */
#include "host/tool/trace_perfetto.h"

#include <inttypes.h>
#include <stdlib.h>

#include "host/tool/trace_perfetto_state.h"
#include "patchbay/names.h"

/* Fields of Trace, TracePacket and of its messages. Those of tracks stand where tracks are written. */
#define TRACE_PACKET          1u
#define PACKET_CLOCK_SNAPSHOT 6u
#define PACKET_TIMESTAMP      8u
#define PACKET_SEQUENCE       10u
#define PACKET_TRACK_EVENT    11u
#define PACKET_INTERNED_DATA  12u
#define PACKET_SEQUENCE_FLAGS 13u
#define PACKET_DROPPED        42u
#define PACKET_DEFAULTS       59u
#define PACKET_FIRST          87u
#define DEFAULTS_CLOCK_ID     58u
#define SNAPSHOT_CLOCKS       1u
#define SNAPSHOT_PRIMARY      2u
#define CLOCK_ID              1u
#define CLOCK_TIMESTAMP       2u
#define CLOCK_UNIT            4u
#define INTERNED_EVENT_NAMES  2u
#define INTERNED_ANNOTATIONS  3u
#define ENTRY_ID              1u
#define ENTRY_NAME            2u
#define EVENT_ANNOTATIONS     4u
#define EVENT_TYPE            9u
#define EVENT_NAME_ID         10u
#define EVENT_TRACK           11u
#define EVENT_NAME            23u
#define EVENT_COUNTER_VALUE   30u
#define EVENT_FLOWS           47u
#define ANNOTATION_NAME_ID    1u
#define ANNOTATION_UINT       3u
#define ANNOTATION_INT        4u
#define ANNOTATION_TEXT       6u

/** sequence_flags: state before the packet is void. */
#define STATE_CLEARED 1u

/** Clocks: CLOCK_REALTIME; and that of the trace, the FNV-1a hash of "patchbay.trace" with the top bit set. */
#define REALTIME    1u
#define TRACE_CLOCK 0xece49d1cu
/** Nanoseconds of a microsecond. */
#define MICROSECOND 1000u

/* X(NAME, text): names of annotations. */
#define ANNOTATIONS(X)                                                                                       \
	X(FENCE, "fence")                                                                                    \
	X(CHANNEL, "channel")                                                                                \
	X(QUEUE, "queue")                                                                                    \
	X(NODE, "node")                                                                                      \
	X(KIND, "kind")                                                                                      \
	X(ERROR, "error")                                                                                    \
	X(PATCHES, "patches")                                                                                \
	X(CONTEXT, "context")                                                                                \
	X(RECORD, "record")                                                                                  \
	X(STATUS, "status")                                                                                  \
	X(PREEMPTION, "preemption")                                                                          \
	X(VALUE, "value")                                                                                    \
	X(FILE, "file")                                                                                      \
	X(DETAIL, "detail")                                                                                  \
	X(TASK, "task")                                                                                      \
	X(FRAME, "frame")

enum annotation {
	ANNOTATION_NONE,
#define ANNOTATION_ENUM(name, text) ANNOTATION_##name,
	ANNOTATIONS(ANNOTATION_ENUM)
#undef ANNOTATION_ENUM
};

static void intern(struct pb_proto *proto, uint32_t field, uint32_t id, const char *name)
{
	const size_t entry = pb_proto_begin(proto, field);

	pb_proto_number(proto, ENTRY_ID, id);
	pb_proto_text(proto, ENTRY_NAME, name);
	pb_proto_end(proto, entry);
}

static void intern_names(struct pb_proto *proto, const struct pb_trace_schema *schema)
{
	const size_t interned = pb_proto_begin(proto, PACKET_INTERNED_DATA);

#define NAME(name, text) intern(proto, INTERNED_EVENT_NAMES, PB_PERFETTO_NAME_##name, (text));
	PB_PERFETTO_NAMES(NAME)
#undef NAME
#define NAME(name, text) intern(proto, INTERNED_ANNOTATIONS, ANNOTATION_##name, (text));
	ANNOTATIONS(NAME)
#undef NAME
#define NAME(name, number, text)                                                                             \
	intern(proto, INTERNED_EVENT_NAMES, PB_PERFETTO_NAME_CALL + PB_DDI_##name, (text));
	PB_DDI_CALLS(NAME)
#undef NAME
	intern(proto, INTERNED_EVENT_NAMES, PB_PERFETTO_NAME_CALL, "call");
	intern(proto, INTERNED_EVENT_NAMES, PB_PERFETTO_NAME_RECORD, "event");
	for (uint32_t i = 1; i < sizeof(schema->kinds) / sizeof(schema->kinds[0]); i++) {
		if (schema->kinds[i].known)
			intern(proto, INTERNED_EVENT_NAMES, PB_PERFETTO_NAME_RECORD + i,
			       schema->kinds[i].name);
	}
	pb_proto_end(proto, interned);
}

/** Writes the first packet: names, and with which clock the others have their times. */
static bool write_first(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file)
{
	const size_t packet = pb_proto_begin(proto, TRACE_PACKET);

	pb_proto_number(proto, PACKET_SEQUENCE, PB_PERFETTO_SEQUENCE);
	pb_proto_number(proto, PACKET_SEQUENCE_FLAGS, STATE_CLEARED | PB_PERFETTO_STATE_NEEDED);
	pb_proto_number(proto, PACKET_FIRST, 1);
	pb_proto_number(proto, PACKET_DROPPED, 1);
	if (export->data->anchor_count != 0) {
		const size_t defaults = pb_proto_begin(proto, PACKET_DEFAULTS);

		pb_proto_number(proto, DEFAULTS_CLOCK_ID, TRACE_CLOCK);
		pb_proto_end(proto, defaults);
	}
	intern_names(proto, &export->data->schema);
	pb_proto_end(proto, packet);
	return pb_proto_write(proto, file);
}

static void add_clock(struct pb_proto *proto, uint32_t id, uint64_t time, uint32_t unit)
{
	const size_t clock = pb_proto_begin(proto, SNAPSHOT_CLOCKS);

	pb_proto_number(proto, CLOCK_ID, id);
	pb_proto_number(proto, CLOCK_TIMESTAMP, time);
	if (unit != 1u)
		pb_proto_number(proto, CLOCK_UNIT, unit);
	pb_proto_end(proto, clock);
}

static bool write_snapshot(struct pb_proto *proto, FILE *file, uint64_t time, uint64_t nanoseconds)
{
	const size_t packet = pb_perfetto_begin_packet(proto);
	const size_t snapshot = pb_proto_begin(proto, PACKET_CLOCK_SNAPSHOT);

	add_clock(proto, TRACE_CLOCK, time, MICROSECOND);
	add_clock(proto, REALTIME, nanoseconds, 1);
	pb_proto_number(proto, SNAPSHOT_PRIMARY, REALTIME);
	pb_proto_end(proto, snapshot);
	pb_proto_end(proto, packet);
	return pb_proto_write(proto, file);
}

/**
 * Writes the anchors as snapshots of both clocks. The times behind a snapshot are counted from it: one that would set
 * the host's clock back against the one before is left out, so that no span ends before it begins.
 */
static bool write_snapshots(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file)
{
	const struct pb_trace_anchor *anchor = export->data->anchors, *last = NULL;
	bool good = true;

	for (size_t i = 0; good && i < export->data->anchor_count; i++, anchor++) {
		if (last != NULL &&
		    (anchor->time <= last->time ||
		     anchor->nanoseconds < last->nanoseconds + (anchor->time - last->time) * MICROSECOND))
			continue;
		good = write_snapshot(proto, file, anchor->time, anchor->nanoseconds);
		last = anchor;
	}
	return good;
}

static void annotate(struct pb_proto *proto, enum annotation name, const char *text)
{
	const size_t annotation = pb_proto_begin(proto, EVENT_ANNOTATIONS);

	pb_proto_number(proto, ANNOTATION_NAME_ID, name);
	pb_proto_text(proto, ANNOTATION_TEXT, text);
	pb_proto_end(proto, annotation);
}

/** @param digits at least */
static void annotate_hex(struct pb_proto *proto, enum annotation name, int digits, uint32_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%0*" PRIx32, digits, value);
	annotate(proto, name, text);
}

/** Adds a number, unless it is unknown. */
static void annotate_number(struct pb_proto *proto, enum annotation name, uint32_t value)
{
	size_t annotation;

	if (value == PB_TRACE_UNKNOWN)
		return;
	annotation = pb_proto_begin(proto, EVENT_ANNOTATIONS);
	pb_proto_number(proto, ANNOTATION_NAME_ID, name);
	pb_proto_number(proto, ANNOTATION_UINT, value);
	pb_proto_end(proto, annotation);
}

static void annotate_packet(const struct pb_perfetto *export, struct pb_proto *proto, uint32_t index)
{
	const struct pb_packet *packet = &export->timeline->packets[index];
	const struct pb_lane *lane = &export->timeline->lanes.lanes[packet->lane];

	annotate_hex(proto, ANNOTATION_FENCE, 1, packet->fence_id);
	annotate_number(proto, ANNOTATION_CHANNEL, lane->channel);
	if (lane->handle != PB_TRACE_UNKNOWN)
		annotate_hex(proto, ANNOTATION_QUEUE, 8, lane->handle);
	annotate_number(proto, ANNOTATION_NODE, packet->node);
	annotate(proto, ANNOTATION_KIND, pb_packet_kind_name(packet->kind));
	annotate(proto, ANNOTATION_ERROR, pb_error_name(packet->error));
	annotate_number(proto, ANNOTATION_PATCHES, packet->patches);
	annotate_number(proto, ANNOTATION_CONTEXT, packet->context);
}

static void annotate_mark(const struct pb_perfetto *export, struct pb_proto *proto, uint32_t index)
{
	char text[PB_TRACE_TEXT_BYTES];

	pb_trace_schema_print(&export->data->schema, &export->timeline->marks[index].record, text);
	annotate(proto, ANNOTATION_RECORD, text);
}

static void annotate_call(const struct pb_perfetto *export, struct pb_proto *proto, uint32_t index)
{
	const struct pb_ddi_call *call = &export->data->calls[index].call;

	annotate_hex(proto, ANNOTATION_STATUS, 8, call->status);
	if (call->names != PB_DDI_NAMES_NOTHING)
		annotate_hex(proto,
			     call->names == PB_DDI_NAMES_PREEMPTION ? ANNOTATION_PREEMPTION
								    : ANNOTATION_FENCE,
			     1, call->id);
}

static void annotate_wide(struct pb_proto *proto, enum annotation name, uint32_t field, uint64_t value)
{
	const size_t annotation = pb_proto_begin(proto, EVENT_ANNOTATIONS);

	pb_proto_number(proto, ANNOTATION_NAME_ID, name);
	pb_proto_number(proto, field, value);
	pb_proto_end(proto, annotation);
}

static void annotate_guest(const struct pb_perfetto *export, struct pb_proto *proto, uint32_t index)
{
	const struct pb_guest_event *event = &export->data->guest[index].event;
	char task[PB_GUEST_COMM_BYTES + 16u];

	if (event->kind == PB_GUEST_HOST_FRAME) {
		annotate_number(proto, ANNOTATION_FRAME, event->card_us);
	} else {
		annotate_hex(proto, ANNOTATION_FENCE, 1, pb_guest_event_fence(event));
		annotate_wide(proto, ANNOTATION_VALUE, ANNOTATION_UINT, event->value);
		annotate_hex(proto, ANNOTATION_QUEUE, 8, event->queue);
		annotate_number(proto, ANNOTATION_NODE, event->node);
		annotate_wide(proto, ANNOTATION_DETAIL, ANNOTATION_INT, (uint64_t)(int64_t)event->detail);
	}
	annotate_wide(proto, ANNOTATION_FILE, ANNOTATION_UINT, event->file);
	snprintf(task, sizeof(task), "%s %" PRIu32, event->comm, event->pid);
	annotate(proto, ANNOTATION_TASK, task);
}

/** Names an event; a submission has its fence in its name. */
static void name_event(const struct pb_perfetto *export, struct pb_proto *proto,
		       const struct pb_perfetto_event *event)
{
	char name[24];

	if (event->name != PB_PERFETTO_NAME_SUBMISSION && event->name != PB_PERFETTO_NAME_NONE)
		pb_proto_number(proto, EVENT_NAME_ID, event->name);
	if (event->name != PB_PERFETTO_NAME_SUBMISSION)
		return;
	snprintf(name, sizeof(name), "fence 0x%" PRIx32, export->timeline->packets[event->index].fence_id);
	pb_proto_text(proto, EVENT_NAME, name);
}

/** Writes an event. */
static bool write_event(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file,
			const struct pb_perfetto_event *event)
{
	const uint64_t unit = export->data->anchor_count != 0 ? 1u : MICROSECOND;
	const size_t packet = pb_perfetto_begin_packet(proto);
	size_t place;

	pb_proto_number(proto, PACKET_TIMESTAMP, event->time * unit);
	place = pb_proto_begin(proto, PACKET_TRACK_EVENT);
	pb_proto_number(proto, EVENT_TYPE, event->type);
	pb_proto_number(proto, EVENT_TRACK, event->track);
	name_event(export, proto, event);
	if (event->type == PB_PERFETTO_COUNTER)
		pb_proto_number(proto, EVENT_COUNTER_VALUE, (uint64_t)event->value);
	if (event->flow != 0)
		pb_proto_fixed(proto, EVENT_FLOWS, event->flow);
	for (size_t i = pb_perfetto_find_links(export, event->number);
	     i < export->link_count && export->links[i].number == event->number; i++)
		pb_proto_fixed(proto, EVENT_FLOWS, export->links[i].flow);
	if (event->detail == PB_PERFETTO_PACKET)
		annotate_packet(export, proto, event->index);
	else if (event->detail == PB_PERFETTO_MARK)
		annotate_mark(export, proto, event->index);
	else if (event->detail == PB_PERFETTO_CALL)
		annotate_call(export, proto, event->index);
	else if (event->detail == PB_PERFETTO_EVENT)
		annotate_guest(export, proto, event->index);
	pb_proto_end(proto, place);
	pb_proto_end(proto, packet);
	return pb_proto_write(proto, file);
}

static bool write_all(const struct pb_perfetto *export, struct pb_proto *proto, FILE *file)
{
	bool good = write_first(export, proto, file) && write_snapshots(export, proto, file) &&
		    pb_perfetto_write_tracks(export, proto, file);

	for (size_t i = 0; good && i < export->event_count; i++)
		good = write_event(export, proto, file, &export->events[i]);
	return good && fflush(file) == 0 && ferror(file) == 0;
}

bool pb_trace_export_perfetto(FILE *file, const struct pb_trace_data *data,
			      const struct pb_timeline *timeline)
{
	struct pb_perfetto export = {.data = data, .timeline = timeline};
	struct pb_proto proto = {.bytes = NULL};
	bool good;

	pb_perfetto_find_clients(&export);
	if (!export.failed)
		pb_perfetto_add_packets(&export);
	if (!export.failed)
		pb_perfetto_add_marks(&export);
	if (!export.failed)
		pb_perfetto_add_guests(&export);
	if (!export.failed)
		pb_perfetto_add_counters(&export);
	pb_perfetto_sort(&export);
	good = !export.failed && write_all(&export, &proto, file);
	pb_proto_free(&proto);
	free(export.events);
	free(export.links);
	free(export.clients);
	free(export.client_of);
	free(export.rows);
	free(export.signals);
	free(export.guest);
	return good;
}
