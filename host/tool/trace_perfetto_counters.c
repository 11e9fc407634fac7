/* SPDX-License-Identifier: MIT */
/* The counters of a Perfetto trace: depths of queues and nodes, and how far nodes are occupied. */
#include <stdlib.h>

#include "host/tool/trace_perfetto_state.h"

/** The time in which a node has something to run is counted in windows of so many microseconds, or longer ones in a long trace. */
#define WINDOW      10000u
#define WINDOWS_MAX 100000u

/** A submission comes or leaves. */
struct change {
	uint64_t time;
	uint32_t of; /**< the lane or node whose depth changes */
	int32_t step;
};

static void add_value(struct pb_perfetto *export, uint64_t time, uint64_t track, int64_t value)
{
	pb_perfetto_add(export,
			(struct pb_perfetto_event){
				.time = time, .track = track, .value = value, .type = PB_PERFETTO_COUNTER});
}

static int by_owner(const void *left, const void *right)
{
	const struct change *const a = left, *const b = right;

	if (a->of != b->of)
		return a->of < b->of ? -1 : 1;
	return (a->time > b->time) - (a->time < b->time);
}

/** Adds the depths of all lanes or all nodes: of changes of one time the result, if it is another. */
static void add_depths(struct pb_perfetto *export, enum pb_perfetto_kind kind, struct change *changes,
		       size_t count)
{
	int64_t depth = 0, shown = 0;

	if (count != 0)
		qsort(changes, count, sizeof(*changes), by_owner);
	for (size_t i = 0; i < count; i++) {
		const struct change *change = &changes[i];

		if (i == 0 || change[-1].of != change->of)
			depth = shown = 0;
		depth += change->step;
		if (i + 1u < count && change[1].of == change->of && change[1].time == change->time)
			continue;
		if (depth != shown)
			add_value(export, change->time, pb_perfetto_uuid(kind, change->of, 0), depth);
		shown = depth;
	}
}

static void count_depths(struct pb_perfetto *export, enum pb_perfetto_kind kind)
{
	const struct pb_timeline *timeline = export->timeline;
	struct change *changes = calloc(2u * timeline->packet_count + 1u, sizeof(*changes));
	size_t count = 0;

	export->failed |= changes == NULL;
	for (size_t i = 0; changes != NULL && i < timeline->packet_count; i++) {
		const struct pb_packet *packet = &timeline->packets[i];
		const uint32_t of = kind == PB_PERFETTO_QUEUE_DEPTH
					    ? packet->lane
					    : timeline->lanes.lanes[packet->lane].node;

		if (of == PB_TRACE_UNKNOWN)
			continue;
		changes[count++] = (struct change){pb_packet_begin(packet), of, 1};
		changes[count++] = (struct change){packet->end, of, -1};
	}
	if (changes != NULL)
		add_depths(export, kind, changes, count);
	free(changes);
}

/** Spreads a time of running over the windows that it touches. */
static void spread(uint32_t *busy, uint64_t window, uint64_t from, uint64_t to)
{
	while (from < to) {
		const uint64_t next = (from / window + 1u) * window;
		const uint64_t until = next < to ? next : to;

		busy[from / window] += (uint32_t)(until - from);
		from = until;
	}
}

/** Adds the values of a node's counter. The last window has the length that the trace leaves it. */
static void add_shares(struct pb_perfetto *export, uint32_t node, const uint32_t *busy, uint64_t window)
{
	const uint64_t end = export->timeline->duration;
	const uint64_t track = pb_perfetto_uuid(PB_PERFETTO_NODE_BUSY, node, 0);
	int64_t before = -1;

	for (uint64_t from = 0; from < end; from += window) {
		const uint64_t length = end - from < window ? end - from : window;
		const int64_t share =
			(int64_t)((100u * (uint64_t)busy[from / window] + length / 2u) / length);

		if (share != before)
			add_value(export, from, track, share);
		before = share;
	}
	add_value(export, end, track, 0);
}

static void count_busy(struct pb_perfetto *export, uint32_t node)
{
	const struct pb_timeline *timeline = export->timeline;
	const uint64_t least = timeline->duration / WINDOWS_MAX + 1u;
	const uint64_t window = least > WINDOW ? least : WINDOW;
	uint32_t *busy = calloc((size_t)(timeline->duration / window) + 1u, sizeof(*busy));

	export->failed |= busy == NULL;
	for (size_t i = 0; busy != NULL && i < timeline->packet_count; i++) {
		const struct pb_packet *packet = &timeline->packets[i];

		if (packet->node == node && packet->run != PB_TRACE_NEVER)
			spread(busy, window, packet->run, packet->end);
	}
	if (busy != NULL)
		add_shares(export, node, busy, window);
	free(busy);
}

/** Notes the nodes of the packets, of the queues, and of events. */
static void find_nodes(struct pb_perfetto *export)
{
	const struct pb_timeline *timeline = export->timeline;

	for (size_t i = 0; i < timeline->packet_count; i++) {
		if (timeline->packets[i].node < PB_PERFETTO_NODES)
			export->node[timeline->packets[i].node] = true;
	}
	for (size_t i = 0; i < timeline->lanes.count; i++) {
		if (timeline->lanes.lanes[i].node < PB_PERFETTO_NODES)
			export->node[timeline->lanes.lanes[i].node] = true;
	}
	for (size_t i = 0; i < timeline->mark_count; i++) {
		const uint32_t what = timeline->marks[i].record.what;

		if (export->data->schema.kinds[PB_TRACE_WHAT_EVENT(what)].event == PB_TRACE_NODE &&
		    PB_TRACE_WHAT_OBJECT(what) < PB_PERFETTO_NODES)
			export->node[PB_TRACE_WHAT_OBJECT(what)] = true;
	}
}

void pb_perfetto_add_counters(struct pb_perfetto *export)
{
	find_nodes(export);
	count_depths(export, PB_PERFETTO_QUEUE_DEPTH);
	count_depths(export, PB_PERFETTO_NODE_DEPTH);
	for (uint32_t node = 0; node < PB_PERFETTO_NODES && !export->failed; node++) {
		if (export->node[node])
			count_busy(export, node);
	}
}
