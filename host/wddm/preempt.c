/* SPDX-License-Identifier: MIT */
/*
 * PreemptCommand. The firmware lets the buffer that runs come to its end and
 * gives the rest back; its record says how many. They keep their places in the
 * node's order, so that a place there stays an index of the queue.
 */
#include "host/wddm/internal.h"

/**
 * While a preemption is under way, the queue's index may already stand behind
 * returned work; the timeline does not. It is read before the preemption's
 * record: what that says later cannot be in it.
 */
static enum pb_error look_at_timeline(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node,
				      struct pb_wddm_look *look)
{
	struct pb_fence fence;
	enum pb_error error = pb_queue_fence(&node->queue, &fence);

	look->done = node->reported;
	if (error != PB_ERROR_OK)
		return error;
	while (look->done != fence.completed &&
	       pb_wddm_packet(adapter, node, look->done)->timeline <= fence.timeline)
		look->done++;
	look->completed = look->done;
	return PB_ERROR_OK;
}

enum pb_error pb_wddm_look_at(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node,
			      struct pb_wddm_look *look)
{
	struct pb_preempt last;
	enum pb_error error;

	*look = (struct pb_wddm_look){.stopped = false};
	if (!node->preemption.begun) {
		error = pb_queue_completed(&node->queue, &look->completed);
		look->done = look->completed;
		return error;
	}
	error = look_at_timeline(adapter, node, look);
	if (error == PB_ERROR_OK)
		error = pb_queue_preempted(&node->queue, &last);
	if (error != PB_ERROR_OK || last.count != node->preemption.count)
		return error;
	look->stopped = true;
	look->completed = last.completed;
	look->done = last.completed - last.returned;
	return PB_ERROR_OK;
}

static void notify(struct pb_wddm_adapter *adapter, uint32_t n)
{
	struct pb_wddm_node *node = &adapter->nodes[n];
	const struct pb_dxgkargcb_notify_interrupt_data data = {
		.InterruptType = PB_DXGK_INTERRUPT_DMA_PREEMPTED,
		.DmaPreempted = {.PreemptionFenceId = node->preemption.id,
				 .LastCompletedFenceId = node->current_fence,
				 .NodeOrdinal = n},
	};

	/* It is over before the OS hears of it: it may submit and preempt from within the call. */
	node->preemption = (struct pb_wddm_preemption){.pending = false};
	adapter->config.callbacks.notify_interrupt(adapter->config.callbacks.context, &data);
}

bool pb_wddm_preempt_report(struct pb_wddm_adapter *adapter, uint32_t n, const struct pb_wddm_look *look)
{
	struct pb_wddm_node *node = &adapter->nodes[n];

	/* Behind a paging buffer that failed nothing is reported, this neither. */
	if (!look->stopped || node->reported != look->done)
		return false;
	for (; node->reported != look->completed; node->reported++)
		pb_wddm_release(pb_wddm_packet(adapter, node, node->reported));
	notify(adapter, n);
	return true;
}

/** The reply comes behind the record, and the next preemption has to wait for it. */
static void take_reply(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node)
{
	enum pb_error error;

	if (!node->queue.stop.pending || node->preemption.begun)
		return;
	error = pb_queue_preempt_finish(&node->queue, NULL);
	if (error != PB_ERROR_TIMEOUT && adapter->error == PB_ERROR_OK)
		adapter->error = error;
}

static void begin(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node)
{
	const enum pb_error error = pb_queue_preempt_begin(&node->queue, node->preemption.id, 0);

	if (error == PB_ERROR_OK) {
		node->preemption.begun = true;
		node->preemption.count = node->queue.stop.last.count + 1u;
	} else if (error != PB_ERROR_BUSY && error != PB_ERROR_NO_SPACE && adapter->error == PB_ERROR_OK) {
		adapter->error = error;
	}
}

bool pb_wddm_preempt_go_on(struct pb_wddm_adapter *adapter, uint32_t n)
{
	struct pb_wddm_node *node = &adapter->nodes[n];

	take_reply(adapter, node);
	if (adapter->error != PB_ERROR_OK || !node->preemption.pending || node->preemption.begun)
		return false;
	if (node->reported == node->submitted) {
		notify(adapter, n);
		return true;
	}
	begin(adapter, node);
	return false;
}

uint32_t pb_wddm_preempt_command(struct pb_wddm_adapter *adapter,
				 const struct pb_dxgkarg_preemptcommand *preempt)
{
	struct pb_wddm_node *node = &adapter->nodes[preempt->NodeOrdinal % PB_WDDM_NODES];

	if (adapter->error != PB_ERROR_OK)
		return PB_STATUS_SUCCESS;
	if (preempt->NodeOrdinal >= adapter->config.node_count || node->preemption.pending ||
	    adapter->stopped) {
		adapter->error = PB_ERROR_BAD_ARGUMENT;
		return PB_STATUS_SUCCESS;
	}
	node->preemption = (struct pb_wddm_preemption){.pending = true, .id = preempt->PreemptionFenceId};
	(void)pb_wddm_interrupt(adapter);
	return PB_STATUS_SUCCESS;
}
