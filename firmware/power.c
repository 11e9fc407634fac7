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

	if (pb_core_has_next(node) && next->status == PB_ERROR_OK) {
		struct pb_core_queue *queue = next->queue;

		pb_core_drop_next(firmware, node);
		pb_core_schedule_return(firmware, queue);
	}
	if (node->fed != node->retired)
		pb_core_node_withdraw(firmware, node, PB_CORE_STOP_TO_SWITCH, (flags & PB_STOP_INSIDE) != 0);
}

static bool is_quiet(const struct pb_core_node *node)
{
	return node->fed == node->retired && node->next == PB_CORE_NEXT_NONE &&
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

/**
 * While nothing runs, hosts may move what is not begun: the next queues have theirs patched anew.
 * @return true: all have
 */
static bool forget_some(struct pb_firmware *firmware)
{
	for (uint32_t i = 0; i < PB_SLICE_SEARCH && firmware->suspend_at != firmware->queue_count; i++) {
		struct pb_core_queue *queue = &firmware->queues[firmware->suspend_at++];

		queue->patched = (queue->flags & PB_CORE_QUEUE_STARTED) != 0 ? 1u : 0;
	}
	return firmware->suspend_at == firmware->queue_count;
}

void pb_core_card_suspend(struct pb_firmware *firmware, uint32_t tag, uint32_t flags)
{
	hold_all(firmware, true);
	if ((flags & PB_STOP_WITHDRAW) != 0) {
		for (uint32_t n = 0; n < firmware->config->node_count; n++)
			take_back(firmware, &firmware->nodes[n], flags);
	}
	firmware->suspend_owed = true;
	firmware->suspend_at = 0;
	firmware->suspend_tag = tag;
}

bool pb_core_card_progress(struct pb_firmware *firmware)
{
	if (!is_all_quiet(firmware))
		return false; /* an engine's answer wakes the firmware */
	if (!forget_some(firmware))
		return true;
	firmware->suspend_owed = false;
	pb_core_control_reply(firmware, PB_CHANNEL_ADMIN, PB_COMMAND_SUSPEND, firmware->suspend_tag,
			      PB_ERROR_OK, NULL);
	return false;
}

enum pb_error pb_core_card_resume(struct pb_firmware *firmware)
{
	if (firmware->suspend_owed)
		return PB_ERROR_BUSY;
	hold_all(firmware, false);
	return PB_ERROR_OK;
}
