/* SPDX-License-Identifier: MIT */
/*
 * Timeout detection and recovery, as since Windows 8: query the fence, preempt, reset the engine; if that fails, or a
 * paging packet was aborted, reset the adapter.
 */
#include "host/tool/wddm_os.h"

/** Time without an answer after which QueryCurrentFence is called, and called again, in microseconds. */
#define QUERY_US UINT64_C(1000000)

static uint64_t now(const struct pb_os *os)
{
	struct pb_link *link = os->adapter.config.channel->link;

	return link->ops->now(link);
}

/** Perhaps only an interrupt was lost. */
static void query_fence(struct pb_os *os, uint32_t n)
{
	struct pb_dxgkarg_querycurrentfence query = {.NodeOrdinal = n};
	const size_t call = pb_ddi_began(&os->record, PB_DDI_QUERY_CURRENT_FENCE, n);
	const uint32_t status =
		pb_ddi_ended(&os->record, call, pb_wddm_query_current_fence(&os->adapter, &query));

	os->nodes[n].queried = now(os);
	if (status == PB_STATUS_SUCCESS && query.CurrentFence != os->nodes[n].last_completed)
		(void)pb_os_fail(os, "bugcheck 0x119, 0x1: node %u: current fence 0x%x, last reported 0x%x",
				 (unsigned)n, (unsigned)query.CurrentFence,
				 (unsigned)os->nodes[n].last_completed);
}

static void query_engine(struct pb_os *os, uint32_t n)
{
	struct pb_dxgkarg_queryenginestatus status = {.NodeOrdinal = n};
	struct pb_dxgkarg_querydependentenginegroup group = {.NodeOrdinal = n};
	size_t call = pb_ddi_began(&os->record, PB_DDI_QUERY_ENGINE_STATUS, n);

	(void)pb_ddi_ended(&os->record, call, pb_wddm_query_engine_status(&os->adapter, &status));
	call = pb_ddi_began(&os->record, PB_DDI_QUERY_DEPENDENT_ENGINE_GROUP, n);
	(void)pb_ddi_ended(&os->record, call, pb_wddm_query_dependent_engine_group(&os->adapter, &group));
	if (group.DependentNodeOrdinalMask != UINT64_C(1) << n)
		(void)pb_os_fail(os, "bugcheck 0x119, 0x8: node %u: dependent nodes are not itself alone",
				 (unsigned)n);
}

/** Returns how many packets of the hardware queue end with a fence; 0: it is the last completed one. */
static uint32_t count_to(const struct pb_os_node *node, uint32_t fence_id, bool *known)
{
	uint32_t count = 0;

	*known = fence_id == node->last_completed;
	for (const struct pb_os_packet *packet = node->hardware.first; packet != NULL && !*known;
	     packet = packet->next) {
		count++;
		*known = packet->arguments.SubmissionFenceId == fence_id;
	}
	return count;
}

static bool has_paging(const struct pb_os_node *node, uint32_t count)
{
	const struct pb_os_packet *packet = node->hardware.first;

	for (; count != 0; count--, packet = packet->next) {
		if ((packet->flags & PB_FLAG_PAGING) != 0)
			return true;
	}
	return false;
}

/** @return false: the adapter must be reset */
static bool reset_engine(struct pb_os *os, uint32_t n)
{
	struct pb_os_node *node = &os->nodes[n];
	struct pb_dxgkarg_resetengine reset = {.NodeOrdinal = n};
	const size_t call = pb_ddi_began(&os->record, PB_DDI_RESET_ENGINE, n);
	uint32_t aborted;
	bool known;

	node->resetting = true;
	if (pb_ddi_ended(&os->record, call, pb_wddm_reset_engine(&os->adapter, &reset)) != PB_STATUS_SUCCESS)
		return false;
	node->resetting = false;
	node->preemption.pending = false;
	pb_os_retire(os, node, pb_os_reported(node), PB_OS_COMPLETED);
	aborted = count_to(node, reset.LastAbortedFenceId, &known);
	if (!known)
		return pb_os_fail(os, "bugcheck 0x119, 0xA: node %u aborted fence 0x%x", (unsigned)n,
				  (unsigned)reset.LastAbortedFenceId);
	if (has_paging(node, aborted))
		return false;
	pb_ddi_name_fence(&os->record, call, reset.LastAbortedFenceId);
	pb_os_retire(os, node, aborted, PB_OS_ABORTED);
	node->last_completed = reset.LastAbortedFenceId;
	pb_os_recall(os, node);
	os->figures.engine_resets++;
	return true;
}

static void reset_adapter(struct pb_os *os)
{
	size_t call = pb_ddi_began(&os->record, PB_DDI_RESET_FROM_TIMEOUT, PB_DDI_NONE);
	uint32_t status = pb_ddi_ended(&os->record, call, pb_wddm_reset_from_timeout(&os->adapter));

	if (status == PB_STATUS_SUCCESS) {
		call = pb_ddi_began(&os->record, PB_DDI_RESTART_FROM_TIMEOUT, PB_DDI_NONE);
		status = pb_ddi_ended(&os->record, call, pb_wddm_restart_from_timeout(&os->adapter));
	}
	if (status != PB_STATUS_SUCCESS) {
		(void)pb_os_fail(os, "bugcheck 0x116: the adapter cannot be reset");
		return;
	}
	for (uint32_t n = 0; n < os->node_count; n++) {
		struct pb_os_node *node = &os->nodes[n];

		node->last_completed = node->last_submitted;
		node->preemption.pending = false;
		node->resetting = false;
		node->recalls++;
		pb_os_retire(os, node, node->hardware.count, PB_OS_ABORTED);
	}
	os->figures.adapter_resets++;
}

static void recover(struct pb_os *os, uint32_t n)
{
	query_engine(os, n);
	if (!os->failed && !reset_engine(os, n) && !os->failed)
		reset_adapter(os);
}

/** Returns TdrDelay for what runs, or ran when the preemption was asked for. */
static uint64_t delay_of(const struct pb_os_node *node)
{
	const struct pb_os_packet *packet = node->hardware.first;

	return packet != NULL && packet->tdr_delay_us != 0 ? packet->tdr_delay_us : PB_OS_TDR_DELAY_US;
}

static void check_node(struct pb_os *os, uint32_t n)
{
	struct pb_os_node *node = &os->nodes[n];
	const uint64_t time = now(os);
	const bool pending = node->preemption.pending;
	const uint64_t since = pending ? node->preemption.since : node->head_since;

	if (!pending && node->hardware.count == 0)
		return;
	if (time - since > delay_of(node) && pending)
		recover(os, n);
	else if (time - since > delay_of(node))
		pb_os_begin_preemption(os, n);
	else if (time - since > QUERY_US && time - node->queried > QUERY_US)
		query_fence(os, n);
}

void pb_os_check_time(struct pb_os *os)
{
	for (uint32_t n = 0; n < os->node_count && !os->failed; n++)
		check_node(os, n);
}
