/* SPDX-License-Identifier: MIT */
/* Drivers that break rules of the scheduler and of timeout recovery. */
#include <string.h>

#include "tests/wddm/os/broken.h"

#define AHEAD       1000u
#define NO_NODE     7u
#define SLOW_US     5100000u
#define FAULT_WRITE 0x1u

const struct os_ddi *os_puppet_shim(void)
{
	static struct os_ddi shim;

	if (shim.patch == NULL)
		os_driver(&shim);
	return &shim;
}

/* ---- notifications ---- */

static void notify_completed(struct os_machine *m, uint32_t node, uint32_t fence_id)
{
	const struct pb_dxgkargcb_notify_interrupt_data data = {
		.InterruptType = PB_DXGK_INTERRUPT_DMA_COMPLETED,
		.DmaCompleted = {.SubmissionFenceId = fence_id, .NodeOrdinal = node},
	};

	os_puppet_shim()->notify(m, &data);
}

static void notify_preempted(struct os_machine *m, uint32_t node, uint32_t id)
{
	const struct pb_dxgkargcb_notify_interrupt_data data = {
		.InterruptType = PB_DXGK_INTERRUPT_DMA_PREEMPTED,
		.DmaPreempted = {.PreemptionFenceId = id,
				 .LastCompletedFenceId = m->os.nodes[node].last_completed,
				 .NodeOrdinal = node},
	};

	os_puppet_shim()->notify(m, &data);
	os_queue_dpc(&m->os);
}

static void each_fence_twice(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	os_puppet_shim()->notify(m, data);
	if (data->InterruptType == PB_DXGK_INTERRUPT_DMA_COMPLETED)
		os_puppet_shim()->notify(m, data);
}

static void fences_ahead(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	struct pb_dxgkargcb_notify_interrupt_data copy = *data;

	if (data->InterruptType == PB_DXGK_INTERRUPT_DMA_COMPLETED)
		copy.DmaCompleted.SubmissionFenceId += AHEAD * AHEAD;
	os_puppet_shim()->notify(m, &copy);
}

static void no_such_node(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	struct pb_dxgkargcb_notify_interrupt_data copy = *data;

	if (data->InterruptType == PB_DXGK_INTERRUPT_DMA_COMPLETED)
		copy.DmaCompleted.NodeOrdinal = NO_NODE;
	os_puppet_shim()->notify(m, &copy);
}

/** One ledger for all nodes. */
static void on_every_node(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	os_puppet_shim()->notify(m, data);
	for (uint32_t n = 0; n < m->os.node_count && data->InterruptType == PB_DXGK_INTERRUPT_DMA_COMPLETED;
	     n++) {
		if (n != data->DmaCompleted.NodeOrdinal)
			notify_completed(m, n, data->DmaCompleted.SubmissionFenceId + AHEAD * AHEAD);
	}
}

/** A recalled packet completes after all. */
static void completed_after_preempted(struct os_machine *m,
				      const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	const struct os_node *node = &m->os.nodes[data->DmaPreempted.NodeOrdinal % OS_NODES];
	const bool preempted = data->InterruptType == PB_DXGK_INTERRUPT_DMA_PREEMPTED;
	const uint32_t count = preempted ? node->hardware.count : 0;
	const uint32_t fence_id = count != 0 ? node->hardware.packets[count - 1].fence_id : 0;
	const bool recalled = count != 0 && !os_is_paging(&node->hardware.packets[count - 1]) &&
			      !node->hardware.packets[count - 1].reported;

	os_puppet_shim()->notify(m, data);
	if (recalled)
		notify_completed(m, data->DmaPreempted.NodeOrdinal, fence_id);
}

static void preempted_twice(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	os_puppet_shim()->notify(m, data);
	if (data->InterruptType == PB_DXGK_INTERRUPT_DMA_PREEMPTED)
		os_puppet_shim()->notify(m, data);
}

static void preempted_ahead(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	struct pb_dxgkargcb_notify_interrupt_data copy = *data;

	if (data->InterruptType == PB_DXGK_INTERRUPT_DMA_PREEMPTED)
		copy.DmaPreempted.LastCompletedFenceId += AHEAD * AHEAD;
	os_puppet_shim()->notify(m, &copy);
}

/** During a preemption only DMA_PREEMPTED reports what has completed. */
static void implied(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	if (data->InterruptType != PB_DXGK_INTERRUPT_DMA_COMPLETED ||
	    !m->os.nodes[data->DmaCompleted.NodeOrdinal].preemption.pending)
		os_puppet_shim()->notify(m, data);
}

static void paging_faults(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	struct pb_dxgkargcb_notify_interrupt_data fault = {.InterruptType = PB_DXGK_INTERRUPT_DMA_FAULTED};
	const struct os_node *node = &m->os.nodes[data->DmaCompleted.NodeOrdinal % OS_NODES];
	int32_t index = -1;

	if (data->InterruptType == PB_DXGK_INTERRUPT_DMA_COMPLETED)
		index = os_find(node, data->DmaCompleted.SubmissionFenceId);
	if (index >= 0 && os_is_paging(&node->hardware.packets[index])) {
		fault.DmaFaulted.FaultedFenceId = data->DmaCompleted.SubmissionFenceId;
		fault.DmaFaulted.NodeOrdinal = data->DmaCompleted.NodeOrdinal;
		data = &fault;
	}
	os_puppet_shim()->notify(m, data);
}

/** Adds an interrupt of another kind behind each completion. */
static void also(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data, uint32_t type,
		 uint32_t word, uint32_t value, uint32_t flags)
{
	struct pb_dxgkargcb_notify_interrupt_data other = {.InterruptType = type, .Flags = flags};

	os_puppet_shim()->notify(m, data);
	other.Reserved.Reserved[word] = value;
	os_puppet_shim()->notify(m, &other);
}

static void vsync(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	also(m, data, OS_INTERRUPT_CRTC_VSYNC, 0, 0, 0);
}

static void vsync_of_no_adapter(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	also(m, data, OS_INTERRUPT_CRTC_VSYNC, 0, 0, 1);
}

static void vsync_of_a_plane(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	also(m, data, OS_INTERRUPT_OVERLAY_VSYNC, OS_OVERLAY_PLANES_WORD, 1, 0);
}

static void fatal_page_fault(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	also(m, data, OS_INTERRUPT_PAGE_FAULTED, OS_FAULT_FLAGS_WORD, OS_FAULT_FATAL, 0);
}

static void odd_page_fault(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	also(m, data, OS_INTERRUPT_PAGE_FAULTED, OS_FAULT_FLAGS_WORD, FAULT_WRITE, 0);
}

static void no_dpc(struct os_machine *m)
{
	os_puppet_shim()->interrupt(m);
	m->os.dpc_queued = false;
}

static void empty_dpc(struct os_machine *m)
{
	(void)m;
}

/* ---- calls ---- */

static uint32_t patch_fails(struct os_machine *m, const struct pb_dxgkarg_patch *patch)
{
	(void)m;
	(void)patch;
	return PB_STATUS_UNSUCCESSFUL;
}

/** As a driver that takes an entry without an allocation for an error. */
static uint32_t unbinding_fails(struct os_machine *m, const struct pb_dxgkarg_patch *patch)
{
	for (uint32_t p = 0; p < patch->PatchLocationListSubmissionLength; p++) {
		if (patch->pPatchLocationList[patch->PatchLocationListSubmissionStart + p].allocation_index ==
		    0)
			return PB_STATUS_UNSUCCESSFUL;
	}
	return os_puppet_shim()->patch(m, patch);
}

/** As a driver that takes address 0 for an error. */
static uint32_t address_0_fails(struct os_machine *m, const struct pb_dxgkarg_patch *patch)
{
	for (uint32_t p = 0; p < patch->PatchLocationListSubmissionLength; p++) {
		const struct pb_dxgk_allocationlist *entry =
			&patch->pAllocationList
				 [patch->pPatchLocationList[patch->PatchLocationListSubmissionStart + p]
					  .allocation_index %
				  OS_LIST];

		if (entry->hDeviceSpecificAllocation != NULL && entry->PhysicalAddress == 0)
			return PB_STATUS_UNSUCCESSFUL;
	}
	return os_puppet_shim()->patch(m, patch);
}

static uint32_t paging_without_lists_fails(struct os_machine *m, const struct pb_dxgkarg_patch *patch)
{
	return patch->pAllocationList == NULL ? PB_STATUS_UNSUCCESSFUL : os_puppet_shim()->patch(m, patch);
}

static uint32_t patch_notifies(struct os_machine *m, const struct pb_dxgkarg_patch *patch)
{
	const struct pb_dxgkargcb_notify_interrupt_data data = {
		.InterruptType = PB_DXGK_INTERRUPT_DMA_COMPLETED,
		.DmaCompleted = {.SubmissionFenceId = patch->SubmissionFenceId},
	};

	m->adapter.config.callbacks.notify_interrupt(m->adapter.config.callbacks.context, &data);
	return os_puppet_shim()->patch(m, patch);
}

static uint32_t submit_fails(struct os_machine *m, const struct pb_dxgkarg_submitcommand *submit)
{
	(void)m;
	(void)submit;
	return PB_STATUS_UNSUCCESSFUL;
}

/** Completes an empty packet at once. */
static uint32_t empty_overtakes(struct os_machine *m, const struct pb_dxgkarg_submitcommand *submit)
{
	const struct pb_wddm_context *context = submit->hContext;

	if (submit->DmaBufferSubmissionEndOffset == 0 && context != NULL) {
		notify_completed(m, context->node, submit->SubmissionFenceId);
		os_queue_dpc(&m->os);
	}
	return os_puppet_shim()->submit_command(m, submit);
}

static uint32_t slow(struct os_machine *m, const struct pb_dxgkarg_submitcommand *submit)
{
	const uint64_t end = pb_sim_now(m->sim) + SLOW_US;
	const uint32_t status = os_puppet_shim()->submit_command(m, submit);

	while (pb_sim_now(m->sim) < end)
		pb_sim_step(m->sim);
	return status;
}

static uint32_t submit_nothing(struct os_machine *m, const struct pb_dxgkarg_submitcommand *submit)
{
	(void)m;
	(void)submit;
	return PB_STATUS_SUCCESS;
}

static uint32_t preempt_fails(struct os_machine *m, const struct pb_dxgkarg_preemptcommand *preempt)
{
	(void)m;
	(void)preempt;
	return PB_STATUS_UNSUCCESSFUL;
}

static uint32_t preempt_at_once(struct os_machine *m, const struct pb_dxgkarg_preemptcommand *preempt)
{
	notify_preempted(m, preempt->NodeOrdinal, preempt->PreemptionFenceId);
	return PB_STATUS_SUCCESS;
}

/** Answers only when something completes. */
static uint32_t preempt_late(struct os_machine *m, const struct pb_dxgkarg_preemptcommand *preempt)
{
	return m->os.nodes[preempt->NodeOrdinal].hardware.count == 0
		       ? PB_STATUS_SUCCESS
		       : os_puppet_shim()->preempt_command(m, preempt);
}

static uint32_t preempt_never(struct os_machine *m, const struct pb_dxgkarg_preemptcommand *preempt)
{
	if (m->os.nodes[preempt->NodeOrdinal].hardware.count == 0)
		notify_preempted(m, preempt->NodeOrdinal, preempt->PreemptionFenceId);
	return PB_STATUS_SUCCESS;
}

static uint32_t query_another(struct os_machine *m, struct pb_dxgkarg_querycurrentfence *query)
{
	const uint32_t status = os_puppet_shim()->query_current_fence(m, query);

	query->CurrentFence += AHEAD;
	return status;
}

static uint32_t query_nothing(struct os_machine *m, struct pb_dxgkarg_querycurrentfence *query)
{
	query->CurrentFence = m->os.nodes[query->NodeOrdinal].last_completed;
	return PB_STATUS_SUCCESS;
}

static uint32_t alone_in_no_group(struct os_machine *m, struct pb_dxgkarg_querydependentenginegroup *group)
{
	(void)m;
	group->DependentNodeOrdinalMask = 0;
	return PB_STATUS_SUCCESS;
}

static uint32_t group_of_too_many(struct os_machine *m, struct pb_dxgkarg_querydependentenginegroup *group)
{
	(void)m;
	(void)group;
	group->DependentNodeOrdinalMask = 0x1f;
	return PB_STATUS_SUCCESS;
}

/* ---- resets ---- */

static uint32_t aborted_ahead(struct os_machine *m, struct pb_dxgkarg_resetengine *reset)
{
	const uint32_t status = os_puppet_shim()->reset_engine(m, reset);

	reset->LastAbortedFenceId += AHEAD * AHEAD;
	return status;
}

/** As a driver that fills in a field that the struct does not have. */
static uint32_t aborted_unset(struct os_machine *m, struct pb_dxgkarg_resetengine *reset)
{
	struct pb_dxgkarg_resetengine copy = *reset;

	return os_puppet_shim()->reset_engine(m, &copy);
}

static uint32_t remember(struct os_machine *m, struct pb_dxgkarg_resetengine *reset)
{
	const struct os_node *node = &m->os.nodes[reset->NodeOrdinal];
	const bool had = node->hardware.count != 0 && !node->hardware.packets[0].reported;
	const uint32_t fence_id = had ? node->hardware.packets[0].fence_id : 0;
	const uint32_t status = os_puppet_shim()->reset_engine(m, reset);

	if (had && status == PB_STATUS_SUCCESS && reset->LastAbortedFenceId == fence_id) {
		m->puppet.fence = fence_id;
		m->puppet.node = reset->NodeOrdinal;
		m->puppet.late = true;
	}
	return status;
}

static void interrupt_late(struct os_machine *m)
{
	if (m->puppet.late)
		notify_completed(m, m->puppet.node, m->puppet.fence);
	m->puppet.late = false;
	os_puppet_shim()->interrupt(m);
}

static uint32_t reset_nothing(struct os_machine *m, struct pb_dxgkarg_resetengine *reset)
{
	const struct os_node *node = &m->os.nodes[reset->NodeOrdinal];

	reset->LastAbortedFenceId =
		node->hardware.count != 0 ? node->hardware.packets[0].fence_id : node->last_completed;
	return PB_STATUS_SUCCESS;
}

static uint32_t no_reset(struct os_machine *m)
{
	(void)m;
	return PB_STATUS_UNSUCCESSFUL;
}

static uint32_t reset_at_once(struct os_machine *m)
{
	(void)m;
	return PB_STATUS_SUCCESS;
}

static uint32_t cancel_fails(struct os_machine *m, const struct pb_dxgkarg_submitcommand *packet)
{
	(void)m;
	(void)packet;
	return PB_STATUS_UNSUCCESSFUL;
}

static void flips(struct os_machine *m, struct pb_dxgk_drivercaps *caps)
{
	os_puppet_shim()->caps(m, caps);
	caps->MaxQueuedFlipOnVSync = 2;
}

const struct os_puppet os_puppets_schedule[] = {
	{"a fence twice", OS_RULE_FENCE, 0x119, 0x1, .ddi = {.notify = each_fence_twice}},
	{"a fence never submitted", OS_RULE_FENCE, 0x119, 0x1, .ddi = {.notify = fences_ahead}},
	{"one ledger for all nodes", OS_RULE_FENCE, 0x119, 0x1, .ddi = {.notify = on_every_node}},
	{"an empty packet overtakes", OS_RULE_FENCE, 0x119, 0x1, .ddi = {.submit_command = empty_overtakes}},
	{"completed after preempted", OS_RULE_FENCE, 0x119, 0x1,
	 .ddi = {.notify = completed_after_preempted}},
	{"preempted twice", OS_RULE_PREEMPTED, 0x119, 0x1, .ddi = {.notify = preempted_twice}},
	{"last completed is to come", OS_RULE_PREEMPTED, 0x119, 0x1, .ddi = {.notify = preempted_ahead}},
	{"current fence is another", OS_RULE_QUERY, 0x119, 0x1,
	 .ddi = {.query_current_fence = query_another}},
	{"SubmitCommand fails", OS_RULE_SUBMIT, 0x119, 0x2, .ddi = {.submit_command = submit_fails}},
	{"PreemptCommand fails", OS_RULE_PREEMPT, 0x119, 0x2, .ddi = {.preempt_command = preempt_fails}},
	{"Patch fails", OS_RULE_PATCH, 0x119, 0x3, .ddi = {.patch = patch_fails}},
	{"Patch fails at an unbind entry", OS_RULE_PATCH, 0x119, 0x3, .ddi = {.patch = unbinding_fails}},
	{"Patch fails at address 0", OS_RULE_PATCH, 0x119, 0x3, .ddi = {.patch = address_0_fails}},
	{"Patch of paging fails", OS_RULE_PATCH, 0x119, 0x3, .ddi = {.patch = paging_without_lists_fails}},
	{"flips without a display", OS_RULE_FLIP_QUEUE, 0x119, 0x4, .ddi = {.caps = flips}},
	{"a paging buffer faults", OS_RULE_PAGING_FAULTED, 0x119, 0x5, .ddi = {.notify = paging_faults}},
	{"a VSync of no adapter", OS_RULE_ADAPTER_MASK, 0x119, 0x6, .ddi = {.notify = vsync_of_no_adapter}},
	{"a VSync", OS_RULE_VSYNC, 0x119, 0x7, .ddi = {.notify = vsync}},
	{"no such node", OS_RULE_NODE, 0x119, 0x8, .ddi = {.notify = no_such_node}},
	{"no group", OS_RULE_GROUP, 0x119, 0x8, .ddi = {.query_dependent_engine_group = alone_in_no_group}},
	{"too many in a group", OS_RULE_GROUP, 0x119, 0x8,
	 .ddi = {.query_dependent_engine_group = group_of_too_many}},
	{"CancelCommand fails", OS_RULE_CANCEL, 0x119, 0x9, .ddi = {.cancel_command = cancel_fails}},
	{"aborted is to come", OS_RULE_ABORTED, 0x119, 0xa, .ddi = {.reset_engine = aborted_ahead}},
	{"aborted is not set", OS_RULE_ABORTED, 0x119, 0xa, .ddi = {.reset_engine = aborted_unset}},
	{"an overlay fails", OS_RULE_OVERLAY, 0x119, 0xb, .ddi = {.set_overlay = no_reset}},
	{"a fatal page fault", OS_RULE_FAULT_FATAL, 0x119, 0xc, .ddi = {.notify = fatal_page_fault}},
	{"a page fault of later versions", OS_RULE_FAULT_FLAGS, 0x119, 0xd,
	 .ddi = {.notify = odd_page_fault}},
	{"a VSync of a plane", OS_RULE_PLANE, 0x119, 0xe, .ddi = {.notify = vsync_of_a_plane}},
	{"an interrupt after the reset", OS_RULE_AFTER_RESET, 0x119, 0x10,
	 .ddi = {.reset_engine = remember, .interrupt = interrupt_late}},
	{"a late answer", OS_RULE_LATE_ANSWER, 0, 0x1, .ddi = {.preempt_command = preempt_late}},
	{"completions implied", OS_RULE_IMPLIED, 0, 0x2, .ddi = {.notify = implied}},
	{"no DPC", OS_RULE_NO_DPC, 0, 0x3, .ddi = {.interrupt = no_dpc}},
	{"an empty DPC", OS_RULE_NO_NOTIFY_DPC, 0, 0x4, .ddi = {.dpc = empty_dpc}},
	{"Patch notifies", OS_RULE_LEVEL, 0, 0xd, .ddi = {.patch = patch_notifies}},
	{"nothing ends", OS_RULE_NEVER_ENDS, 0, 0x5,
	 .ddi = {.submit_command = submit_nothing,
		 .preempt_command = preempt_at_once,
		 .query_current_fence = query_nothing}},
	{"no reset works", OS_RULE_NO_RESET, 0x116, PB_STATUS_UNSUCCESSFUL,
	 .ddi = {.reset_from_timeout = no_reset}},
	{"the adapter does not start again", OS_RULE_NO_RESET, 0x116, PB_STATUS_UNSUCCESSFUL,
	 .ddi = {.restart_from_timeout = no_reset}},
	{"hangs again and again", OS_RULE_TOO_OFTEN, 0x116, 0, .limited = true,
	 .ddi = {.submit_command = submit_nothing,
		 .preempt_command = preempt_never,
		 .query_current_fence = query_nothing,
		 .reset_engine = reset_nothing,
		 .reset_from_timeout = reset_at_once}},
	{"six seconds in a call", OS_RULE_SLOW, 0x116, 0, .ddi = {.submit_command = slow}},
};
const uint32_t os_puppets_schedule_count = sizeof(os_puppets_schedule) / sizeof(os_puppets_schedule[0]);
