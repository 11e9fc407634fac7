/* SPDX-License-Identifier: MIT */
/* Commands about a channel's own objects: segments, contexts, queues, formats. */
#include "firmware/command/handlers.h"
#include "firmware/instance.h"

enum pb_error pb_core_ping(struct pb_core_request *request)
{
	(void)request;
	return PB_ERROR_OK;
}

/** Whether another segment is being created or cleared. One at a time; what is wrong with the command may be reported later. */
static bool waits_for_segment(const struct pb_core_request *request)
{
	const struct pb_core_channel_memory *memory = &request->firmware->channels[request->channel].memory;

	return pb_core_segment_is_creating(memory) &&
	       !pb_core_segment_is_creating_id(memory, request->arguments[0]);
}

enum pb_error pb_core_segment_create_command(struct pb_core_request *request)
{
	enum pb_error error;

	request->again = waits_for_segment(request);
	if (request->again)
		return PB_ERROR_OK;
	error = pb_core_segment_create(request->firmware, request->channel, request->tag, request->arguments);
	request->later = error == PB_ERROR_OK;
	return error;
}

enum pb_error pb_core_segment_destroy_command(struct pb_core_request *request)
{
	enum pb_error error;

	if (pb_core_node_reaches(request->firmware, request->channel))
		return PB_ERROR_ENGINE_DEAD;
	request->again = waits_for_segment(request);
	if (request->again)
		return PB_ERROR_OK;
	error = pb_core_segment_destroy(request->firmware, request->channel, request->tag,
					request->arguments[0]);
	request->later = error == PB_ERROR_OK;
	/* A segment that is created there next holds what its host writes, not what was patched. */
	if (request->later)
		pb_core_compare_forget_channel(&request->firmware->patched, request->channel);
	return error;
}

enum pb_error pb_core_context_create_command(struct pb_core_request *request)
{
	const enum pb_error error =
		pb_core_quota_claim(request->firmware, request->channel, PB_RESOURCE_CONTEXTS, 1);

	if (error == PB_ERROR_OK)
		request->results[0] = pb_core_context_create(&request->firmware->contexts, request->channel);
	return error;
}

enum pb_error pb_core_context_destroy_command(struct pb_core_request *request)
{
	struct pb_firmware *firmware = request->firmware;

	if (pb_core_context_find(&firmware->contexts, request->channel, request->arguments[0]) == NULL)
		return PB_ERROR_BAD_HANDLE;
	/* Coarse: any submission of the channel may be this context's. */
	if (firmware->channels[request->channel].usage.in_flight != 0)
		return PB_ERROR_BUSY;
	pb_core_context_destroy(&firmware->contexts, request->arguments[0]);
	pb_core_quota_release(firmware, request->channel, PB_RESOURCE_CONTEXTS, 1);
	return PB_ERROR_OK;
}

enum pb_error pb_core_context_clear_command(struct pb_core_request *request)
{
	return pb_core_context_clear(&request->firmware->contexts, request->channel, request->arguments[0]);
}

enum pb_error pb_core_queue_create_command(struct pb_core_request *request)
{
	return pb_core_queue_create(request->firmware, request->channel, request->arguments,
				    &request->results[0]);
}

enum pb_error pb_core_queue_destroy_command(struct pb_core_request *request)
{
	struct pb_core_queue *queue =
		pb_core_table_find(request->firmware, request->channel, request->arguments[0]);

	if (queue == NULL)
		return PB_ERROR_BAD_HANDLE;
	pb_core_queue_close(request->firmware, queue);
	if (pb_core_queue_state(queue) == PB_CORE_QUEUE_FREE)
		return PB_ERROR_OK;
	pb_core_table_defer_reply(queue, request->tag);
	request->later = true;
	return PB_ERROR_OK;
}

enum pb_error pb_core_queue_clear_command(struct pb_core_request *request)
{
	struct pb_core_queue *queue =
		pb_core_table_find(request->firmware, request->channel, request->arguments[0]);

	if (queue == NULL)
		return PB_ERROR_BAD_HANDLE;
	pb_core_fence_clear(queue);
	return PB_ERROR_OK;
}

enum pb_error pb_core_format_set_command(struct pb_core_request *request)
{
	struct pb_firmware *firmware = request->firmware;
	struct pb_core_channel *channel = &firmware->channels[request->channel];
	enum pb_error error;

	if (channel->usage.in_flight != 0)
		return PB_ERROR_BUSY;
	request->results[0] = pb_core_format_check(request->arguments);
	if (request->results[0] != PB_FORMAT_REASON_NONE)
		return PB_ERROR_BAD_FORMAT;
	if (!pb_core_format_is_set(&channel->formats, request->arguments[0])) {
		error = pb_core_quota_claim(firmware, request->channel, PB_RESOURCE_FORMATS, 1);
		if (error != PB_ERROR_OK)
			return error;
	}
	pb_core_format_set(&firmware->formats, &channel->formats, request->arguments);
	return PB_ERROR_OK;
}

enum pb_error pb_core_moderate_command(struct pb_core_request *request)
{
	pb_core_interrupt_moderate(request->firmware, request->channel, request->arguments[0],
				   request->arguments[1]);
	return PB_ERROR_OK;
}
