/* SPDX-License-Identifier: MIT */
/*
 * A doorbell says which channel to look at; what to do stands in the channel's
 * words. Looking twice, or for nothing, is harmless.
 */
#include "firmware/core.h"
#include "firmware/queue_look.h"

/** A kick that names no queue of this channel: an error of the host, but of no queue. */
static __attribute__((noinline)) void stray_kick(struct pb_firmware *firmware, uint32_t channel,
						 uint32_t handle)
{
	const struct pb_event event = {
		.type = PB_EVENT_QUEUE_FAULT,
		.queue = handle,
		.error = PB_ERROR_BAD_HANDLE,
		.index = PB_INDEX_NONE,
	};

	pb_core_event(firmware, channel, &event);
}

/** More kicks than a slice has: the rest waits for the next pass. @return where this slice ends */
static __attribute__((noinline)) uint32_t end_of_slice(struct pb_firmware *firmware, uint32_t c, uint32_t put)
{
	const uint32_t get = firmware->channels[c].kick_get;

	if (put - get > PB_LIMIT_KICK_ENTRIES) {
		pb_core_channel_fault(firmware, c);
		return get;
	}
	firmware->channels_again |= 1u << c;
	return get + PB_SLICE_LOOKS;
}

static inline void take_kicks(struct pb_firmware *firmware, struct pb_core_channel *channel, uint32_t c,
			      uint32_t put)
{
	uint32_t get = channel->kick_get;

	if (put - get > PB_SLICE_LOOKS)
		put = end_of_slice(firmware, c, put);
	for (; get != put; get++) {
		uint32_t handle = pb_shared_read32(&channel->kicks[get % PB_LIMIT_KICK_ENTRIES]);
		struct pb_core_queue *queue = &firmware->queues[PB_HANDLE_INDEX(handle)];

		/* Whether it is open, the look will show. */
		if (PB_HANDLE_INDEX(handle) >= firmware->queue_count || queue->channel != c ||
		    queue->generation != PB_HANDLE_GENERATION(handle) || !pb_core_queue_look(firmware, queue))
			stray_kick(firmware, c, handle);
	}
	channel->kick_get = get;
	pb_shared_release(); /* the kicks are read before the host may write over them */
	pb_shared_write32(&channel->entry->kick_get, get);
}

/** Looks at the next queues of a channel whose host asked for all of them. */
static __attribute__((noinline)) void look_at_all(struct pb_firmware *firmware, uint32_t c, uint32_t rescan)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	uint32_t looked = 0;

	if (rescan != channel->rescan_asked) {
		channel->rescan_asked = rescan;
		channel->rescan_at = 0;
	}
	for (uint32_t i = 0; i < PB_SLICE_SEARCH && looked < PB_SLICE_LOOKS; i++) {
		struct pb_core_queue *queue = &firmware->queues[channel->rescan_at];

		if (channel->rescan_at == firmware->queue_count)
			break;
		channel->rescan_at++;
		if (queue->channel != c)
			continue;
		looked++;
		(void)pb_core_queue_look_again(firmware, queue);
	}
	if (channel->rescan_at < firmware->queue_count) {
		firmware->channels_again |= 1u << c;
		return;
	}
	channel->rescan = rescan;
}

bool pb_core_doorbell(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	const struct pb_channel_entry *entry;
	uint32_t request, kick_put, control_put, rescan;

	PB_CORE_KEEP(channel);
	entry = channel->entry;
	pb_core_waypoint(firmware, PB_WAYPOINT_DOORBELL);
	request = pb_shared_read32(&entry->attach_request);
	if (request != channel->attach_done) {
		pb_shared_acquire();
		pb_core_channel_request(firmware, c, request);
	}
	if (channel->state != PB_CORE_CHANNEL_OPEN)
		return false;
	kick_put = pb_shared_read32(&entry->kick_put);
	rescan = pb_shared_read32(&entry->rescan);
	control_put = pb_shared_read32(&entry->control_put);
	pb_shared_acquire();
	if (kick_put != channel->kick_get)
		take_kicks(firmware, channel, c, kick_put);
	if (rescan != channel->rescan)
		look_at_all(firmware, c, rescan);
	/* What was looked at above may have faulted the channel. */
	if (control_put == channel->control_get || channel->state != PB_CORE_CHANNEL_OPEN)
		return false;
	pb_core_waypoint(firmware, PB_WAYPOINT_CONTROL);
	return pb_core_control(firmware, c, control_put);
}

bool pb_core_doorbell_waiting(struct pb_firmware *firmware, uint32_t c)
{
	const struct pb_core_channel *channel = &firmware->channels[c];
	const struct pb_channel_entry *entry = channel->entry;

	if (channel->state >= PB_CORE_CHANNEL_CLOSING_QUEUES)
		return false;
	if (pb_shared_read32(&entry->attach_request) != channel->attach_done)
		return true;
	if (channel->state != PB_CORE_CHANNEL_OPEN)
		return false;
	/* Commands that wait for room for a reply must not keep it awake: their host rings when it has read some. */
	return pb_shared_read32(&entry->kick_put) != channel->kick_get ||
	       pb_shared_read32(&entry->rescan) != channel->rescan ||
	       (pb_core_control_room(channel) &&
		pb_shared_read32(&entry->control_put) != channel->control_get);
}
