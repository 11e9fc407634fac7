/* SPDX-License-Identifier: MIT */
/*
 * PreemptCommand. The firmware completes the running buffer and returns the others; its record counts them. Returned
 * submissions keep their numbers in the node's order, so that a number stays an index of the queue's ring.
 */
#include "host/wddm/internal.h"

/**
 * Finds the submissions completed during a preemption. The queue's index may already include returned submissions; the
 * timeline never does. Must be read before the preemption record, so that it is not newer than the record.
 */
static enum pb_error read_position_by_timeline(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node,
					       struct pb_wddm_position *position)
{
	struct pb_fence fence;
	enum pb_error error = pb_queue_fence_now(&node->queue, &fence);

	position->done = node->reported;
	if (error != PB_ERROR_OK)
		return error;
	while (position->done != fence.completed &&
	       pb_wddm_packet(adapter, node, position->done)->timeline <= fence.timeline)
		position->done++;
	position->completed = position->done;
	return PB_ERROR_OK;
}

/** Reads the records as pb_wddm_read_position(). @retval PB_ERROR_TIMEOUT one of them is half written */
static enum pb_error read_position(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node,
				   struct pb_wddm_position *position)
{
	struct pb_preempt last;
	enum pb_error error;

	if (!node->preemption.begun) {
		error = pb_queue_completed(&node->queue, &position->completed);
		position->done = position->completed;
		return error;
	}
	error = read_position_by_timeline(adapter, node, position);
	if (error == PB_ERROR_OK)
		error = pb_queue_preempted_now(&node->queue, &last);
	if (error != PB_ERROR_OK || last.count != node->preemption.count)
		return error;
	position->stopped = true;
	position->completed = last.completed;
	position->done = last.completed - last.returned;
	return PB_ERROR_OK;
}

enum pb_error pb_wddm_read_position(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node,
				    struct pb_wddm_position *position)
{
	enum pb_error error;

	*position = (struct pb_wddm_position){.stopped = false};
	error = read_position(adapter, node, position);
	if (error != PB_ERROR_TIMEOUT)
		return error;
	/* An interrupt follows the write, unless the firmware has died in it. */
	*position = (struct pb_wddm_position){.completed = node->reported, .done = node->reported};
	return pb_alive(adapter->config.channel);
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

	/* Clear it before the call: the OS may submit and preempt from within the notification. */
	node->preemption = (struct pb_wddm_preemption){.pending = false};
	adapter->config.callbacks.notify_interrupt(adapter->config.callbacks.context, &data);
}

bool pb_wddm_preempt_report(struct pb_wddm_adapter *adapter, uint32_t n,
			    const struct pb_wddm_position *position)
{
	struct pb_wddm_node *node = &adapter->nodes[n];

	/* After a failed paging buffer nothing is reported, not even the preemption. */
	if (!position->stopped || node->reported != position->done)
		return false;
	pb_wddm_put(&node->reported, position->completed);
	notify(adapter, n);
	return true;
}

/**
 * Reads the reply of a preemption, which comes after its record. The next preemption needs it.
 * @return whether the firmware has refused the preemption: no stop request was free, so it is sent at a later interrupt
 */
static bool finish_preemption(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node)
{
	enum pb_error error;

	if (!node->queue.stop.pending)
		return false;
	error = pb_queue_preempt_finish(&node->queue, NULL);
	if (node->preemption.begun && pb_wddm_is_refusal(error)) {
		node->preemption.begun = false;
		return true;
	}
	if (error != PB_ERROR_TIMEOUT)
		pb_wddm_end(adapter, error);
	return false;
}

/** Sends the pending preemption to the firmware, unless an earlier one is unfinished. */
static void begin(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node)
{
	const enum pb_error error = pb_queue_preempt_begin(&node->queue, node->preemption.id, 0);

	if (error == PB_ERROR_OK) {
		node->preemption.begun = true;
		node->preemption.count = node->queue.stop.last.count + 1u;
	} else if (error != PB_ERROR_BUSY && error != PB_ERROR_NO_SPACE) {
		pb_wddm_end(adapter, error);
	}
}

bool pb_wddm_preempt_advance(struct pb_wddm_adapter *adapter, uint32_t n)
{
	struct pb_wddm_node *node = &adapter->nodes[n];

	if (finish_preemption(adapter, node))
		return false;
	if (adapter->error != PB_ERROR_OK || !node->preemption.pending || node->preemption.begun)
		return false;
	if (node->reported == node->submitted) {
		notify(adapter, n);
		return true;
	}
	begin(adapter, node);
	return false;
}

/** Notes the request. @return false: it breaks the rules, or the adapter has ended */
static bool accept(struct pb_wddm_adapter *adapter, const struct pb_dxgkarg_preemptcommand *preempt)
{
	struct pb_wddm_node *node = &adapter->nodes[preempt->NodeOrdinal % PB_WDDM_NODES];

	if (preempt->NodeOrdinal >= adapter->config.node_count || node->preemption.pending ||
	    adapter->stopped || adapter->asleep)
		pb_wddm_end(adapter, PB_ERROR_BAD_ARGUMENT);
	if (adapter->error != PB_ERROR_OK)
		return false;
	node->preemption = (struct pb_wddm_preemption){.pending = true, .id = preempt->PreemptionFenceId};
	return true;
}

uint32_t pb_wddm_preempt_command(struct pb_wddm_adapter *adapter,
				 const struct pb_dxgkarg_preemptcommand *preempt)
{
	bool accepted;

	pb_wddm_lock(adapter);
	accepted = accept(adapter, preempt);
	pb_wddm_unlock(adapter);
	if (accepted)
		(void)pb_wddm_interrupt(adapter);
	return PB_STATUS_SUCCESS;
}
