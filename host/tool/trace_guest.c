/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_guest.h"

#include <stdlib.h>
#include <string.h>

#include "host/tool/trace_host.h"

/** Events that are so near on the guest's clock, in nanoseconds, have one difference to the card's. */
#define NEAR_NANOSECONDS 100000000u
#define MICROSECOND      1000u
/** Events that are so much later than the last record, in microseconds, are left out: they are not of this recording. */
#define LATE 100000u

/* ---- files ---- */

static uint64_t wide(const uint32_t *words)
{
	return (uint64_t)words[1] << 32 | words[0];
}

static void read_event(struct pb_trace_guest *at, const uint32_t *words)
{
	*at = (struct pb_trace_guest){.guest = words[0],
				      .packet = PB_TRACE_GUEST_ALONE,
				      .event = {.kind = words[1],
						.nanoseconds = wide(&words[2]),
						.file = wide(&words[4]),
						.value = wide(&words[6]),
						.node = words[8],
						.queue = words[9],
						.card_us = words[10],
						.detail = (int32_t)words[11],
						.pid = words[12]}};
	for (size_t i = 0; i + 1u < sizeof(at->event.comm); i++) {
		const char byte = (char)(words[PB_TRACE_GUEST_COMM + i / 4u] >> 8u * (i % 4u));

		at->event.comm[i] =
			byte == '\0' || (byte >= ' ' && byte <= '~' && strchr("\"\\<>", byte) == NULL) ? byte
												       : '_';
	}
}

const char *pb_trace_guest_add(struct pb_trace_data *data, bool host, const uint32_t *words, uint32_t count)
{
	const uint32_t first = host ? PB_GUEST_HOST_SUBMITTED : PB_GUEST_SUBMIT;
	const uint32_t last = host ? PB_GUEST_HOST_FRAME : PB_GUEST_SIGNAL;

	if (count % PB_TRACE_GUEST_WORDS != 0)
		return "a piece of a guest's events is cut off";
	for (; count != 0; words += PB_TRACE_GUEST_WORDS, count -= PB_TRACE_GUEST_WORDS) {
		/* Doubles whenever the count is a power of two. */
		if ((data->guest_count & (data->guest_count - 1u)) == 0) {
			const size_t room = data->guest_count == 0 ? 1u : 2u * data->guest_count;
			struct pb_trace_guest *larger = realloc(data->guest, room * sizeof(*larger));

			if (larger == NULL)
				return "out of memory";
			data->guest = larger;
		}
		if (words[1] < first || words[1] > last)
			return host ? "an event of a host is of no known kind"
				    : "an event of a guest is of no known kind";
		read_event(&data->guest[data->guest_count++], words);
		if (words[0] >= data->guest_end)
			data->guest_end = words[0] + 1ull;
	}
	return NULL;
}

/* ---- times by the card's clock ---- */

/** Whether a record has the card's clock, and which: CLOCK, or any record of firmware without CLOCK. */
static bool has_clock(const struct pb_trace_data *data, bool clocks, size_t i, uint32_t *clock)
{
	const struct pb_trace_record *record = &data->moments[i].record;
	const bool is_clock =
		strcmp(data->schema.kinds[PB_TRACE_WHAT_EVENT(record->what)].name, "CLOCK") == 0;

	*clock = is_clock ? record->arguments[0] : record->clock;
	return is_clock || !clocks;
}

/** Finds the first record that is CLOCK. @return its index; data->count: there is none */
static size_t find_clock(const struct pb_trace_data *data)
{
	uint32_t clock;
	size_t i = 0;

	while (i < data->count && !has_clock(data, true, i, &clock))
		i++;
	return i;
}

/** Microseconds since the first record, by the last record that is not behind the card's clock. */
static int64_t time_of(const struct pb_trace_data *data, bool clocks, uint32_t card_us, size_t *last)
{
	uint32_t clock;

	for (size_t i = *last + 1u; i < data->count; i++) {
		if (!has_clock(data, clocks, i, &clock))
			continue;
		if ((int32_t)(card_us - clock) < 0)
			break;
		*last = i;
	}
	(void)has_clock(data, clocks, *last, &clock);
	return (int64_t)data->moments[*last].time + (int32_t)(card_us - clock);
}

static int by_guest(const void *left, const void *right)
{
	const struct pb_trace_guest *const a = left, *const b = right;

	if (a->guest != b->guest)
		return a->guest < b->guest ? -1 : 1;
	if (a->event.nanoseconds != b->event.nanoseconds)
		return a->event.nanoseconds < b->event.nanoseconds ? -1 : 1;
	return (a->event.kind > b->event.kind) - (a->event.kind < b->event.kind);
}

static int by_time(const void *left, const void *right)
{
	const struct pb_trace_guest *const a = left, *const b = right;

	return a->time != b->time ? (a->time < b->time ? -1 : 1) : by_guest(a, b);
}

/** The end of the events that are near the first one. Pre: they are sorted by guest. */
static size_t end_of_near(const struct pb_trace_data *data, size_t first)
{
	const struct pb_trace_guest *const begin = &data->guest[first];
	size_t end = first;

	while (end < data->guest_count && data->guest[end].guest == begin->guest &&
	       data->guest[end].event.nanoseconds - begin->event.nanoseconds < NEAR_NANOSECONDS)
		end++;
	return end;
}

static int64_t guest_us(const struct pb_trace_guest *at)
{
	return (int64_t)(at->event.nanoseconds / MICROSECOND);
}

static void sort(struct pb_trace_data *data, int (*order)(const void *, const void *))
{
	if (data->guest_count != 0)
		qsort(data->guest, data->guest_count, sizeof(data->guest[0]), order);
}

/** Finds the times of a guest's events from `first` on, which are near, by the card's clock. */
static void time_near(struct pb_trace_data *data, bool clocks, size_t first, size_t end, size_t *last)
{
	int64_t ahead = INT64_MIN;

	/* The card's clock goes in steps: the latest look at it, by the guest's clock, was at a step. */
	for (size_t i = first; i < end; i++) {
		const int64_t time =
			time_of(data, clocks, data->guest[i].event.card_us, last) - guest_us(&data->guest[i]);

		if (time > ahead)
			ahead = time;
	}
	for (size_t i = first; i < end; i++)
		data->guest[i].time = (uint64_t)(guest_us(&data->guest[i]) + ahead);
}

/** Leaves out the events of before the recording and those long behind it. */
static void keep_within(struct pb_trace_data *data)
{
	size_t kept = 0;

	for (size_t i = 0; i < data->guest_count; i++) {
		if ((int64_t)data->guest[i].time >= 0 &&
		    data->guest[i].time <= data->moments[data->count - 1u].time + LATE)
			data->guest[kept++] = data->guest[i];
	}
	data->guest_count = kept;
}

void pb_trace_guest_time(struct pb_trace_data *data)
{
	const size_t clock = find_clock(data);
	const bool clocks = clock < data->count;
	/* A counter tells nothing of the card's clock without CLOCK. */
	const bool known = data->hertz == 0 || clocks;
	const size_t start = clocks ? clock : 0;
	size_t last = start;

	if (data->count == 0)
		data->guest_count = 0;
	sort(data, by_guest);
	for (size_t first = 0, end; first < data->guest_count; first = end) {
		if (first != 0 && data->guest[first].guest != data->guest[first - 1u].guest)
			last = start;
		end = end_of_near(data, first);
		if (pb_guest_event_is_host(&data->guest[first].event))
			continue;
		if (known)
			time_near(data, clocks, first, end, &last);
		else
			for (size_t i = first; i < end; i++)
				data->guest[i].time = PB_TRACE_NEVER;
	}
	keep_within(data);
	sort(data, by_time);
}

/* ---- causes and effects ---- */

/** A packet of a queue, for searching. */
struct key {
	uint32_t queue, fence;
	uint64_t end;
	uint32_t index;
};

static int by_queue(const void *left, const void *right)
{
	const struct key *const a = left, *const b = right;

	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	if (a->fence != b->fence)
		return a->fence < b->fence ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

/** Finds the submission of an event: the queue's first one with that fence, or of a signal the last one. */
static uint32_t find(const struct key *keys, size_t count, const struct pb_guest_event *event)
{
	const bool last = event->kind == PB_GUEST_SIGNAL;
	const struct key key = {
		.queue = event->queue, .fence = (uint32_t)event->value, .end = last ? UINT64_MAX : 0};
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2u;

		if (by_queue(&keys[middle], &key) < 0)
			low = middle + 1u;
		else
			high = middle;
	}
	low -= last && low != 0;
	return low != count && keys[low].queue == key.queue && keys[low].fence == key.fence
		       ? keys[low].index
		       : PB_TRACE_GUEST_ALONE;
}

/** Finds the submissions of all events. @return false: out of memory */
static bool find_all(struct pb_trace_data *data, const struct pb_timeline *timeline)
{
	struct key *keys = calloc(timeline->packet_count + 1u, sizeof(*keys));

	for (uint32_t i = 0; keys != NULL && i < timeline->packet_count; i++)
		keys[i] = (struct key){timeline->lanes.lanes[timeline->packets[i].lane].handle,
				       timeline->packets[i].fence_id, timeline->packets[i].end, i};
	if (keys != NULL && timeline->packet_count != 0)
		qsort(keys, timeline->packet_count, sizeof(*keys), by_queue);
	for (size_t i = 0; keys != NULL && i < data->guest_count; i++) {
		if (!pb_guest_event_is_host(&data->guest[i].event))
			data->guest[i].packet = find(keys, timeline->packet_count, &data->guest[i].event);
	}
	free(keys);
	return keys != NULL;
}

/** The earliest and the latest time of an event, as far as its submission limits them. */
static void limit(const struct pb_timeline *timeline, const struct pb_trace_guest *at, uint64_t *least,
		  uint64_t *most)
{
	*least = 0;
	*most = PB_TRACE_NEVER;
	if (at->packet == PB_TRACE_GUEST_ALONE)
		return;
	if ((at->event.kind == PB_GUEST_SIGNAL || at->event.kind == PB_GUEST_HOST_SEEN) &&
	    timeline->packets[at->packet].kind != PB_PACKET_OPEN)
		*least = timeline->packets[at->packet].end;
	else if (at->event.kind == PB_GUEST_SUBMIT || at->event.kind == PB_GUEST_HOST_SUBMITTED)
		*most = pb_packet_begin(&timeline->packets[at->packet]);
}

/** Moves events that are near each other together, so that as many limits hold as can. */
static void move_together(struct pb_trace_data *data, const struct pb_timeline *timeline, size_t first,
			  size_t end)
{
	int64_t least = INT64_MIN, most = INT64_MAX, by;

	for (size_t i = first; i < end; i++) {
		const int64_t time = (int64_t)data->guest[i].time;
		uint64_t from, to;

		limit(timeline, &data->guest[i], &from, &to);
		if (from != 0 && (int64_t)from - time > least)
			least = (int64_t)from - time;
		if (to != PB_TRACE_NEVER && (int64_t)to - time < most)
			most = (int64_t)to - time;
	}
	if (least > most)
		by = least / 2 + most / 2;
	else
		by = least > 0 ? least : most < 0 ? most : 0;
	for (size_t i = first; i < end; i++) {
		const int64_t time = (int64_t)data->guest[i].time + by;

		data->guest[i].time = time > 0 ? (uint64_t)time : 0;
	}
}

/**
 * Moves the events of a guest that still break a limit, and keeps their order: none is before the limit of an earlier
 * one, nor behind that of a later one. @param most room for a number for each event
 */
static void move_alone(struct pb_trace_data *data, const struct pb_timeline *timeline, size_t first,
		       size_t end, uint64_t *most)
{
	uint64_t last = PB_TRACE_NEVER, earliest = 0, time = 0, least, own;

	for (size_t i = end; i-- != first; last = most[i]) {
		limit(timeline, &data->guest[i], &least, &own);
		most[i] = own < last ? own : last;
	}
	for (size_t i = first; i < end; i++) {
		limit(timeline, &data->guest[i], &least, &own);
		earliest = least > earliest ? least : earliest;
		time = data->guest[i].time > time ? data->guest[i].time : time;
		data->guest[i].time = time > most[i] ? most[i] : time;
		if (data->guest[i].time < earliest)
			data->guest[i].time = earliest;
	}
}

/**
 * Keeps the ends of a host's frames behind what the program did before them, and before what it submitted then, as far as
 * both can be. Pre: the other events have been moved.
 */
static void clamp_frames(struct pb_trace_data *data, size_t first, size_t end)
{
	uint64_t earliest = 0, latest = PB_TRACE_NEVER;

	for (size_t i = end; i-- != first;) {
		struct pb_trace_guest *at = &data->guest[i];

		if (at->event.kind == PB_GUEST_HOST_SUBMITTED && at->time < latest)
			latest = at->time;
		else if (at->event.kind == PB_GUEST_HOST_FRAME && at->time > latest)
			at->time = latest;
	}
	for (size_t i = first; i < end; i++) {
		struct pb_trace_guest *at = &data->guest[i];

		if (at->event.kind == PB_GUEST_HOST_FRAME && at->time < earliest)
			at->time = earliest;
		earliest = at->time > earliest ? at->time : earliest;
	}
}

/** Moves the events of a host that break a limit, each alone: the others have the time that the anchors give. */
static void clamp(struct pb_trace_data *data, const struct pb_timeline *timeline, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		struct pb_trace_guest *at = &data->guest[i];
		uint64_t least, most;

		limit(timeline, at, &least, &most);
		at->time = at->time > most ? most : at->time < least ? least : at->time;
	}
	clamp_frames(data, first, end);
}

bool pb_trace_guest_join(struct pb_trace_data *data, struct pb_timeline *timeline)
{
	uint64_t *most = calloc(data->guest_count + 1u, sizeof(*most));

	if (most == NULL || !find_all(data, timeline) || !pb_trace_host_find(data, timeline)) {
		free(most);
		return false;
	}
	sort(data, by_guest);
	for (size_t first = 0, end; first < data->guest_count; first = end) {
		end = end_of_near(data, first);
		if (!pb_guest_event_is_host(&data->guest[first].event))
			move_together(data, timeline, first, end);
	}
	for (size_t first = 0, end; first < data->guest_count; first = end) {
		for (end = first;
		     end < data->guest_count && data->guest[end].guest == data->guest[first].guest;)
			end++;
		if (pb_guest_event_is_host(&data->guest[first].event))
			clamp(data, timeline, first, end);
		else
			move_alone(data, timeline, first, end, most);
	}
	free(most);
	sort(data, by_time);
	pb_trace_host_begin(data, timeline);
	return true;
}
