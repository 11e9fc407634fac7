/* SPDX-License-Identifier: MIT */
#include "firmware/command/revoke.h"

#include "firmware/command/handlers.h"
#include "firmware/compiler.h"
#include "firmware/instance.h"

/** Holds the channel until none of its submissions is in flight: each completes, or is reset as one that hangs. */
static void drain(struct pb_core_request *request, uint32_t channel)
{
	struct pb_firmware *firmware = request->firmware;

	firmware->revocation = (struct pb_core_revocation){
		.draining = true,
		.channel = (uint8_t)channel,
		.tag = request->tag,
		.epoch = (uint16_t)firmware->channels[PB_CHANNEL_ADMIN].endpoint.epoch};
	pb_core_schedule_drain_channel(firmware, channel, true);
	request->later = true;
}

PB_CORE_COLD enum pb_error pb_core_host_revoke_command(struct pb_core_request *request)
{
	struct pb_firmware *firmware = request->firmware;
	const uint32_t channel = request->arguments[0];
	const struct pb_core_channel *victim;
	enum pb_error error;

	if (request->channel != PB_CHANNEL_ADMIN)
		return PB_ERROR_NO_PERMISSION;
	if (channel == PB_CHANNEL_ADMIN || channel >= PB_LIMIT_CHANNELS)
		return PB_ERROR_BAD_ARGUMENT;
	victim = &firmware->channels[channel];
	if (pb_core_node_reaches(firmware, channel))
		return PB_ERROR_ENGINE_DEAD;
	if (firmware->revocation.draining || victim->closing.reply_is_due)
		return PB_ERROR_BUSY;
	error = pb_core_host_revoke(&firmware->host, channel, &request->arguments[1]);
	if (error != PB_ERROR_OK)
		return error;
	/* Buffers that are known to be patched may lie there. */
	pb_core_compare_forget_channel(&firmware->patched, channel);
	/* The firmware stores fence records into segment 0 as long as there are queues. */
	if (pb_core_segment_revoke(firmware, channel) && victim->quota.used[PB_RESOURCE_QUEUES] != 0)
		request->later =
			pb_core_channel_close(firmware, channel, request->tag, PB_COMMAND_HOST_REVOKE);
	else if (victim->usage.in_flight != 0)
		drain(request, channel);
	return PB_ERROR_OK;
}

PB_CORE_COLD void pb_core_revoke_tick(struct pb_firmware *firmware)
{
	struct pb_core_revocation *revocation = &firmware->revocation;
	const uint32_t channel = revocation->channel;

	if (!revocation->draining || firmware->channels[channel].usage.in_flight != 0)
		return;
	revocation->draining = false;
	pb_core_schedule_drain_channel(firmware, channel, false);
	if (revocation->epoch == (uint16_t)firmware->channels[PB_CHANNEL_ADMIN].endpoint.epoch)
		pb_core_reply_deferred(
			firmware, PB_CHANNEL_ADMIN, PB_COMMAND_HOST_REVOKE, revocation->tag,
			pb_core_node_reaches(firmware, channel) ? PB_ERROR_ENGINE_DEAD : PB_ERROR_OK, NULL);
}
