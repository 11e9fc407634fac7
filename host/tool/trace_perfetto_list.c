/* SPDX-License-Identifier: MIT */
/* The lists of a Perfetto export: its events, and the links between them. */
#include <stdlib.h>

#include "host/tool/trace_perfetto_state.h"

void pb_perfetto_add(struct pb_perfetto *export, struct pb_perfetto_event event)
{
	/* Doubles whenever the count is a power of two. */
	if ((export->event_count & (export->event_count - 1u)) == 0) {
		const size_t room = export->event_count == 0 ? 1u : 2u * export->event_count;
		struct pb_perfetto_event *larger = realloc(export->events, room * sizeof(*larger));

		if (larger == NULL) {
			export->failed = true;
			return;
		}
		export->events = larger;
	}
	event.number = (uint32_t) export->event_count;
	export->events[export->event_count++] = event;
}

void pb_perfetto_add_link(struct pb_perfetto *export, uint32_t number, uint64_t flow)
{
	/* Doubles whenever the count is a power of two. */
	if ((export->link_count & (export->link_count - 1u)) == 0) {
		const size_t room = export->link_count == 0 ? 1u : 2u * export->link_count;
		struct pb_perfetto_link *larger = realloc(export->links, room * sizeof(*larger));

		if (larger == NULL) {
			export->failed = true;
			return;
		}
		export->links = larger;
	}
	export->links[export->link_count++] = (struct pb_perfetto_link){number, flow};
}

static int by_time(const void *left, const void *right)
{
	const struct pb_perfetto_event *const a = left, *const b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int by_number(const void *left, const void *right)
{
	const struct pb_perfetto_link *const a = left, *const b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->flow > b->flow) - (a->flow < b->flow);
}

void pb_perfetto_sort(struct pb_perfetto *export)
{
	if (export->event_count != 0)
		qsort(export->events, export->event_count, sizeof(export->events[0]), by_time);
	if (export->link_count != 0)
		qsort(export->links, export->link_count, sizeof(export->links[0]), by_number);
}

size_t pb_perfetto_find_links(const struct pb_perfetto *export, uint32_t number)
{
	size_t low = 0, high = export->link_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2u;

		if (export->links[middle].number < number)
			low = middle + 1u;
		else
			high = middle;
	}
	return low;
}
