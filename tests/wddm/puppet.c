/* SPDX-License-Identifier: MIT */
#include "tests/wddm/puppet.h"

#include <string.h>

#define FAILURE     0xc0000001u
#define DEPTH       3u
#define AHEAD       1000u
#define SLOW_US     UINT64_C(6000000)
#define FAULT_CAUSE 0xc000001du

static void notify(struct puppet *puppet, uint32_t n, uint32_t fence_id)
{
	struct pb_dxgkargcb_notify_interrupt_data data = {
		.InterruptType = PB_DXGK_INTERRUPT_DMA_COMPLETED,
		.DmaCompleted = {.SubmissionFenceId = fence_id, .NodeOrdinal = n},
	};

	if (puppet->defect == PUPPET_FAULTS) {
		data.InterruptType = PB_DXGK_INTERRUPT_DMA_FAULTED;
		data.DmaFaulted.FaultedFenceId = fence_id;
		data.DmaFaulted.Status = FAULT_CAUSE;
		data.DmaFaulted.NodeOrdinal = n;
		data.DmaFaulted.EngineOrdinal = 0;
	}
	os_notify_interrupt(puppet->os, &data);
	if (puppet->defect != PUPPET_NO_DPC)
		os_queue_dpc(puppet->os);
}

static void notify_preempted(struct puppet *puppet, uint32_t n, uint32_t preemption, uint32_t last)
{
	const struct pb_dxgkargcb_notify_interrupt_data data = {
		.InterruptType = PB_DXGK_INTERRUPT_DMA_PREEMPTED,
		.DmaPreempted = {.PreemptionFenceId = preemption,
				 .LastCompletedFenceId = last,
				 .NodeOrdinal = n},
	};

	os_notify_interrupt(puppet->os, &data);
	os_queue_dpc(puppet->os);
}

static uint32_t patch(void *context, const struct pb_dxgkarg_patch *arguments)
{
	struct puppet *puppet = context;

	(void)arguments;
	puppet->patches++;
	return puppet->defect == PUPPET_PATCH_FAILS ? FAILURE : PB_STATUS_SUCCESS;
}

static uint32_t submit_command(void *context, const struct pb_dxgkarg_submitcommand *submit)
{
	struct puppet *puppet = context;
	struct puppet_node *node = &puppet->nodes[submit->NodeOrdinal];

	puppet->submissions++;
	if (puppet->defect == PUPPET_SUBMIT_FAILS)
		return FAILURE;
	if (puppet->defect == PUPPET_SLOW)
		puppet->now += SLOW_US;
	if (puppet->defect == PUPPET_INLINE && submit->DmaBufferSubmissionEndOffset == 0) {
		notify(puppet, submit->NodeOrdinal, submit->SubmissionFenceId);
		return PB_STATUS_SUCCESS;
	}
	if (node->count == 0)
		node->started = puppet->now;
	node->submitted = submit->SubmissionFenceId;
	node->fences[node->count++] = submit->SubmissionFenceId;
	return PB_STATUS_SUCCESS;
}

static void shift(struct puppet_node *node)
{
	node->done = node->fences[0];
	node->count--;
	memmove(&node->fences[0], &node->fences[1], node->count * sizeof(node->fences[0]));
}

static void complete(struct puppet *puppet, uint32_t n)
{
	struct puppet_node *node = &puppet->nodes[n];

	if (puppet->defect == PUPPET_REVERSED && node->count > 1)
		notify(puppet, n, node->fences[1]);
	shift(node);
	puppet->last_done = node->done;
	if (puppet->defect == PUPPET_SILENT || puppet->defect == PUPPET_QUERY_LIES)
		return;
	if (puppet->defect == PUPPET_ONE_LEDGER) {
		for (uint32_t other = 0; other < OS_NODES; other++)
			notify(puppet, other, puppet->last_done);
	} else if (puppet->defect == PUPPET_AHEAD) {
		notify(puppet, n, node->done + AHEAD);
	} else if (puppet->defect == PUPPET_NO_SUCH_NODE) {
		notify(puppet, 7, node->done);
	} else if (puppet->coalesce < 2 || node->count == 0 || node->done % puppet->coalesce == 0) {
		notify(puppet, n, node->done);
	}
	if (puppet->defect == PUPPET_TWICE)
		notify(puppet, n, node->done);
}

static bool hangs(const struct puppet *puppet)
{
	return puppet->defect == PUPPET_HANGS || puppet->defect == PUPPET_RESET_AHEAD ||
	       puppet->defect == PUPPET_RESET_BEHIND || puppet->defect == PUPPET_LATE ||
	       puppet->defect == PUPPET_RESET_FAILS || puppet->defect == PUPPET_DEAD ||
	       puppet->defect == PUPPET_LATE_PREEMPTED || puppet->defect == PUPPET_LATE_ADAPTER ||
	       puppet->defect == PUPPET_NOT_IN_GROUP || puppet->defect == PUPPET_STRANGE_GROUP ||
	       puppet->defect == PUPPET_ONE_GROUP || puppet->defect == PUPPET_RESTART_FAILS;
}

static void run(void *context, uint64_t microseconds)
{
	struct puppet *puppet = context;

	puppet->now += microseconds;
	if (puppet->late && puppet->defect == PUPPET_LATE_PREEMPTED) {
		notify_preempted(puppet, 0, puppet->preemption, puppet->nodes[0].done);
	} else if (puppet->late) {
		puppet->late = false;
		notify(puppet, 0, puppet->late_fence);
	}
	for (uint32_t n = 0; n < OS_NODES && !hangs(puppet); n++) {
		struct puppet_node *node = &puppet->nodes[n];

		while (node->count != 0 && puppet->now - node->started >= PUPPET_PACKET_US) {
			node->started += PUPPET_PACKET_US;
			complete(puppet, n);
		}
	}
}

/** Stops after the finished packets. The rest is recalled. */
static uint32_t preempt_command(void *context, const struct pb_dxgkarg_preemptcommand *preempt)
{
	struct puppet *puppet = context;
	struct puppet_node *node = &puppet->nodes[preempt->NodeOrdinal];
	const uint32_t first = node->fences[0];
	const bool had_packets = node->count != 0;
	uint32_t last = node->done;

	if (puppet->defect == PUPPET_PREEMPT_FAILS)
		return FAILURE;
	if (preempt->NodeOrdinal == 0)
		puppet->preemption = preempt->PreemptionFenceId;
	if (puppet->defect == PUPPET_DEAF || hangs(puppet))
		return PB_STATUS_SUCCESS;
	if (puppet->defect == PUPPET_PREEMPT_AHEAD)
		last += AHEAD;
	if (puppet->defect == PUPPET_PREEMPT_BEHIND)
		last--;
	node->count = 0;
	notify_preempted(puppet, preempt->NodeOrdinal,
			 preempt->PreemptionFenceId + (puppet->defect == PUPPET_OTHER_PREEMPTION ? 1 : 0),
			 last);
	if (puppet->defect == PUPPET_PREEMPTED_TWICE)
		notify_preempted(puppet, preempt->NodeOrdinal, preempt->PreemptionFenceId, last);
	if (puppet->defect == PUPPET_PREEMPT_THEN_COMPLETE && had_packets)
		notify(puppet, preempt->NodeOrdinal, first);
	return PB_STATUS_SUCCESS;
}

static uint32_t query_current_fence(void *context, struct pb_dxgkarg_querycurrentfence *query)
{
	struct puppet *puppet = context;
	const struct puppet_node *node = &puppet->nodes[query->NodeOrdinal];

	query->CurrentFence = node->done;
	if (puppet->defect == PUPPET_SILENT &&
	    node->done != puppet->os->nodes[query->NodeOrdinal].last_completed)
		notify(puppet, query->NodeOrdinal, node->done);
	return PB_STATUS_SUCCESS;
}

static uint32_t query_dependent_engine_group(void *context,
					     struct pb_dxgkarg_querydependentenginegroup *group)
{
	const struct puppet *puppet = context;

	group->DependentNodeOrdinalMask = UINT64_C(1) << group->NodeOrdinal;
	if (puppet->defect == PUPPET_NOT_IN_GROUP)
		group->DependentNodeOrdinalMask ^= 3u;
	else if (puppet->defect == PUPPET_STRANGE_GROUP)
		group->DependentNodeOrdinalMask |= 1u << OS_NODES;
	else if (puppet->defect == PUPPET_ONE_GROUP)
		group->DependentNodeOrdinalMask = (1u << OS_NODES) - 1u;
	return PB_STATUS_SUCCESS;
}

static uint32_t query_engine_status(void *context, struct pb_dxgkarg_queryenginestatus *status)
{
	const struct puppet *puppet = context;

	status->EngineStatus = hangs(puppet) ? 0 : PB_DXGK_ENGINE_RESPONSIVE;
	return PB_STATUS_SUCCESS;
}

static bool refuses_engine_reset(const struct puppet *puppet)
{
	return puppet->defect == PUPPET_RESET_FAILS || puppet->defect == PUPPET_DEAD ||
	       puppet->defect == PUPPET_LATE_ADAPTER || puppet->defect == PUPPET_RESTART_FAILS;
}

static uint32_t reset_engine(void *context, struct pb_dxgkarg_resetengine *reset)
{
	struct puppet *puppet = context;
	struct puppet_node *node = &puppet->nodes[reset->NodeOrdinal];

	if (refuses_engine_reset(puppet))
		return FAILURE;
	reset->LastAbortedFenceId = node->count != 0 ? node->fences[0] : node->done;
	if (puppet->defect == PUPPET_RESET_AHEAD)
		reset->LastAbortedFenceId += AHEAD;
	if (puppet->defect == PUPPET_RESET_BEHIND)
		reset->LastAbortedFenceId = node->done - 1;
	puppet->late = puppet->defect == PUPPET_LATE || puppet->defect == PUPPET_LATE_PREEMPTED;
	puppet->late_fence = node->fences[0];
	node->done = reset->LastAbortedFenceId;
	node->count = 0;
	return PB_STATUS_SUCCESS;
}

static uint32_t reset_from_timeout(void *context)
{
	struct puppet *puppet = context;

	if (puppet->defect == PUPPET_DEAD)
		return FAILURE;
	puppet->late = puppet->defect == PUPPET_LATE_ADAPTER;
	puppet->late_fence = puppet->nodes[0].fences[0];
	for (uint32_t n = 0; n < OS_NODES; n++) {
		puppet->nodes[n].count = 0;
		puppet->nodes[n].done = puppet->nodes[n].submitted;
	}
	return PB_STATUS_SUCCESS;
}

static uint32_t restart_from_timeout(void *context)
{
	const struct puppet *puppet = context;

	return puppet->defect == PUPPET_RESTART_FAILS ? FAILURE : PB_STATUS_SUCCESS;
}

static void dpc(void *context)
{
	const struct puppet *puppet = context;

	os_notify_dpc(puppet->os);
}

static uint64_t now(void *context)
{
	const struct puppet *puppet = context;

	return puppet->now;
}

void puppet_start(struct puppet *puppet, struct os_model *os, enum puppet_defect defect, bool preempts,
		  uint32_t first_fence)
{
	const struct os_miniport miniport = {
		.patch = patch,
		.submit_command = submit_command,
		.query_current_fence = query_current_fence,
		.preempt_command = preempts ? preempt_command : NULL,
		.query_dependent_engine_group = query_dependent_engine_group,
		.query_engine_status = query_engine_status,
		.reset_engine = reset_engine,
		.reset_from_timeout = reset_from_timeout,
		.restart_from_timeout = restart_from_timeout,
		.dpc = dpc,
		.run = run,
		.now = now,
		.context = puppet,
	};

	memset(puppet, 0, sizeof(*puppet));
	puppet->os = os;
	puppet->defect = defect;
	puppet->now = 1;
	for (uint32_t n = 0; n < OS_NODES; n++)
		puppet->nodes[n].done = puppet->nodes[n].submitted = first_fence - 1;
	puppet->last_done = first_fence - 1;
	os_init(os, &miniport, OS_NODES, first_fence, DEPTH);
}
