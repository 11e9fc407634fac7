/* SPDX-License-Identifier: MIT */
/* What the driver notifies the scheduler of. */
#include "tests/wddm/os/vidsch.h"

/** Everything up to a fence is done. @param rule broken if it is not outstanding @return its index; -1 and a bugcheck: it is not outstanding */
static int32_t report(struct os_model *os, struct os_node *node, uint32_t fence_id, enum os_rule rule)
{
	const int32_t index = os_find(node, fence_id);

	if (index < 0) {
		enum os_rule broken = rule;

		for (uint32_t i = 0; i < node->aborted_count && i < OS_ABORTED_KEPT; i++) {
			if (node->aborted[i] == fence_id)
				broken = OS_RULE_AFTER_RESET;
		}
		os_break(os, broken, fence_id);
		return -1;
	}
	for (int32_t i = 0; i <= index; i++)
		node->hardware.packets[i].reported = true;
	node->last_completed = fence_id;
	return index;
}

static void preempted(struct os_model *os, struct os_node *node, uint32_t preemption_id,
		      uint32_t last_completed)
{
	if (!node->preemption.pending || node->preemption.fence_id != preemption_id) {
		os_break(os,
			 node->preemption.cancelled && node->preemption.cancelled_id == preemption_id
				 ? OS_RULE_AFTER_RESET
				 : OS_RULE_PREEMPTED,
			 preemption_id);
		return;
	}
	if (last_completed != node->last_completed) {
		if (report(os, node, last_completed, OS_RULE_PREEMPTED) < 0)
			return;
		os->implied++;
		if (os->strict)
			os_break(os, OS_RULE_IMPLIED, last_completed);
	}
	os_retire_reported(os, node);
	os->preempted += node->hardware.count;
	os->preemptions++;
	os_recall(os, node);
	node->preemption.pending = false;
	os_submit_eagerly(os, node);
}

static void faulted(struct os_model *os, struct os_node *node, uint32_t fence_id)
{
	const int32_t index = report(os, node, fence_id, OS_RULE_FENCE);

	if (index < 0)
		return;
	if ((node->hardware.packets[index].submit.Flags & PB_FLAG_PAGING) != 0)
		os_break(os, OS_RULE_PAGING_FAULTED, fence_id);
	os->faulted++;
}

/** The node of a notification. @return NULL: ignored, or a bugcheck */
static struct os_node *node_of(struct os_model *os, uint32_t n)
{
	if (n >= os->node_count) {
		os_break(os, OS_RULE_NODE, n);
		return NULL;
	}
	if (os->nodes[n].resetting)
		return NULL;
	os->notified = true;
	return &os->nodes[n];
}

/** Display interrupts of an adapter without a display, and page faults, which only later versions know. */
static void other(struct os_model *os, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	if (data->InterruptType == OS_INTERRUPT_CRTC_VSYNC)
		os_break(os,
			 (data->Flags & 1u) != 0 && data->CrtcVsync.PhysicalAdapterMask == 0
				 ? OS_RULE_ADAPTER_MASK
				 : OS_RULE_VSYNC,
			 data->Flags);
	else if (data->InterruptType == OS_INTERRUPT_OVERLAY_VSYNC)
		os_break(os,
			 data->Reserved.Reserved[OS_OVERLAY_PLANES_WORD] != 0 ? OS_RULE_PLANE : OS_RULE_VSYNC,
			 data->Reserved.Reserved[OS_OVERLAY_PLANES_WORD]);
	else if (data->InterruptType == OS_INTERRUPT_PAGE_FAULTED)
		os_break(os,
			 (data->Reserved.Reserved[OS_FAULT_FLAGS_WORD] & OS_FAULT_FATAL) != 0
				 ? OS_RULE_FAULT_FATAL
				 : OS_RULE_FAULT_FLAGS,
			 data->Reserved.Reserved[OS_FAULT_FLAGS_WORD]);
}

void os_notify_interrupt(void *context, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	struct os_model *os = context;
	struct os_node *node;

	if (os_has_stopped(os))
		return;
	if (data->InterruptType == PB_DXGK_INTERRUPT_DMA_COMPLETED) {
		node = node_of(os, data->DmaCompleted.NodeOrdinal);
		if (node != NULL)
			(void)report(os, node, data->DmaCompleted.SubmissionFenceId, OS_RULE_FENCE);
	} else if (data->InterruptType == PB_DXGK_INTERRUPT_DMA_PREEMPTED) {
		node = node_of(os, data->DmaPreempted.NodeOrdinal);
		if (node != NULL)
			preempted(os, node, data->DmaPreempted.PreemptionFenceId,
				  data->DmaPreempted.LastCompletedFenceId);
	} else if (data->InterruptType == PB_DXGK_INTERRUPT_DMA_FAULTED) {
		node = node_of(os, data->DmaFaulted.NodeOrdinal);
		if (node != NULL)
			faulted(os, node, data->DmaFaulted.FaultedFenceId);
	} else {
		other(os, data);
	}
}

void os_queue_dpc(void *context)
{
	struct os_model *os = context;

	os->dpc_queued = true;
}

/** Packets leave the hardware queue only here: a miniport that never calls NotifyDpc finishes nothing. */
void os_notify_dpc(void *context)
{
	struct os_model *os = context;

	os->dpc_called = true;
	os->notified = false;
	for (uint32_t n = 0; n < os->node_count && !os_has_stopped(os); n++)
		os_retire_reported(os, &os->nodes[n]);
}
