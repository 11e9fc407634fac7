/* SPDX-License-Identifier: MIT */
/*
 * Step 5: completion, by position in the node's order. What the engine reports
 * is its own sequence number; fence ids are looked up in private memory.
 */
#include "firmware/core.h"

#define INLINE   inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

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
	struct pb_event event = {
		.type = PB_EVENT_CONTEXT_LOST,
		.queue = queue,
		.fence_id = work->fence_id,
		.error = work->status,
		.index = work->index,
	};

	if (work->context >= PB_LIMIT_CONTEXTS)
		return;
	event.detail = PB_HANDLE(work->context, firmware->contexts[work->context] >> 16);
	pb_core_event(firmware, channel, &event);
}

static uint32_t event_type(uint32_t status)
{
	if (status == PB_ERROR_ENGINE_FAULT)
		return PB_EVENT_ENGINE_FAULT;
	return status == PB_ERROR_ENGINE_HANG ? PB_EVENT_ENGINE_HANG : PB_EVENT_SUBMISSION_FAILED;
}

static NOINLINE void report_failure(struct pb_firmware *firmware, struct pb_core_queue *queue,
				    const struct pb_core_work *work)
{
	const uint32_t handle = pb_core_queue_handle(firmware, queue);
	const uint64_t timeline = pb_core_wide(work->timeline_low, work->timeline_high);
	const struct pb_event event = {
		.type = event_type(work->status),
		.queue = handle,
		.fence_id = work->fence_id,
		.error = work->status,
		.index = work->index,
		.detail = work->detail,
	};

	/* Not the flag: a broken put is an error too, but of no submission. */
	if (timeline < queue->error_timeline)
		queue->error_timeline = timeline;
	pb_core_record_error(queue, work->status, work->fence_id, work->index);
	pb_core_event(firmware, queue->channel, &event);
	if (work->status != PB_ERROR_CONTEXT_LOST && work->status != PB_ERROR_HALTED &&
	    work->status != PB_ERROR_DEP_FAILED && work->status != PB_ERROR_DEADLOCK &&
	    work->status != PB_ERROR_ENGINE_DEAD)
		report_context(firmware, work, queue->channel, handle);
	pb_core_halt_report(firmware, work);
}

void pb_core_drained(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	const uint32_t channel = queue->channel;

	if (queue->busy == 0)
		pb_core_queue_drained(firmware, queue);
	if (firmware->channels[channel].busy == 0 &&
	    firmware->channels[channel].state == PB_CORE_CHANNEL_CLOSING_WORK)
		pb_core_channel_drained(firmware, channel);
}

/** Work of a queue that is closing ends without a trace, but for a halt; the last of it ends the queue. */
static void drain(struct pb_firmware *firmware, const struct pb_core_work *work)
{
	pb_core_halt_report(firmware, work);
	pb_core_drained(firmware, work->queue);
}

void pb_core_count_patches(struct pb_firmware *firmware, const struct pb_core_work *work)
{
	struct pb_core_channel *channel = &firmware->channels[work->queue->channel];

	firmware->nodes[work->queue->node].patches += work->patches;
	channel->patches += work->patches;
	pb_shared_write32(&channel->entry->patches_low, (uint32_t)channel->patches);
	pb_shared_write32(&channel->entry->patches_high, (uint32_t)(channel->patches >> 32));
}

/** The host interrupt waits for more completions, or for the tick. */
static NOINLINE void moderate(struct pb_firmware *firmware, struct pb_core_channel *channel)
{
	const uint32_t c = (uint32_t)(channel - firmware->channels);

	if (++channel->unreported < channel->moderate_count) {
		if (channel->unreported == 1u)
			channel->unreported_since = pb_shared_read32(firmware->clock);
		firmware->moderated |= 1u << c;
		return;
	}
	pb_core_report(firmware, c);
}

/** Its queue's timeline has reached it, and so the fence record says. */
static INLINE void publish(struct pb_core_queue *queue, const struct pb_core_work *work, uint32_t status)
{
	struct pb_fence_record *record = &queue->page->fence;
	const uint32_t completed = queue->completed + 1u;
	const uint32_t low = work->timeline_low;
	const uint32_t high = work->timeline_high;
	const uint32_t sequence = 2u * (completed + queue->changes); /* as record.c counts it */

	queue->completed = completed;
	queue->reached = pb_core_wide(low, high);
	pb_shared_write32(&record->sequence, sequence - 1u);
	pb_shared_release();
	pb_shared_write32(&record->completed, completed);
	pb_shared_write32(&record->timeline_low, low);
	pb_shared_write32(&record->timeline_high, high);
	pb_shared_write32(&record->fence_id, work->fence_id);
	pb_shared_write32(&record->status, status);
	pb_shared_write32(&record->valid, 1);
	pb_shared_release();
	pb_shared_write32(&record->sequence, sequence);
}

static INLINE void interrupt(struct pb_firmware *firmware, struct pb_core_channel *channel, uint32_t c)
{
	if (channel->moderate_count > 1u)
		moderate(firmware, channel);
	else
		pb_core_interrupt(firmware, c);
}

/** Work that failed, that patches were carried out for, or whose queue is being closed or stopped, or has others wait for it. */
static NOINLINE void complete_special(struct pb_firmware *firmware, struct pb_core_node *node,
				      const struct pb_core_work *work)
{
	struct pb_core_queue *queue = work->queue;

	PB_CORE_TRACE_QUEUE(firmware, COMPLETE, queue, work->fence_id,
			    PB_TRACE_DONE(queue->node, work->status));
	if ((queue->flags & PB_CORE_QUEUE_CLOSING_IT) != 0) {
		drain(firmware, work);
		return;
	}
	if (work->patches != 0)
		pb_core_count_patches(firmware, work);
	if (work->status != PB_ERROR_OK)
		report_failure(firmware, queue, work);
	else
		pb_core_telemetry_fenced(firmware, node, work);
	publish(queue, work, work->status);
	interrupt(firmware, &firmware->channels[queue->channel], queue->channel);
	pb_core_wait_wake(firmware, queue);
	if ((queue->flags & PB_CORE_QUEUE_STOPPING) != 0)
		pb_core_stop_progress(firmware, queue);
}

static INLINE void complete(struct pb_firmware *firmware, struct pb_core_node *node,
			    const struct pb_core_work *work)
{
	struct pb_core_queue *queue = work->queue;
	struct pb_core_channel *channel = &firmware->channels[queue->channel];

	PB_CORE_KEEP(work);
	PB_CORE_KEEP(channel);
	queue->busy--;
	channel->busy--;
	if (((queue->flags & PB_CORE_QUEUE_SPECIAL) | work->status | work->patches) != 0) {
		complete_special(firmware, node, work);
	} else {
		publish(queue, work, PB_ERROR_OK);
		interrupt(firmware, channel, queue->channel);
		PB_CORE_TRACE_HOT(firmware, COMPLETE, queue, work->fence_id,
				  PB_TRACE_DONE(queue->node, PB_ERROR_OK));
		pb_core_telemetry_fenced(firmware, node, work);
	}
	node->bytes += work->engine.bytes;
}

void pb_core_halt(struct pb_firmware *firmware, struct pb_core_node *node, const struct pb_core_work *work)
{
	const uint32_t channel = work->queue->channel;
	struct pb_core_work *next = pb_core_work_at(node, node->fed + 1u);

	node->halted |= 1u << channel;
	pb_core_schedule_hold(firmware, node);
	/* What was being prepared behind it has read its descriptor: it must complete. */
	if (pb_core_has_next(node) && next != work && next->queue->channel == channel &&
	    next->status == PB_ERROR_OK) {
		pb_core_work_fail(next, PB_ERROR_HALTED, PB_INDEX_NONE, 0);
		pb_core_job_release(firmware, node);
		node->next = PB_CORE_NEXT_PREPARED;
	}
}

/*
 * All of it is the first one's: what was done behind it at the same look took
 * no longer than a look, or its own interrupt would have come in between. Time
 * in which the engine had nothing to run, as the firmware was still busy with
 * this one, was kept from others like that in which it ran.
 */
void pb_core_charge(struct pb_firmware *firmware, struct pb_core_node *node, const struct pb_core_work *head,
		    uint32_t time)
{
	const uint32_t clock = pb_shared_read32(firmware->clock);
	const uint32_t elapsed = node->lapsed ? 0 : clock - node->since;
	const uint32_t run = time - node->time;

	pb_core_schedule_charge(node, head, run > elapsed ? run : elapsed);
	node->time = time;
	node->since = clock;
	node->lapsed = false;
}

void pb_core_retire_to(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t sequence)
{
	while (node->retired != sequence) {
		complete(firmware, node, pb_core_work_at(node, ++node->retired));
	}
}

/** Whether another queue may want the engine's time that this work, which was the first in the ring, has used. */
static INLINE bool is_contended(struct pb_core_node *node, const struct pb_core_work *head)
{
	const struct pb_core_queue *queue = head->queue;

	return node->levels != 0 || queue != node->current ||
	       queue != pb_core_work_at(node, node->fed)->queue;
}

/** What the engine's report says beside what is complete. @param head the first of that; only feeding writes over it */
static INLINE void take_report(struct pb_firmware *firmware, struct pb_core_node *node,
			       const struct pb_core_work *head, const struct pb_engine_report *report)
{
	if (is_contended(node, head))
		pb_core_charge(firmware, node, head, report->time);
	else
		node->lapsed = true;
	node->time = report->time;
	firmware->awake |= node->bit;
	if (node->retired != node->fed)
		return;
	node->idles++;
	node->idle_since = pb_shared_read32(firmware->clock);
}

static INLINE void retire_some(struct pb_firmware *firmware, struct pb_core_node *node,
			       const struct pb_engine_report *report)
{
	const struct pb_core_work *head = pb_core_work_at(node, node->retired + 1u);

	PB_CORE_KEEP(head); /* one sum, not one for each field */
	do
		complete(firmware, node, pb_core_work_at(node, ++node->retired));
	while (node->retired != report->sequence);
	take_report(firmware, node, head, report);
}

/** The same, small rather than quick. */
static void retire_more(struct pb_firmware *firmware, struct pb_core_node *node,
			const struct pb_engine_report *report)
{
	const struct pb_core_work *head = pb_core_work_at(node, node->retired + 1u);

	pb_core_retire_to(firmware, node, report->sequence);
	take_report(firmware, node, head, report);
}

/** The engine was asked something. What it finishes before it answers counts. */
static NOINLINE void retire_asked(struct pb_firmware *firmware, struct pb_core_node *node,
				  enum pb_engine_state state, const struct pb_engine_report *report)
{
	if (state != PB_ENGINE_BUSY)
		pb_core_node_answered(firmware, node, state);
	else if (node->state == PB_NODE_STATE_STOPPING && report->sequence != node->retired &&
		 report->sequence - node->retired <= node->fed - node->retired)
		retire_more(firmware, node, report);
}

void pb_core_retire(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_engine *engine = node->engine;
	struct pb_engine_report report;
	const enum pb_engine_state state = engine->ops->poll(engine->context, &report);

	pb_core_waypoint(firmware, PB_WAYPOINT_RETIRE);
	if (node->state != PB_NODE_STATE_RUNNING) {
		retire_asked(firmware, node, state, &report);
		return;
	}
	if (report.sequence != node->retired) {
		/* An engine that reports what it was not fed: only a reset makes it trustworthy again. */
		if (report.sequence - node->retired > node->fed - node->retired) {
			pb_core_node_fault(firmware, node, PB_ENGINE_READY);
			return;
		}
		retire_some(firmware, node, &report);
	}
	if (state == PB_ENGINE_FAULTED)
		pb_core_node_fault(firmware, node, state);
}
