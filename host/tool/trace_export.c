/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_export.h"

#include <inttypes.h>
#include <string.h>

#include "firmware/abi/errors.h"
#include "host/names.h"

/** host/tool/timeline.html; the build makes it. */
extern const char pb_timeline_page[];
/** Where in it the data go. */
#define PAGE_DATA "@DATA@"

const char *pb_packet_kind_name(enum pb_packet_kind kind)
{
	static const char *const names[] = {"render", "paging", "failed", "preempted", "open"};

	return names[kind];
}

/* ---- Chrome trace events: "Trace Event Format", of the Chromium project ---- */

/** Process ids of the two groups of lanes. */
#define NODES_PID  1u
#define QUEUES_PID 2u

static void write_group(FILE *file, uint32_t pid, const char *name)
{
	fprintf(file, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"tid\":0,\"args\":{\"name\":\"%s\"}}",
		pid, name);
}

static void write_span(FILE *file, uint32_t pid, uint32_t tid, const char *name, uint64_t from, uint64_t to,
		       const struct pb_packet *packet)
{
	fprintf(file,
		",\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
		",\"dur\":%" PRIu64 ",\"args\":{\"fence\":\"0x%x\",\"queue\":%u,\"error\":\"%s\",\"patches\":%u}}",
		name, pb_packet_kind_name(packet->kind), pid, tid, from, to - from, packet->fence_id,
		packet->queue, pb_error_name(packet->error), packet->patches);
}

/** When it was first seen. */
static uint64_t first_seen(const struct pb_packet *packet)
{
	if (packet->submit != PB_TRACE_NEVER)
		return packet->submit;
	if (packet->patch != PB_TRACE_NEVER)
		return packet->patch;
	return packet->feed != PB_TRACE_NEVER ? packet->feed : packet->end;
}

static void write_packet(FILE *file, const struct pb_packet *packet)
{
	const uint64_t waits_to = packet->feed != PB_TRACE_NEVER ? packet->feed : packet->end;

	write_span(file, QUEUES_PID, packet->queue, "queued", first_seen(packet), waits_to, packet);
	if (packet->patch != PB_TRACE_NEVER && packet->patched != PB_TRACE_NEVER)
		write_span(file, QUEUES_PID, packet->queue, "patching", packet->patch, packet->patched,
			   packet);
	if (packet->run != PB_TRACE_NEVER)
		write_span(file, NODES_PID, packet->node, pb_packet_kind_name(packet->kind), packet->run,
			   packet->end, packet);
}

static void write_mark(FILE *file, const struct pb_trace_schema *schema, const struct pb_mark *mark)
{
	const uint32_t number = PB_TRACE_WHAT_EVENT(mark->record.what);
	const uint32_t object = PB_TRACE_WHAT_OBJECT(mark->record.what);
	char text[PB_TRACE_TEXT_BYTES];

	pb_trace_schema_print(schema, &mark->record, text);
	fprintf(file,
		",\n{\"ph\":\"i\",\"name\":\"%s\",\"s\":\"%c\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
		",\"args\":{\"text\":\"%s\"}}",
		schema->kinds[number].known ? schema->kinds[number].name : "event",
		object == PB_TRACE_NONE ? 'g' : 't', number == PB_TRACE_NODE ? NODES_PID : QUEUES_PID,
		object == PB_TRACE_NONE ? 0 : object, mark->time, text);
}

bool pb_trace_export_events(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline)
{
	fprintf(file, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"lost\":%" PRIu64 "},\"traceEvents\":[\n",
		data->lost);
	write_group(file, NODES_PID, "nodes");
	fprintf(file, ",\n");
	write_group(file, QUEUES_PID, "queues");
	for (size_t i = 0; i < timeline->packet_count; i++)
		write_packet(file, &timeline->packets[i]);
	for (size_t i = 0; i < timeline->mark_count; i++)
		write_mark(file, &data->schema, &timeline->marks[i]);
	fprintf(file, "\n]}\n");
	return fflush(file) == 0 && ferror(file) == 0;
}

/* ---- the page ---- */

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
				  packet->feed,	  packet->run,	 packet->end};

	fprintf(file, "[%d,%u", (int)packet->kind, packet->queue);
	write_number(file, packet->channel, UINT32_MAX);
	write_number(file, packet->node, UINT32_MAX);
	fprintf(file, ",%u,%u,%u,%u", packet->context, packet->fence_id, packet->error, packet->patches);
	for (uint32_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		write_number(file, times[i], PB_TRACE_NEVER);
	fputc(']', file);
}

/** Which colour a mark has in the page: MARKS there. */
static uint32_t mark_group(uint32_t number)
{
	if (number == PB_TRACE_INTERRUPT)
		return 0;
	if (number == PB_TRACE_STOP || number == PB_TRACE_RETURN || number == PB_TRACE_RESUME)
		return 1;
	return number == PB_TRACE_NODE || number == PB_TRACE_BLAME || number == PB_TRACE_BOOT ? 2 : 3;
}

static void write_errors(FILE *file)
{
	bool comma = false;

	fputs("\"errors\":{", file);
	for (uint32_t error = 1; error < 256u; error++) {
		if (strcmp(pb_error_name(error), "?") == 0)
			continue;
		fprintf(file, "%s\"%u\":\"%s\"", comma ? "," : "", error, pb_error_name(error));
		comma = true;
	}
	fputs("}}", file);
}

static void write_data(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline)
{
	char text[PB_TRACE_TEXT_BYTES];

	fprintf(file, "{\"duration\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"packets\":[\n", timeline->duration,
		data->lost);
	for (size_t i = 0; i < timeline->packet_count; i++) {
		fputs(i == 0 ? "" : ",\n", file);
		write_row(file, &timeline->packets[i]);
	}
	fputs("],\"marks\":[\n", file);
	for (size_t i = 0; i < timeline->mark_count; i++) {
		const struct pb_mark *mark = &timeline->marks[i];

		pb_trace_schema_print(&data->schema, &mark->record, text);
		fprintf(file, "%s[%" PRIu64 ",%u,\"%s\"]", i == 0 ? "" : ",\n", mark->time,
			mark_group(PB_TRACE_WHAT_EVENT(mark->record.what)), text);
	}
	fputs("],", file);
	write_errors(file);
}

bool pb_trace_export_page(FILE *file, const struct pb_trace_data *data, const struct pb_timeline *timeline)
{
	const char *const place = strstr(pb_timeline_page, PAGE_DATA);

	fwrite(pb_timeline_page, 1, (size_t)(place - pb_timeline_page), file);
	write_data(file, data, timeline);
	fputs(place + strlen(PAGE_DATA), file);
	return fflush(file) == 0 && ferror(file) == 0;
}
