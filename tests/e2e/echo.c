/* SPDX-License-Identifier: MIT */
/*
 * A firmware that only echoes: it attaches hosts like the firmware, reads doorbells, kicks and descriptors
 * through the same interrupt driver, and completes each submission at once, unread. What the firmware costs
 * while everything is busy is compared with it.
 */
#include "tests/e2e/echo.h"

#include "hal/shared.h"

/** Supports only the requests of its benchmark host. A host that breaks a rule gets no answer. */
static void carry_out(struct echo *echo, struct echo_channel *channel, const struct pb_command *command,
		      struct pb_reply *reply)
{
	const uint32_t *arguments = command->arguments;

	switch (command->code) {
	case PB_COMMAND_SEGMENT_CREATE:
		if (arguments[0] == PB_SEGMENT_SYSTEM) {
			channel->system_os = arguments[2];
			channel->system = echo->config->memory + echo->pool;
		}
		reply->results[0] = echo->pool;
		echo->pool += arguments[8];
		break;
	case PB_COMMAND_CONTEXT_CREATE:
		reply->results[0] = PB_HANDLE(0, 1);
		break;
	case PB_COMMAND_QUEUE_CREATE:
		reply->results[0] = echo_queue_create(echo, channel, arguments[1], arguments[2]);
		break;
	default:
		break;
	}
}

static void read_commands(struct echo *echo, struct echo_channel *channel)
{
	const uint32_t put = pb_shared_read32(&channel->entry->control_put);

	pb_shared_acquire();
	for (; channel->control_get != put; channel->control_get++) {
		const uint32_t index = channel->control_get % ECHO_CONTROL_ENTRIES;
		struct pb_reply reply = {.error = PB_ERROR_OK};
		struct pb_command command;

		echo_copy_in(&command, &channel->rings->commands[index], sizeof(command));
		reply.code = command.code;
		reply.tag = command.tag;
		carry_out(echo, channel, &command, &reply);
		echo_copy_out(&channel->rings->replies[index], &reply, sizeof(reply));
		pb_shared_release();
		pb_shared_write32(&channel->entry->control_get, channel->control_get + 1u);
		pb_shared_write32(&channel->entry->reply_put, channel->control_get + 1u);
		channel->done = true;
	}
}

static void read_kicks(struct echo *echo, struct echo_channel *channel)
{
	const uint32_t put = pb_shared_read32(&channel->entry->kick_put);

	pb_shared_acquire();
	for (; channel->kick_get != put; channel->kick_get++) {
		const uint32_t handle =
			pb_shared_read32(&channel->rings->kicks[channel->kick_get % ECHO_KICK_ENTRIES]);

		pb_shared_write32(&channel->entry->kick_get, channel->kick_get + 1u);
		echo_queue_serve(&echo->queues[PB_HANDLE_INDEX(handle) % ECHO_QUEUES]);
		channel->done = true;
	}
}

static void attach(struct echo *echo, struct echo_channel *channel, uint32_t request)
{
	struct pb_channel_entry *entry = channel->entry;
	const uint32_t rings = (uint32_t)((uint8_t *)channel->rings - echo->config->memory);

	channel->control_get = 0;
	channel->kick_get = 0;
	pb_shared_write32(&entry->epoch, ++channel->epoch);
	pb_shared_write32(&entry->control_offset, rings + offsetof(struct echo_rings, commands));
	pb_shared_write32(&entry->reply_offset, rings + offsetof(struct echo_rings, replies));
	pb_shared_write32(&entry->kick_offset, rings + offsetof(struct echo_rings, kicks));
	pb_shared_write32(&entry->event_offset, rings + offsetof(struct echo_rings, events));
	pb_shared_write32(&entry->control_entries, ECHO_CONTROL_ENTRIES);
	pb_shared_write32(&entry->kick_entries, ECHO_KICK_ENTRIES);
	pb_shared_write32(&entry->event_entries, ECHO_EVENT_ENTRIES);
	pb_shared_write32(&entry->control_get, 0);
	pb_shared_write32(&entry->reply_put, 0);
	pb_shared_write32(&entry->kick_get, 0);
	pb_shared_write32(&entry->event_put, 0);
	channel->open = (request & PB_ATTACH_OP_MASK) == PB_ATTACH_OP_ATTACH;
	pb_shared_write32(&entry->state, channel->open ? PB_CHANNEL_OPEN : PB_CHANNEL_CLOSED);
	pb_shared_release();
	pb_shared_write32(&entry->attach_done, request);
	channel->done = true;
}

/** Everything that a doorbell may announce. */
static void poll_channel(struct echo *echo, uint32_t c)
{
	struct echo_channel *channel = &echo->channels[c];
	const uint32_t request = pb_shared_read32(&channel->entry->attach_request);

	if (request != pb_shared_read32(&channel->entry->attach_done))
		attach(echo, channel, request);
	if (!channel->open)
		return;
	read_kicks(echo, channel);
	read_commands(echo, channel);
	if (!channel->done)
		return;
	channel->done = false;
	pb_shared_release();
	echo->config->lines->ops->raise(echo->config->lines->context, PB_LINE_CHANNEL(c));
}

static bool waiting(const struct echo_channel *channel)
{
	const struct pb_channel_entry *entry = channel->entry;

	return pb_shared_read32(&entry->attach_request) != pb_shared_read32(&entry->attach_done) ||
	       (channel->open && (pb_shared_read32(&entry->kick_put) != channel->kick_get ||
				  pb_shared_read32(&entry->control_put) != channel->control_get));
}

void echo_pass(struct echo *echo)
{
	const struct pb_lines *lines = echo->config->lines;
	uint32_t raised = lines->ops->take(lines->context);

	pb_shared_write32(&echo->boot->heartbeat, ++echo->heartbeat);
	if ((raised & 1u << PB_LINE_TICK) != 0)
		raised = PB_LINES_CHANNELS;
	for (uint32_t c = 0; c < ECHO_CHANNELS; c++) {
		if ((raised & 1u << PB_LINE_CHANNEL(c)) != 0 || waiting(&echo->channels[c]))
			poll_channel(echo, c);
	}
}

void echo_idle(const struct echo *echo)
{
	const struct pb_lines *lines = echo->config->lines;
	bool wait = true;

	lines->ops->idle_enter(lines->context);
	pb_shared_barrier();
	for (uint32_t c = 0; c < ECHO_CHANNELS; c++)
		wait = wait && !waiting(&echo->channels[c]);
	if (wait)
		lines->ops->idle_wait(lines->context);
	lines->ops->idle_leave(lines->context);
}
