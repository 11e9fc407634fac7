/* SPDX-License-Identifier: MIT */
#include "firmware/engine/retire.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"

/** Completes what the report of an engine covers that was asked something. Pre: it covers something that is in flight. */
static PB_CORE_COLD void retire_some(struct pb_firmware *firmware, struct pb_core_node *node,
				     const struct pb_engine_report *report)
{
	/* Only feeding writes over the slot of a submission that has completed. */
	const struct pb_core_submission *head = pb_core_in_flight_head(&node->flight);

	pb_core_complete_to(firmware, node, report->sequence);
	pb_core_charge_report(firmware, node, head, report->time);
}

/**
 * Retires from an engine that cannot stop and is to. All that it was fed completes or faults as usual; when nothing is
 * left, the stop is answered. Each submission gets the time of a stop.
 */
static void retire_draining(struct pb_firmware *firmware, struct pb_core_node *node,
			    enum pb_engine_state state, const struct pb_engine_report *report)
{
	if (state == PB_ENGINE_BUSY)
		return;
	if (!pb_core_in_flight_holds(&node->flight, report->sequence)) {
		pb_core_node_fault(firmware, node, PB_ENGINE_READY);
		return;
	}
	if (report->sequence != node->flight.retired) {
		retire_some(firmware, node, report);
		pb_core_node_extend(&node->machine, pb_core_clock(firmware), true);
	}
	if (state == PB_ENGINE_FAULTED)
		pb_core_node_fault(firmware, node, state);
	else if (pb_core_in_flight_is_empty(&node->flight))
		pb_core_node_answered(firmware, node, state);
}

/** Retires from an engine that was asked something. What it finishes before it answers counts. */
static PB_CORE_COLD void retire_asked(struct pb_firmware *firmware, struct pb_core_node *node,
				      enum pb_engine_state state, const struct pb_engine_report *report)
{
	pb_core_mark_costly(&firmware->marks);
	if (node->machine.state == PB_NODE_STATE_STOPPING && node->engine->preempt == NULL)
		retire_draining(firmware, node, state, report);
	else if (state != PB_ENGINE_BUSY)
		pb_core_node_answered(firmware, node, state);
	else if (node->machine.state == PB_NODE_STATE_STOPPING && report->sequence != node->flight.retired &&
		 pb_core_in_flight_holds(&node->flight, report->sequence))
		retire_some(firmware, node, report);
}

PB_CORE_STEP void pb_core_retire(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_engine_report report;
	const enum pb_engine_state state = node->run->poll(node->context, &report);
	const struct pb_core_submission *head;

	pb_core_waypoint(firmware, PB_WAYPOINT_RETIRE);
	if (!pb_core_node_is_running(&node->machine)) {
		retire_asked(firmware, node, state, &report);
		return;
	}
	if (report.sequence - node->flight.retired - 1u < pb_core_in_flight_count(&node->flight)) {
		/* Only feeding writes over the slot of a submission that has completed. */
		head = pb_core_in_flight_head(&node->flight);
		PB_CORE_KEEP(head);
		pb_core_complete_first(firmware, node);
		while (node->flight.retired != report.sequence)
			pb_core_complete_next(firmware, node);
		pb_core_charge_report(firmware, node, head, report.time);
	} else if (report.sequence != node->flight.retired) {
		/* An engine that reports what it was not fed: only a reset makes it trustworthy again. */
		pb_core_node_fault(firmware, node, PB_ENGINE_READY);
		return;
	}
	if (state == PB_ENGINE_FAULTED)
		pb_core_node_fault(firmware, node, state);
}

bool pb_core_retire_dead(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_submission *submission;

	if (pb_core_in_flight_is_empty(&node->flight)) {
		if (!pb_core_staged_is_ready(&node->staged))
			return false;
		pb_core_staged_feed(&node->staged);
		(void)pb_core_in_flight_feed(&node->flight);
		pb_core_in_flight_recount(&node->flight);
	}
	submission = pb_core_in_flight_head(&node->flight);
	if (submission->status == PB_ERROR_OK)
		pb_core_submission_fail(submission, PB_ERROR_ENGINE_DEAD, PB_INDEX_NONE, 0);
	pb_core_complete_to(firmware, node, node->flight.retired + 1u);
	return true;
}
