/* SPDX-License-Identifier: MIT */
/* Commands of the admin's channel, and TRACE, which needs a privilege. */
#include "firmware/command/handlers.h"
#include "firmware/instance.h"

enum pb_error pb_core_channel_close_command(struct pb_core_request *request)
{
	const uint32_t victim = request->arguments[0];

	if (request->channel != PB_CHANNEL_ADMIN)
		return PB_ERROR_NO_PERMISSION;
	if (victim == PB_CHANNEL_ADMIN || victim >= PB_LIMIT_CHANNELS)
		return PB_ERROR_BAD_ARGUMENT;
	if (request->firmware->channels[victim].closing.reply_is_due)
		return PB_ERROR_BUSY;
	request->later =
		pb_core_channel_close(request->firmware, victim, request->tag, PB_COMMAND_CHANNEL_CLOSE);
	return PB_ERROR_OK;
}

enum pb_error pb_core_channel_grant_command(struct pb_core_request *request)
{
	const uint32_t *arguments = request->arguments;

	if (request->channel != PB_CHANNEL_ADMIN)
		return PB_ERROR_NO_PERMISSION;
	if (arguments[0] == PB_CHANNEL_ADMIN || arguments[0] >= PB_LIMIT_CHANNELS ||
	    (arguments[1] & ~(PB_PRIVILEGE_PAGING | PB_PRIVILEGE_QUERY)) != 0 ||
	    arguments[2] - 1u >= PB_WEIGHT_MAX || arguments[3] >= PB_PRIORITIES)
		return PB_ERROR_BAD_ARGUMENT;
	pb_core_grants_set(&request->firmware->channels[arguments[0]].grants, arguments[1], arguments[2],
			   arguments[3]);
	return PB_ERROR_OK;
}

enum pb_error pb_core_channel_quota_command(struct pb_core_request *request)
{
	const uint32_t *arguments = request->arguments;

	if (request->channel != PB_CHANNEL_ADMIN)
		return PB_ERROR_NO_PERMISSION;
	if (arguments[0] == PB_CHANNEL_ADMIN || arguments[0] >= PB_LIMIT_CHANNELS)
		return PB_ERROR_BAD_ARGUMENT;
	return pb_core_quota_set(request->firmware, arguments[0], arguments[1], arguments[2]);
}

enum pb_error pb_core_host_grant_command(struct pb_core_request *request)
{
	const uint32_t channel = request->arguments[0];

	if (request->channel != PB_CHANNEL_ADMIN)
		return PB_ERROR_NO_PERMISSION;
	if (channel == PB_CHANNEL_ADMIN || channel >= PB_LIMIT_CHANNELS)
		return PB_ERROR_BAD_ARGUMENT;
	return pb_core_host_grant(request->firmware, channel, &request->arguments[1]);
}

enum pb_error pb_core_node_set_command(struct pb_core_request *request)
{
	const uint32_t *arguments = request->arguments;
	struct pb_core_node *node;

	if (request->channel != PB_CHANNEL_ADMIN)
		return PB_ERROR_NO_PERMISSION;
	if (arguments[0] >= request->firmware->config->node_count || arguments[1] > PB_NODE_HOST_ORDERED ||
	    arguments[2] > PB_LIMIT_IN_FLIGHT)
		return PB_ERROR_BAD_ARGUMENT;
	node = &request->firmware->nodes[arguments[0]];
	if (pb_core_schedule_mode(node) != arguments[1] && node->queues != 0)
		return PB_ERROR_BUSY;
	pb_core_schedule_set_mode(node, arguments[1]);
	pb_core_node_configure(&node->machine, arguments[2], arguments[3], arguments[4]);
	return PB_ERROR_OK;
}

enum pb_error pb_core_trace_command(struct pb_core_request *request)
{
	struct pb_firmware *firmware = request->firmware;

	if (request->channel != PB_CHANNEL_ADMIN &&
	    !pb_core_grants_has(&firmware->channels[request->channel].grants, PB_PRIVILEGE_QUERY))
		return PB_ERROR_NO_PERMISSION;
	if (firmware->trace.records == NULL)
		return PB_ERROR_UNSUPPORTED;
	if (!pb_core_trace_change(firmware, request->arguments[0]))
		return PB_ERROR_BAD_ARGUMENT;
	PB_CORE_TRACE(firmware, TIME, PB_TRACE_NONE, request->arguments[1], request->arguments[2]);
	return PB_ERROR_OK;
}
