/* SPDX-License-Identifier: MIT */
/*
 * The clients of a trace. A channel that is opened anew belongs to another client, and so does that of another boot. The
 * records of a queue do not name its client: it is the one that had the queue's channel when the queue's first record
 * was written.
 */
#include <stdlib.h>

#include "host/tool/trace_perfetto_state.h"
#include "patchbay/abi/channel.h"

/** A lane, and when it began. */
struct lane_begin {
	uint32_t lane;
	uint64_t time;
};

/** An opening of a channel. */
struct opening {
	uint64_t time;
	uint32_t channel;
};

static void note(struct lane_begin *begins, uint32_t lane, uint64_t time)
{
	if (lane != PB_LANE_NONE && time < begins[lane].time)
		begins[lane].time = time;
}

/** When the first record of each lane was written. @return heap memory, or NULL */
static struct lane_begin *find_begins(const struct pb_timeline *timeline)
{
	struct lane_begin *begins = calloc(timeline->lanes.count + 1u, sizeof(*begins));

	for (uint32_t i = 0; begins != NULL && i < timeline->lanes.count; i++)
		begins[i] = (struct lane_begin){.lane = i, .time = PB_TRACE_NEVER};
	for (size_t i = 0; begins != NULL && i < timeline->packet_count; i++)
		note(begins, timeline->packets[i].lane, pb_packet_begin(&timeline->packets[i]));
	for (size_t i = 0; begins != NULL && i < timeline->mark_count; i++)
		note(begins, timeline->marks[i].lane, timeline->marks[i].time);
	return begins;
}

/** Whether a mark reports that a channel was opened. */
static bool opens(const struct pb_perfetto *export, const struct pb_mark *mark)
{
	const uint32_t event = PB_TRACE_WHAT_EVENT(mark->record.what);

	return export->data->schema.kinds[event].event == PB_TRACE_CHANNEL &&
	       mark->record.arguments[1] == PB_CHANNEL_OPEN;
}

/** How often a channel was opened up to a time. */
static uint32_t count_openings(const struct opening *openings, size_t count, uint32_t channel, uint64_t time)
{
	uint32_t number = 0;

	for (size_t i = 0; i < count && openings[i].time <= time; i++)
		number += openings[i].channel == channel;
	return number;
}

static int by_channel(const void *left, const void *right)
{
	const struct pb_perfetto_client *const a = left, *const b = right;

	if (a->channel != b->channel)
		return a->channel < b->channel ? -1 : 1;
	if (a->incarnation != b->incarnation)
		return a->incarnation < b->incarnation ? -1 : 1;
	return (a->opening > b->opening) - (a->opening < b->opening);
}

/** Sorts the clients and drops equal ones. */
static void make_unique(struct pb_perfetto *export)
{
	size_t kept = 0;

	if (export->client_count != 0)
		qsort(export->clients, export->client_count, sizeof(export->clients[0]), by_channel);
	for (size_t i = 0; i < export->client_count; i++) {
		if (kept == 0 || by_channel(&export->clients[kept - 1u], &export->clients[i]) != 0)
			export->clients[kept++] = export->clients[i];
	}
	export->client_count = kept;
}

/** Collects the openings of channels, by time. @return how many */
static size_t collect_openings(const struct pb_perfetto *export, struct opening *openings)
{
	const struct pb_timeline *timeline = export->timeline;
	size_t count = 0;

	for (size_t i = 0; i < timeline->mark_count; i++) {
		if (opens(export, &timeline->marks[i]))
			openings[count++] = (struct opening){timeline->marks[i].time,
							     timeline->marks[i].record.arguments[0]};
	}
	return count;
}

void pb_perfetto_find_clients(struct pb_perfetto *export)
{
	const struct pb_lanes *lanes = &export->timeline->lanes;
	struct lane_begin *begins = find_begins(export->timeline);
	struct opening *openings = calloc(export->timeline->mark_count + 1u, sizeof(*openings));
	struct pb_perfetto_client *of = calloc(lanes->count + 1u, sizeof(*of));

	export->clients = calloc(lanes->count + 1u, sizeof(*of));
	export->client_of = calloc(lanes->count + 1u, sizeof(uint32_t));
	export->failed |= begins == NULL || openings == NULL || of == NULL || export->clients == NULL ||
			  export->client_of == NULL;
	if (!export->failed) {
		const size_t opened = collect_openings(export, openings);

		for (size_t i = 0; i < lanes->count; i++) {
			const struct pb_lane *lane = &lanes->lanes[i];

			of[i] = (struct pb_perfetto_client){
				lane->channel, lane->incarnation,
				count_openings(openings, opened, lane->channel, begins[i].time)};
			export->clients[i] = of[i];
		}
		export->client_count = lanes->count;
		make_unique(export);
		for (size_t i = 0; i < lanes->count; i++)
			export->client_of[i] =
				(uint32_t)((struct pb_perfetto_client *)bsearch(&of[i], export->clients,
										export->client_count,
										sizeof(*of), by_channel) -
					   export->clients);
	}
	free(begins);
	free(openings);
	free(of);
}
