/* SPDX-License-Identifier: MIT */
/* The events of a Perfetto trace that have no packet: records, waits of queues, DDI calls; and to which flows they belong. */
#include <stdlib.h>

#include "host/tool/trace_perfetto_state.h"
#include "host/tool/trace_wakes.h"

/** First id of the flows from a signal to a queue that waited for it. Those of submissions count from 1. */
#define WAKE_FLOWS 0x100000000u

/** A packet by what it is searched for. */
struct key {
	uint32_t first, second; /**< its lane and 0, or its node and its fence id */
	uint64_t time;          /**< when its preparation begins, or its end */
	uint32_t index;
};

/** What the marks are joined with. */
struct finder {
	struct key *by_lane;  /**< packets by lane and begin of their preparation */
	struct key *by_fence; /**< packets by node, fence id and end */
	size_t count;         /**< of each */
	struct pb_wakes wakes;
	size_t wake;   /**< the first one that has not been passed yet */
	bool *waiting; /**< by lane: its queue waits */
};

static int by_key(const void *left, const void *right)
{
	const struct key *const a = left, *const b = right;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	if (a->second != b->second)
		return a->second < b->second ? -1 : 1;
	return (a->time > b->time) - (a->time < b->time);
}

static bool begin(struct finder *finder, const struct pb_perfetto *export)
{
	const struct pb_timeline *timeline = export->timeline;
	const size_t count = timeline->packet_count;

	*finder = (struct finder){.by_lane = calloc(count + 1u, sizeof(struct key)),
				  .by_fence = calloc(count + 1u, sizeof(struct key)),
				  .count = count,
				  .waiting = calloc(timeline->lanes.count + 1u, sizeof(bool))};
	if (!pb_wakes_find(export->data, timeline, &finder->wakes) || finder->by_lane == NULL ||
	    finder->by_fence == NULL || finder->waiting == NULL)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct pb_packet *packet = &timeline->packets[i];
		const uint64_t prepared = packet->patch != PB_TRACE_NEVER ? packet->patch : packet->feed;

		finder->by_lane[i] = (struct key){packet->lane, 0, prepared, i};
		finder->by_fence[i] = (struct key){packet->node, packet->fence_id, packet->end, i};
	}
	if (count != 0) {
		qsort(finder->by_lane, count, sizeof(struct key), by_key);
		qsort(finder->by_fence, count, sizeof(struct key), by_key);
	}
	return true;
}

static void end(struct finder *finder)
{
	free(finder->by_lane);
	free(finder->by_fence);
	free(finder->wakes.wakes);
	free(finder->waiting);
}

/** The first of `keys` that is not before `key`. @return `count`: there is none */
static size_t lower_bound(const struct key *keys, size_t count, const struct key *key)
{
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2u;

		if (by_key(&keys[middle], key) < 0)
			low = middle + 1u;
		else
			high = middle;
	}
	return low;
}

/** The flow of the packet that a lane prepares first from a time on. @return 0: there is none */
static uint64_t flow_of_next(const struct finder *finder, uint32_t lane, uint64_t time)
{
	const struct key key = {.first = lane, .time = time};
	const size_t at = lower_bound(finder->by_lane, finder->count, &key);

	return at != finder->count && finder->by_lane[at].first == lane &&
			       finder->by_lane[at].time != PB_TRACE_NEVER
		       ? finder->by_lane[at].index + 1u
		       : 0;
}

/** The flow of a node's packet with a fence id: the first that ends at a time or later, or the last before. 0: none */
static uint64_t flow_of_fence(const struct finder *finder, const struct pb_ddi_call *call, uint64_t time)
{
	const bool ended = call->function == PB_DDI_COMPLETED;
	const struct key key = {.first = call->node, .second = call->id, .time = ended ? time + 1u : time};
	size_t at = lower_bound(finder->by_fence, finder->count, &key);
	const struct key *found = finder->by_fence;

	if (ended && at-- == 0)
		return 0;
	found += at;
	return at != finder->count && found->first == call->node && found->second == call->id
		       ? found->index + 1u
		       : 0;
}

/** Ends the wait of a lane's queue, if there is one. */
static void end_wait(struct pb_perfetto *export, struct finder *finder, uint32_t lane, uint64_t time)
{
	if (finder->waiting[lane])
		pb_perfetto_add(export, (struct pb_perfetto_event){
						.time = time,
						.track = pb_perfetto_uuid(PB_PERFETTO_QUEUE, lane, 0),
						.type = PB_PERFETTO_END});
	finder->waiting[lane] = false;
}

/**
 * Handles WAIT and WAKE: a wait is a span of its queue that belongs to the flow of the submission that waits. A flow
 * leads to WAKE from the signal that ended the wait. @param event out: the event of the mark
 */
static void add_wait(struct pb_perfetto *export, struct finder *finder, const struct pb_mark *mark,
		     bool waits, struct pb_perfetto_event *event)
{
	const struct pb_wakes *wakes = &finder->wakes;

	end_wait(export, finder, mark->lane, mark->time);
	if (waits) {
		event->flow = flow_of_next(finder, mark->lane, mark->time);
		event->name = PB_PERFETTO_NAME_AWAITS;
		event->type = PB_PERFETTO_BEGIN;
		finder->waiting[mark->lane] = true;
		return;
	}
	if (finder->wake == wakes->count || wakes->wakes[finder->wake].mark != event->index)
		return;
	event->flow = WAKE_FLOWS + export->event_count;
	pb_perfetto_add_link(export, export->signals[wakes->wakes[finder->wake].from], event->flow);
	finder->wake++;
}

/** Adds a record without a packet. */
static void add_mark(struct pb_perfetto *export, struct finder *finder, uint32_t index)
{
	const struct pb_mark *mark = &export->timeline->marks[index];
	const uint32_t number = PB_TRACE_WHAT_EVENT(mark->record.what);
	const uint32_t object = PB_TRACE_WHAT_OBJECT(mark->record.what);
	const struct pb_trace_kind *kind = &export->data->schema.kinds[number];
	struct pb_perfetto_event event = {.time = mark->time,
					  .track = pb_perfetto_uuid(PB_PERFETTO_CARD, 0, 0),
					  .name = PB_PERFETTO_NAME_RECORD + (kind->known ? number : 0),
					  .index = index,
					  .type = PB_PERFETTO_INSTANT,
					  .detail = PB_PERFETTO_MARK};

	if (mark->lane != PB_LANE_NONE)
		event.track = pb_perfetto_uuid(PB_PERFETTO_QUEUE, mark->lane, 0);
	else if (kind->event == PB_TRACE_NODE && object < PB_PERFETTO_NODES)
		event.track = pb_perfetto_uuid(PB_PERFETTO_NODE, object, 0);
	if (mark->lane != PB_LANE_NONE && (kind->event == PB_TRACE_WAIT || kind->event == PB_TRACE_WAKE))
		add_wait(export, finder, mark, kind->event == PB_TRACE_WAIT, &event);
	pb_perfetto_add(export, event);
}

static void add_call(struct pb_perfetto *export, const struct finder *finder, uint32_t index)
{
	const struct pb_trace_call *at = &export->data->calls[index];
	const struct pb_ddi_call *call = &at->call;
	const uint32_t node = call->node < PB_PERFETTO_NODES ? call->node : PB_PERFETTO_NODES;
	const bool known = call->function >= PB_DDI_RENDER && call->function <= PB_DDI_RESTART_FROM_TIMEOUT;
	const bool joined = call->names == PB_DDI_NAMES_PACKET &&
			    (call->function == PB_DDI_SUBMIT_COMMAND || call->function == PB_DDI_COMPLETED);

	pb_perfetto_add(export, (struct pb_perfetto_event){
					.time = at->time,
					.track = pb_perfetto_uuid(PB_PERFETTO_CALLS, node, 0),
					.flow = joined ? flow_of_fence(finder, call, at->time) : 0,
					.name = PB_PERFETTO_NAME_CALL + (known ? call->function : 0),
					.index = index,
					.type = PB_PERFETTO_INSTANT,
					.detail = PB_PERFETTO_CALL,
					.cause = call->function == PB_DDI_SUBMIT_COMMAND});
}

void pb_perfetto_add_marks(struct pb_perfetto *export)
{
	const struct pb_timeline *timeline = export->timeline;
	struct finder finder;

	export->failed |= !begin(&finder, export);
	for (uint32_t i = 0; !export->failed && i < timeline->mark_count; i++)
		add_mark(export, &finder, i);
	for (uint32_t lane = 0; !export->failed && lane < timeline->lanes.count; lane++)
		end_wait(export, &finder, lane, timeline->duration);
	for (uint32_t i = 0; !export->failed && i < export->data->call_count; i++)
		add_call(export, &finder, i);
	end(&finder);
}
