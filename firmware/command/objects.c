/* SPDX-License-Identifier: MIT */
/* Commands about a channel's own objects: segments, contexts, queues, formats. */
#include "firmware/command/handlers.h"
#include "firmware/instance.h"

enum pb_error pb_core_ping(struct pb_core_request *request)
{
	(void)request;
	return PB_ERROR_OK;
}

enum pb_error pb_core_segment_create_command(struct pb_core_request *request)
{
	const struct pb_core_channel_memory *memory = &request->firmware->channels[request->channel].memory;
	enum pb_error error;

	/* One at a time. What is wrong with this one may as well be reported later. */
	request->again = pb_core_segment_is_creating(memory) &&
			 !pb_core_segment_is_creating_id(memory, request->arguments[0]);
	if (request->again)
		return PB_ERROR_OK;
	error = pb_core_segment_create(request->firmware, request->channel, request->tag, request->arguments);
	request->later = error == PB_ERROR_OK;
	return error;
}

enum pb_error pb_core_segment_destroy_command(struct pb_core_request *request)
{
	const enum pb_error error =
		pb_core_segment_destroy(request->firmware, request->channel, request->arguments[0]);

	/* A segment that is created there next holds what its host writes, not what was patched. */
	if (error == PB_ERROR_OK)
		pb_core_compare_forget_channel(&request->firmware->patched, request->channel);
	return error;
}

enum pb_error pb_core_context_create_command(struct pb_core_request *request)
{
	return pb_core_context_create(&request->firmware->contexts, request->channel, &request->results[0]);
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
	struct pb_core_channel *channel = &request->firmware->channels[request->channel];

	if (channel->usage.in_flight != 0)
		return PB_ERROR_BUSY;
	return pb_core_format_set(&request->firmware->formats, &channel->formats, request->arguments,
				  &request->results[0]);
}

enum pb_error pb_core_moderate_command(struct pb_core_request *request)
{
	pb_core_interrupt_moderate(&request->firmware->channels[request->channel].moderation,
				   request->arguments[0], request->arguments[1]);
	return PB_ERROR_OK;
}
