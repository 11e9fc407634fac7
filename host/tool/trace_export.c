/* SPDX-License-Identifier: MIT */
/* Chrome trace events ("Trace Event Format", Chromium project). */
#include "host/tool/trace_export.h"

#include <inttypes.h>
#include <stdlib.h>

#include "patchbay/names.h"

/** Process ids of the two groups of tracks. */
#define NODES_PID  1u
#define QUEUES_PID 2u
/** Thread id for marks without a queue: above all queue indices. */
#define CARD_TID 0x10000u

static void write_name(FILE *file, const char *of, uint32_t pid, uint32_t tid, const char *name)
{
	fprintf(file,
		"{\"ph\":\"M\",\"name\":\"%s\",\"ts\":0,\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"%s\"}}",
		of, pid, tid, name);
}

static void write_arguments(FILE *file, const struct pb_packet *packet)
{
	fprintf(file,
		"\"args\":{\"fence\":\"0x%x\",\"queue\":%u,\"kind\":\"%s\",\"error\":\"%s\",\"patches\":%u",
		packet->fence_id, packet->queue, pb_packet_kind_name(packet->kind),
		pb_error_name(packet->error), packet->patches);
	if (packet->context != PB_TRACE_UNKNOWN)
		fprintf(file, ",\"context\":%u", packet->context);
	fputs("}}", file);
}

static void write_span(FILE *file, uint32_t pid, uint32_t tid, const char *name, uint64_t from, uint64_t to,
		       const struct pb_packet *packet)
{
	fprintf(file,
		",\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"packet\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
		",\"dur\":%" PRIu64 ",",
		name, pid, tid, from, to - from);
	write_arguments(file, packet);
}

static void write_asynchronous(FILE *file, char phase, size_t id, uint64_t time,
			       const struct pb_packet *packet)
{
	fprintf(file,
		",\n{\"ph\":\"%c\",\"name\":\"fence "
		"0x%x\",\"cat\":\"packet\",\"id\":%zu,\"pid\":%u,\"tid\":%u,"
		"\"ts\":%" PRIu64 ",",
		phase, packet->fence_id, id, QUEUES_PID, packet->queue, time);
	write_arguments(file, packet);
}

static void write_packet(FILE *file, size_t id, const struct pb_packet *packet)
{
	write_asynchronous(file, 'b', id, pb_packet_begin(packet), packet);
	write_asynchronous(file, 'e', id, packet->end, packet);
	if (packet->patch != PB_TRACE_NEVER && packet->patched != PB_TRACE_NEVER)
		write_span(file, QUEUES_PID, packet->queue, "patching", packet->patch, packet->patched,
			   packet);
	if (packet->run != PB_TRACE_NEVER)
		write_span(file, NODES_PID, packet->node, pb_packet_kind_name(packet->kind), packet->run,
			   packet->end, packet);
}

static void write_mark(FILE *file, const struct pb_trace_schema *schema, const struct pb_mark *mark)
{
	const struct pb_trace_kind *kind = &schema->kinds[PB_TRACE_WHAT_EVENT(mark->record.what)];
	const uint32_t object = PB_TRACE_WHAT_OBJECT(mark->record.what);
	char text[PB_TRACE_TEXT_BYTES];

	pb_trace_schema_print(schema, &mark->record, text);
	fprintf(file,
		",\n{\"ph\":\"i\",\"name\":\"%s\",\"s\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
		",\"args\":{\"text\":\"%s\"}}",
		kind->known ? kind->name : "event", object == PB_TRACE_NONE ? "g" : "t",
		kind->event == PB_TRACE_NODE ? NODES_PID : QUEUES_PID,
		object == PB_TRACE_NONE ? CARD_TID : object, mark->time, text);
}

/** Writes one name for each queue and node that has a packet. @return false: out of memory */
static bool write_names(FILE *file, const struct pb_timeline *timeline)
{
	/* Indices: queues, then nodes. */
	bool *named = calloc(0x10100u, sizeof(*named));
	char name[48];

	if (named == NULL)
		return false;
	for (size_t i = 0; i < timeline->packet_count; i++) {
		const struct pb_packet *packet = &timeline->packets[i];

		if (!named[packet->queue]) {
			snprintf(name, sizeof(name), "queue %u", packet->queue);
			fputs(",\n", file);
			write_name(file, "thread_name", QUEUES_PID, packet->queue, name);
		}
		named[packet->queue] = true;
		if (packet->node >= 0x100u || named[0x10000u + packet->node])
			continue;
		snprintf(name, sizeof(name), "node %u", packet->node);
		fputs(",\n", file);
		write_name(file, "thread_name", NODES_PID, packet->node, name);
		named[0x10000u + packet->node] = true;
	}
	free(named);
	return true;
}

bool pb_trace_export_events(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline)
{
	fprintf(file, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"lost\":%" PRIu64 "},\"traceEvents\":[\n",
		data->lost);
	write_name(file, "process_name", NODES_PID, 0, "nodes");
	fputs(",\n", file);
	write_name(file, "process_name", QUEUES_PID, 0, "queues");
	fputs(",\n", file);
	write_name(file, "thread_name", QUEUES_PID, CARD_TID, "card");
	if (!write_names(file, timeline))
		return false;
	for (size_t i = 0; i < timeline->packet_count; i++)
		write_packet(file, i, &timeline->packets[i]);
	for (size_t i = 0; i < timeline->mark_count; i++)
		write_mark(file, &data->schema, &timeline->marks[i]);
	fputs("\n]}\n", file);
	return fflush(file) == 0 && ferror(file) == 0;
}
