/* SPDX-License-Identifier: MIT */
#include "firmware/engine/progress.h"

#include "firmware/instance.h"

void pb_core_progress_restart(struct pb_core_progress *progress, uint32_t clock)
{
	progress->since = clock;
}

/** Whether others wait for the end of the ring head's channel: its progress does not count then, so that hang_limit bounds the wait. */
static bool is_left_behind(const struct pb_firmware *firmware, struct pb_core_node *node)
{
	return pb_core_schedule_is_ending(&firmware->holds,
					  pb_core_in_flight_head(&node->flight)->queue->channel);
}

bool pb_core_progress_check(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t clock)
{
	struct pb_core_progress *progress = &node->progress;
	uint32_t mark = progress->mark;

	if (!pb_core_in_flight_is_empty(&node->flight) && node->flight.retired == progress->retired) {
		(void)node->engine->run->runtime(node->engine->context, &mark);
		if (mark == progress->mark || is_left_behind(firmware, node))
			return false;
	}
	progress->retired = node->flight.retired;
	progress->mark = mark;
	pb_core_progress_restart(progress, clock);
	return true;
}
