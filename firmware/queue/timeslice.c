/* SPDX-License-Identifier: MIT */
#include "firmware/queue/timeslice.h"

#include "firmware/instance.h"

void pb_core_timeslice_begin(struct pb_core_timeslice *slice, struct pb_core_queue *queue)
{
	slice->used = 0;
	slice->current = queue;
	pb_core_links_enter(queue, PB_CORE_PLACE_CURRENT);
}

struct pb_core_queue *pb_core_timeslice_pick(struct pb_firmware *firmware, struct pb_core_node *node,
					     uint32_t priority, uint32_t channel)
{
	struct pb_core_queue *queue = &firmware->table.queues[node->ready.at[priority].lists[channel].head];

	pb_core_ready_remove(firmware->table.queues, &node->ready, queue);
	pb_core_timeslice_begin(&node->slice, queue);
	return queue;
}

void pb_core_timeslice_end(struct pb_core_timeslice *slice)
{
	pb_core_links_leave(slice->current);
	slice->current = NULL;
}

void pb_core_timeslice_remove(struct pb_firmware *firmware, struct pb_core_node *node,
			      struct pb_core_queue *queue)
{
	if (pb_core_queue_place(queue) == PB_CORE_PLACE_LISTED) {
		pb_core_ready_remove(firmware->table.queues, &node->ready, queue);
	} else if (pb_core_queue_place(queue) == PB_CORE_PLACE_CURRENT) {
		node->slice.protect = false;
		pb_core_timeslice_end(&node->slice);
	}
}
