/* SPDX-License-Identifier: MIT */
/*
 * Step 5: completion, by position in the node's order. What the engine reports
 * is its own sequence number; fence ids are looked up in private memory.
 */
#include "firmware/core.h"

void pb_core_halt_report(struct pb_firmware *firmware, const struct pb_core_work *work)
{
	const struct pb_core_queue *queue = work->queue;
	const struct pb_event event = {
		.type = PB_EVENT_HALTED,
		.queue = pb_core_queue_handle(firmware, queue),
		.fence_id = work->fence_id,
		.error = work->status,
		.index = PB_INDEX_NONE,
		.detail = queue->node,
	};

	if (work->context == PB_CORE_CONTEXT_PAGING && work->status != PB_ERROR_OK &&
	    work->status != PB_ERROR_HALTED)
		pb_core_event(firmware, queue->channel, &event);
}

/** Tells the host that later work of the context is cancelled until it clears it. */
static void report_context(struct pb_firmware *firmware, const struct pb_core_work *work, uint32_t channel,
			   uint32_t queue)
{
	struct pb_core_context *context;
	struct pb_event event = {
		.type = PB_EVENT_CONTEXT_LOST,
		.queue = queue,
		.fence_id = work->fence_id,
		.error = work->status,
		.index = work->index,
	};

	if (work->context >= PB_LIMIT_CONTEXTS)
		return;
	context = &firmware->contexts[work->context];
	event.detail = PB_HANDLE(work->context, context->generation);
	pb_core_event(firmware, channel, &event);
}

static uint32_t event_type(uint32_t status)
{
	if (status == PB_ERROR_ENGINE_FAULT)
		return PB_EVENT_ENGINE_FAULT;
	return status == PB_ERROR_ENGINE_HANG ? PB_EVENT_ENGINE_HANG : PB_EVENT_SUBMISSION_FAILED;
}

static __attribute__((noinline)) void
report_failure(struct pb_firmware *firmware, struct pb_core_queue *queue, const struct pb_core_work *work)
{
	const uint32_t handle = pb_core_queue_handle(firmware, queue);
	const struct pb_event event = {
		.type = event_type(work->status),
		.queue = handle,
		.fence_id = work->fence_id,
		.error = work->status,
		.index = work->index,
		.detail = work->detail,
	};

	pb_core_record_error(queue, work->status, work->fence_id, work->index);
	pb_core_event(firmware, queue->channel, &event);
	if (work->status != PB_ERROR_CONTEXT_LOST && work->status != PB_ERROR_HALTED)
		report_context(firmware, work, queue->channel, handle);
	pb_core_halt_report(firmware, work);
}

/** Work of a queue that is closing ends without a trace, but for a halt; the last of it ends the queue. */
static __attribute__((noinline)) void drain(struct pb_firmware *firmware, const struct pb_core_work *work)
{
	struct pb_core_queue *queue = work->queue;
	struct pb_core_channel *channel = &firmware->channels[queue->channel];

	pb_core_halt_report(firmware, work);
	if (queue->busy == 0)
		pb_core_queue_drained(firmware, queue);
	if (channel->busy == 0 && channel->state == PB_CHANNEL_CLOSING)
		pb_core_channel_drained(firmware, queue->channel);
}

static __attribute__((noinline)) void count_patches(struct pb_core_channel *channel, uint32_t patches)
{
	channel->patches += patches;
	pb_shared_write32(&channel->entry->patches_low, (uint32_t)channel->patches);
	pb_shared_write32(&channel->entry->patches_high, (uint32_t)(channel->patches >> 32));
}

static void complete(struct pb_firmware *firmware, const struct pb_core_work *work)
{
	struct pb_core_queue *queue = work->queue;
	const uint32_t channel = queue->channel;

	queue->busy--;
	firmware->channels[channel].busy--;
	if (queue->state == PB_CORE_QUEUE_CLOSING) {
		drain(firmware, work);
		return;
	}
	queue->completed++;
	if (work->patches != 0)
		count_patches(&firmware->channels[channel], work->patches);
	if (work->status != PB_ERROR_OK)
		report_failure(firmware, queue, work);
	pb_core_record_complete(queue, work);
	pb_core_interrupt(firmware, channel);
}

/** Whether work goes down with the guilty: it is of the same context, or behind a paging buffer of the same channel. */
static bool goes_down(const struct pb_core_work *work, const struct pb_core_work *guilty)
{
	if (guilty->context == PB_CORE_CONTEXT_PAGING)
		return work->queue->channel == guilty->queue->channel;
	return work->context == guilty->context;
}

/** Some of the work behind the guilty is cancelled; what was in flight before it is not. */
static void cancel_behind(struct pb_core_node *node, const struct pb_core_work *guilty)
{
	const enum pb_error error =
		guilty->context == PB_CORE_CONTEXT_PAGING ? PB_ERROR_HALTED : PB_ERROR_CONTEXT_LOST;

	for (uint32_t sequence = node->retired + 2u; sequence != node->fed + 1u; sequence++) {
		struct pb_core_work *work = &node->in_flight[sequence % PB_LIMIT_IN_FLIGHT];

		if (work->status == PB_ERROR_OK && goes_down(work, guilty))
			pb_core_work_fail(work, error, PB_INDEX_NONE, 0);
	}
}

void pb_core_halt(struct pb_core_node *node, const struct pb_core_work *work)
{
	struct pb_core_job *job = &node->job;
	const uint32_t channel = work->queue->channel;

	node->held |= 1u << channel;
	/* What was being prepared behind it has read its descriptor: it must complete. */
	if (job->state != PB_CORE_JOB_NONE && job->work.queue->channel == channel &&
	    job->work.status == PB_ERROR_OK) {
		pb_core_work_fail(&job->work, PB_ERROR_HALTED, PB_INDEX_NONE, 0);
		job->state = PB_CORE_JOB_READY;
	}
}

/** Resets the engine; the work at the head of its ring is to blame. */
static __attribute__((noinline)) void blame_and_reset(struct pb_firmware *firmware, struct pb_core_node *node,
						      enum pb_error error, uint32_t detail)
{
	struct pb_core_work *guilty = &node->in_flight[(node->retired + 1u) % PB_LIMIT_IN_FLIGHT];

	pb_core_waypoint(firmware, PB_WAYPOINT_RESET);
	if (node->retired != node->fed && guilty->status == PB_ERROR_OK) {
		pb_core_work_fail(guilty, error, PB_INDEX_NONE, detail);
		pb_core_context_lose(firmware, guilty);
		cancel_behind(node, guilty);
		if (guilty->context == PB_CORE_CONTEXT_PAGING)
			pb_core_halt(node, guilty);
	}
	node->resetting = true;
	node->engine->ops->reset(node->engine->context);
}

static __attribute__((noinline)) void handle_fault(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_engine_fault fault;

	node->engine->ops->fault(node->engine->context, &fault);
	blame_and_reset(firmware, node, PB_ERROR_ENGINE_FAULT, fault.code);
}

void pb_core_retire(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_engine *engine = node->engine;
	struct pb_engine_report report;
	const enum pb_engine_state state = engine->ops->poll(engine->context, &report);
	const uint32_t sequence = report.sequence;

	pb_core_waypoint(firmware, PB_WAYPOINT_RETIRE);
	if (state == PB_ENGINE_BUSY)
		return;
	if (node->resetting) {
		node->resetting = false;
		pb_core_feed_again(node);
		/* The innocent do not inherit the time that the guilty work took. */
		node->progress_time = engine->ops->stopwatch(engine->context, &node->progress);
		return;
	}
	if (sequence - node->retired > node->fed - node->retired) {
		/* The engine reports what it was not fed: only a reset makes it trustworthy again. */
		blame_and_reset(firmware, node, PB_ERROR_ENGINE_FAULT, 0);
		return;
	}
	while (node->retired != sequence)
		complete(firmware, &node->in_flight[++node->retired % PB_LIMIT_IN_FLIGHT]);
	if (state == PB_ENGINE_FAULTED)
		handle_fault(firmware, node);
}

/** Work of a closing channel has this much time left, however well it gets on: others want what it holds. */
static bool is_left_behind(const struct pb_firmware *firmware, const struct pb_core_node *node)
{
	const struct pb_core_work *work = &node->in_flight[(node->retired + 1u) % PB_LIMIT_IN_FLIGHT];

	return firmware->channels[work->queue->channel].state == PB_CHANNEL_CLOSING;
}

void pb_core_hang_check(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_engine *engine = node->engine;
	uint32_t progress;
	const uint32_t time = engine->ops->stopwatch(engine->context, &progress);

	if (node->fed == node->retired || node->resetting || node->retired != node->watched ||
	    (progress != node->progress && !is_left_behind(firmware, node))) {
		node->watched = node->retired;
		node->progress = progress;
		node->progress_time = time;
	} else if (time - node->progress_time > PB_HANG_MICROSECONDS) {
		blame_and_reset(firmware, node, PB_ERROR_ENGINE_HANG, 0);
	}
}
