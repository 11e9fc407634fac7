/* SPDX-License-Identifier: MIT */
#include "firmware/command/power.h"

#include "firmware/instance.h"

/** Returns what has not begun to its queues. */
static void recall(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t flags)
{
	if (pb_core_staged_any(&node->staged) && pb_core_staged_may_unsubmit(node))
		pb_core_preempt_return_staged(firmware, node);
	if (!pb_core_in_flight_is_empty(&node->flight))
		pb_core_node_recall(firmware, node, PB_CORE_STOP_TO_SWITCH, (flags & PB_STOP_INSIDE) != 0);
}

static bool is_quiet(const struct pb_core_node *node)
{
	return pb_core_in_flight_is_empty(&node->flight) && !pb_core_staged_any(&node->staged) &&
	       (pb_core_node_is_running(&node->machine) || pb_core_node_is_dead(&node->machine));
}

static bool is_all_quiet(const struct pb_firmware *firmware)
{
	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		if (!is_quiet(&firmware->nodes[n]))
			return false;
	}
	return true;
}

/**
 * Has a slice of the queues patched anew: while nothing runs, hosts may move what has not begun.
 * @return whether all queues are
 */
static bool forget_some(struct pb_firmware *firmware)
{
	struct pb_core_power *power = &firmware->power;

	for (uint32_t i = 0; i < PB_SLICE_SEARCH && power->at != firmware->table.count; i++)
		pb_core_ring_keep_started(&firmware->table.queues[power->at++]);
	return power->at == firmware->table.count;
}

void pb_core_power_suspend(struct pb_firmware *firmware, uint32_t tag, uint32_t flags)
{
	pb_core_schedule_hold_all(firmware, true);
	if ((flags & PB_STOP_RECALL) != 0) {
		for (uint32_t n = 0; n < firmware->config->node_count; n++)
			recall(firmware, &firmware->nodes[n], flags);
	}
	firmware->power = (struct pb_core_power){.tag = tag};
	pb_core_mark(&firmware->marks, PB_CORE_MARK_POWER, true);
}

bool pb_core_power_step(struct pb_firmware *firmware)
{
	if (!is_all_quiet(firmware))
		return false; /* an engine's answer wakes the firmware */
	if (!forget_some(firmware))
		return true;
	pb_core_mark(&firmware->marks, PB_CORE_MARK_POWER, false);
	pb_core_reply_deferred(firmware, PB_CHANNEL_ADMIN, PB_COMMAND_SUSPEND, firmware->power.tag,
			       PB_ERROR_OK, NULL);
	return false;
}

enum pb_error pb_core_power_resume(struct pb_firmware *firmware)
{
	if (pb_core_is_marked(&firmware->marks, PB_CORE_MARK_POWER))
		return PB_ERROR_BUSY;
	pb_core_schedule_hold_all(firmware, false);
	return PB_ERROR_OK;
}

void pb_core_power_abandon(struct pb_firmware *firmware)
{
	if (!firmware->holds.suspended)
		return;
	pb_core_mark(&firmware->marks, PB_CORE_MARK_POWER, false);
	pb_core_schedule_hold_all(firmware, false);
}
