/* SPDX-License-Identifier: MIT */
/*
 * Which queue a node serves next: round robin over those with work, one
 * submission a turn. Queues without work are in no list and cost nothing.
 */
#include "firmware/core.h"

void pb_core_schedule_add(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_node *node = &firmware->nodes[queue->node];
	const uint16_t index = (uint16_t)(queue - firmware->queues);

	queue->ready = true;
	queue->next = PB_CORE_NO_QUEUE;
	if (node->ready_head == PB_CORE_NO_QUEUE)
		node->ready_head = index;
	else
		firmware->queues[node->ready_tail].next = index;
	node->ready_tail = index;
}

struct pb_core_queue *pb_core_schedule_take(struct pb_firmware *firmware, struct pb_core_node *node)
{
	/* Closed queues and those held leave the list here; there are at most as many as there are queues. */
	while (node->ready_head != PB_CORE_NO_QUEUE) {
		struct pb_core_queue *queue = &firmware->queues[node->ready_head];

		node->ready_head = queue->next;
		queue->ready = false;
		if (node->held != 0 && (node->held >> queue->channel & 1u) != 0)
			continue;
		if (queue->state == PB_CORE_QUEUE_OPEN || queue->state == PB_CORE_QUEUE_FAULTED)
			return queue;
	}
	return NULL;
}

void pb_core_schedule_release(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t channel)
{
	node->held &= ~(1u << channel);
	for (uint32_t q = 0; q < firmware->queue_count; q++) {
		struct pb_core_queue *queue = &firmware->queues[q];

		if (queue->channel == channel && &firmware->nodes[queue->node] == node && !queue->ready &&
		    queue->put != queue->admitted)
			pb_core_schedule_add(firmware, queue);
	}
}
