/* SPDX-License-Identifier: MIT */
/* What the main loop does for one node: choose a queue, admit, prepare, feed. */
#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "firmware/loop.h"
#include "firmware/prepare/admit.h"

/** Advances the staged submission by one slice, unless one of a higher priority goes first. */
static PB_CORE_STEP void advance(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (pb_core_ready_any(&node->ready) || node->asks.revoked)
		pb_core_preempt_staged(firmware, node);
	if (node->staged.kind == PB_CORE_STAGED_JOB &&
	    !pb_core_staged_yields(&node->staged, pb_lines_waiting(firmware->lines->pending)))
		pb_core_prepare(firmware, node);
	/* Also what has just become ready: its context may have been lost meanwhile. */
	if (pb_core_staged_is_ready(&node->staged) &&
	    pb_core_context_cancel_if_lost(&firmware->contexts, pb_core_in_flight_next(&node->flight)))
		pb_core_staged_cancel(node);
}

/** Admits a submission that needs no job while the node's queue waits for one. @return false: there is none */
static PB_CORE_COLD bool fill(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_queue *queue = pb_core_jobs_fill(firmware, node);

	if (queue == NULL)
		return false;
	/* It is not charged for the time in which the engine had nothing to run: the queue that waits kept it from others. */
	if (pb_core_in_flight_is_empty(&node->flight))
		pb_core_repay(node, pb_core_queue_priority(node->asks.queue),
			      pb_core_charge_gap(&node->retirement, pb_core_clock(firmware)));
	else
		pb_core_charge_pause(&node->retirement);
	if (pb_core_admit(firmware, node, queue) == PB_CORE_ADMITTED_AT_ONCE)
		pb_core_staged_ready_at_once(&node->staged);
	if (pb_core_ring_has_more(queue) && pb_core_queue_place(queue) == PB_CORE_PLACE_NONE)
		pb_core_ready_prepend(firmware->table.queues, &node->ready, queue);
	return true;
}

/** Fails what a dead node has; other nodes have nothing to do until their engine answers. @return whether there is more to do */
static PB_CORE_COLD bool fail_if_dead(struct pb_firmware *firmware, struct pb_core_node *node)
{
	return pb_core_node_is_dead(&node->machine) && pb_core_retire_dead(firmware, node);
}

/** Whether the node has a submission to admit. If not, time passes uncharged, while nothing waits. */
static inline bool has_next(struct pb_core_node *node)
{
	const struct pb_core_queue *queue = node->slice.current;

	if (pb_core_ready_any(&node->ready) || (queue != NULL && pb_core_ring_has_more(queue)))
		return true;
	pb_core_charge_pause(&node->retirement);
	return false;
}

/**
 * Feeds the staged submission, or stops the engine for it. Pre: it is ready, and the node is RUNNING.
 * @return whether there is more to do; nothing is staged then
 */
static inline bool feed(struct pb_firmware *firmware, struct pb_core_node *node,
			struct pb_core_submission *staged)
{
	const uint32_t in_flight = pb_core_in_flight_count(&node->flight);

	if (in_flight != 0) {
		if (pb_core_in_flight_has_lower(&node->flight, pb_core_queue_priority(staged->queue))) {
			pb_core_preempt_for_staged(firmware, node);
			if (!pb_core_node_is_running(&node->machine))
				return false;
		}
		/* Without room, retirement or an answer marks the node. */
		if (in_flight >= node->machine.depth)
			return false;
	}
	pb_core_waypoint(firmware, PB_WAYPOINT_FEED);
	pb_core_feed(firmware, node, staged);
	return has_next(node);
}

/**
 * The staged submission that has failed is ready as soon as nothing of its queue is before it and there is room: until
 * then it may be unsubmitted, so that it keeps nothing before it from being recalled. @return whether it is ready now
 */
static PB_CORE_COLD bool settle_failed(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_queue *queue = pb_core_in_flight_next(&node->flight)->queue;

	/* Retirement or an answer marks the node. */
	if (pb_core_in_flight_first_of(&node->flight, queue) != 0 ||
	    pb_core_in_flight_count(&node->flight) >= node->machine.depth)
		return false;
	if (!pb_core_node_is_running(&node->machine) && !pb_core_node_is_dead(&node->machine))
		return false;
	pb_core_staged_settle_failed(firmware, node);
	return true;
}

/** Goes on with the staged submission, if there is one. @return whether there is more to do */
static PB_CORE_STEP bool go_on(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (!pb_core_staged_is_ready(&node->staged)) {
		if (!pb_core_staged_has_failed(&node->staged))
			return true;
		if (!settle_failed(firmware, node))
			return fail_if_dead(firmware, node);
	}
	if (!pb_core_node_is_running(&node->machine))
		return fail_if_dead(firmware, node);
	return feed(firmware, node, pb_core_in_flight_next(&node->flight));
}

/** There is nothing to admit, or it needs a job and none is free. @return whether there is more to do */
static PB_CORE_COLD bool admit_nothing(struct pb_firmware *firmware, struct pb_core_node *node, bool waits)
{
	if (waits && fill(firmware, node))
		return go_on(firmware, node);
	if (!waits)
		pb_core_charge_pause(&node->retirement);
	return fail_if_dead(firmware, node);
}

/** Whether the staged submission is to be fed as it is: it is ready, the node RUNNING, and nothing is to go before it. */
static inline bool is_undisturbed(const struct pb_firmware *firmware, const struct pb_core_node *node,
				  const struct pb_core_submission *staged)
{
	return pb_core_staged_is_ready(&node->staged) && pb_core_node_is_running(&node->machine) &&
	       !node->asks.revoked &&
	       !pb_core_ready_above(&node->ready, pb_core_queue_priority(staged->queue)) &&
	       !pb_core_context_is_lost(&firmware->contexts, staged);
}

/** Feeds the staged submission, if it is ready and nothing is to go before it. @return whether there is more to do */
static inline bool go_on_staged(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_submission *staged = pb_core_in_flight_next(&node->flight);

	if (is_undisturbed(firmware, node, staged))
		return feed(firmware, node, staged);
	advance(firmware, node);
	/* Most often a job goes on in the next pass. */
	return node->staged.kind == PB_CORE_STAGED_JOB || go_on(firmware, node);
}

/** Feeds a submission that was admitted at once, or stages it. @return whether there is more to do */
static inline bool feed_or_stage(struct pb_firmware *firmware, struct pb_core_node *node)
{
	pb_core_staged_ready_at_once(&node->staged);
	if (!pb_core_node_is_running(&node->machine))
		return fail_if_dead(firmware, node);
	return feed(firmware, node, pb_core_in_flight_next(&node->flight));
}

PB_CORE_STEP bool pb_core_run_busy(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (pb_core_staged_any(&node->staged)) {
		if (!go_on_staged(firmware, node))
			return false;
		if (pb_core_staged_any(&node->staged) || pb_lines_waiting(firmware->lines->pending))
			return true;
	}
	do {
		struct pb_core_queue *queue = pb_core_schedule_choose(firmware, node);
		enum pb_core_admitted admitted;

		if (queue == NULL)
			return admit_nothing(firmware, node, false);
		pb_core_waypoint(firmware, PB_WAYPOINT_ADMIT);
		admitted = pb_core_admit(firmware, node, queue);
		if (admitted != PB_CORE_ADMITTED_AT_ONCE)
			return admitted == PB_CORE_ADMITTED_NOT ? admit_nothing(firmware, node, true)
								: go_on(firmware, node);
		if (!feed_or_stage(firmware, node))
			return false;
	} while (!pb_core_staged_any(&node->staged) && !pb_lines_waiting(firmware->lines->pending));
	return true;
}

PB_CORE_STEP bool pb_core_run_idle(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_queue *queue;
	enum pb_core_admitted admitted;

	if (!has_next(node))
		return fail_if_dead(firmware, node);
	queue = pb_core_schedule_next(firmware, node);
	if (queue == NULL)
		return admit_nothing(firmware, node, false);
	pb_core_waypoint(firmware, PB_WAYPOINT_ADMIT);
	admitted = pb_core_admit(firmware, node, queue);
	if (admitted != PB_CORE_ADMITTED_AT_ONCE)
		return admitted == PB_CORE_ADMITTED_NOT ? admit_nothing(firmware, node, true)
							: go_on(firmware, node);
	if (!pb_core_node_is_running(&node->machine)) {
		pb_core_staged_ready_at_once(&node->staged);
		return fail_if_dead(firmware, node);
	}
	pb_core_waypoint(firmware, PB_WAYPOINT_FEED);
	pb_core_feed_at_once(firmware, node);
	return has_next(node);
}
