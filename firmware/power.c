/* SPDX-License-Identifier: MIT */
/*
 * SUSPEND and RESUME of the whole card: nothing is admitted any more, the
 * engines run dry or are stopped, and all queues stay as they are.
 */
#include "firmware/core.h"

static void hold_all(struct pb_firmware *firmware, bool suspended)
{
	firmware->suspended = suspended;
	for (uint32_t n = 0; n < firmware->config->node_count; n++)
		pb_core_schedule_hold(firmware, &firmware->nodes[n]);
}

/** What has not begun goes back to its queues. */
static void take_back(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t flags)
{
	const struct pb_core_work *next = pb_core_work_at(node, node->fed + 1u);

	if (pb_core_next_is(node, next->queue) && next->status == PB_ERROR_OK) {
		struct pb_core_queue *queue = next->queue;

		pb_core_drop_next(firmware, node);
		pb_core_schedule_return(firmware, queue);
	}
	if (node->fed != node->retired)
		pb_core_node_withdraw(firmware, node, PB_CORE_STOP_TO_SWITCH, (flags & PB_STOP_INSIDE) != 0);
}

static bool is_quiet(const struct pb_core_node *node)
{
	return node->fed == node->retired && !pb_core_has_next(node) &&
	       (node->state == PB_NODE_STATE_RUNNING || node->state == PB_NODE_STATE_DEAD);
}

static bool is_all_quiet(const struct pb_firmware *firmware)
{
	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		if (!is_quiet(&firmware->nodes[n]))
			return false;
	}
	return true;
}

bool pb_core_card_suspend(struct pb_firmware *firmware, uint32_t tag, uint32_t flags)
{
	hold_all(firmware, true);
	if ((flags & PB_STOP_WITHDRAW) != 0) {
		for (uint32_t n = 0; n < firmware->config->node_count; n++)
			take_back(firmware, &firmware->nodes[n], flags);
	}
	firmware->suspend_owed = !is_all_quiet(firmware);
	firmware->suspend_tag = tag;
	return !firmware->suspend_owed;
}

void pb_core_card_progress(struct pb_firmware *firmware)
{
	if (!is_all_quiet(firmware))
		return;
	firmware->suspend_owed = false;
	pb_core_control_reply(firmware, PB_CHANNEL_ADMIN, PB_COMMAND_SUSPEND, firmware->suspend_tag,
			      PB_ERROR_OK, NULL);
}

enum pb_error pb_core_card_resume(struct pb_firmware *firmware)
{
	if (firmware->suspend_owed)
		return PB_ERROR_BUSY;
	hold_all(firmware, false);
	return PB_ERROR_OK;
}
