/* SPDX-License-Identifier: MIT */
/*
 * Completion. One word per queue counts the submissions completed, in the order of submission; the fence ids are kept
 * here. Events only report which submissions failed. During a preemption preempt.c finds the count by the timeline.
 */
#include "host/wddm/internal.h"

static struct pb_wddm_node *node_of_queue(struct pb_wddm_adapter *adapter, uint32_t handle)
{
	for (uint32_t n = 0; n < adapter->config.node_count; n++) {
		if (adapter->nodes[n].queue.handle == handle)
			return &adapter->nodes[n];
	}
	return NULL;
}

void pb_wddm_fail(struct pb_wddm_packet *packet)
{
	packet->failed = true;
	if (packet->context != NULL)
		packet->context->lost = true;
}

bool pb_wddm_is_lost(const struct pb_wddm_context *context)
{
	bool lost;

	pb_wddm_lock(context->adapter);
	lost = context->lost || context->adapter->error != PB_ERROR_OK;
	pb_wddm_unlock(context->adapter);
	return lost;
}

/**
 * Marks the submission that an event reports. Fence ids may repeat, but events come in order: the oldest one that is
 * not marked is meant. Submissions cancelled by a halt (PB_ERROR_HALTED) did not fail themselves.
 */
static void apply_event(struct pb_wddm_adapter *adapter, const struct pb_event *event)
{
	struct pb_wddm_node *node = node_of_queue(adapter, event->queue);

	if (node == NULL || event->error == PB_ERROR_HALTED ||
	    (event->type != PB_EVENT_SUBMISSION_FAILED && event->type != PB_EVENT_ENGINE_FAULT &&
	     event->type != PB_EVENT_ENGINE_HANG))
		return;
	for (uint32_t p = node->reported; p != node->submitted; p++) {
		struct pb_wddm_packet *packet = pb_wddm_packet(adapter, node, p);

		if (packet->fence_id == event->fence_id && !packet->failed) {
			pb_wddm_fail(packet);
			return;
		}
	}
}

/** After lost events: marks all submissions that are not reported, because any of them may have failed. */
static void fail_all(struct pb_wddm_adapter *adapter)
{
	for (uint32_t n = 0; n < adapter->config.node_count; n++) {
		struct pb_wddm_node *node = &adapter->nodes[n];

		for (uint32_t p = node->reported; p != node->submitted; p++)
			pb_wddm_fail(pb_wddm_packet(adapter, node, p));
	}
}

void pb_wddm_read_events(struct pb_wddm_adapter *adapter)
{
	struct pb_channel *channel = adapter->config.channel;
	struct pb_event event;
	uint32_t dropped;

	while (pb_channel_event(channel, &event))
		apply_event(adapter, &event);
	dropped = pb_shared_read32(&channel->entry->events_dropped);
	if (dropped != adapter->events_dropped)
		fail_all(adapter);
	pb_wddm_put(&adapter->events_dropped, dropped);
}

static void notify(struct pb_wddm_adapter *adapter, uint32_t n, uint32_t fence_id)
{
	const struct pb_dxgkargcb_notify_interrupt_data data = {
		.InterruptType = PB_DXGK_INTERRUPT_DMA_COMPLETED,
		.DmaCompleted = {.SubmissionFenceId = fence_id, .NodeOrdinal = n},
	};

	adapter->config.callbacks.notify_interrupt(adapter->config.callbacks.context, &data);
}

/**
 * Reports completed submissions one by one. Stops at a failed paging buffer: later submissions depend on the memory
 * that it did not move. @return true: the OS was notified
 */
static bool report(struct pb_wddm_adapter *adapter, uint32_t n, uint32_t completed)
{
	struct pb_wddm_node *node = &adapter->nodes[n];
	bool news = false;

	while (node->reported != completed) {
		struct pb_wddm_packet *packet = pb_wddm_packet(adapter, node, node->reported);

		if (packet->paging && packet->failed)
			break;
		pb_wddm_put(&node->current_fence, packet->fence_id);
		pb_wddm_put(&node->reported, node->reported + 1u);
		notify(adapter, n, node->current_fence);
		news = true;
	}
	return news;
}

/**
 * Reads the card's progress, and notifies the OS. A node that is being reset is the resetting function's.
 * Pre: the caller holds the adapter's lock. @return true: the OS was notified
 */
static bool poll(struct pb_wddm_adapter *adapter)
{
	struct pb_wddm_position positions[PB_WDDM_NODES];
	bool news = false;

	/* Counts before events: the firmware writes an event before the count that includes its submission. */
	for (uint32_t n = 0; n < adapter->config.node_count && adapter->error == PB_ERROR_OK; n++) {
		struct pb_wddm_node *node = &adapter->nodes[n];

		if (!node->resetting)
			pb_wddm_end(adapter, pb_wddm_read_position(adapter, node, &positions[n]));
	}
	if (adapter->error != PB_ERROR_OK)
		return false;
	pb_wddm_read_events(adapter);
	for (uint32_t n = 0; n < adapter->config.node_count; n++) {
		if (adapter->nodes[n].resetting)
			continue;
		news = report(adapter, n, positions[n].done) || news;
		news = pb_wddm_preempt_report(adapter, n, &positions[n]) || news;
		news = pb_wddm_preempt_advance(adapter, n) || news;
	}
	return news;
}

static bool poll_locked(struct pb_wddm_adapter *adapter)
{
	bool news;

	pb_wddm_lock(adapter);
	news = poll(adapter);
	pb_wddm_unlock(adapter);
	return news;
}

void pb_wddm_interrupt_routine(const struct pb_wddm_adapter *adapter)
{
	/* Before pb_wddm_start() there is no callback, and nothing to do. */
	if (adapter->config.callbacks.queue_dpc != NULL)
		adapter->config.callbacks.queue_dpc(adapter->config.callbacks.context);
}

bool pb_wddm_interrupt(struct pb_wddm_adapter *adapter)
{
	const bool news = poll_locked(adapter);

	if (news)
		adapter->config.callbacks.queue_dpc(adapter->config.callbacks.context);
	return news;
}

void pb_wddm_dpc(struct pb_wddm_adapter *adapter)
{
	(void)poll_locked(adapter);
	adapter->config.callbacks.notify_dpc(adapter->config.callbacks.context);
}

uint32_t pb_wddm_query_current_fence(struct pb_wddm_adapter *adapter,
				     struct pb_dxgkarg_querycurrentfence *query)
{
	const bool exists = query->NodeOrdinal < adapter->config.node_count;

	(void)pb_wddm_interrupt(adapter);
	query->CurrentFence = exists ? pb_wddm_get(&adapter->nodes[query->NodeOrdinal].current_fence) : 0;
	return PB_STATUS_SUCCESS;
}
