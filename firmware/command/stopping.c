/* SPDX-License-Identifier: MIT */
/* Commands that stop a queue, or the whole card, and let it go on. */
#include "firmware/command/handlers.h"
#include "firmware/compiler.h"
#include "firmware/instance.h"

/** A request as its command has it; every field is set, so that none is cleared before. @param id of PREEMPT */
static struct pb_core_stop ask(enum pb_core_stop_kind kind, uint32_t cutoff, uint32_t id)
{
	return (struct pb_core_stop){.queue = NULL,
				     .tag = 0,
				     .cutoff = cutoff,
				     .put = 0,
				     .id = id,
				     .ticks = 0,
				     .kind = (uint8_t)kind,
				     .flags = 0};
}

/**
 * Begins a PREEMPT, SUSPEND or RESET of a queue. Without a free stop request it is refused: if it waited, the commands
 * behind it would too, among them the RESUME or RESET that ends what it waits for. @param asked its kind, cutoff and
 * preemption id
 */
static PB_CORE_STEP enum pb_error stop_queue(struct pb_core_request *request, struct pb_core_stop *asked,
					     uint32_t handle, uint32_t flags)
{
	struct pb_firmware *firmware = request->firmware;
	struct pb_core_queue *queue = pb_core_table_find(firmware, request->channel, handle);
	enum pb_error error;

	if (queue == NULL)
		return PB_ERROR_BAD_HANDLE;
	if ((flags & ~(PB_STOP_INSIDE | PB_STOP_RECALL)) != 0)
		return PB_ERROR_BAD_ARGUMENT;
	asked->queue = queue;
	asked->tag = request->tag;
	if (!pb_core_stop_may_begin(firmware, asked))
		return PB_ERROR_BUSY;
	if (asked->kind == PB_CORE_STOP_RESET) {
		/* What has run to its end counts, although its line was not seen: a RESET would blame it, or begin it anew. */
		pb_core_retire(firmware, pb_core_node_of(firmware, queue));
		/* An expensive retirement is a slice of its own; but once only. */
		request->again =
			!request->repeated && pb_core_is_marked(&firmware->marks, PB_CORE_MARK_COSTLY);
		if (request->again)
			return PB_ERROR_OK;
	}
	/* The cutoff may lie behind what has completed by now, also of what was submitted after the request. */
	if ((int32_t)(asked->cutoff - queue->completed) > (int32_t)queue->mask + 1)
		return PB_ERROR_BAD_ARGUMENT;
	if (!pb_core_quota_claim_guaranteed(firmware, request->channel, PB_RESOURCE_STOPS)) {
		error = pb_core_quota_claim(firmware, request->channel, PB_RESOURCE_STOPS, 1);
		if (error != PB_ERROR_OK)
			return error;
	}
	pb_core_stop_begin(firmware, asked, flags);
	request->later = true;
	return PB_ERROR_OK;
}

enum pb_error pb_core_preempt_command(struct pb_core_request *request)
{
	struct pb_core_stop asked = ask(PB_CORE_STOP_PREEMPT, request->arguments[1], request->arguments[2]);

	return stop_queue(request, &asked, request->arguments[0], request->arguments[3]);
}

enum pb_error pb_core_suspend_command(struct pb_core_request *request)
{
	struct pb_core_stop asked = ask(PB_CORE_STOP_SUSPEND, request->arguments[1], 0);

	if (request->arguments[0] != 0)
		return stop_queue(request, &asked, request->arguments[0], request->arguments[2]);
	if (request->channel != PB_CHANNEL_ADMIN)
		return PB_ERROR_NO_PERMISSION;
	if (request->firmware->holds.suspended)
		return PB_ERROR_BUSY;
	pb_core_power_suspend(request->firmware, request->tag, request->arguments[2]);
	request->later = true;
	return PB_ERROR_OK;
}

enum pb_error pb_core_resume_command(struct pb_core_request *request)
{
	struct pb_core_queue *queue;

	if (request->arguments[0] == 0) {
		if (request->channel != PB_CHANNEL_ADMIN)
			return PB_ERROR_NO_PERMISSION;
		return pb_core_power_resume(request->firmware);
	}
	queue = pb_core_table_find(request->firmware, request->channel, request->arguments[0]);
	if (queue == NULL)
		return PB_ERROR_BAD_HANDLE;
	return pb_core_stop_resume(request->firmware, queue);
}

enum pb_error pb_core_reset_command(struct pb_core_request *request)
{
	struct pb_firmware *firmware = request->firmware;
	struct pb_core_stop asked = ask(PB_CORE_STOP_RESET, request->arguments[2], 0);
	const struct pb_core_queue *queue;

	if (request->arguments[0] >= firmware->config->node_count)
		return PB_ERROR_BAD_ARGUMENT;
	if (request->arguments[1] == 0) {
		pb_core_schedule_halt(firmware, &firmware->nodes[request->arguments[0]], request->channel,
				      false);
		return PB_ERROR_OK;
	}
	queue = pb_core_table_find(firmware, request->channel, request->arguments[1]);
	if (queue == NULL || pb_core_queue_node(queue) != request->arguments[0])
		return PB_ERROR_BAD_HANDLE;
	return stop_queue(request, &asked, request->arguments[1], 0);
}
