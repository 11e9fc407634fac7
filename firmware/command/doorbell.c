/* SPDX-License-Identifier: MIT */
#include "firmware/command/doorbell.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"

/** Reports a kick that names no queue of this channel: an error of the host, but of no queue. */
static PB_CORE_COLD void report_stray(struct pb_firmware *firmware, uint32_t channel, uint32_t handle)
{
	const struct pb_event event = {
		.type = PB_EVENT_QUEUE_FAULT,
		.queue = handle,
		.error = PB_ERROR_BAD_HANDLE,
		.index = PB_INDEX_NONE,
	};

	pb_core_event(firmware, channel, &event);
}

/** Where this slice of the kicks ends: there are more than a slice has, and the rest waits for the next pass. */
static PB_CORE_COLD uint32_t end_of_slice(struct pb_firmware *firmware, uint32_t c, uint32_t put)
{
	const uint32_t get = firmware->channels[c].kicks.get;

	if (put - get > PB_LIMIT_KICK_ENTRIES) {
		pb_core_endpoint_fault(firmware, c);
		return get;
	}
	pb_core_mark_channel(&firmware->marks, c);
	return get + PB_SLICE_POLLS;
}

/** Polls the queue that a kick names. @return false: it names no queue of this channel */
static inline bool poll_kicked(struct pb_firmware *firmware, uint32_t c, uint32_t handle)
{
	struct pb_core_queue *queue;

	if (PB_HANDLE_INDEX(handle) >= firmware->table.count)
		return false;
	queue = &firmware->table.queues[PB_HANDLE_INDEX(handle)];
	/* Whether it is open, the poll finds out. */
	return queue->channel == c && queue->generation == PB_HANDLE_GENERATION(handle) &&
	       pb_core_poll_queue(firmware, queue);
}

/** Reads a slice of the kicks and polls the queues that they name. */
static inline void read_kicks(struct pb_firmware *firmware, struct pb_core_channel *channel, uint32_t c,
			      uint32_t put)
{
	uint32_t get = channel->kicks.get;

	if (put - get > PB_SLICE_POLLS)
		put = end_of_slice(firmware, c, put);
	for (; get != put; get++) {
		const uint32_t handle =
			pb_shared_read32(&channel->endpoint.kicks[get % PB_LIMIT_KICK_ENTRIES]);

		if (!poll_kicked(firmware, c, handle))
			report_stray(firmware, c, handle);
	}
	channel->kicks.get = get;
	pb_shared_release(); /* the kicks are read before the host may write over them */
	pb_shared_write32(&channel->endpoint.entry->kick_get, get);
}

/** Polls a slice of the queues of a channel whose host asked for all of them, from a slice of the table. */
static PB_CORE_COLD void rescan_some(struct pb_firmware *firmware, uint32_t c, uint32_t rescan)
{
	struct pb_core_kicks *kicks = &firmware->channels[c].kicks;
	struct pb_core_queue *queue;
	uint32_t polled = 0;

	if (rescan != kicks->rescan_asked) {
		kicks->rescan_asked = rescan;
		kicks->rescan_at = 0;
	}
	do {
		queue = pb_core_table_next(&firmware->table, c, &kicks->rescan_at);
		if (queue != NULL)
			(void)pb_core_poll_queue(firmware, queue);
		polled++;
	} while (queue != NULL && polled != PB_SLICE_POLLS && kicks->rescan_at % PB_SLICE_SEARCH != 0);
	if (kicks->rescan_at < firmware->table.count) {
		pb_core_mark_channel(&firmware->marks, c);
		return;
	}
	kicks->rescan = rescan;
}

/* What a host may ask for at once: a slice serves one of them. */
#define PART_KICKS    1u
#define PART_RESCAN   2u
#define PART_COMMANDS 4u

/** Chooses one of several parts, in rotation. @param parts mask, not 0 */
static uint32_t choose_part(struct pb_core_kicks *kicks, uint32_t parts)
{
	const uint32_t behind = parts & ~(2u * kicks->part - 1u);
	const uint32_t candidates = behind != 0 ? behind : parts;

	kicks->part = (uint8_t)(candidates & (0u - candidates));
	return kicks->part;
}

/**
 * Serves a rescan or a command, unless it is the turn of the kicks. The words of the host are read once, by the caller.
 * Marks the channel if something is left for the next pass. @return whether kicks are to be read
 */
static PB_CORE_COLD bool serve_others(struct pb_firmware *firmware, uint32_t c, uint32_t kick_put,
				      uint32_t rescan, uint32_t control_put)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	const uint32_t parts = (kick_put != channel->kicks.get ? PART_KICKS : 0u) |
			       (rescan != channel->kicks.rescan ? PART_RESCAN : 0u) |
			       (control_put != channel->commands.get ? PART_COMMANDS : 0u);
	const uint32_t part = choose_part(&channel->kicks, parts);
	bool again = part != parts;

	if (part == PART_RESCAN) {
		rescan_some(firmware, c, rescan);
	} else if (part == PART_COMMANDS) {
		pb_core_waypoint(firmware, PB_WAYPOINT_CONTROL);
		again |= pb_core_control(firmware, c, control_put);
	}
	if (again)
		pb_core_mark_channel(&firmware->marks, c);
	return part == PART_KICKS;
}

PB_CORE_STEP void pb_core_doorbell(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	const struct pb_channel_entry *entry;
	uint32_t request, kick_put, control_put, rescan;

	PB_CORE_KEEP(channel);
	entry = channel->endpoint.entry;
	pb_core_waypoint(firmware, PB_WAYPOINT_DOORBELL);
	request = pb_shared_read32(&entry->attach_request);
	if (request != channel->endpoint.attach_done) {
		pb_shared_acquire();
		pb_core_channel_request(firmware, c, request);
	}
	if (!pb_core_endpoint_is_open(&channel->endpoint))
		return;
	kick_put = pb_shared_read32(&entry->kick_put);
	rescan = pb_shared_read32(&entry->rescan);
	control_put = pb_shared_read32(&entry->control_put);
	pb_shared_acquire();
	if ((rescan != channel->kicks.rescan || control_put != channel->commands.get) &&
	    !serve_others(firmware, c, kick_put, rescan, control_put))
		return;
	if (kick_put != channel->kicks.get)
		read_kicks(firmware, channel, c, kick_put);
}

bool pb_core_doorbell_pending(const struct pb_firmware *firmware, uint32_t c)
{
	const struct pb_core_channel *channel = &firmware->channels[c];
	const struct pb_channel_entry *entry = channel->endpoint.entry;

	if (pb_core_endpoint_is_closing(&channel->endpoint))
		return false;
	if (pb_shared_read32(&entry->attach_request) != channel->endpoint.attach_done)
		return true;
	if (!pb_core_endpoint_is_open(&channel->endpoint))
		return false;
	/* Commands that wait for room for a reply must not keep the MCU awake: their host rings when it has read some. */
	return pb_shared_read32(&entry->kick_put) != channel->kicks.get ||
	       pb_shared_read32(&entry->rescan) != channel->kicks.rescan ||
	       (pb_core_reply_fits(&channel->replies) &&
		pb_shared_read32(&entry->control_put) != channel->commands.get);
}
