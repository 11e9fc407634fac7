/* SPDX-License-Identifier: MIT */
#include "patchbay/host_trace.h"

#include "host/internal.h"

enum pb_error pb_host_trace_begin(struct pb_host_trace *trace, struct pb_host_event *events, uint32_t entries,
				  struct pb_lock *lock)
{
	if (!pb_is_power_of_two(entries))
		return PB_ERROR_BAD_ARGUMENT;
	*trace = (struct pb_host_trace){.events = events, .entries = entries, .lock = lock};
	return PB_ERROR_OK;
}

/** Notes an event. Pre: the ring's lock is held. */
static void add(struct pb_host_trace *trace, const struct pb_host_event *event)
{
	if (trace->put - trace->get == trace->entries) {
		trace->get++;
		trace->lost++;
	}
	trace->events[trace->put++ & (trace->entries - 1u)] = *event;
}

void pb_host_trace_add(struct pb_host_trace *trace, const struct pb_host_event *event)
{
	pb_lock(trace->lock);
	add(trace, event);
	pb_unlock(trace->lock);
}

void pb_host_trace_frame(struct pb_link *link)
{
	struct pb_host_trace *trace = link->trace;
	struct pb_host_event event = {.kind = PB_HOST_FRAME};

	if (trace == NULL)
		return;
	event.time_us = link->ops->now(link);
	pb_lock(trace->lock);
	event.index = ++trace->frames;
	add(trace, &event);
	pb_unlock(trace->lock);
}

uint32_t pb_host_trace_read(struct pb_host_trace *trace, struct pb_host_event *events, uint32_t max)
{
	uint32_t count = 0;

	pb_lock(trace->lock);
	for (; count < max && trace->get != trace->put; count++)
		events[count] = trace->events[trace->get++ & (trace->entries - 1u)];
	pb_unlock(trace->lock);
	return count;
}

void pb_note_seen(const struct pb_queue *queue, uint32_t before, uint32_t completed)
{
	struct pb_link *link = queue->channel->link;
	struct pb_host_event event;

	if (link->trace == NULL || completed == before)
		return;
	event = (struct pb_host_event){.time_us = link->ops->now(link),
				       .kind = PB_HOST_SEEN,
				       .queue = queue->handle,
				       .node = queue->node,
				       .index = completed};
	pb_host_trace_add(link->trace, &event);
}

void pb_note_submitted(const struct pb_queue *queue, uint32_t fence_id, uint64_t time_us,
		       const struct pb_submitted *submitted)
{
	const struct pb_host_event event = {.time_us = time_us,
					    .value = submitted->value,
					    .kind = PB_HOST_SUBMITTED,
					    .queue = queue->handle,
					    .node = queue->node,
					    .index = submitted->index,
					    .fence_id = fence_id};

	pb_host_trace_add(queue->channel->link->trace, &event);
}
