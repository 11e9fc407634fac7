/* SPDX-License-Identifier: MIT */
/*
 * QUERY: what a host cannot read in the records. Every word is worked out when
 * it is asked for.
 */
#include "firmware/core.h"

/** Why nothing of a queue that has work, and may run, is running. */
static enum pb_why why_not_now(const struct pb_firmware *firmware, struct pb_core_node *node,
			       const struct pb_core_queue *queue)
{
	if (pb_core_queue_place(queue) == PB_CORE_PLACE_WAITING)
		return PB_WHY_WAITING;
	if (firmware->suspended)
		return PB_WHY_CARD_SUSPENDED;
	if ((node->halted >> queue->channel & 1u) != 0)
		return PB_WHY_HALTED;
	if (node->next == PB_CORE_NEXT_JOB && node->job->work->queue == queue)
		return PB_WHY_PREPARING;
	if (node->state != PB_NODE_STATE_RUNNING)
		return PB_WHY_NODE_BUSY;
	return PB_WHY_READY;
}

static enum pb_why why(const struct pb_firmware *firmware, struct pb_core_node *node,
		       const struct pb_core_queue *queue)
{
	if (node->state == PB_NODE_STATE_DEAD)
		return PB_WHY_NODE_DEAD;
	if ((queue->flags & PB_CORE_QUEUE_STOPPING) != 0)
		return PB_WHY_PREEMPTED;
	if ((queue->flags & PB_CORE_QUEUE_SUSPENDED) != 0)
		return PB_WHY_SUSPENDED;
	if (pb_core_first_in_flight(node, queue) != 0)
		return PB_WHY_RUNNING;
	if (queue->busy == 0 && !pb_core_queue_has_more(queue))
		return pb_core_queue_state(queue) == PB_CORE_QUEUE_FAULTED ? PB_WHY_FAULTED : PB_WHY_EMPTY;
	return why_not_now(firmware, node, queue);
}

/** Whether a channel may ask about another. */
static bool may_ask(const struct pb_firmware *firmware, uint32_t asker, uint32_t channel)
{
	return asker == channel || asker == PB_CHANNEL_ADMIN ||
	       (firmware->channels[asker].privileges & PB_PRIVILEGE_QUERY) != 0;
}

/** The queue that a handle names; with a generation of 0 the one that has the index, whichever it is. */
static const struct pb_core_queue *find(struct pb_firmware *firmware, uint32_t channel, uint32_t handle)
{
	if (PB_HANDLE_GENERATION(handle) == 0 && PB_HANDLE_INDEX(handle) < firmware->queue_count)
		handle = pb_core_queue_handle(firmware, &firmware->queues[PB_HANDLE_INDEX(handle)]);
	return pb_core_queue_find(firmware, channel, handle);
}

static enum pb_error query_queue(struct pb_firmware *firmware, uint32_t asker, const uint32_t *arguments,
				 uint32_t *results)
{
	const uint32_t channel = arguments[2] != 0 ? arguments[2] : asker;
	const struct pb_core_queue *queue;
	struct pb_core_node *node;

	if (channel >= PB_LIMIT_CHANNELS)
		return PB_ERROR_BAD_ARGUMENT;
	if (!may_ask(firmware, asker, channel))
		return PB_ERROR_NO_PERMISSION;
	queue = find(firmware, channel, arguments[1]);
	if (queue == NULL)
		return PB_ERROR_BAD_HANDLE;
	node = &firmware->nodes[queue->node];
	results[0] = why(firmware, node, queue);
	if (results[0] == PB_WHY_WAITING) {
		results[1] = pb_core_queue_handle(firmware, &firmware->queues[queue->awaits]);
		results[2] = (uint32_t)queue->awaited;
		results[3] = (uint32_t)(queue->awaited >> 32);
	}
	results[4] = queue->put;
	results[5] = queue->completed + queue->busy;
	results[6] = queue->completed;
	results[7] = (uint32_t)queue->reached;
	results[8] = (uint32_t)(queue->reached >> 32);
	results[9] = (queue->flags & PB_CORE_QUEUE_ERROR_SHOWN) != 0;
	results[10] = (queue->flags & PB_CORE_QUEUE_SUSPENDED) != 0;
	results[11] = queue->node;
	results[12] = pb_core_queue_level(queue);
	return PB_ERROR_OK;
}

static enum pb_error query_node(struct pb_firmware *firmware, uint32_t channel, uint32_t n, uint32_t *results)
{
	struct pb_core_node *node;
	const struct pb_core_work *head;

	if (n >= firmware->config->node_count)
		return PB_ERROR_BAD_ARGUMENT;
	node = &firmware->nodes[n];
	head = pb_core_work_at(node, node->retired + 1u);
	results[0] = node->state;
	results[1] = node->mode;
	results[2] = node->depth;
	results[3] = node->fed - node->retired;
	results[5] = node->engine->ops->stopwatch(node->engine->context, &results[4]);
	results[6] = node->idles;
	results[7] = node->starved;
	results[8] = node->stops;
	results[9] = node->resets;
	if (node->fed != node->retired && head->queue->channel == channel)
		results[10] = pb_core_queue_handle(firmware, head->queue);
	results[11] = node->completed + node->retired;
	return PB_ERROR_OK;
}

static enum pb_error query_context(struct pb_firmware *firmware, uint32_t channel, uint32_t handle,
				   uint32_t *results)
{
	const uint32_t *context = pb_core_context_find(firmware, channel, handle);

	if (context == NULL)
		return PB_ERROR_BAD_HANDLE;
	results[0] = (*context & PB_CORE_CONTEXT_LOST) != 0;
	return PB_ERROR_OK;
}

static enum pb_error query_channel(struct pb_firmware *firmware, uint32_t asker, uint32_t c,
				   uint32_t *results)
{
	const struct pb_core_channel *channel;

	if (c >= PB_LIMIT_CHANNELS)
		return PB_ERROR_BAD_ARGUMENT;
	if (!may_ask(firmware, asker, c))
		return PB_ERROR_NO_PERMISSION;
	channel = &firmware->channels[c];
	results[0] = channel->privileges;
	results[1] = channel->weight;
	results[2] = channel->priority_cap;
	results[3] = channel->queues;
	for (uint32_t i = 0; i < PB_LIMIT_CONTEXTS; i++)
		results[4] += pb_core_context_is_of(firmware->contexts[i], c);
	for (uint32_t i = 0; i < PB_LIMIT_SEGMENTS; i++)
		results[5] += channel->segment_of[i] != 0;
	results[6] = channel->busy;
	results[7] = channel->events_dropped;
	return PB_ERROR_OK;
}

enum pb_error pb_core_query(struct pb_firmware *firmware, uint32_t channel, const uint32_t *arguments,
			    uint32_t *results)
{
	switch (arguments[0]) {
	case PB_QUERY_QUEUE:
		return query_queue(firmware, channel, arguments, results);
	case PB_QUERY_NODE:
		return query_node(firmware, channel, arguments[1], results);
	case PB_QUERY_CONTEXT:
		return query_context(firmware, channel, arguments[1], results);
	case PB_QUERY_CHANNEL:
		return query_channel(firmware, channel, arguments[1], results);
	default:
		return PB_ERROR_BAD_ARGUMENT;
	}
}
