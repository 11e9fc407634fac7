/* SPDX-License-Identifier: MIT */
#include "firmware/engine/preempt.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"

void pb_core_preempt_for_staged(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_submission *staged = pb_core_in_flight_next(&node->flight);

	if (pb_core_in_flight_has_lower(&node->flight, pb_core_queue_priority(staged->queue)) &&
	    node->schedule.policy->should_preempt(node, staged, 0))
		pb_core_node_recall(firmware, node, PB_CORE_STOP_TO_SWITCH, true);
}

/** Whether the engine is stopped at a tick for another reason than the most frequent one. @param used not 0 */
static PB_CORE_COLD bool stops_otherwise(struct pb_core_node *node, uint32_t used)
{
	const struct pb_core_submission *staged =
		pb_core_staged_any(&node->staged) ? pb_core_in_flight_next(&node->flight) : NULL;

	return node->schedule.policy->should_preempt(node, staged, used);
}

bool pb_core_preempt_at_tick(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t time)
{
	const struct pb_core_queue *queue = pb_core_in_flight_head(&node->flight)->queue;
	uint32_t used = time - node->retirement.time;

	if (queue == node->slice.current)
		used += node->slice.used;
	if (used == 0)
		return false;
	if (!node->schedule.policy->is_over(node, queue, used) && !stops_otherwise(node, used))
		return false;
	/* The engine is asked before anything is written down, so that it stops soon. */
	pb_core_engine_stop(node->engine, true);
	pb_core_node_stopping(firmware, node, PB_CORE_STOP_TO_SWITCH, true);
	pb_core_timeslice_expire(&node->slice, queue, used);
	return true;
}

void pb_core_preempt_return_staged(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_queue *queue = pb_core_in_flight_next(&node->flight)->queue;

	pb_core_charge_unsubmitted(firmware, node);
	pb_core_staged_unsubmit(firmware, node);
	/* The queue may have begun to wait for what is behind that submission. */
	pb_core_wait_leave(firmware, queue);
	pb_core_schedule_return(firmware, queue);
}

void pb_core_preempt_staged(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_submission *staged = pb_core_in_flight_next(&node->flight);

	if ((node->asks.revoked ||
	     pb_core_ready_above(&node->ready, pb_core_queue_priority(staged->queue))) &&
	    !staged->protected && pb_core_staged_may_unsubmit(node))
		pb_core_preempt_return_staged(firmware, node);
	pb_core_jobs_end_revocation(&node->asks);
}
