/* SPDX-License-Identifier: MIT */
#include "firmware/queue/poll.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "firmware/queue/schedule_add.h"

/** The queue takes no more submissions: its put index broke its rule. What it had goes on. */
static PB_CORE_COLD void fault(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	const struct pb_event event = {
		.type = PB_EVENT_QUEUE_FAULT,
		.queue = pb_core_table_handle(firmware, queue),
		.error = PB_ERROR_RING_FAULT,
		.index = PB_INDEX_NONE,
	};

	(void)pb_core_table_step(queue, PB_CORE_QUEUE_EVENT_FAULT);
	pb_core_wait_wake(firmware, queue);
	pb_core_fence_error(queue, PB_ERROR_RING_FAULT, 0, PB_INDEX_NONE);
	pb_core_event(firmware, queue->channel, &event);
}

/** Whether the queue is open, and neither suspended nor with a stop request under way. */
static inline bool is_served(const struct pb_core_queue *queue)
{
	/* Side by side in the record, so that one load reads both. */
	const uint32_t bytes = queue->identity | (uint32_t)queue->stop << 8;
	uint32_t mask = 3u << PB_CORE_QUEUE_STATE_SHIFT | (PB_CORE_QUEUE_STOPPING | PB_CORE_QUEUE_SUSPENDED)
								  << 8;

	PB_CORE_KEEP(mask); /* or its complement is cleared in pieces */
	return (bytes & mask) == PB_CORE_QUEUE_OPEN << PB_CORE_QUEUE_STATE_SHIFT;
}

/** Takes over what the host has stored, of a queue that its node knows. @param next the queue's next index */
static inline void poll_known(struct pb_firmware *firmware, struct pb_core_queue *queue, uint32_t put,
			      uint32_t next)
{
	struct pb_queue_page *page = queue->page;

	if (put != queue->put) {
		if (queue->put == next || !pb_core_telemetry_measures(page, next, queue->put))
			pb_core_telemetry_doorbell(page, queue->put, pb_core_clock(firmware));
		PB_CORE_TRACE_QUEUE(firmware, SUBMIT, queue, put, queue->completed);
	}
	pb_core_ring_accept_put(queue, put);
	if (put != next)
		pb_core_mark_node(&firmware->marks, 1u << pb_core_queue_node(queue));
}

/** Polls a queue. @return false: it is free or closing */
static inline bool poll(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_queue_page *page;
	uint32_t put;
	uint32_t next;

	if (!is_served(queue))
		return pb_core_table_is_alive(queue);
	page = queue->page;
	put = pb_shared_read32(&page->put);
	pb_shared_acquire(); /* the descriptors behind put may be newer than the kick that led here */
	if (pb_core_ring_put_is_bad(queue, put)) {
		fault(firmware, queue);
		return true;
	}
	next = pb_core_ring_next(queue);
	if (pb_core_queue_place(queue) != PB_CORE_PLACE_NONE) {
		poll_known(firmware, queue, put, next);
		return true;
	}
	if (put != queue->put)
		pb_core_telemetry_doorbell(page, queue->put, pb_core_clock(firmware));
	pb_core_ring_accept_put(queue, put);
	if (put != next)
		pb_core_schedule_add_inline(firmware, queue);
	return true;
}

/** Reports a kick that names no queue of its channel: an error of the host, but of no queue. */
static PB_CORE_COLD void report_stray(struct pb_firmware *firmware, uint32_t channel, uint32_t handle)
{
	/* With all fields named no call of memset clears them first. */
	const struct pb_event event = {
		.type = PB_EVENT_QUEUE_FAULT,
		.epoch = 0,
		.queue = handle,
		.fence_id = 0,
		.error = PB_ERROR_BAD_HANDLE,
		.index = PB_INDEX_NONE,
		.detail = 0,
		.number = 0,
	};

	pb_core_event(firmware, channel, &event);
}

PB_CORE_STEP void pb_core_poll_kicked(struct pb_firmware *firmware, uint32_t channel, uint32_t handle)
{
	struct pb_core_queue *queue;

	if (PB_HANDLE_INDEX(handle) >= firmware->table.count) {
		report_stray(firmware, channel, handle);
		return;
	}
	queue = &firmware->table.queues[PB_HANDLE_INDEX(handle)];
	PB_CORE_KEEP(queue);
	/* Whether it is open, the poll finds out. */
	if (queue->channel != channel || queue->generation != PB_HANDLE_GENERATION(handle) ||
	    !poll(firmware, queue))
		report_stray(firmware, channel, handle);
}

PB_CORE_COLD void pb_core_poll_queue(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	if (pb_core_table_is_alive(queue))
		pb_core_poll_kicked(firmware, queue->channel, pb_core_table_handle(firmware, queue));
}

PB_CORE_COLD void pb_core_poll_again(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	pb_core_poll_queue(firmware, queue);
	if (pb_core_queue_state(queue) != PB_CORE_QUEUE_FAULTED || !pb_core_ring_has_more(queue) ||
	    (queue->stop & (PB_CORE_QUEUE_STOPPING | PB_CORE_QUEUE_SUSPENDED)) != 0)
		return;
	if (pb_core_queue_place(queue) == PB_CORE_PLACE_NONE)
		pb_core_schedule_add(firmware, queue);
	else /* it may have kept the timeslice with nothing to admit */
		pb_core_mark_node(&firmware->marks, 1u << pb_core_queue_node(queue));
}
