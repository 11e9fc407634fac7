/* SPDX-License-Identifier: MIT */
/*
 * Step 4: into the engine's ring. Work that failed is fed empty, so that its
 * fence comes in order like any other.
 */
#include "firmware/core.h"

/** Whether this work, or one of its queue behind it, has failed: it stays in flight then (firmware/withdraw.c). */
static bool is_followed_by_failed(struct pb_core_node *node, uint32_t sequence)
{
	const struct pb_core_queue *queue = pb_core_work_at(node, sequence)->queue;

	for (; sequence != node->fed + 1u; sequence++) {
		const struct pb_core_work *work = pb_core_work_at(node, sequence);

		if (work->queue == queue && work->status != PB_ERROR_OK)
			return true;
	}
	return false;
}

/** Whether less urgent work in flight is to make room for the next one. */
static __attribute__((noinline)) bool must_switch(struct pb_core_node *node, const struct pb_core_work *next)
{
	const uint32_t level = pb_core_queue_level(next->queue);
	bool less_urgent = false;

	for (uint32_t sequence = node->retired + 1u; sequence != node->fed + 1u; sequence++) {
		const struct pb_core_work *work = pb_core_work_at(node, sequence);

		if (work->guarded)
			return false;
		less_urgent = less_urgent || (pb_core_queue_level(work->queue) < level &&
					      !is_followed_by_failed(node, sequence));
	}
	return less_urgent;
}

void pb_core_feed_urgent(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (must_switch(node, pb_core_work_at(node, node->fed + 1u)))
		pb_core_node_withdraw(firmware, node, PB_CORE_STOP_TO_SWITCH, true);
}

/** The engine had nothing to run while this was being prepared. */
static __attribute__((noinline)) void count_starved(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const uint32_t now = pb_shared_read32(firmware->clock);
	const uint32_t idle = now - node->idle_since;
	const uint32_t preparing = now - node->preparing;

	node->starved += idle < preparing ? idle : preparing;
}

static __attribute__((noinline)) void restore(struct pb_core_node *node, const struct pb_core_work *work)
{
	if (work->engine.bytes != 0)
		node->engine->ops->restore(node->engine->context, work->queue->page->save);
}

void pb_core_feed_again(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t sequence)
{
	struct pb_core_work *work = pb_core_work_at(node, sequence);

	if (work->resumes)
		restore(node, work);
	node->engine->ops->feed(node->engine->context, &work->engine, sequence);
	pb_core_telemetry_fed(firmware, node, work);
	PB_CORE_TRACE_QUEUE(firmware, FEED, work->queue, work->fence_id, work->context);
}

void pb_core_feed(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const uint32_t sequence = node->fed + 1u;
	struct pb_core_work *work = pb_core_work_at(node, sequence);

	PB_CORE_KEEP(work);
	if (node->fed != node->retired) {
		pb_core_feed_urgent(firmware, node);
		if (node->state != PB_NODE_STATE_RUNNING)
			return;
	} else if (work->patches != 0) {
		count_starved(firmware, node);
	}
	node->next = PB_CORE_NEXT_NONE;
	node->fed = sequence;
	if (work->resumes)
		restore(node, work);
	node->engine->ops->feed(node->engine->context, &work->engine, sequence);
	/* The engine heard of it first. */
	pb_core_telemetry_fed(firmware, node, work);
	PB_CORE_TRACE_HOT(firmware, FEED, work->queue, work->fence_id, work->context);
}
