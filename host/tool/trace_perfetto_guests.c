/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/*
 * The events of guests and hosts in a Perfetto trace. A host's channel takes the place of a file. A file's process is the one that submitted first to it: the other events of
 * a file come from whatever task ran just then.
 */
#include <stdlib.h>
#include <string.h>

#include "host/tool/trace_perfetto_state.h"

/** An event, for sorting. */
struct place {
	const struct pb_trace_guest *at;
	uint32_t index;
};

static int by_file(const struct pb_trace_guest *a, const struct pb_trace_guest *b)
{
	if (a->guest != b->guest)
		return a->guest < b->guest ? -1 : 1;
	return (a->event.file > b->event.file) - (a->event.file < b->event.file);
}

/** What of a file has a track: a queue, or the interrupts; the frames come last. */
static uint64_t track_of(const struct pb_trace_guest *at)
{
	return at->event.kind == PB_GUEST_HOST_FRAME ? UINT64_MAX : at->event.queue;
}

/* Those of a file by track; of a track by time. */
static int by_track(const void *left, const void *right)
{
	const struct place *const a = left, *const b = right;
	const int files = by_file(a->at, b->at);

	if (files != 0)
		return files;
	if (track_of(a->at) != track_of(b->at))
		return track_of(a->at) < track_of(b->at) ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/** Gives the events of a file their process, and each queue's a track. */
static void place_file(struct pb_perfetto *export, const struct place *places, size_t count)
{
	const struct place *owner = NULL;
	uint32_t first = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		first = places[i].index < first ? places[i].index : first;
		if ((places[i].at->event.kind == PB_GUEST_SUBMIT ||
		     pb_guest_event_is_host(&places[i].at->event)) &&
		    (owner == NULL || places[i].index < owner->index))
			owner = &places[i];
	}
	for (size_t i = 0; i < count; i++) {
		struct pb_perfetto_guest *at = &export->guest[places[i].index];

		at->process = first;
		at->track = i != 0 && track_of(places[i].at) == track_of(places[i - 1u].at)
				    ? export->guest[places[i - 1u].index].track
				    : places[i].index;
		if (owner == NULL)
			continue;
		at->pid = owner->at->event.pid;
		memcpy(at->comm, owner->at->event.comm, sizeof(at->comm));
	}
}

/** Orders files, by their first events, by guest and process. */
static int by_process(const void *left, const void *right, void *argument)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct pb_perfetto *export = argument;
	const struct pb_trace_guest *const data = export->data->guest;

	if (data[a].guest != data[b].guest)
		return data[a].guest < data[b].guest ? -1 : 1;
	if (export->guest[a].pid != export->guest[b].pid)
		return export->guest[a].pid < export->guest[b].pid ? -1 : 1;
	return strcmp(export->guest[a].comm, export->guest[b].comm);
}

static int by_process_and_time(const void *left, const void *right, void *argument)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const int processes = by_process(left, right, argument);

	return processes != 0 ? processes : (a > b) - (a < b);
}

/** Joins the files of a process: its first event is that of all. @param firsts of each file, `count` of them */
static void join_processes(struct pb_perfetto *export, uint32_t *firsts, size_t count, uint32_t *process)
{
	qsort_r(firsts, count, sizeof(*firsts), by_process_and_time, export);
	for (size_t i = 0; i < count; i++)
		process[firsts[i]] = i != 0 && by_process(&firsts[i - 1u], &firsts[i], export) == 0
					     ? process[firsts[i - 1u]]
					     : firsts[i];
	for (size_t i = 0; i < export->data->guest_count; i++)
		export->guest[i].process = process[export->guest[i].process];
}

static void place_all(struct pb_perfetto *export, struct place *places, uint32_t *firsts, uint32_t *process)
{
	const size_t count = export->data->guest_count;
	size_t files = 0;

	for (uint32_t i = 0; i < count; i++)
		places[i] = (struct place){&export->data->guest[i], i};
	qsort(places, count, sizeof(*places), by_track);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i; next < count && by_file(places[next].at, places[i].at) == 0;)
			next++;
		place_file(export, &places[i], next - i);
		firsts[files++] = export->guest[places[i].index].process;
	}
	join_processes(export, firsts, files, process);
}

static void add_event(struct pb_perfetto *export, uint32_t index)
{
	static const enum pb_perfetto_name names[] = {
		[PB_GUEST_SUBMIT] = PB_PERFETTO_NAME_GUEST_SUBMIT,
		[PB_GUEST_RING] = PB_PERFETTO_NAME_GUEST_RING,
		[PB_GUEST_SIGNAL] = PB_PERFETTO_NAME_GUEST_SIGNAL,
		[PB_GUEST_HOST_SUBMITTED] = PB_PERFETTO_NAME_HOST_SUBMITTED,
		[PB_GUEST_HOST_INTERRUPT] = PB_PERFETTO_NAME_HOST_INTERRUPT,
		[PB_GUEST_HOST_SEEN] = PB_PERFETTO_NAME_HOST_SEEN,
		[PB_GUEST_HOST_FRAME] = PB_PERFETTO_NAME_HOST_FRAME};
	const struct pb_trace_guest *at = &export->data->guest[index];

	pb_perfetto_add(
		export,
		(struct pb_perfetto_event){
			.time = at->time,
			.track = pb_perfetto_uuid(PB_PERFETTO_GUEST, export->guest[index].track, 0),
			.flow = at->packet != PB_TRACE_GUEST_ALONE ? at->packet + 1u : 0,
			.name = names[at->event.kind],
			.index = index,
			.type = PB_PERFETTO_INSTANT,
			.detail = PB_PERFETTO_EVENT,
			.cause = at->event.kind != PB_GUEST_SIGNAL && at->event.kind != PB_GUEST_HOST_SEEN});
}

void pb_perfetto_add_guests(struct pb_perfetto *export)
{
	const size_t count = export->data->guest_count;
	struct place *places = calloc(count + 1u, sizeof(*places));
	uint32_t *firsts = calloc(count + 1u, sizeof(*firsts));
	uint32_t *process = calloc(count + 1u, sizeof(*process));

	export->guest = calloc(count + 1u, sizeof(*export->guest));
	export->failed |= places == NULL || firsts == NULL || process == NULL || export->guest == NULL;
	if (!export->failed && count != 0)
		place_all(export, places, firsts, process);
	for (uint32_t i = 0; !export->failed && i < count; i++)
		add_event(export, i);
	free(places);
	free(firsts);
	free(process);
}
