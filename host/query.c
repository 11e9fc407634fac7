/* SPDX-License-Identifier: MIT */
/* Queries of queues, nodes, contexts, channels and quotas, and settings. */
#include "host/internal.h"

/* Executes PB_COMMAND_QUERY. `owner` is a queue's channel, or the resource of a channel's quota. */
static enum pb_error query(struct pb_channel *channel, uint32_t what, uint32_t object, uint32_t owner,
			   uint32_t *results)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {what, object, owner};

	return pb_channel_command(channel, PB_COMMAND_QUERY, arguments, results);
}

/* Joins low word and high word. */
static uint64_t wide(const uint32_t *words)
{
	return (uint64_t)words[1] << 32 | words[0];
}

enum pb_error pb_handle_query(struct pb_channel *channel, uint32_t owner, uint32_t handle,
			      struct pb_queue_state *state)
{
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error = query(channel, PB_QUERY_QUEUE, handle, owner, results);

	if (error != PB_ERROR_OK)
		return error;
	*state = (struct pb_queue_state){
		.why = results[0],
		.waits_for_queue = results[1],
		.waits_for_value = wide(&results[2]),
		.put = results[4],
		.admitted = results[5],
		.completed = results[6],
		.timeline = wide(&results[7]),
		.failed = results[9] != 0,
		.suspended = results[10] != 0,
		.node = results[11],
		.priority = results[12],
	};
	/* Valid order, modulo 2^32: completed <= admitted <= put. */
	if (state->admitted - state->completed > state->put - state->completed)
		return pb_diagnose(channel, PB_ERROR_PROTOCOL);
	return PB_ERROR_OK;
}

enum pb_error pb_queue_query(struct pb_queue *queue, struct pb_queue_state *state)
{
	uint32_t earliest, put;
	enum pb_error error;

	pb_lock(queue->lock);
	earliest = queue->completed;
	pb_unlock(queue->lock);
	error = pb_handle_query(queue->channel, 0, queue->handle, state);
	if (error != PB_ERROR_OK)
		return error;
	pb_lock(queue->lock);
	put = queue->put;
	pb_unlock(queue->lock);
	if (state->completed - earliest > put - earliest ||
	    state->put - state->completed > put - state->completed)
		return pb_diagnose(queue->channel, PB_ERROR_PROTOCOL);
	return PB_ERROR_OK;
}

enum pb_error pb_node_query(struct pb_channel *channel, uint32_t node, struct pb_node_status *status)
{
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error = query(channel, PB_QUERY_NODE, node, 0, results);

	if (error != PB_ERROR_OK)
		return error;
	*status = (struct pb_node_status){
		.state = results[0],
		.mode = results[1],
		.depth = results[2],
		.in_flight = results[3],
		.progress = results[4],
		.engine_us = results[5],
		.idle_times = results[6],
		.unpatched_us = results[7],
		.stops = results[8],
		.resets = results[9],
		.head = results[10],
		.completed = results[11],
	};
	return PB_ERROR_OK;
}

enum pb_error pb_context_query(struct pb_channel *channel, uint32_t context, bool *lost)
{
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error = query(channel, PB_QUERY_CONTEXT, context, 0, results);

	if (error == PB_ERROR_OK)
		*lost = results[0] != 0;
	return error;
}

enum pb_error pb_channel_query(struct pb_channel *channel, struct pb_channel_status *status)
{
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error = query(channel, PB_QUERY_CHANNEL, channel->link->channel, 0, results);

	if (error != PB_ERROR_OK)
		return error;
	*status = (struct pb_channel_status){
		.privileges = results[0],
		.weight = results[1],
		.priority_cap = results[2],
		.queues = results[3],
		.contexts = results[4],
		.segments = results[5],
		.admitted = results[6],
		.events_dropped = results[7],
	};
	return PB_ERROR_OK;
}

enum pb_error pb_quota_query(struct pb_channel *channel, uint32_t owner, uint32_t resource,
			     struct pb_quota_status *status)
{
	uint32_t results[PB_REPLY_RESULTS];
	enum pb_error error = query(channel, PB_QUERY_QUOTA, owner, resource, results);

	if (error != PB_ERROR_OK)
		return error;
	*status = (struct pb_quota_status){
		.used = results[0],
		.limit = results[1],
		.minimum = results[2],
		.total = results[3],
	};
	return PB_ERROR_OK;
}

enum pb_error pb_quota_set(struct pb_channel *channel, uint32_t owner, uint32_t resource, uint32_t limit)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {owner, resource, limit};

	return pb_channel_command(channel, PB_COMMAND_CHANNEL_QUOTA, arguments, NULL);
}

enum pb_error pb_queue_resync(struct pb_queue *queue, struct pb_queue_resync *now)
{
	enum pb_error error = pb_queue_query(queue, &now->state);

	/* Read the records after the query, so that they are at least as new as its answer. */
	if (error == PB_ERROR_OK)
		error = pb_queue_preempted(queue, &now->preempt);
	return error == PB_ERROR_OK ? pb_queue_fence(queue, &now->fence) : error;
}

enum pb_error pb_node_set(struct pb_channel *channel, uint32_t node, const struct pb_node_request *request)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {node, request->mode, request->depth,
							  request->hang_us, request->answer_us};

	return pb_channel_command(channel, PB_COMMAND_NODE_SET, arguments, NULL);
}

enum pb_error pb_channel_moderate(struct pb_channel *channel, uint32_t count, uint32_t microseconds)
{
	return pb_command_about(channel, PB_COMMAND_MODERATE, count, microseconds);
}
