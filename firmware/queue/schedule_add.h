/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How a queue that has something to admit comes into the schedule: a function,
 * and as each submission comes by there, inline for queue/poll.c.
 */
#ifndef PB_FIRMWARE_QUEUE_SCHEDULE_ADD_H
#define PB_FIRMWARE_QUEUE_SCHEDULE_ADD_H

#include "firmware/compiler.h"
#include "firmware/instance.h"

/** Has a queue admitted from, at once if no other queue is ready. Pre: it is in no list and has descriptors to admit. */
void pb_core_schedule_add(struct pb_firmware *firmware, struct pb_core_queue *queue);

/** As pb_core_schedule_add(). */
static PB_CORE_INLINE void pb_core_schedule_add_inline(struct pb_firmware *firmware,
						       struct pb_core_queue *queue)
{
	struct pb_core_node *node = pb_core_node_of(firmware, queue);
	struct pb_core_queue *current;

	PB_CORE_KEEP(node);
	current = node->slice.current;
	pb_core_mark_node(&firmware->marks, node->bit);
	/* While another submission is staged, the queue is not admitted from: it is listed, so that policies see it. */
	if ((node->ready.priorities | node->ready.held | node->staged.kind) != PB_CORE_STAGED_NONE ||
	    (current != NULL && pb_core_ring_has_more(current))) {
		pb_core_schedule_list(firmware, queue, node);
		return;
	}
	if (current != NULL)
		pb_core_timeslice_end(&node->slice);
	pb_core_timeslice_begin(&node->slice, queue);
}

#endif
