/* SPDX-License-Identifier: MIT */
#include "tests/interleave/inside.h"

#include "firmware/instance.h"
#include "tests/interleave/weave.h"

void pb_inside_look(const struct pb_firmware *firmware, uint32_t channel, struct pb_inside_asked *asked)
{
	const struct pb_channel_entry *entry = firmware->channels[channel].endpoint.entry;

	*asked = (struct pb_inside_asked){0};
	if (entry == NULL)
		return; /* the firmware has not booted yet */
	asked->attach_request = pb_weave_peek(&entry->attach_request);
	asked->kick_put = pb_weave_peek(&entry->kick_put);
	asked->rescan = pb_weave_peek(&entry->rescan);
	asked->control_put = pb_weave_peek(&entry->control_put);
}

bool pb_inside_waits(const struct pb_firmware *firmware, uint32_t c, const struct pb_inside_asked *asked)
{
	const struct pb_core_channel *channel = &firmware->channels[c];

	if (firmware->boot.stage != PB_BOOT_STAGE_RUNNING || pb_core_endpoint_is_closing(&channel->endpoint))
		return false;
	if (asked->attach_request != channel->endpoint.attach_done)
		return true;
	return pb_core_endpoint_is_open(&channel->endpoint) &&
	       (asked->kick_put != channel->kicks.get || asked->rescan != channel->kicks.rescan ||
		(pb_core_reply_fits(&channel->replies) && asked->control_put != channel->commands.get));
}

uint32_t pb_inside_resets(const struct pb_firmware *firmware, uint32_t node)
{
	return firmware->nodes[node].machine.resets;
}
