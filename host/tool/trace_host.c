/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_host.h"

#include <stdlib.h>

/** By how much the time of a host's event may be late, in microseconds: the error of an anchor, and more. */
#define SLACK_US 1000u

/** A submission of the card, or of a host. */
struct key {
	uint64_t a, b, c; /**< what they are sorted by */
	uint32_t index;
};

static int by_key(const void *left, const void *right)
{
	const struct key *const x = left, *const y = right;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return (x->c > y->c) - (x->c < y->c);
}

/** Finds the first key that is not before another one. */
static size_t first_from(const struct key *keys, size_t count, const struct key *key)
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

/** Follows the submissions that are taken to the first free one. @param next of each: itself while it is free */
static size_t free_from(uint32_t *next, size_t at)
{
	while (next[at] != at) {
		next[at] = next[next[at]];
		at = next[at];
	}
	return at;
}

/** Finds the submissions of events `submitted`. @param keys,next room for one more than there are submissions */
static void find_submitted(struct pb_trace_data *data, const struct pb_timeline *timeline, struct key *keys,
			   uint32_t *next)
{
	const size_t count = timeline->packet_count;

	for (uint32_t i = 0; i < count; i++) {
		const struct pb_packet *packet = &timeline->packets[i];

		keys[i] = (struct key){timeline->lanes.lanes[packet->lane].handle, packet->fence_id,
				       packet->kind == PB_PACKET_OPEN ? PB_TRACE_NEVER : packet->end, i};
	}
	qsort(keys, count, sizeof(*keys), by_key);
	for (uint32_t i = 0; i <= count; i++)
		next[i] = i;
	for (size_t i = 0; i < data->guest_count; i++) {
		struct pb_trace_guest *at = &data->guest[i];
		const struct key key = {at->event.queue, pb_guest_event_fence(&at->event),
					at->time > SLACK_US ? at->time - SLACK_US : 0, 0};
		size_t found;

		if (at->event.kind != PB_GUEST_HOST_SUBMITTED)
			continue;
		found = free_from(next, first_from(keys, count, &key));
		if (found == count || keys[found].a != key.a || keys[found].b != key.b)
			continue;
		at->packet = keys[found].index;
		next[found] = (uint32_t)found + 1u;
	}
}

static struct key key_of(const struct pb_trace_guest *at, uint32_t index)
{
	return (struct key){at->guest, at->event.queue, index, 0};
}

/** Finds the last submission of events `seen`: its index is before the consumer index. @param keys room for the events */
static void find_seen(struct pb_trace_data *data, struct key *keys)
{
	size_t count = 0;

	for (size_t i = 0; i < data->guest_count; i++) {
		if (data->guest[i].event.kind != PB_GUEST_HOST_SUBMITTED)
			continue;
		keys[count] = key_of(&data->guest[i], data->guest[i].event.card_us);
		keys[count++].index = (uint32_t)i;
	}
	qsort(keys, count, sizeof(*keys), by_key);
	for (size_t i = 0; i < data->guest_count; i++) {
		struct pb_trace_guest *at = &data->guest[i];
		const struct key key = key_of(at, at->event.card_us - 1u);
		size_t found;

		if (at->event.kind != PB_GUEST_HOST_SEEN)
			continue;
		found = first_from(keys, count, &key);
		if (found == count || by_key(&keys[found], &key) != 0)
			continue;
		at->packet = data->guest[keys[found].index].packet;
		at->event.detail = data->guest[keys[found].index].event.detail;
		at->event.value = data->guest[keys[found].index].event.value;
	}
}

bool pb_trace_host_find(struct pb_trace_data *data, const struct pb_timeline *timeline)
{
	const size_t most =
		data->guest_count > timeline->packet_count ? data->guest_count : timeline->packet_count;
	struct key *keys = calloc(most + 1u, sizeof(*keys));
	uint32_t *next = calloc(timeline->packet_count + 1u, sizeof(*next));
	const bool good = keys != NULL && next != NULL;

	if (good) {
		find_submitted(data, timeline, keys, next);
		find_seen(data, keys);
	}
	free(keys);
	free(next);
	return good;
}

void pb_trace_host_begin(const struct pb_trace_data *data, struct pb_timeline *timeline)
{
	for (size_t i = 0; i < data->guest_count; i++) {
		const struct pb_trace_guest *at = &data->guest[i];

		if (at->event.kind == PB_GUEST_HOST_SUBMITTED && at->packet != PB_TRACE_GUEST_ALONE &&
		    at->time <= pb_packet_begin(&timeline->packets[at->packet]))
			timeline->packets[at->packet].submit = at->time;
	}
}
