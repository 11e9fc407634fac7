/* SPDX-License-Identifier: MIT */
#include "tests/interleave/inside.h"

#include "firmware/core.h"
#include "tests/interleave/weave.h"

void pb_inside_look(const struct pb_firmware *firmware, uint32_t channel, struct pb_inside_asked *asked)
{
	const struct pb_channel_entry *entry = firmware->channels[channel].entry;

	*asked = (struct pb_inside_asked){0};
	if (entry == NULL)
		return; /* it boots */
	asked->attach_request = pb_weave_peek(&entry->attach_request);
	asked->kick_put = pb_weave_peek(&entry->kick_put);
	asked->rescan = pb_weave_peek(&entry->rescan);
	asked->control_put = pb_weave_peek(&entry->control_put);
}

bool pb_inside_waits(const struct pb_firmware *firmware, uint32_t c, const struct pb_inside_asked *asked)
{
	const struct pb_core_channel *channel = &firmware->channels[c];

	if (firmware->stage != PB_BOOT_STAGE_RUNNING || channel->state >= PB_CORE_CHANNEL_CLOSING_QUEUES)
		return false;
	if (asked->attach_request != channel->attach_done)
		return true;
	return channel->state == PB_CORE_CHANNEL_OPEN &&
	       (asked->kick_put != channel->kick_get || asked->rescan != channel->rescan ||
		(pb_core_control_room(channel) && asked->control_put != channel->control_get));
}

uint32_t pb_inside_resets(const struct pb_firmware *firmware, uint32_t node)
{
	return firmware->nodes[node].resets;
}
