/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_wakes.h"

#include <stdlib.h>

#define SLOTS 0x10000u
#define NONE  SIZE_MAX

/** What is known while the marks and the packets are passed, both by time. */
struct sweep {
	const struct pb_trace_data *data;
	const struct pb_timeline *timeline;
	struct pb_wakes *wakes;
	size_t ended;    /**< packets that have ended: those before this index */
	size_t *last;    /**< of each slot: the packet that completed last, or NONE */
	uint64_t *since; /**< of each lane: time of its WAIT, or NEVER */
	size_t *next; /**< of each lane: the first packet that may not have been patched or fed yet, or the count */
};

/** When a packet was no longer waiting. */
static uint64_t went_on(const struct pb_packet *packet)
{
	return packet->patch != PB_TRACE_NEVER ? packet->patch : packet->feed;
}

/** Notes the packets that ended up to a time. */
static void pass_ends(struct sweep *sweep, uint64_t time)
{
	const struct pb_timeline *timeline = sweep->timeline;

	for (; sweep->ended < timeline->packet_count; sweep->ended++) {
		const struct pb_packet *packet = &timeline->packets[sweep->ended];

		if (packet->kind == PB_PACKET_OPEN || packet->end > time)
			return;
		if (packet->kind != PB_PACKET_PREEMPTED)
			sweep->last[timeline->lanes.lanes[packet->lane].slot % SLOTS] = sweep->ended;
	}
}

/** The packet of a lane that goes on next, from a time on. NONE: the trace has none */
static size_t next_of(struct sweep *sweep, uint32_t lane, uint64_t time)
{
	const struct pb_timeline *timeline = sweep->timeline;
	size_t i = sweep->next[lane];

	for (; i < timeline->packet_count; i++) {
		const struct pb_packet *packet = &timeline->packets[i];

		if (packet->lane == lane && packet->kind != PB_PACKET_PREEMPTED && packet->end >= time &&
		    went_on(packet) != PB_TRACE_NEVER && went_on(packet) >= time)
			break;
	}
	sweep->next[lane] = i;
	return i < timeline->packet_count ? i : NONE;
}

/** A queue waits no longer. @param index of the WAKE */
static void on_wake(struct sweep *sweep, size_t index)
{
	const struct pb_mark *mark = &sweep->timeline->marks[index];
	const uint64_t since = sweep->since[mark->lane];
	const struct pb_wake wake = {.since = since,
				     .time = mark->time,
				     .mark = index,
				     .from = sweep->last[mark->record.arguments[0] % SLOTS],
				     .to = next_of(sweep, mark->lane, mark->time)};

	sweep->since[mark->lane] = PB_TRACE_NEVER;
	if (wake.from == NONE || wake.to == NONE)
		return;
	if (since != PB_TRACE_NEVER && sweep->timeline->packets[wake.from].end < since)
		return; /* it ended for another reason: an error, or its queue closed */
	sweep->wakes->wakes[sweep->wakes->count++] = wake;
}

static void pass_marks(struct sweep *sweep)
{
	const struct pb_timeline *timeline = sweep->timeline;

	for (size_t i = 0; i < timeline->mark_count; i++) {
		const struct pb_mark *mark = &timeline->marks[i];
		const uint32_t event =
			sweep->data->schema.kinds[PB_TRACE_WHAT_EVENT(mark->record.what)].event;

		if (mark->lane == PB_LANE_NONE)
			continue;
		pass_ends(sweep, mark->time);
		if (event == PB_TRACE_WAIT)
			sweep->since[mark->lane] = mark->time;
		else if (event == PB_TRACE_WAKE)
			on_wake(sweep, i);
	}
}

bool pb_wakes_find(const struct pb_trace_data *data, const struct pb_timeline *timeline,
		   struct pb_wakes *wakes)
{
	const size_t lanes = timeline->lanes.count + 1u;
	struct sweep sweep = {.data = data,
			      .timeline = timeline,
			      .wakes = wakes,
			      .last = malloc(SLOTS * sizeof(*sweep.last)),
			      .since = malloc(lanes * sizeof(*sweep.since)),
			      .next = calloc(lanes, sizeof(*sweep.next))};
	bool enough;

	wakes->count = 0;
	wakes->wakes = malloc((timeline->mark_count + 1u) * sizeof(*wakes->wakes));
	enough = sweep.last != NULL && sweep.since != NULL && sweep.next != NULL && wakes->wakes != NULL;
	for (size_t i = 0; enough && i < SLOTS; i++)
		sweep.last[i] = NONE;
	for (size_t i = 0; enough && i < lanes; i++)
		sweep.since[i] = PB_TRACE_NEVER;
	if (enough)
		pass_marks(&sweep);
	free(sweep.last);
	free(sweep.since);
	free(sweep.next);
	return enough;
}
