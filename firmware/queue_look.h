/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The look at a queue that a doorbell leads to. Inline: each submission comes
 * by.
 */
#ifndef PB_FIRMWARE_QUEUE_LOOK_H
#define PB_FIRMWARE_QUEUE_LOOK_H

#include "firmware/core.h"

/**
 * Reads the queue's put index and lets it wait for its node's turn.
 * @return false: it is free or closing.
 */
static inline bool pb_core_queue_look(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	/* Side by side, so that one load has both. */
	const uint32_t state = queue->flags | (uint32_t)queue->state << 8;
	struct pb_queue_page *page;
	uint32_t put;

	if ((state & (PB_CORE_QUEUE_STOPPING | PB_CORE_QUEUE_SUSPENDED | 3u << 8)) != PB_CORE_QUEUE_OPEN << 8)
		return pb_core_queue_is_there(queue);
	page = queue->page;
	put = pb_shared_read32(&page->put);
	pb_shared_acquire(); /* the descriptors behind put may be newer than the kick that led here */
	if (pb_core_queue_put_is_bad(queue, put)) {
		pb_core_queue_put_fault(firmware, queue);
		return true;
	}
	if (put != queue->put)
		pb_core_telemetry_shown(firmware, page, queue->put & queue->mask);
	if (pb_core_queue_place(queue) == PB_CORE_PLACE_NONE) {
		queue->put = put;
		if (put != queue->completed + queue->busy)
			pb_core_schedule_add(firmware, queue);
		return true;
	}
	if ((firmware->trace.enabled & PB_CORE_TRACE_BIT_SUBMIT) != 0)
		pb_core_trace_submit(firmware, queue, put);
	queue->put = put;
	if (put != queue->completed + queue->busy)
		firmware->awake |= 1u << queue->node;
	return true;
}

#endif
