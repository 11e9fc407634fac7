/* SPDX-License-Identifier: MIT */
/*
 * Control commands: one a pass, each bounded. A reply that must wait for work
 * to drain is owed, and room for it is kept in the reply ring.
 */
#include <string.h>

#include "firmware/core.h"

/** One command being carried out. */
struct request {
	struct pb_firmware *firmware;
	uint32_t channel;
	uint32_t tag;
	uint32_t arguments[PB_COMMAND_ARGUMENTS];
	uint32_t *results; /**< PB_REPLY_RESULTS of them, 0 */
	bool later;        /**< the reply is owed */
	bool again;        /**< not now: the command stays in its ring */
};

static enum pb_error ping(struct request *request)
{
	(void)request;
	return PB_ERROR_OK;
}

static enum pb_error segment_create(struct request *request)
{
	const struct pb_core_channel *channel = &request->firmware->channels[request->channel];
	enum pb_error error;

	/* One at a time. What is wrong with this one, it may as well hear later. */
	request->again = channel->make.step != PB_CORE_MAKE_NONE &&
			 !pb_core_segment_being_made(channel, request->arguments[0]);
	if (request->again)
		return PB_ERROR_OK;
	error = pb_core_segment_create(request->firmware, request->channel, request->tag, request->arguments);
	request->later = error == PB_ERROR_OK;
	return error;
}

static enum pb_error segment_destroy(struct request *request)
{
	return pb_core_segment_destroy(request->firmware, request->channel, request->arguments[0]);
}

static enum pb_error context_create(struct request *request)
{
	return pb_core_context_create(request->firmware, request->channel, &request->results[0]);
}

static enum pb_error context_destroy(struct request *request)
{
	return pb_core_context_destroy(request->firmware, request->channel, request->arguments[0]);
}

static enum pb_error context_clear(struct request *request)
{
	uint32_t *context = pb_core_context_find(request->firmware, request->channel, request->arguments[0]);

	if (context == NULL)
		return PB_ERROR_BAD_HANDLE;
	*context &= ~PB_CORE_CONTEXT_LOST;
	return PB_ERROR_OK;
}

static enum pb_error queue_create(struct request *request)
{
	return pb_core_queue_create(request->firmware, request->channel, request->arguments,
				    &request->results[0]);
}

static enum pb_error queue_destroy(struct request *request)
{
	struct pb_core_queue *queue =
		pb_core_queue_find(request->firmware, request->channel, request->arguments[0]);

	if (queue == NULL)
		return PB_ERROR_BAD_HANDLE;
	pb_core_queue_close(request->firmware, queue);
	if (pb_core_queue_state(queue) == PB_CORE_QUEUE_FREE)
		return PB_ERROR_OK;
	queue->flags |= PB_CORE_QUEUE_REPLY_OWED;
	queue->awaited = request->tag;
	request->later = true;
	return PB_ERROR_OK;
}

static enum pb_error queue_clear(struct request *request)
{
	struct pb_core_queue *queue =
		pb_core_queue_find(request->firmware, request->channel, request->arguments[0]);

	if (queue == NULL)
		return PB_ERROR_BAD_HANDLE;
	pb_core_record_clear(queue);
	return PB_ERROR_OK;
}

static enum pb_error format_set(struct request *request)
{
	return pb_core_format_set(request->firmware, request->channel, request->arguments,
				  &request->results[0]);
}

static enum pb_error channel_close(struct request *request)
{
	const uint32_t victim = request->arguments[0];
	struct pb_core_channel *channel;

	if (request->channel != PB_CHANNEL_ADMIN)
		return PB_ERROR_NO_PERMISSION;
	if (victim == PB_CHANNEL_ADMIN || victim >= PB_LIMIT_CHANNELS)
		return PB_ERROR_BAD_ARGUMENT;
	channel = &request->firmware->channels[victim];
	if (channel->close_asked)
		return PB_ERROR_BUSY;
	pb_core_channel_revoke(channel);
	pb_core_channel_close(request->firmware, victim);
	if (channel->state == PB_CORE_CHANNEL_CLOSED) {
		pb_core_channel_forget(channel);
		return PB_ERROR_OK;
	}
	channel->close_asked = true;
	channel->close_tag = request->tag;
	request->later = true;
	return PB_ERROR_OK;
}

static enum pb_error channel_grant(struct request *request)
{
	const uint32_t *arguments = request->arguments;
	struct pb_core_channel *channel;

	if (request->channel != PB_CHANNEL_ADMIN)
		return PB_ERROR_NO_PERMISSION;
	if (arguments[0] == PB_CHANNEL_ADMIN || arguments[0] >= PB_LIMIT_CHANNELS ||
	    (arguments[1] & ~(PB_PRIVILEGE_PAGING | PB_PRIVILEGE_QUERY)) != 0 ||
	    arguments[2] - 1u >= PB_WEIGHT_MAX || arguments[3] >= PB_PRIORITIES)
		return PB_ERROR_BAD_ARGUMENT;
	channel = &request->firmware->channels[arguments[0]];
	channel->privileges = arguments[1];
	channel->weight = arguments[2];
	channel->priority_cap = arguments[3];
	return PB_ERROR_OK;
}

/** A PREEMPT, SUSPEND or RESET of a queue. */
static enum pb_error stop_queue(struct request *request, struct pb_core_stop *asked, uint32_t handle,
				uint32_t flags)
{
	struct pb_core_outcome outcome = {{0}};
	struct pb_core_queue *queue = pb_core_queue_find(request->firmware, request->channel, handle);

	if (queue == NULL)
		return PB_ERROR_BAD_HANDLE;
	if ((flags & ~(PB_STOP_INSIDE | PB_STOP_WITHDRAW)) != 0)
		return PB_ERROR_BAD_ARGUMENT;
	if (!pb_core_stop_may_begin(request->firmware, queue, asked))
		return PB_ERROR_BUSY;
	/* What has run to its end counts, although its line was not seen: a RESET would blame it, or begin it anew. */
	pb_core_retire(request->firmware, &request->firmware->nodes[queue->node]);
	/* It may lie behind what has completed by now, also of what was submitted after it was asked. */
	if ((int32_t)(asked->cutoff - queue->completed) > (int32_t)queue->mask + 1)
		return PB_ERROR_BAD_ARGUMENT;
	request->again = !pb_core_stop_has_room(request->firmware, request->channel);
	if (request->again)
		return PB_ERROR_OK;
	asked->queue = queue;
	asked->tag = request->tag;
	request->later = !pb_core_stop_begin(request->firmware, asked, flags, &outcome);
	memcpy(request->results, outcome.words, sizeof(outcome.words));
	return PB_ERROR_OK;
}

static enum pb_error preempt(struct request *request)
{
	struct pb_core_stop asked = {.kind = PB_CORE_STOP_PREEMPT,
				     .cutoff = request->arguments[1],
				     .preemption_id = request->arguments[2]};

	return stop_queue(request, &asked, request->arguments[0], request->arguments[3]);
}

static enum pb_error suspend(struct request *request)
{
	struct pb_core_stop asked = {.kind = PB_CORE_STOP_SUSPEND, .cutoff = request->arguments[1]};

	if (request->arguments[0] != 0)
		return stop_queue(request, &asked, request->arguments[0], request->arguments[2]);
	if (request->channel != PB_CHANNEL_ADMIN)
		return PB_ERROR_NO_PERMISSION;
	if (request->firmware->suspended)
		return PB_ERROR_BUSY;
	pb_core_card_suspend(request->firmware, request->tag, request->arguments[2]);
	request->later = true;
	return PB_ERROR_OK;
}

static enum pb_error resume(struct request *request)
{
	struct pb_firmware *firmware = request->firmware;
	struct pb_core_queue *queue;

	if (request->arguments[0] == 0) {
		if (request->channel != PB_CHANNEL_ADMIN)
			return PB_ERROR_NO_PERMISSION;
		return pb_core_card_resume(firmware);
	}
	queue = pb_core_queue_find(firmware, request->channel, request->arguments[0]);
	if (queue == NULL)
		return PB_ERROR_BAD_HANDLE;
	return pb_core_stop_resume(firmware, queue);
}

static enum pb_error reset(struct request *request)
{
	struct pb_firmware *firmware = request->firmware;
	struct pb_core_stop asked = {.kind = PB_CORE_STOP_RESET, .cutoff = request->arguments[2]};
	const struct pb_core_queue *queue;
	struct pb_core_node *node;

	if (request->arguments[0] >= firmware->config->node_count)
		return PB_ERROR_BAD_ARGUMENT;
	node = &firmware->nodes[request->arguments[0]];
	if (request->arguments[1] == 0) {
		node->halted &= ~(1u << request->channel);
		pb_core_schedule_hold(firmware, node);
		return PB_ERROR_OK;
	}
	queue = pb_core_queue_find(firmware, request->channel, request->arguments[1]);
	if (queue == NULL || &firmware->nodes[queue->node] != node)
		return PB_ERROR_BAD_HANDLE;
	return stop_queue(request, &asked, request->arguments[1], 0);
}

static enum pb_error query(struct request *request)
{
	return pb_core_query(request->firmware, request->channel, request->arguments, request->results);
}

static enum pb_error node_set(struct request *request)
{
	const uint32_t *arguments = request->arguments;
	struct pb_core_node *node;

	if (request->channel != PB_CHANNEL_ADMIN)
		return PB_ERROR_NO_PERMISSION;
	if (arguments[0] >= request->firmware->config->node_count || arguments[1] > PB_NODE_HOST_ORDERED ||
	    arguments[2] > PB_LIMIT_IN_FLIGHT)
		return PB_ERROR_BAD_ARGUMENT;
	node = &request->firmware->nodes[arguments[0]];
	if (node->mode != arguments[1] && node->queues != 0)
		return PB_ERROR_BUSY;
	node->mode = (uint8_t)arguments[1];
	node->depth = arguments[2] != 0 ? arguments[2] : node->depth;
	node->hang_limit = arguments[3] != 0 ? arguments[3] : node->hang_limit;
	node->answer_limit = arguments[4] != 0 ? arguments[4] : node->answer_limit;
	return PB_ERROR_OK;
}

static enum pb_error moderate(struct request *request)
{
	struct pb_core_channel *channel = &request->firmware->channels[request->channel];

	channel->moderate_count = request->arguments[0];
	channel->moderate_microseconds = request->arguments[1];
	return PB_ERROR_OK;
}

static enum pb_error trace(struct request *request)
{
	struct pb_firmware *firmware = request->firmware;

	if (request->channel != PB_CHANNEL_ADMIN &&
	    (firmware->channels[request->channel].privileges & PB_PRIVILEGE_QUERY) == 0)
		return PB_ERROR_NO_PERMISSION;
	if (firmware->trace.records == NULL)
		return PB_ERROR_UNSUPPORTED;
	if (!pb_core_trace_set(firmware, request->arguments[0]))
		return PB_ERROR_BAD_ARGUMENT;
	PB_CORE_TRACE(firmware, TIME, PB_TRACE_NONE, request->arguments[1], request->arguments[2]);
	return PB_ERROR_OK;
}

/** Who carries a command out, and how many of its arguments mean anything: the others are not read. */
static const struct {
	enum pb_error (*carry_out)(struct request *request);
	uint32_t arguments;
} handlers[] = {
	[PB_COMMAND_PING] = {ping, 0},
	[PB_COMMAND_SEGMENT_CREATE] = {segment_create, 9},
	[PB_COMMAND_SEGMENT_DESTROY] = {segment_destroy, 1},
	[PB_COMMAND_CONTEXT_CREATE] = {context_create, 0},
	[PB_COMMAND_CONTEXT_DESTROY] = {context_destroy, 1},
	[PB_COMMAND_CONTEXT_CLEAR] = {context_clear, 1},
	[PB_COMMAND_QUEUE_CREATE] = {queue_create, 6},
	[PB_COMMAND_QUEUE_DESTROY] = {queue_destroy, 1},
	[PB_COMMAND_QUEUE_CLEAR] = {queue_clear, 1},
	[PB_COMMAND_CHANNEL_CLOSE] = {channel_close, 1},
	[PB_COMMAND_FORMAT_SET] = {format_set, 13},
	[PB_COMMAND_PREEMPT] = {preempt, 4},
	[PB_COMMAND_SUSPEND] = {suspend, 3},
	[PB_COMMAND_RESUME] = {resume, 1},
	[PB_COMMAND_RESET] = {reset, 3},
	[PB_COMMAND_QUERY] = {query, 3},
	[PB_COMMAND_TRACE] = {trace, 3},
	[PB_COMMAND_CHANNEL_GRANT] = {channel_grant, 4},
	[PB_COMMAND_NODE_SET] = {node_set, 5},
	[PB_COMMAND_MODERATE] = {moderate, 2},
};
/* The first entry is a hole; every command of the list has its handler. */
#define COUNT_COMMAND(name, number, meaning) +1
PB_STATIC_ASSERT(sizeof(handlers) / sizeof(handlers[0]) == 1 PB_COMMANDS(COUNT_COMMAND),
		 "one handler for each command");

static void write_reply(struct pb_firmware *firmware, uint32_t c, const struct pb_reply *reply)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	struct pb_reply *slot = &channel->replies[channel->reply_put % PB_LIMIT_CONTROL_ENTRIES];

	pb_shared_write32(&slot->code, reply->code);
	pb_shared_write32(&slot->tag, reply->tag);
	pb_shared_write32(&slot->error, reply->error);
	for (uint32_t i = 0; i < PB_REPLY_RESULTS; i++)
		pb_shared_write32(&slot->results[i], reply->results[i]);
	pb_shared_release();
	pb_shared_write32(&channel->entry->reply_put, ++channel->reply_put);
	pb_core_interrupt(firmware, c);
}

void pb_core_control_reply(struct pb_firmware *firmware, uint32_t c, uint32_t code, uint32_t tag,
			   enum pb_error error, const struct pb_core_outcome *outcome)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	struct pb_reply reply = {.code = code, .tag = tag, .error = error};

	if (outcome != NULL)
		memcpy(reply.results, outcome->words, sizeof(outcome->words));
	if (channel->state != PB_CORE_CHANNEL_OPEN || channel->replies_owed == 0)
		return; /* who asked has left */
	channel->replies_owed--;
	write_reply(firmware, c, &reply);
}

/** Looks how far the host has read, and whether one more reply fits; a read index that makes no sense faults the channel. */
static bool has_room(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	uint32_t get = pb_shared_read32(&channel->entry->reply_get);

	if (get - channel->reply_get > channel->reply_put - channel->reply_get) {
		pb_core_channel_fault(firmware, c);
		return false;
	}
	channel->reply_get = get;
	return pb_core_control_room(channel);
}

/** @return false: the command cannot be taken yet */
static bool carry_out(struct pb_firmware *firmware, uint32_t c, const struct pb_command *command)
{
	struct pb_reply reply;
	struct request request;

	request.firmware = firmware;
	request.channel = c;
	request.results = reply.results;
	request.later = false;
	request.again = false;
	reply.code = pb_shared_read32(&command->code);
	pb_core_note(firmware, PB_CRASH_NOTE_COMMAND, c, reply.code);
	request.tag = pb_shared_read32(&command->tag);
	for (uint32_t i = 0; i < PB_REPLY_RESULTS; i++) {
		reply.results[i] = 0;
		PB_CORE_KEEP(i); /* no call of a memset that goes byte by byte */
	}
	reply.tag = request.tag;
	if (reply.code == 0 || reply.code >= sizeof(handlers) / sizeof(handlers[0])) {
		reply.error = PB_ERROR_BAD_COMMAND;
	} else {
		for (uint32_t i = 0; i < handlers[reply.code].arguments; i++)
			request.arguments[i] = pb_shared_read32(&command->arguments[i]);
		reply.error = handlers[reply.code].carry_out(&request);
	}
	if (request.again)
		return false;
	PB_CORE_TRACE(firmware, COMMAND, PB_TRACE_NONE, reply.code, reply.error);
	if (request.later) {
		firmware->channels[c].replies_owed++;
		return true;
	}
	write_reply(firmware, c, &reply);
	return true;
}

/** A segment is made in order with the commands behind it, but for the time that an aperture's table takes. */
static bool must_wait(const struct pb_core_channel *channel)
{
	return channel->make.step == PB_CORE_MAKE_CHECK || channel->make.step == PB_CORE_MAKE_PLACE;
}

bool pb_core_control(struct pb_firmware *firmware, uint32_t c, uint32_t put)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	const uint32_t get = channel->control_get;

	/* Forward, and within one ring of what was taken. */
	if (put - channel->control_put > PB_LIMIT_CONTROL_ENTRIES - (channel->control_put - get)) {
		pb_core_channel_fault(firmware, c);
		return false;
	}
	channel->control_put = put;
	if (!has_room(firmware, c))
		return false;
	if (must_wait(channel) || !carry_out(firmware, c, &channel->control[get % PB_LIMIT_CONTROL_ENTRIES]))
		return true;
	channel->control_get = get + 1u;
	pb_shared_release();
	pb_shared_write32(&channel->entry->control_get, get + 1u);
	return true;
}
