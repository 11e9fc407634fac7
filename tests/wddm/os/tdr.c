/* SPDX-License-Identifier: MIT */
/*
 * Timeout detection and recovery, in the order of Windows 8: query the fence, preempt, reset the engine,
 * reset the adapter, give up.
 */
#include <string.h>

#include "tests/wddm/os/vidsch.h"

/** Counts one more recovery. @return false: too many in a short time */
static bool count_recovery(struct os_model *os, uint64_t now)
{
	const uint64_t oldest = os->tdr_times[os->tdr_count % OS_TDR_LIMIT];

	if (!os->unlimited && os->tdr_count >= OS_TDR_LIMIT && now - oldest <= OS_TDR_LIMIT_US) {
		os_break(os, OS_RULE_TOO_OFTEN, 0); /* nothing has failed */
		return false;
	}
	os->tdr_times[os->tdr_count++ % OS_TDR_LIMIT] = now;
	return true;
}

/**
 * Cancels what is on the hardware queue: an interrupt for it, or an answer to a preemption, is a rule
 * violation from now on.
 */
static void remember_aborted(struct os_node *node)
{
	if (node->preemption.pending) {
		node->preemption.cancelled = true;
		node->preemption.cancelled_id = node->preemption.fence_id;
		node->preemption.pending = false;
	}
	for (uint32_t i = 0; i < node->hardware.count; i++)
		node->aborted[node->aborted_count++ % OS_ABORTED_KEPT] = node->hardware.packets[i].fence_id;
}

/** Resets the adapter and starts it again. @return the status of the first function that failed, or success */
static uint32_t restart(struct os_model *os)
{
	uint32_t status = PB_STATUS_UNSUCCESSFUL;

	if (os->miniport.reset_from_timeout != NULL)
		status = os->miniport.reset_from_timeout(os->miniport.context);
	if (status != PB_STATUS_SUCCESS)
		return status;
	if (os->between != NULL)
		os->between(os->context);
	return os->miniport.restart_from_timeout != NULL
		       ? os->miniport.restart_from_timeout(os->miniport.context)
		       : PB_STATUS_SUCCESS;
}

void os_reset_adapter(struct os_model *os)
{
	const uint64_t since = os->miniport.now(os->miniport.context);
	uint32_t status;

	for (uint32_t n = 0; n < os->node_count; n++)
		os->nodes[n].resetting = true;
	status = restart(os);
	if (status != PB_STATUS_SUCCESS) {
		os_break(os, OS_RULE_NO_RESET, status);
		return;
	}
	os_ddi_done(os, since);
	os->adapter_resets++;
	for (uint32_t n = 0; n < os->node_count; n++) {
		struct os_node *node = &os->nodes[n];

		remember_aborted(node);
		if (node->used)
			node->last_completed = node->last_submitted;
		os_retire(os, node, node->hardware.count, OS_ABORTED);
		node->resetting = false;
	}
}

/** @return number of packets that the engine has aborted, without the last completed one; -1: a bugcheck */
static int32_t aborted_count(struct os_model *os, struct os_node *node, uint32_t last_aborted)
{
	const int32_t index = os_find(node, last_aborted);

	if (index < 0 && last_aborted != node->last_completed) {
		os_break(os, OS_RULE_ABORTED, last_aborted);
		return -1;
	}
	return index + 1;
}

static bool paging_among(const struct os_node *node, int32_t count)
{
	for (int32_t i = 0; i < count; i++) {
		if (os_is_paging(&node->hardware.packets[i]))
			return true;
	}
	return false;
}

/** @return false: the adapter must be reset */
static bool reset_engine(struct os_model *os, uint32_t n)
{
	struct os_node *node = &os->nodes[n];
	struct pb_dxgkarg_resetengine reset = {.NodeOrdinal = n};
	const uint64_t since = os->miniport.now(os->miniport.context);
	uint32_t status;
	int32_t count;

	if (os->miniport.reset_engine == NULL)
		return false;
	node->resetting = true;
	status = os->miniport.reset_engine(os->miniport.context, &reset);
	os_ddi_done(os, since);
	if (status != PB_STATUS_SUCCESS)
		return false;
	os_retire_reported(os, node);
	count = aborted_count(os, node, reset.LastAbortedFenceId);
	if (count < 0)
		return true;
	if (paging_among(node, count))
		return false;
	remember_aborted(node);
	os_retire(os, node, (uint32_t)count, OS_ABORTED);
	node->last_completed = reset.LastAbortedFenceId;
	os_recall(os, node);
	node->resetting = false;
	os->engine_resets++;
	return true;
}

/** Mask of nodes that are reset with this one. @return 0: a bugcheck */
static uint64_t group_of(struct os_model *os, uint32_t n)
{
	struct pb_dxgkarg_querydependentenginegroup group = {.NodeOrdinal = n,
							     .DependentNodeOrdinalMask = UINT64_C(1) << n};

	if (os->miniport.query_dependent_engine_group != NULL &&
	    os->miniport.query_dependent_engine_group(os->miniport.context, &group) != PB_STATUS_SUCCESS)
		group.DependentNodeOrdinalMask = 0;
	if ((group.DependentNodeOrdinalMask >> n & 1u) != 0 &&
	    group.DependentNodeOrdinalMask >> os->node_count == 0)
		return group.DependentNodeOrdinalMask;
	os_break(os, OS_RULE_GROUP, (uint32_t)group.DependentNodeOrdinalMask);
	return 0;
}

static void ask_status(struct os_model *os, uint32_t n)
{
	struct pb_dxgkarg_queryenginestatus status = {.NodeOrdinal = n};

	if (os->miniport.query_engine_status != NULL &&
	    os->miniport.query_engine_status(os->miniport.context, &status) == PB_STATUS_SUCCESS)
		os->responsive += status.EngineStatus & PB_DXGK_ENGINE_RESPONSIVE;
}

void os_recover(struct os_model *os, uint32_t n)
{
	uint64_t group;

	if (os_has_stopped(os) || !os->nodes[n].used ||
	    !count_recovery(os, os->miniport.now(os->miniport.context)))
		return;
	if (os->version < PB_DXGKDDI_WIN8) {
		os_reset_adapter(os);
		return;
	}
	ask_status(os, n);
	group = group_of(os, n);
	for (uint32_t node = 0; node < os->node_count && !os_has_stopped(os); node++) {
		if ((group >> node & 1u) != 0 && !reset_engine(os, node)) {
			os_reset_adapter(os);
			return;
		}
	}
}

/** Perhaps only the interrupt was lost. The queried fence must be one that is or was outstanding. */
static void ask(struct os_model *os, uint32_t n)
{
	struct os_node *node = &os->nodes[n];
	struct pb_dxgkarg_querycurrentfence query = {.NodeOrdinal = n};
	const uint64_t since = os->miniport.now(os->miniport.context);

	if (os->miniport.query_current_fence(os->miniport.context, &query) == PB_STATUS_SUCCESS &&
	    !os_has_stopped(os) && query.CurrentFence != node->last_completed)
		os_break(os, OS_RULE_QUERY, query.CurrentFence);
	os_ddi_done(os, since);
}

/** Handles a preemption that is not answered: its interrupt was lost, or the engine hangs. */
static void check_preemption(struct os_model *os, uint32_t n, uint64_t now)
{
	struct os_node *node = &os->nodes[n];
	const uint64_t silence = now - node->preemption.since;

	if (!node->preemption.queried && silence > os->tdr_delay / 2) {
		node->preemption.queried = true;
		ask(os, n);
	} else if (silence > os->tdr_delay) {
		os_recover(os, n);
	}
}

static void check_head(struct os_model *os, uint32_t n, uint64_t now)
{
	struct os_node *node = &os->nodes[n];
	const uint64_t silence = now - node->head_since;

	if (!node->queried && silence > os->tdr_delay / 2) {
		node->queried = true;
		ask(os, n);
	} else if (silence > os->tdr_delay && os->miniport.preempt_command != NULL) {
		os_preempt(os, n);
	} else if (silence > os->tdr_delay) {
		os_recover(os, n);
	}
}

void os_check_time(struct os_model *os)
{
	for (uint32_t n = 0; n < os->node_count && !os_has_stopped(os); n++) {
		const uint64_t now = os->miniport.now(os->miniport.context);

		if (os->nodes[n].preemption.pending)
			check_preemption(os, n, now);
		else if (os->nodes[n].hardware.count != 0)
			check_head(os, n, now);
	}
}
