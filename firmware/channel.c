/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "firmware/core.h"

/* A channel's rings, behind the directory. */
#define CONTROL_BYTES   (PB_LIMIT_CONTROL_ENTRIES * (uint32_t)sizeof(struct pb_command))
#define REPLY_BYTES     (PB_LIMIT_CONTROL_ENTRIES * (uint32_t)sizeof(struct pb_reply))
#define EVENT_BYTES     (PB_LIMIT_EVENT_ENTRIES * (uint32_t)sizeof(struct pb_event))
#define KICK_BYTES      (PB_LIMIT_KICK_ENTRIES * (uint32_t)sizeof(uint32_t))
#define RINGS_BYTES     (CONTROL_BYTES + REPLY_BYTES + EVENT_BYTES + KICK_BYTES)
#define DIRECTORY_BYTES (PB_LIMIT_CHANNELS * (uint32_t)sizeof(struct pb_channel_entry))

static void write_state(struct pb_firmware *firmware, uint32_t c, enum pb_error error)
{
	const struct pb_core_channel *channel = &firmware->channels[c];
#define SHOWN(name, shown, meaning) PB_CHANNEL_##shown,
	static const uint8_t shown[] = {PB_CORE_CHANNEL_STATES(SHOWN)};
#undef SHOWN

	if (firmware->booting == 0) {
		pb_core_note(firmware, PB_CRASH_NOTE_CHANNEL, c, shown[channel->state]);
		PB_CORE_TRACE(firmware, CHANNEL, PB_TRACE_NONE, c, shown[channel->state]);
	}
	pb_shared_write32(&channel->entry->epoch, channel->epoch);
	pb_shared_write32(&channel->entry->error, error);
	pb_shared_write32(&channel->entry->state, shown[channel->state]);
}

/** Where this channel's rings lie. Hosts get the offsets; the firmware adds them up itself each time. */
static uint32_t rings_offset(const struct pb_firmware *firmware, uint32_t channel)
{
	return firmware->config->channels_offset + DIRECTORY_BYTES + channel * RINGS_BYTES;
}

static void write_rings(struct pb_firmware *firmware, uint32_t channel)
{
	struct pb_channel_entry *entry = firmware->channels[channel].entry;
	const uint32_t control = rings_offset(firmware, channel);

	pb_shared_write32(&entry->control_offset, control);
	pb_shared_write32(&entry->reply_offset, control + CONTROL_BYTES);
	pb_shared_write32(&entry->event_offset, control + CONTROL_BYTES + REPLY_BYTES);
	pb_shared_write32(&entry->kick_offset, control + CONTROL_BYTES + REPLY_BYTES + EVENT_BYTES);
	pb_shared_write32(&entry->control_entries, PB_LIMIT_CONTROL_ENTRIES);
	pb_shared_write32(&entry->kick_entries, PB_LIMIT_KICK_ENTRIES);
	pb_shared_write32(&entry->event_entries, PB_LIMIT_EVENT_ENTRIES);
}

void pb_core_channel_init(struct pb_firmware *firmware)
{
	const struct pb_firmware_config *config = firmware->config;
	struct pb_channel_entry *directory = pb_core_at(firmware, config->channels_offset);

	PB_ASSERT(config->channels_offset + DIRECTORY_BYTES + PB_LIMIT_CHANNELS * RINGS_BYTES <=
		  config->pool_offset);
	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++) {
		struct pb_core_channel *channel = &firmware->channels[c];
		const uint32_t rings = rings_offset(firmware, c);

		channel->entry = &directory[c];
		pb_core_channel_revoke(channel);
		channel->control = pb_core_at(firmware, rings);
		channel->replies = pb_core_at(firmware, rings + CONTROL_BYTES);
		channel->events = pb_core_at(firmware, rings + CONTROL_BYTES + REPLY_BYTES);
		channel->kicks = pb_core_at(firmware, rings + CONTROL_BYTES + REPLY_BYTES + EVENT_BYTES);
		/* What stands in the request word was asked of the last incarnation. */
		channel->attach_done = pb_shared_read32(&channel->entry->attach_request);
		write_rings(firmware, c);
		write_state(firmware, c, PB_ERROR_OK);
		pb_shared_release();
		pb_shared_write32(&channel->entry->attach_done, channel->attach_done);
	}
}

/** Empties the rings of a channel that nobody uses. */
static void clear_rings(struct pb_core_channel *channel)
{
	channel->control_put = 0;
	channel->control_get = 0;
	channel->reply_put = 0;
	channel->reply_get = 0;
	channel->replies_owed = 0;
	channel->kick_get = 0;
	channel->rescan = pb_shared_read32(&channel->entry->rescan);
	channel->rescan_asked = channel->rescan;
	channel->event_put = 0;
	channel->event_get = 0;
	channel->event_number = 0;
	channel->events_dropped = 0;
	channel->patches = 0;
	channel->moderate_count = 0;
	channel->unreported = 0;
	pb_shared_write32(&channel->entry->control_get, 0);
	pb_shared_write32(&channel->entry->reply_put, 0);
	pb_shared_write32(&channel->entry->kick_get, 0);
	pb_shared_write32(&channel->entry->event_put, 0);
	pb_shared_write32(&channel->entry->events_dropped, 0);
	pb_shared_write32(&channel->entry->patches_low, 0);
	pb_shared_write32(&channel->entry->patches_high, 0);
}

/** An admin that left waits for no reply; the one that comes next must not get it in place of its own. */
static void forget_closes(struct pb_firmware *firmware)
{
	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++)
		firmware->channels[c].close_asked = false;
}

static void begin_closing(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];

	channel->epoch++;
	write_state(firmware, c, PB_ERROR_OK);
	if (c == PB_CHANNEL_ADMIN)
		forget_closes(firmware);
	/* Held up, so that it is not taken for drained before its last queue is closed. */
	channel->busy++;
	firmware->closing |= 1u << c;
	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		pb_core_schedule_hold(firmware, &firmware->nodes[n]);
		pb_core_job_drop(firmware, &firmware->nodes[n]);
	}
	channel->closing_at = 0;
	firmware->chores |= 1u << c;
}

void pb_core_channel_forget(struct pb_core_channel *channel)
{
	channel->attach_done = pb_shared_read32(&channel->entry->attach_request);
	pb_shared_release();
	pb_shared_write32(&channel->entry->attach_done, channel->attach_done);
}

static void end_closing(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];

	pb_core_format_forget(firmware, c);
	firmware->closing &= ~(1u << c);
	for (uint32_t n = 0; n < firmware->config->node_count; n++) {
		firmware->nodes[n].halted &= ~(1u << c);
		pb_core_schedule_hold(firmware, &firmware->nodes[n]);
	}
	firmware->chores &= ~(1u << c);
	write_state(firmware, c, PB_ERROR_OK);
	if (channel->close_asked) {
		channel->close_asked = false;
		pb_core_channel_forget(channel);
		pb_core_control_reply(firmware, PB_CHANNEL_ADMIN, PB_COMMAND_CHANNEL_CLOSE,
				      channel->close_tag, PB_ERROR_OK, NULL);
	}
	/* Its host, or the next one, may be waiting to attach. */
	firmware->channels_again |= 1u << c;
}

static void act(struct pb_firmware *firmware, uint32_t c, uint32_t action)
{
	struct pb_core_channel *channel = &firmware->channels[c];

	if (action == PB_CORE_CHANNEL_ACTION_CLOSE) {
		begin_closing(firmware, c);
	} else if (action == PB_CORE_CHANNEL_ACTION_WAIT) {
		firmware->chores &= ~(1u << c);
	} else if (action == PB_CORE_CHANNEL_ACTION_SWEEP) {
		channel->closing_at = 0;
		firmware->chores |= 1u << c;
		firmware->channels_again |= 1u << c;
	} else if (action == PB_CORE_CHANNEL_ACTION_END) {
		end_closing(firmware, c);
	}
}

/** @return enum pb_core_channel_action: what is to be done */
static uint32_t go_to_next(struct pb_core_channel *channel, enum pb_core_channel_event event)
{
	const struct pb_core_step step =
		pb_core_channel_next((enum pb_core_channel_state)channel->state, event);

	PB_ASSERT(step.action != PB_CORE_CHANNEL_ACTION_IMPOSSIBLE);
	channel->state = step.state;
	return step.action;
}

/** @return enum pb_core_channel_action; OPEN and ANSWER are left to the caller, who has the host's request */
static uint32_t on_event(struct pb_firmware *firmware, uint32_t c, enum pb_core_channel_event event)
{
	const uint32_t action = go_to_next(&firmware->channels[c], event);

	act(firmware, c, action);
	return action;
}

void pb_core_channel_close(struct pb_firmware *firmware, uint32_t c)
{
	(void)on_event(firmware, c, PB_CORE_CHANNEL_EVENT_CLOSE);
}

void pb_core_channel_drained(struct pb_firmware *firmware, uint32_t c)
{
	(void)on_event(firmware, c, PB_CORE_CHANNEL_EVENT_EMPTY);
}

void pb_core_channel_fault(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];

	/* Whatever else happens to a channel may come here, by an event for its host: so not by way of act. */
	if (go_to_next(channel, PB_CORE_CHANNEL_EVENT_FAULT) != PB_CORE_CHANNEL_ACTION_REPORT)
		return;
	firmware->channel_faults++;
	write_state(firmware, c, PB_ERROR_RING_FAULT);
	pb_core_interrupt(firmware, c);
}

static enum pb_error attach_error(const struct pb_firmware *firmware, const struct pb_channel_entry *entry,
				  uint32_t request)
{
	if ((request & PB_ATTACH_OP_MASK) != PB_ATTACH_OP_ATTACH)
		return PB_ERROR_BAD_ARGUMENT;
	if (pb_shared_read32(&entry->host_version) >> 16 != PB_ABI_MAJOR)
		return PB_ERROR_BAD_VERSION;
	/* A host that saw another incarnation has not seen that its work is gone. */
	if (pb_shared_read32(&entry->incarnation) != firmware->incarnation)
		return PB_ERROR_BAD_ARGUMENT;
	return PB_ERROR_OK;
}

void pb_core_channel_request(struct pb_firmware *firmware, uint32_t c, uint32_t request)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	const bool leaves = (request & PB_ATTACH_OP_MASK) == PB_ATTACH_OP_DETACH;
	const enum pb_error error = leaves ? PB_ERROR_OK : attach_error(firmware, channel->entry, request);
	const uint32_t action = on_event(firmware, c,
					 leaves || error != PB_ERROR_OK ? PB_CORE_CHANNEL_EVENT_DETACH
									: PB_CORE_CHANNEL_EVENT_ATTACH);

	if (action != PB_CORE_CHANNEL_ACTION_OPEN && action != PB_CORE_CHANNEL_ACTION_ANSWER)
		return; /* answered when it has closed */
	if (action == PB_CORE_CHANNEL_ACTION_OPEN) {
		clear_rings(channel);
		pb_core_format_forget(firmware, c);
		channel->epoch++;
	}
	write_state(firmware, c, error);
	channel->attach_done = request;
	pb_shared_release();
	pb_shared_write32(&channel->entry->attach_done, request);
	pb_core_interrupt(firmware, c);
}

void pb_core_channel_revoke(struct pb_core_channel *channel)
{
	channel->privileges = 0;
	channel->weight = 1;
	channel->priority_cap = PB_PRIORITY_NORMAL;
}

static void close_queues(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	uint32_t closed = 0;

	for (uint32_t i = 0; i < PB_SLICE_SEARCH && closed < PB_SLICE_QUEUES && channel->queues != 0 &&
			     channel->closing_at < firmware->queue_count;
	     i++) {
		struct pb_core_queue *queue = &firmware->queues[channel->closing_at++];

		if (pb_core_queue_state(queue) == PB_CORE_QUEUE_FREE || queue->channel != c)
			continue;
		closed++;
		queue->flags &= (uint8_t)~PB_CORE_QUEUE_REPLY_OWED; /* nobody reads it any more */
		pb_core_queue_close(firmware, queue);
	}
	if (channel->queues != 0 && channel->closing_at < firmware->queue_count)
		return;
	channel->busy--;
	(void)on_event(firmware, c, PB_CORE_CHANNEL_EVENT_SWEPT);
	if (channel->busy == 0)
		pb_core_channel_drained(firmware, c);
}

static void free_contexts(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	const uint32_t end = channel->closing_at + PB_SLICE_CONTEXTS;

	for (; channel->closing_at < end; channel->closing_at++) {
		uint32_t *context = &firmware->contexts[channel->closing_at];

		if (pb_core_context_is_of(*context, c))
			*context &= ~PB_CORE_CONTEXT_USED;
	}
	if (end < PB_LIMIT_CONTEXTS)
		return;
	pb_core_segment_abandon(firmware, c);
	(void)on_event(firmware, c, PB_CORE_CHANNEL_EVENT_SWEPT);
}

static void free_a_segment(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];

	while (channel->closing_at < PB_LIMIT_SEGMENTS && channel->segment_of[channel->closing_at] == 0)
		channel->closing_at++;
	if (channel->closing_at < PB_LIMIT_SEGMENTS)
		pb_core_segment_free(firmware, c, channel->closing_at);
	else
		(void)on_event(firmware, c, PB_CORE_CHANNEL_EVENT_SWEPT);
}

void pb_core_channel_step(struct pb_firmware *firmware, uint32_t c)
{
	const uint32_t state = firmware->channels[c].state;

	if (state == PB_CORE_CHANNEL_CLOSING_QUEUES)
		close_queues(firmware, c);
	else if (state == PB_CORE_CHANNEL_CLOSING_CONTEXTS)
		free_contexts(firmware, c);
	else
		free_a_segment(firmware, c);
}
