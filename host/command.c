/* SPDX-License-Identifier: MIT */
/*
 * Control commands: several may be unfinished at once; replies come in any order. Static functions run under the lock
 * of the commands, which the public ones take.
 */
#include <string.h>

#include "host/internal.h"

/*
 * Pops the oldest unread reply from the ring.
 * @retval PB_ERROR_NO_SPACE the ring is empty
 */
static enum pb_error pop_reply(struct pb_channel *channel, struct pb_reply *reply)
{
	const struct pb_reply *ring = pb_at(channel->link, channel->reply_offset);
	uint32_t unread;

	if (pb_observes(channel->link))
		return channel->link->ops->answer(channel->link, reply);
	unread = pb_shared_read32(&channel->entry->reply_put) - channel->reply_get;
	/* Each command has one reply: more replies than commands break the contract. */
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

/* Returns the unfinished command of a tag, or NULL. */
static struct pb_pending *find(struct pb_channel *channel, uint32_t tag)
{
	for (uint32_t i = 0; i < PB_COMMANDS_PENDING; i++)
		if (channel->pending[i].state != PB_PENDING_FREE && channel->pending[i].tag == tag)
			return &channel->pending[i];
	return NULL;
}

/* Returns a free slot, or NULL. */
static struct pb_pending *find_free(struct pb_channel *channel)
{
	for (uint32_t i = 0; i < PB_COMMANDS_PENDING; i++)
		if (channel->pending[i].state == PB_PENDING_FREE)
			return &channel->pending[i];
	return NULL;
}

/* Pops all replies from the ring and stores each in the slot of its command. */
static enum pb_error collect(struct pb_channel *channel)
{
	for (;;) {
		struct pb_reply reply;
		struct pb_pending *pending;
		enum pb_error error = pop_reply(channel, &reply);

		if (error != PB_ERROR_OK)
			return error == PB_ERROR_NO_SPACE ? PB_ERROR_OK : error;
		pending = find(channel, reply.tag);
		if (pending == NULL || pending->state == PB_PENDING_REPLIED)
			return PB_ERROR_PROTOCOL;
		pending->reply = reply;
		pending->state = pending->state == PB_PENDING_SENT ? PB_PENDING_REPLIED : PB_PENDING_FREE;
	}
}

/* Writes a command to the ring, which has room. */
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
}

/* Checks that both rings have room: the control ring for a command, the reply ring for its reply. */
static enum pb_error check_room(const struct pb_channel *channel)
{
	uint32_t consumed;

	if (pb_observes(channel->link))
		return PB_ERROR_OK;
	consumed = pb_shared_read32(&channel->entry->control_get);
	if (channel->control_put - consumed > channel->control_entries)
		return pb_diagnose(channel, PB_ERROR_PROTOCOL);
	if (channel->control_put - consumed >= channel->control_entries ||
	    channel->control_put - channel->reply_get >= channel->control_entries)
		return PB_ERROR_NO_SPACE;
	return PB_ERROR_OK;
}

/* Sends a command: an observer's to the card's supervisor, any other through the ring. */
static enum pb_error send(struct pb_channel *channel, uint32_t code, const uint32_t *arguments)
{
	struct pb_command question = {.code = code, .tag = channel->next_tag};

	if (!pb_observes(channel->link)) {
		write_command(channel, code, arguments);
		return PB_ERROR_OK;
	}
	memcpy(question.arguments, arguments, sizeof(question.arguments));
	channel->next_tag++;
	return channel->link->ops->ask(channel->link, &question);
}

/* Sends a command, for whose reply a slot is free. */
static enum pb_error begin(struct pb_channel *channel, uint32_t code, const uint32_t *arguments,
			   uint32_t *tag)
{
	struct pb_pending *pending;
	enum pb_error error = collect(channel);

	if (error != PB_ERROR_OK)
		return pb_diagnose(channel, error);
	pending = find_free(channel);
	error = check_room(channel);
	if (error != PB_ERROR_OK)
		return error;
	if (pending == NULL)
		return PB_ERROR_NO_SPACE;
	pending->code = code;
	pending->tag = channel->next_tag;
	*tag = channel->next_tag;
	error = send(channel, code, arguments);
	if (error == PB_ERROR_OK)
		pending->state = PB_PENDING_SENT;
	return error;
}

enum pb_error pb_channel_begin(struct pb_channel *channel, uint32_t code, const uint32_t *arguments,
			       uint32_t *tag)
{
	enum pb_error error = pb_channel_check(channel, NULL);

	if (error != PB_ERROR_OK)
		return error;
	pb_lock(pb_command_lock(channel));
	error = begin(channel, code, arguments, tag);
	pb_unlock(pb_command_lock(channel));
	if (error != PB_ERROR_OK)
		return error;
	pb_shared_barrier();
	channel->link->ops->doorbell(channel->link);
	return PB_ERROR_OK;
}

/* Copies the results of a reply and returns its error. */
static enum pb_error read_reply(const struct pb_channel *channel, const struct pb_pending *pending,
				uint32_t *results)
{
	const struct pb_reply *reply = &pending->reply;
	enum pb_error error;

	if (reply->code != pending->code)
		return pb_diagnose(channel, PB_ERROR_PROTOCOL);
	if (results != NULL)
		memcpy(results, reply->results, sizeof(reply->results));
	if (reply->error == PB_ERROR_OK)
		return PB_ERROR_OK;
	error = pb_foreign_error(reply->error);
	return error == PB_ERROR_PROTOCOL ? pb_diagnose(channel, error) : error;
}

/* Ends a command, unless it returns PB_ERROR_TIMEOUT. @param error of the refresh before */
static enum pb_error finish(struct pb_channel *channel, uint32_t tag, uint32_t *results, enum pb_error error)
{
	struct pb_pending *pending = find(channel, tag);
	bool answered;

	if (pending == NULL || pending->state == PB_PENDING_ABANDONED)
		return PB_ERROR_BAD_ARGUMENT;
	if (error == PB_ERROR_OK)
		error = collect(channel);
	answered = pending->state == PB_PENDING_REPLIED;
	if (error == PB_ERROR_OK && answered) {
		pending->state = PB_PENDING_FREE;
		return read_reply(channel, pending, results);
	}
	error = pb_diagnose(channel, error);
	if (error == PB_ERROR_OK)
		error = pb_channel_watch(channel);
	if (error == PB_ERROR_OK)
		return PB_ERROR_TIMEOUT;
	pending->state = answered ? PB_PENDING_FREE : PB_PENDING_ABANDONED;
	return error;
}

enum pb_error pb_channel_finish(struct pb_channel *channel, uint32_t tag, uint32_t *results)
{
	enum pb_error error;

	if (!channel->attached)
		return PB_ERROR_DETACHED;
	error = pb_refresh(channel->link);
	pb_lock(pb_command_lock(channel));
	error = finish(channel, tag, results, error);
	pb_unlock(pb_command_lock(channel));
	return error;
}

/* Waits for a reply, for at most PB_COMMAND_TIMEOUT_US. */
static enum pb_error await(struct pb_channel *channel, uint32_t tag, uint32_t *results)
{
	uint64_t deadline = pb_deadline(channel->link, PB_COMMAND_TIMEOUT_US);

	for (;;) {
		enum pb_error error = pb_channel_finish(channel, tag, results);

		/* No reply carries PB_ERROR_TIMEOUT: only the library returns it. */
		if (error != PB_ERROR_TIMEOUT)
			return error;
		error = pb_pause(channel->link, deadline, PB_WAIT_SLICE_US);
		if (error != PB_ERROR_OK)
			return error;
	}
}

/* Gives up a command that is unfinished: its reply will be dropped. */
static void abandon(struct pb_channel *channel, uint32_t tag)
{
	struct pb_pending *pending;

	pb_lock(pb_command_lock(channel));
	pending = find(channel, tag);
	if (pending != NULL)
		pending->state = PB_PENDING_ABANDONED;
	pb_unlock(pb_command_lock(channel));
}

enum pb_error pb_channel_command(struct pb_channel *channel, uint32_t code, const uint32_t *arguments,
				 uint32_t *results)
{
	uint32_t tag;
	enum pb_error error = pb_channel_begin(channel, code, arguments, &tag);

	/* The rings are full of unanswered commands: this one would not be answered in time either. */
	if (error != PB_ERROR_OK)
		return error == PB_ERROR_NO_SPACE ? PB_ERROR_TIMEOUT : error;
	error = await(channel, tag, results);
	abandon(channel, tag);
	return error;
}

enum pb_error pb_command_about(struct pb_channel *channel, uint32_t code, uint32_t first, uint32_t second)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {first, second};

	return pb_channel_command(channel, code, arguments, NULL);
}
