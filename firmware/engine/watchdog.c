/* SPDX-License-Identifier: MIT */
#include "firmware/engine/watchdog.h"

#include <stddef.h>

#include "firmware/compiler.h"
#include "firmware/instance.h"

/**
 * What a queue asks for.
 * @param word of the queue's page @param resource what limits it
 * @return microseconds; 0: the queue asks for nothing, or its channel closes or drains, which others wait for
 */
static PB_CORE_COLD uint32_t asked_by(const struct pb_firmware *firmware, const struct pb_core_queue *queue,
				      size_t word, uint32_t resource)
{
	const uint32_t asked =
		pb_shared_read32((const uint32_t *)(const void *)((const uint8_t *)queue->page + word));

	if (asked == 0 || pb_core_schedule_is_ending(&firmware->holds, queue->channel))
		return 0;
	return pb_core_quota_within(&firmware->quotas, &firmware->channels[queue->channel].quota, resource,
				    asked);
}

/** Time without progress that counts as a hang, in microseconds. Pre: something is in flight. */
static uint32_t hang_limit_of(const struct pb_firmware *firmware, struct pb_core_node *node)
{
	const uint32_t asked =
		asked_by(firmware, pb_core_in_flight_head(&node->flight)->queue,
			 offsetof(struct pb_queue_page, hang_us), PB_RESOURCE_HANG_MICROSECONDS);

	return asked != 0 ? asked : node->machine.hang_limit;
}

/** Time for an answer, in microseconds. An engine that cannot stop was asked nothing: it has the time of a hang. */
static uint32_t answer_limit_of(const struct pb_core_node *node)
{
	if (node->machine.state == PB_NODE_STATE_STOPPING && node->engine->preempt == NULL)
		return node->machine.hang_limit;
	return node->machine.answer_limit;
}

uint32_t pb_core_watchdog_stop_limit(const struct pb_firmware *firmware, const struct pb_core_queue *queue)
{
	return asked_by(firmware, queue, offsetof(struct pb_queue_page, stop_us),
			PB_RESOURCE_STOP_MICROSECONDS);
}

/** Time for a stop that the running submission's queue asks for, in microseconds; 0: none. */
static uint32_t stop_limit_of(const struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (node->machine.state != PB_NODE_STATE_STOPPING || pb_core_in_flight_is_empty(&node->flight))
		return 0;
	return pb_core_watchdog_stop_limit(firmware, pb_core_in_flight_head(&node->flight)->queue);
}

static PB_CORE_COLD void check_answer(struct pb_firmware *firmware, struct pb_core_node *node)
{
	/* Read only now: what has just begun to be timed would have begun after an earlier reading. */
	const uint32_t clock = pb_core_clock(firmware);
	const uint32_t stop_limit = stop_limit_of(firmware, node);

	if (stop_limit != 0) {
		if (clock - node->machine.asked_first > stop_limit)
			pb_core_node_timeout(firmware, node);
		return;
	}
	/* A buffer, or a packet, that is to be run to its end takes its time, as long as the engine makes progress. */
	if (node->machine.state == PB_NODE_STATE_STOPPING && !pb_core_in_flight_is_empty(&node->flight) &&
	    pb_core_progress_check(firmware, node, clock) &&
	    clock - node->machine.asked_first <= PB_STOP_MICROSECONDS)
		pb_core_node_extend(&node->machine, clock, false);
	if (clock - node->machine.asked > answer_limit_of(node))
		pb_core_node_timeout(firmware, node);
}

bool pb_core_watchdog_boot(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_engine_report report;

	if (pb_core_node_is_running(&node->machine) || pb_core_node_is_dead(&node->machine))
		return true;
	if (node->engine->run->poll(node->engine->context, &report) == PB_ENGINE_READY)
		pb_core_node_answered(firmware, node, PB_ENGINE_READY);
	else if (pb_core_clock(firmware) - node->machine.asked > node->machine.answer_limit)
		pb_core_node_timeout(firmware, node);
	return pb_core_node_is_running(&node->machine) || pb_core_node_is_dead(&node->machine);
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

/**
 * Checks an engine that was asked for its answer, one that runs for its share and its progress. Pre: it is not dead.
 * @param time its runtime counter
 */
static inline void check(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t time)
{
	uint32_t clock;

	if (!pb_core_node_is_running(&node->machine)) {
		check_answer(firmware, node);
		return;
	}
	if (!pb_core_in_flight_is_empty(&node->flight)) {
		if (pb_core_preempt_at_tick(firmware, node, time) || recall_for_host(firmware, node, time))
			return;
		pb_core_charge_alone(firmware, node, time);
	}
	/* Read only now: what has just begun to be timed would have begun after an earlier reading. */
	clock = pb_core_clock(firmware);
	if (!pb_core_progress_check(firmware, node, clock) &&
	    clock - node->progress.since > hang_limit_of(firmware, node))
		pb_core_node_hang(firmware, node);
}

void pb_core_watchdog(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_engine_report report;
	const enum pb_engine_state state = node->run->poll(node->context, &report);

	/* An interrupt may have been lost. */
	if (state != PB_ENGINE_READY || !pb_core_node_is_running(&node->machine) ||
	    report.sequence != node->flight.retired) {
		pb_core_retire(firmware, node);
		report.time = node->retirement.time;
	}
	if (pb_core_node_is_dead(&node->machine))
		return;
	check(firmware, node, report.time);
	pb_core_jobs_tick(firmware, node);
}
