/* SPDX-License-Identifier: MIT */
#include "firmware/command/doorbell.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "hal/shared_pair.h"

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

/** Reads one kick. Its slot in the ring is the host's again. @return the handle of a queue, as the host wrote it */
static inline uint32_t read_kick(struct pb_core_channel *channel)
{
	const uint32_t get = channel->kicks.get;
	const uint32_t handle = pb_shared_read32(&channel->endpoint.kicks[get % PB_LIMIT_KICK_ENTRIES]);

	channel->kicks.get = get + 1u;
	pb_shared_release(); /* the kick is read before the host may write over it */
	pb_shared_write32(&channel->endpoint.entry->kick_get, get + 1u);
	return handle;
}

/** Reads a slice of the kicks and polls the queues that they name. */
static PB_CORE_COLD void read_kicks(struct pb_firmware *firmware, struct pb_core_channel *channel, uint32_t c,
				    uint32_t put)
{
	if (put - channel->kicks.get > PB_SLICE_POLLS)
		put = end_of_slice(firmware, c, put);
	while (channel->kicks.get != put)
		pb_core_poll_kicked(firmware, c, read_kick(channel));
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
			pb_core_poll_queue(firmware, queue);
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
 * Serves a channel whose host asks for something else than one kick: a slice of its kicks, of a rescan or of its commands,
 * in rotation if it asks for several. Marks the channel if something is left for the next pass. The words of the host are
 * read once, by the caller.
 */
static PB_CORE_COLD void serve(struct pb_firmware *firmware, uint32_t c, uint32_t kick_put, uint32_t rescan,
			       uint32_t control_put)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	const uint32_t parts = (kick_put != channel->kicks.get ? PART_KICKS : 0u) |
			       (rescan != channel->kicks.rescan ? PART_RESCAN : 0u) |
			       (control_put != channel->commands.get ? PART_COMMANDS : 0u);
	uint32_t part = PART_KICKS;
	bool again = false;

	if ((parts & (parts - 1u)) != 0) {
		part = choose_part(&channel->kicks, parts);
		again = true;
	} else if (parts > PART_KICKS) {
		part = parts;
		channel->kicks.part = (uint8_t)parts;
	}
	if (part == PART_KICKS) {
		read_kicks(firmware, channel, c, kick_put);
	} else if (part == PART_RESCAN) {
		rescan_some(firmware, c, rescan);
	} else {
		pb_core_waypoint(firmware, PB_WAYPOINT_CONTROL);
		again |= pb_core_control(firmware, c, control_put);
	}
	if (again)
		pb_core_mark_channel(&firmware->marks, c);
}

/** Answers a request to attach or detach. @return whether the channel is open */
static PB_CORE_COLD bool answer_request(struct pb_firmware *firmware, uint32_t c, uint32_t request)
{
	const struct pb_core_endpoint *endpoint = &firmware->channels[c].endpoint;

	if (request != endpoint->attach_done) {
		pb_shared_acquire();
		pb_core_channel_request(firmware, c, request);
	}
	return pb_core_endpoint_is_open(endpoint);
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
	/* One branch for two rare cases: a request that is not answered, a channel that is not open. */
	if (((request ^ channel->endpoint.attach_done) | (channel->endpoint.state ^ PB_CORE_CHANNEL_OPEN)) !=
		    0 &&
	    !answer_request(firmware, c, request))
		return;
	pb_shared_read_pair(&entry->kick_put, &kick_put, &rescan);
	control_put = pb_shared_read32(&entry->control_put);
	pb_shared_acquire();
	if (((rescan ^ channel->kicks.rescan) | (control_put ^ channel->commands.get) |
	     (kick_put - channel->kicks.get - 1u)) != 0) {
		serve(firmware, c, kick_put, rescan, control_put);
		return;
	}
	pb_core_poll_kicked(firmware, c, read_kick(channel));
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
