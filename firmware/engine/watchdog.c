/* SPDX-License-Identifier: MIT */
#include "firmware/engine/watchdog.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"

/** Time for an answer, in microseconds. An engine that cannot stop was asked nothing: it has the time of a hang. */
static uint32_t answer_limit_of(const struct pb_core_node *node)
{
	if (node->machine.state == PB_NODE_STATE_STOPPING && node->engine->preempt == NULL)
		return node->machine.hang_limit;
	return node->machine.answer_limit;
}

static void check_answer(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t clock)
{
	/* A buffer, or a packet, that is to be run to its end takes its time, as long as the engine makes progress. */
	if (node->machine.state == PB_NODE_STATE_STOPPING && !pb_core_in_flight_is_empty(&node->flight) &&
	    pb_core_progress_check(firmware, node, clock) &&
	    clock - node->machine.asked_first <= PB_STOP_MICROSECONDS)
		pb_core_node_extend(&node->machine, clock, false);
	if (clock - node->machine.asked > answer_limit_of(node))
		pb_core_node_timeout(firmware, node);
}

/**
 * Stops the engine for a host that wants submissions back which are behind another channel's. One tick in between
 * bounds what such requests cost others; the channel that asked is charged from here on.
 * @param time runtime counter of the engine @return whether the engine is to stop
 */
static PB_CORE_COLD bool recall_for_host(struct pb_firmware *firmware, struct pb_core_node *node,
					 uint32_t time)
{
	if (pb_core_recall_first_wanted(node) == NULL)
		return false;
	pb_core_charge(firmware, node, pb_core_in_flight_head(&node->flight), time);
	pb_core_node_recall(firmware, node, PB_CORE_STOP_FOR_HOST, true);
	return true;
}

void pb_core_watchdog(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_engine_report report;
	const enum pb_engine_state state = node->engine->run->poll(node->engine->context, &report);
	uint32_t clock;

	/* An interrupt may have been lost. */
	if (state != PB_ENGINE_READY || !pb_core_node_is_running(&node->machine) ||
	    report.sequence != node->flight.retired) {
		pb_core_retire(firmware, node);
		report.time = node->retirement.time;
	}
	if (pb_core_node_is_dead(&node->machine))
		return;
	pb_core_jobs_tick(firmware, node);
	/* Read only now: what has just begun to be timed would have begun after an earlier reading. */
	clock = pb_core_clock(firmware);
	if (!pb_core_node_is_running(&node->machine)) {
		check_answer(firmware, node, clock);
		return;
	}
	if (!pb_core_in_flight_is_empty(&node->flight) &&
	    (pb_core_preempt_at_tick(firmware, node, report.time) ||
	     recall_for_host(firmware, node, report.time)))
		return;
	if (!pb_core_progress_check(firmware, node, clock) &&
	    clock - node->progress.since > node->machine.hang_limit)
		pb_core_node_hang(firmware, node);
}
