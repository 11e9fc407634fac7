/* SPDX-License-Identifier: MIT */
/* Control commands: any number of them under way, their replies in any order. */
#include <string.h>

#include "host/internal.h"

/*
 * Takes the oldest unread reply out of the ring.
 * @retval PB_ERROR_NO_SPACE there is none
 */
static enum pb_error take_reply(struct pb_channel *channel, struct pb_reply *reply)
{
	const struct pb_reply *ring = pb_at(channel->link, channel->reply_offset);
	uint32_t unread = pb_shared_read32(&channel->entry->reply_put) - channel->reply_get;

	/* Every command has one reply; no others come. */
	if (unread > channel->control_put - channel->reply_get)
		return PB_ERROR_PROTOCOL;
	if (unread == 0)
		return PB_ERROR_NO_SPACE;
	pb_shared_acquire();
	pb_shared_copy_in(reply, &ring[channel->reply_get & (channel->control_entries - 1)], sizeof(*reply));
	pb_shared_release();
	pb_shared_write32(&channel->entry->reply_get, ++channel->reply_get);
	return PB_ERROR_OK;
}

/* The command of a tag, or NULL. */
static struct pb_pending *find(struct pb_channel *channel, uint32_t tag)
{
	for (uint32_t i = 0; i < PB_COMMANDS_PENDING; i++)
		if (channel->pending[i].state != PB_PENDING_FREE && channel->pending[i].tag == tag)
			return &channel->pending[i];
	return NULL;
}

static struct pb_pending *find_free(struct pb_channel *channel)
{
	for (uint32_t i = 0; i < PB_COMMANDS_PENDING; i++)
		if (channel->pending[i].state == PB_PENDING_FREE)
			return &channel->pending[i];
	return NULL;
}

/* Takes all replies that are there, each to its command. */
static enum pb_error collect(struct pb_channel *channel)
{
	for (;;) {
		struct pb_reply reply;
		struct pb_pending *pending;
		enum pb_error error = take_reply(channel, &reply);

		if (error != PB_ERROR_OK)
			return error == PB_ERROR_NO_SPACE ? PB_ERROR_OK : error;
		pending = find(channel, reply.tag);
		if (pending == NULL || pending->state == PB_PENDING_ANSWERED)
			return PB_ERROR_PROTOCOL;
		pending->reply = reply;
		pending->state = pending->state == PB_PENDING_ASKED ? PB_PENDING_ANSWERED : PB_PENDING_FREE;
	}
}

static void write_command(struct pb_channel *channel, uint32_t code, const uint32_t *arguments)
{
	struct pb_command *ring = pb_at(channel->link, channel->control_offset);
	struct pb_command command = {.code = code, .tag = channel->next_tag};

	memcpy(command.arguments, arguments, sizeof(command.arguments));
	pb_shared_copy_out(&ring[channel->control_put & (channel->control_entries - 1)], &command,
			   sizeof(command));
	pb_shared_release();
	pb_shared_write32(&channel->entry->control_put, ++channel->control_put);
	channel->next_tag++;
	pb_shared_barrier();
	channel->link->ops->doorbell(channel->link);
}

enum pb_error pb_channel_begin(struct pb_channel *channel, uint32_t code, const uint32_t *arguments,
			       uint32_t *tag)
{
	enum pb_error error = pb_channel_check(channel, NULL);
	struct pb_pending *pending;
	uint32_t taken;

	if (error == PB_ERROR_OK)
		error = collect(channel);
	if (error != PB_ERROR_OK)
		return pb_blame(channel, error);
	pending = find_free(channel);
	taken = pb_shared_read32(&channel->entry->control_get);
	if (channel->control_put - taken > channel->control_entries)
		return pb_blame(channel, PB_ERROR_PROTOCOL);
	/* Room for the command, and for its reply. */
	if (pending == NULL || channel->control_put - taken >= channel->control_entries ||
	    channel->control_put - channel->reply_get >= channel->control_entries)
		return PB_ERROR_NO_SPACE;
	pending->state = PB_PENDING_ASKED;
	pending->code = code;
	pending->tag = channel->next_tag;
	*tag = channel->next_tag;
	write_command(channel, code, arguments);
	return PB_ERROR_OK;
}

/* What a reply says. */
static enum pb_error read_reply(const struct pb_channel *channel, const struct pb_pending *pending,
				uint32_t *results)
{
	const struct pb_reply *reply = &pending->reply;
	enum pb_error error;

	if (reply->code != pending->code)
		return pb_blame(channel, PB_ERROR_PROTOCOL);
	if (results != NULL)
		memcpy(results, reply->results, sizeof(reply->results));
	if (reply->error == PB_ERROR_OK)
		return PB_ERROR_OK;
	error = pb_foreign_error(reply->error);
	return error == PB_ERROR_PROTOCOL ? pb_blame(channel, error) : error;
}

enum pb_error pb_channel_finish(struct pb_channel *channel, uint32_t tag, uint32_t *results)
{
	struct pb_pending *pending = find(channel, tag);
	enum pb_error error;
	bool answered;

	if (!channel->attached)
		return PB_ERROR_DETACHED;
	if (pending == NULL || pending->state == PB_PENDING_GIVEN_UP)
		return PB_ERROR_BAD_ARGUMENT;
	error = pb_look(channel->link);
	if (error == PB_ERROR_OK)
		error = collect(channel);
	answered = pending->state == PB_PENDING_ANSWERED;
	if (error == PB_ERROR_OK && answered) {
		pending->state = PB_PENDING_FREE;
		return read_reply(channel, pending, results);
	}
	error = pb_blame(channel, error);
	if (error == PB_ERROR_OK)
		error = pb_channel_watch(channel);
	if (error == PB_ERROR_OK)
		return PB_ERROR_TIMEOUT;
	pending->state = answered ? PB_PENDING_FREE : PB_PENDING_GIVEN_UP;
	return error;
}

enum pb_error pb_channel_await(struct pb_channel *channel, uint32_t tag, uint32_t *results)
{
	uint64_t deadline = pb_deadline(channel->link, PB_COMMAND_TIMEOUT_US);

	for (;;) {
		enum pb_error error = pb_channel_finish(channel, tag, results);

		/* No reply is an error that the library reports itself. */
		if (error != PB_ERROR_TIMEOUT)
			return error;
		error = pb_pause(channel->link, deadline, PB_WAIT_SLICE_US);
		if (error != PB_ERROR_OK)
			return error;
	}
}

enum pb_error pb_channel_command(struct pb_channel *channel, uint32_t code, const uint32_t *arguments,
				 uint32_t *results)
{
	uint32_t tag;
	enum pb_error error = pb_channel_begin(channel, code, arguments, &tag);
	struct pb_pending *pending;

	/* The firmware owes replies to so many that this one would fare no better. */
	if (error != PB_ERROR_OK)
		return error == PB_ERROR_NO_SPACE ? PB_ERROR_TIMEOUT : error;
	error = pb_channel_await(channel, tag, results);
	pending = find(channel, tag);
	if (pending != NULL)
		pending->state = PB_PENDING_GIVEN_UP;
	return error;
}

enum pb_error pb_command_about(struct pb_channel *channel, uint32_t code, uint32_t first, uint32_t second)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {first, second};

	return pb_channel_command(channel, code, arguments, NULL);
}
