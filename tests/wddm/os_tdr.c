/* SPDX-License-Identifier: MIT */
/*
 * Timeout detection and recovery, in the order of Windows 8: ask for the fence,
 * preempt, reset the engine, reset the adapter, give up.
 */
#include <string.h>

#include "tests/wddm/os_model.h"

/** Counts one more recovery. @return false: too many in a short time */
static bool count_recovery(struct os_model *os, uint64_t now)
{
	const uint64_t oldest = os->tdr_times[os->tdr_count % OS_TDR_LIMIT];

	if (os->tdr_count >= OS_TDR_LIMIT && now - oldest <= OS_TDR_LIMIT_US) {
		os_bugcheck(os, OS_BUGCHECK_TDR, OS_TDR_TOO_OFTEN);
		return false;
	}
	os->tdr_times[os->tdr_count++ % OS_TDR_LIMIT] = now;
	return true;
}

/** Interrupts of what is on the hardware queue now are a crime from now on. */
static void remember_aborted(struct os_node *node)
{
	node->aborted_count = node->hardware.count;
	for (uint32_t i = 0; i < node->hardware.count; i++)
		node->aborted[i] = node->hardware.packets[i].fence_id;
}

static void reset_adapter(struct os_model *os)
{
	const uint64_t since = os->miniport.now(os->miniport.context);

	for (uint32_t n = 0; n < os->node_count; n++)
		os->nodes[n].resetting = true;
	if (os->miniport.reset_from_timeout == NULL ||
	    os->miniport.reset_from_timeout(os->miniport.context) != PB_STATUS_SUCCESS) {
		os_bugcheck(os, OS_BUGCHECK_TDR, OS_TDR_NO_RESET);
		return;
	}
	os_ddi_done(os, since);
	os->adapter_resets++;
	for (uint32_t n = 0; n < os->node_count; n++) {
		struct os_node *node = &os->nodes[n];

		remember_aborted(node);
		if (node->hardware.count != 0)
			node->last_completed = node->hardware.packets[node->hardware.count - 1].fence_id;
		os_retire(os, node, node->hardware.count, OS_ABORTED);
		node->preemption.pending = false;
		node->resetting = false;
	}
}

/** @return how many packets the engine has given up, the last completed one aside; -1: a bugcheck */
static int32_t aborted_count(struct os_model *os, struct os_node *node, uint32_t last_aborted)
{
	const int32_t place = os_find(node, last_aborted);

	if (place < 0 && last_aborted != node->last_completed) {
		os_bugcheck(os, OS_BUGCHECK_SCHEDULER, OS_ABORTED_FENCE);
		return -1;
	}
	return place + 1;
}

static bool paging_among(const struct os_node *node, int32_t count)
{
	for (int32_t i = 0; i < count; i++) {
		if ((node->hardware.packets[i].submit.Flags & PB_FLAG_PAGING) != 0)
			return true;
	}
	return false;
}

/** @return false: the adapter has to be reset */
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
	os_withdraw(node);
	node->preemption.pending = false;
	node->resetting = false;
	return true;
}

static void recover(struct os_model *os, uint32_t n)
{
	if (!count_recovery(os, os->miniport.now(os->miniport.context)))
		return;
	if (!reset_engine(os, n))
		reset_adapter(os);
}

/** Maybe only the interrupt was lost. What it says must be a fence that is or was there. */
static void ask(struct os_model *os, uint32_t n)
{
	struct os_node *node = &os->nodes[n];
	struct pb_dxgkarg_querycurrentfence query = {.NodeOrdinal = n};
	const uint64_t since = os->miniport.now(os->miniport.context);

	node->asked = true;
	if (os->miniport.query_current_fence(os->miniport.context, &query) == PB_STATUS_SUCCESS &&
	    os->bugcheck == 0 && query.CurrentFence != node->last_completed)
		os_bugcheck(os, OS_BUGCHECK_SCHEDULER, OS_INVALID_FENCE);
	os_ddi_done(os, since);
}

void os_check_time(struct os_model *os)
{
	for (uint32_t n = 0; n < os->node_count && os->bugcheck == 0; n++) {
		struct os_node *node = &os->nodes[n];
		const uint64_t now = os->miniport.now(os->miniport.context);

		if (node->preemption.pending) {
			if (now - node->preemption.since > OS_TDR_DELAY_US)
				recover(os, n);
			continue;
		}
		if (node->hardware.count == 0)
			continue;
		if (!node->asked && now - node->head_since > OS_LOST_IRQ_US)
			ask(os, n);
		else if (now - node->head_since > OS_TDR_DELAY_US && os->miniport.preempt_command != NULL)
			os_preempt(os, n);
		else if (now - node->head_since > OS_TDR_DELAY_US)
			recover(os, n);
	}
}
