/* SPDX-License-Identifier: MIT */
/* QUERY: what a host cannot read in the records. Every word is computed when it is asked for. */
#include "firmware/command/handlers.h"
#include "firmware/instance.h"

/** Why nothing of a queue runs that has submissions and may run. */
static enum pb_why why_not_now(const struct pb_firmware *firmware, struct pb_core_node *node,
			       const struct pb_core_queue *queue)
{
	if (pb_core_queue_place(queue) == PB_CORE_PLACE_WAITING)
		return PB_WHY_WAITING;
	if (firmware->holds.suspended)
		return PB_WHY_CARD_SUSPENDED;
	if (pb_core_ready_is_halted(&node->ready, queue->channel))
		return PB_WHY_HALTED;
	if (node->staged.kind == PB_CORE_STAGED_JOB && pb_core_staged_is_of(node, queue))
		return PB_WHY_PREPARING;
	if (!pb_core_node_is_running(&node->machine))
		return PB_WHY_NODE_BUSY;
	if (pb_core_jobs_awaits(firmware, queue))
		return PB_WHY_WAITS_FOR_JOB;
	return PB_WHY_READY;
}

static enum pb_why why(const struct pb_firmware *firmware, struct pb_core_node *node,
		       const struct pb_core_queue *queue)
{
	if (pb_core_node_is_dead(&node->machine))
		return PB_WHY_NODE_DEAD;
	if (pb_core_queue_is_stopping(queue))
		return PB_WHY_PREEMPTED;
	if ((queue->stop & PB_CORE_QUEUE_SUSPENDED) != 0)
		return PB_WHY_SUSPENDED;
	if (pb_core_in_flight_first_of(&node->flight, queue) != 0)
		return PB_WHY_RUNNING;
	if (queue->in_flight == 0 && !pb_core_ring_has_more(queue))
		return pb_core_queue_state(queue) == PB_CORE_QUEUE_FAULTED ? PB_WHY_FAULTED : PB_WHY_EMPTY;
	return why_not_now(firmware, node, queue);
}

/** Whether a channel may ask about another. @return OK, BAD_ARGUMENT or NO_PERMISSION */
static enum pb_error check_channel(const struct pb_firmware *firmware, uint32_t asker, uint32_t channel)
{
	if (channel >= PB_LIMIT_CHANNELS)
		return PB_ERROR_BAD_ARGUMENT;
	if (asker == channel || asker == PB_CHANNEL_ADMIN ||
	    pb_core_grants_has(&firmware->channels[asker].grants, PB_PRIVILEGE_QUERY))
		return PB_ERROR_OK;
	return PB_ERROR_NO_PERMISSION;
}

/** The queue that a handle names; with a generation of 0 the one that has the index, whichever it is. */
static const struct pb_core_queue *find(struct pb_firmware *firmware, uint32_t channel, uint32_t handle)
{
	if (PB_HANDLE_GENERATION(handle) == 0 && PB_HANDLE_INDEX(handle) < firmware->table.count)
		handle = pb_core_table_handle(firmware, &firmware->table.queues[PB_HANDLE_INDEX(handle)]);
	return pb_core_table_find(firmware, channel, handle);
}

static enum pb_error query_queue(struct pb_firmware *firmware, uint32_t asker, const uint32_t *arguments,
				 uint32_t *results)
{
	const uint32_t channel = arguments[2] != 0 ? arguments[2] : asker;
	const enum pb_error error = check_channel(firmware, asker, channel);
	const struct pb_core_queue *queue;
	struct pb_core_node *node;

	if (error != PB_ERROR_OK)
		return error;
	queue = find(firmware, channel, arguments[1]);
	if (queue == NULL)
		return PB_ERROR_BAD_HANDLE;
	node = pb_core_node_of(firmware, queue);
	results[0] = why(firmware, node, queue);
	if (results[0] == PB_WHY_WAITING) {
		results[1] = pb_core_table_handle(firmware, &firmware->table.queues[queue->awaits]);
		results[2] = (uint32_t)queue->awaited;
		results[3] = (uint32_t)(queue->awaited >> 32);
	}
	results[4] = queue->put;
	results[5] = pb_core_ring_next(queue);
	results[6] = queue->completed;
	results[7] = (uint32_t)queue->reached;
	results[8] = (uint32_t)(queue->reached >> 32);
	results[9] = pb_core_fence_shows_error(queue);
	results[10] = (queue->stop & PB_CORE_QUEUE_SUSPENDED) != 0;
	results[11] = pb_core_queue_node(queue);
	results[12] = pb_core_queue_priority(queue);
	return PB_ERROR_OK;
}

static enum pb_error query_node(struct pb_firmware *firmware, uint32_t channel, uint32_t n, uint32_t *results)
{
	struct pb_core_node *node;
	const struct pb_core_submission *head;

	if (n >= firmware->config->node_count)
		return PB_ERROR_BAD_ARGUMENT;
	node = &firmware->nodes[n];
	head = pb_core_in_flight_head(&node->flight);
	results[0] = node->machine.state;
	results[1] = pb_core_schedule_mode(node);
	results[2] = node->machine.depth;
	results[3] = pb_core_in_flight_count(&node->flight);
	results[5] = node->engine->run->runtime(node->engine->context, &results[4]);
	results[6] = node->retirement.idles;
	results[7] = node->staged.starved;
	results[8] = node->machine.stops;
	results[9] = node->machine.resets;
	if (!pb_core_in_flight_is_empty(&node->flight) && head->queue->channel == channel)
		results[10] = pb_core_table_handle(firmware, head->queue);
	results[11] = node->retirement.before_reset + node->flight.retired;
	return PB_ERROR_OK;
}

static enum pb_error query_context(struct pb_firmware *firmware, uint32_t channel, uint32_t handle,
				   uint32_t *results)
{
	const uint32_t *context = pb_core_context_find(&firmware->contexts, channel, handle);

	if (context == NULL)
		return PB_ERROR_BAD_HANDLE;
	results[0] = (*context & PB_CORE_CONTEXT_LOST) != 0;
	return PB_ERROR_OK;
}

static enum pb_error query_channel(struct pb_firmware *firmware, uint32_t asker, uint32_t c,
				   uint32_t *results)
{
	const enum pb_error error = check_channel(firmware, asker, c);
	const struct pb_core_channel *channel;

	if (error != PB_ERROR_OK)
		return error;
	channel = &firmware->channels[c];
	results[0] = channel->grants.privileges;
	results[1] = channel->grants.weight;
	results[2] = channel->grants.priority_cap;
	results[3] = channel->quota.used[PB_RESOURCE_QUEUES];
	results[4] = channel->quota.used[PB_RESOURCE_CONTEXTS];
	results[5] = pb_core_segment_count(&channel->memory);
	results[6] = channel->usage.in_flight;
	results[7] = channel->events.dropped;
	return PB_ERROR_OK;
}

static enum pb_error query_quota(struct pb_firmware *firmware, uint32_t asker, const uint32_t *arguments,
				 uint32_t *results)
{
	const uint32_t resource = arguments[2];
	const enum pb_error error = check_channel(firmware, asker, arguments[1]);
	const struct pb_core_quota *quota;

	if (resource >= PB_RESOURCE_COUNT)
		return PB_ERROR_BAD_ARGUMENT;
	if (error != PB_ERROR_OK)
		return error;
	quota = &firmware->channels[arguments[1]].quota;
	results[0] = resource < PB_RESOURCES_USED ? pb_core_quota_used(quota, resource) : 0;
	results[1] = pb_core_quota_limit(quota, resource);
	results[2] = firmware->quotas.minimum[resource];
	results[3] = firmware->quotas.total[resource];
	return PB_ERROR_OK;
}

static enum pb_error query_host(struct pb_firmware *firmware, uint32_t asker, const uint32_t *arguments,
				uint32_t *results)
{
	const enum pb_error error = check_channel(firmware, asker, arguments[1]);

	if (error == PB_ERROR_OK)
		pb_core_host_query(&firmware->host, arguments[1], arguments[2], results);
	return error;
}

enum pb_error pb_core_query_command(struct pb_core_request *request)
{
	struct pb_firmware *firmware = request->firmware;
	const uint32_t *arguments = request->arguments;

	switch (arguments[0]) {
	case PB_QUERY_QUEUE:
		return query_queue(firmware, request->channel, arguments, request->results);
	case PB_QUERY_NODE:
		return query_node(firmware, request->channel, arguments[1], request->results);
	case PB_QUERY_CONTEXT:
		return query_context(firmware, request->channel, arguments[1], request->results);
	case PB_QUERY_CHANNEL:
		return query_channel(firmware, request->channel, arguments[1], request->results);
	case PB_QUERY_QUOTA:
		return query_quota(firmware, request->channel, arguments, request->results);
	case PB_QUERY_HOST:
		return query_host(firmware, request->channel, arguments, request->results);
	default:
		return PB_ERROR_BAD_ARGUMENT;
	}
}
