/* SPDX-License-Identifier: MIT */
#include "firmware/queue/schedule.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"

void pb_core_schedule_init(struct pb_core_node *node)
{
	pb_core_ready_init(&node->ready);
	node->schedule.policy = &pb_core_policy_fair;
}

void pb_core_schedule_set_mode(struct pb_core_node *node, uint32_t mode)
{
	node->schedule.policy = mode == PB_NODE_HOST_ORDERED ? &pb_core_policy_fifo : &pb_core_policy_fair;
}

uint32_t pb_core_schedule_mode(const struct pb_core_node *node)
{
	return node->schedule.policy == &pb_core_policy_fifo ? PB_NODE_HOST_ORDERED : PB_NODE_SCHEDULED;
}

PB_CORE_STEP void pb_core_schedule_list(struct pb_firmware *firmware, struct pb_core_queue *queue,
					struct pb_core_node *node)
{
	pb_core_ready_append(firmware->table.queues, &node->ready, queue);
	PB_CORE_TRACE_QUEUE(firmware, SUBMIT, queue, queue->put, queue->completed);
}

void pb_core_schedule_return(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_node *node = pb_core_node_of(firmware, queue);

	pb_core_mark_node(&firmware->marks, node->bit);
	if (pb_core_queue_place(queue) != PB_CORE_PLACE_NONE)
		return;
	if (queue == node->slice.expired)
		pb_core_ready_append(firmware->table.queues, &node->ready, queue);
	else
		pb_core_ready_prepend(firmware->table.queues, &node->ready, queue);
}

struct pb_core_queue *pb_core_schedule_next(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_queue *queue = node->slice.current;

	/* No other queue is ready: every policy would choose this one. */
	if (queue != NULL && !pb_core_ready_any(&node->ready) && pb_core_ring_has_more(queue))
		return queue;
	return node->schedule.policy->next(firmware, node);
}

struct pb_core_queue *pb_core_schedule_choose(struct pb_firmware *firmware, struct pb_core_node *node)
{
	return node->schedule.policy->next(firmware, node);
}

/** Computes which channels are held on a node; the queue that has the timeslice loses it if its channel is. */
static PB_CORE_COLD void hold(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_holds *holds = &firmware->holds;
	const uint32_t held = holds->suspended ? UINT32_MAX : holds->closing | holds->draining;
	struct pb_core_queue *current = node->slice.current;

	if (current != NULL && ((held | node->ready.halted) >> current->channel & 1u) != 0) {
		pb_core_timeslice_remove(firmware, node, current);
		if (pb_core_ring_has_more(current))
			pb_core_ready_prepend(firmware->table.queues, &node->ready, current);
	}
	pb_core_ready_hold(&node->ready, held);
	pb_core_mark_node(&firmware->marks, node->bit);
}

static void hold_on_all_nodes(struct pb_firmware *firmware)
{
	for (uint32_t n = 0; n < firmware->config->node_count; n++)
		hold(firmware, &firmware->nodes[n]);
}

void pb_core_schedule_hold_channel(struct pb_firmware *firmware, uint32_t channel, bool held)
{
	firmware->holds.closing = (firmware->holds.closing & ~(1u << channel)) | (uint32_t)held << channel;
	hold_on_all_nodes(firmware);
}

PB_CORE_COLD void pb_core_schedule_drain_channel(struct pb_firmware *firmware, uint32_t channel, bool held)
{
	firmware->holds.draining = (uint16_t)((uint32_t)held << channel);
	hold_on_all_nodes(firmware);
}

void pb_core_schedule_hold_all(struct pb_firmware *firmware, bool held)
{
	firmware->holds.suspended = held;
	hold_on_all_nodes(firmware);
}

void pb_core_schedule_halt(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t channel,
			   bool halted)
{
	pb_core_ready_halt(&node->ready, channel, halted);
	hold(firmware, node);
}
