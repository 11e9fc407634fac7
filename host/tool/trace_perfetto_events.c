/* SPDX-License-Identifier: MIT */
/* The events of a Perfetto trace: what stands on which track, and which flows lead from one to another. */
#include <stdlib.h>

#include "host/tool/trace_perfetto_state.h"

/** Adds a span. Spans of a track are added by begin, those inside another one between its begin and its end. */
static void add_span(struct pb_perfetto *export, uint64_t track, enum pb_perfetto_name name, uint64_t from,
		     uint64_t to)
{
	pb_perfetto_add(export,
			(struct pb_perfetto_event){
				.time = from, .track = track, .name = name, .type = PB_PERFETTO_BEGIN});
	pb_perfetto_add(export,
			(struct pb_perfetto_event){.time = to, .track = track, .type = PB_PERFETTO_END});
}

/** A time of a packet, not before the one that precedes it, and not behind its end. */
static uint64_t in_order(const struct pb_packet *packet, uint64_t before, uint64_t time)
{
	if (time == PB_TRACE_NEVER || time < before)
		return before;
	return time < packet->end ? time : packet->end;
}

/** Adds what a packet did from its begin to its end. Phases of no duration are left out. */
static void add_phases(struct pb_perfetto *export, const struct pb_packet *packet, uint64_t track)
{
	const bool patched = packet->patch != PB_TRACE_NEVER && packet->patched != PB_TRACE_NEVER;
	uint64_t at = pb_packet_begin(packet);
	const struct {
		uint64_t end;
		enum pb_perfetto_name name;
		bool known;
	} phases[] = {
		{patched ? packet->patch : packet->feed, PB_PERFETTO_NAME_WAITING, true},
		{packet->patched, PB_PERFETTO_NAME_PATCHING, patched},
		{packet->feed, PB_PERFETTO_NAME_READY, true},
		{packet->run, PB_PERFETTO_NAME_QUEUED, true},
		{packet->end, PB_PERFETTO_NAME_RUNNING, packet->run != PB_TRACE_NEVER},
	};

	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		const uint64_t end = in_order(packet, at, phases[i].end);

		if (phases[i].known && end > at)
			add_span(export, track, phases[i].name, at, end);
		at = end;
	}
}

static const enum pb_perfetto_name kind_names[] = {
	[PB_PACKET_RENDER] = PB_PERFETTO_NAME_RENDER, [PB_PACKET_PRESENT] = PB_PERFETTO_NAME_PRESENT,
	[PB_PACKET_PAGING] = PB_PERFETTO_NAME_PAGING, [PB_PACKET_PREEMPTED] = PB_PERFETTO_NAME_PREEMPTED,
	[PB_PACKET_FAILED] = PB_PERFETTO_NAME_FAILED, [PB_PACKET_OPEN] = PB_PERFETTO_NAME_OPEN,
};

/** Adds a packet in a row of its queue. Its flow leads from here to the engine and to the signal of its fence. */
static void add_packet(struct pb_perfetto *export, uint32_t index, uint32_t row)
{
	const struct pb_packet *packet = &export->timeline->packets[index];
	const uint64_t track = pb_perfetto_uuid(PB_PERFETTO_ROW, packet->lane, row);
	struct pb_perfetto_event event = {.time = pb_packet_begin(packet),
					  .track = track,
					  .flow = index + 1u,
					  .name = PB_PERFETTO_NAME_SUBMISSION,
					  .index = index,
					  .type = PB_PERFETTO_BEGIN,
					  .detail = PB_PERFETTO_PACKET};

	pb_perfetto_add(export, event);
	add_phases(export, packet, track);
	pb_perfetto_add(export, (struct pb_perfetto_event){
					.time = packet->end, .track = track, .type = PB_PERFETTO_END});
}

/** Adds what an engine ran, and the signal of its fence. Pre: packets are added by end. */
static void add_run(struct pb_perfetto *export, uint32_t index)
{
	const struct pb_packet *packet = &export->timeline->packets[index];
	struct pb_perfetto_event event = {.time = packet->run,
					  .flow = index + 1u,
					  .name = kind_names[packet->kind],
					  .index = index,
					  .type = PB_PERFETTO_BEGIN,
					  .detail = PB_PERFETTO_PACKET};

	if (packet->run != PB_TRACE_NEVER && packet->node < PB_PERFETTO_NODES) {
		event.track = pb_perfetto_uuid(PB_PERFETTO_NODE, packet->node, 0);
		pb_perfetto_add(export, event);
		pb_perfetto_add(export, (struct pb_perfetto_event){.time = packet->end,
								   .track = event.track,
								   .type = PB_PERFETTO_END});
	}
	if (packet->kind == PB_PACKET_OPEN || packet->kind == PB_PACKET_PREEMPTED)
		return;
	export->signals[index] = (uint32_t) export->event_count;
	event.time = packet->end;
	event.track = pb_perfetto_uuid(PB_PERFETTO_QUEUE, packet->lane, 0);
	event.name = PB_PERFETTO_NAME_SIGNAL;
	event.type = PB_PERFETTO_INSTANT;
	pb_perfetto_add(export, event);
}

/** A packet, for sorting. */
struct place {
	uint64_t begin, end;
	uint32_t lane, index;
};

static int by_begin(const void *left, const void *right)
{
	const struct place *const a = left, *const b = right;

	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/** Adds the packets of a lane, each in the first row that is free when it begins. @param ends of the rows: cleared */
static void add_lane(struct pb_perfetto *export, const struct place *places, size_t count, uint64_t *ends)
{
	uint32_t *rows = &export->rows[places[0].lane];

	for (size_t i = 0; i < count; i++) {
		uint32_t row = 0;

		while (row < *rows && ends[row] > places[i].begin)
			row++;
		if (row == *rows)
			++*rows;
		ends[row] = places[i].end;
		add_packet(export, places[i].index, row);
	}
}

void pb_perfetto_add_packets(struct pb_perfetto *export)
{
	const struct pb_timeline *timeline = export->timeline;
	struct place *places = calloc(timeline->packet_count + 1u, sizeof(*places));
	uint64_t *ends = calloc(timeline->packet_count + 1u, sizeof(*ends));

	export->rows = calloc(timeline->lanes.count + 1u, sizeof(uint32_t));
	export->signals = calloc(timeline->packet_count + 1u, sizeof(uint32_t));
	export->failed |= places == NULL || ends == NULL || export->rows == NULL || export->signals == NULL;
	for (uint32_t i = 0; !export->failed && i < timeline->packet_count; i++)
		places[i] = (struct place){pb_packet_begin(&timeline->packets[i]), timeline->packets[i].end,
					   timeline->packets[i].lane, i};
	if (!export->failed && timeline->packet_count != 0)
		qsort(places, timeline->packet_count, sizeof(*places), by_begin);
	for (size_t i = 0, next; !export->failed && i < timeline->packet_count; i = next) {
		for (next = i; next < timeline->packet_count && places[next].lane == places[i].lane;)
			next++;
		add_lane(export, &places[i], next - i, ends);
	}
	free(places);
	free(ends);
	for (uint32_t i = 0; !export->failed && i < timeline->packet_count; i++)
		add_run(export, i);
}
