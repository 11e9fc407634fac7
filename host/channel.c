/* SPDX-License-Identifier: MIT */
/* A channel: attach and detach, liveness of the firmware, and events. */
#include <string.h>

#include "host/internal.h"

/* Largest ring accepted, in entries. More means that the channel entry holds invalid values. */
#define RING_ENTRIES_LIMIT 4096u

uint64_t pb_deadline(struct pb_link *link, uint64_t timeout_us)
{
	uint64_t now = link->ops->now(link);

	return timeout_us > UINT64_MAX - now ? UINT64_MAX : now + timeout_us;
}

enum pb_error pb_pause(struct pb_link *link, uint64_t deadline, uint64_t slice_us)
{
	uint64_t now = link->ops->now(link);
	enum pb_error error;

	if (now >= deadline)
		return PB_ERROR_TIMEOUT;
	error = link->ops->wait(link, deadline - now < slice_us ? deadline - now : slice_us);
	if (link->trace != NULL && error == PB_ERROR_OK)
		pb_host_trace_add(link->trace, &(const struct pb_host_event){.time_us = link->ops->now(link),
									     .kind = PB_HOST_INTERRUPT});
	return error == PB_ERROR_TIMEOUT ? PB_ERROR_OK : error;
}

static bool mcu_is_dead(uint32_t mcu_state)
{
	return mcu_state == PB_MCU_DEAD || mcu_state == PB_MCU_RESTARTING;
}

/* Returns whether the firmware that channel->card describes still runs. */
static bool same_firmware(const struct pb_channel *channel)
{
	const struct pb_boot_block *block = pb_at(channel->link, PB_BOOT_OFFSET);

	return !mcu_is_dead(pb_shared_read32(&block->mcu_state)) &&
	       pb_shared_read32(&block->boot_stage) == PB_BOOT_STAGE_RUNNING &&
	       pb_shared_read32(&block->incarnation) == channel->card.incarnation;
}

enum pb_error pb_foreign_error(uint32_t number)
{
	if (number == PB_ERROR_OK || number >= PB_ERROR_TIMEOUT || pb_error_name(number)[0] == '?')
		return PB_ERROR_PROTOCOL;
	return (enum pb_error)number;
}

/* ---- the heartbeat ---- */

/* The clock is read before the heartbeat: time between the two reads must not count as silence. */
enum pb_error pb_channel_watch(const struct pb_channel *channel)
{
	const struct pb_boot_block *block = pb_at(channel->link, PB_BOOT_OFFSET);
	const uint32_t now = pb_shared_read32(&block->clock);
	uint32_t silence;

	pb_shared_acquire();
	silence = now - pb_shared_read32(&block->heartbeat_clock);
	/* Wrapped below 0: a heartbeat came between the two reads. */
	return silence >= PB_HEARTBEAT_US && silence <= INT32_MAX ? PB_ERROR_FIRMWARE_DEAD : PB_ERROR_OK;
}

/* ---- attach and detach ---- */

/* Returns whether no supervisor will restart the firmware. A supervisor that has not noticed the death yet may. */
static bool dead_for_good(const struct pb_card_info *card)
{
	return card->mcu_state == PB_MCU_DEAD ||
	       (card->mcu_state == PB_MCU_UNKNOWN && card->boot_stage == PB_BOOT_STAGE_FATAL);
}

/* Waits until the boot block shows running firmware; channel->card is its last copy. */
static enum pb_error await_running(struct pb_channel *channel, uint64_t deadline)
{
	struct pb_card_info *card = &channel->card;

	for (;;) {
		enum pb_error error = pb_card_read(channel->link, card);
		bool dead = mcu_is_dead(card->mcu_state) || card->boot_stage == PB_BOOT_STAGE_FATAL;

		if (error == PB_ERROR_OK && !dead && card->boot_stage == PB_BOOT_STAGE_RUNNING &&
		    card->incarnation != 0)
			return PB_ERROR_OK;
		if (error != PB_ERROR_OK && error != PB_ERROR_NO_CARD)
			return error;
		if (dead_for_good(card))
			return PB_ERROR_FIRMWARE_DEAD;
		error = pb_pause(channel->link, deadline, PB_ATTACH_SLICE_US);
		if (error != PB_ERROR_OK)
			return error == PB_ERROR_TIMEOUT && dead ? PB_ERROR_FIRMWARE_DEAD : error;
	}
}

/* Returns a request word that differs from the last request and from the last answer. */
static uint32_t fresh_request(const struct pb_channel_entry *entry, uint32_t op)
{
	uint32_t counter = pb_shared_read32(&entry->attach_request) & ~PB_ATTACH_OP_MASK;
	uint32_t request = (counter + PB_ATTACH_COUNTER_ONE) | op;

	if (request == pb_shared_read32(&entry->attach_done))
		request += PB_ATTACH_COUNTER_ONE;
	return request;
}

/* Requests an attach or a detach and waits for the firmware's answer. */
static enum pb_error ask(struct pb_channel *channel, uint32_t op, uint64_t deadline)
{
	struct pb_channel_entry *entry = channel->entry;
	struct pb_link *link = channel->link;
	uint32_t request = fresh_request(entry, op);

	pb_shared_release();
	pb_shared_write32(&entry->attach_request, request);
	pb_shared_barrier();
	link->ops->doorbell(link);
	while (pb_shared_read32(&entry->attach_done) != request) {
		enum pb_error error;

		if (!same_firmware(channel))
			return PB_ERROR_FIRMWARE_DEAD;
		error = pb_channel_watch(channel);
		if (error == PB_ERROR_OK)
			error = pb_pause(link, deadline, PB_ATTACH_SLICE_US);
		if (error != PB_ERROR_OK)
			return error;
	}
	pb_shared_acquire();
	return PB_ERROR_OK;
}

static enum pb_error ask_attach(struct pb_channel *channel, uint64_t deadline)
{
	struct pb_channel_entry *entry = channel->entry;
	enum pb_error error;

	pb_shared_write32(&entry->control_put, 0);
	pb_shared_write32(&entry->reply_get, 0);
	pb_shared_write32(&entry->kick_put, 0);
	pb_shared_write32(&entry->rescan, 0);
	pb_shared_write32(&entry->event_get, 0);
	pb_shared_write32(&entry->host_version, PB_ABI_VERSION);
	pb_shared_write32(&entry->incarnation, channel->card.incarnation);
	error = ask(channel, PB_ATTACH_OP_ATTACH, deadline);
	if (error != PB_ERROR_OK)
		return error;
	if (pb_shared_read32(&entry->state) != PB_CHANNEL_OPEN)
		return pb_foreign_error(pb_shared_read32(&entry->error));
	return PB_ERROR_OK;
}

static bool ring_fits(const struct pb_link *link, uint32_t offset, uint32_t entries, uint32_t entry_bytes)
{
	return pb_is_power_of_two(entries) && entries <= RING_ENTRIES_LIMIT &&
	       pb_inside(link, offset, entries * entry_bytes);
}

static enum pb_error read_rings(struct pb_channel *channel)
{
	const struct pb_channel_entry *entry = channel->entry;
	const struct pb_link *link = channel->link;

	channel->epoch = pb_shared_read32(&entry->epoch);
	channel->control_offset = pb_shared_read32(&entry->control_offset);
	channel->reply_offset = pb_shared_read32(&entry->reply_offset);
	channel->kick_offset = pb_shared_read32(&entry->kick_offset);
	channel->event_offset = pb_shared_read32(&entry->event_offset);
	channel->control_entries = pb_shared_read32(&entry->control_entries);
	channel->kick_entries = pb_shared_read32(&entry->kick_entries);
	channel->event_entries = pb_shared_read32(&entry->event_entries);
	channel->events_dropped = pb_shared_read32(&entry->events_dropped);
	if (!ring_fits(link, channel->control_offset, channel->control_entries, sizeof(struct pb_command)) ||
	    !ring_fits(link, channel->reply_offset, channel->control_entries, sizeof(struct pb_reply)) ||
	    !ring_fits(link, channel->kick_offset, channel->kick_entries, sizeof(uint32_t)) ||
	    !ring_fits(link, channel->event_offset, channel->event_entries, sizeof(struct pb_event)))
		return PB_ERROR_PROTOCOL;
	return PB_ERROR_OK;
}

/* Waits until the supervisor's channel, through which an observer asks, is open. Its epoch tells one boot from the next. */
static enum pb_error await_supervisor(struct pb_channel *channel, uint64_t deadline)
{
	while (pb_shared_read32(&channel->entry->state) != PB_CHANNEL_OPEN) {
		enum pb_error error = same_firmware(channel) ? PB_ERROR_OK : PB_ERROR_FIRMWARE_DEAD;

		if (error == PB_ERROR_OK)
			error = pb_pause(channel->link, deadline, PB_ATTACH_SLICE_US);
		if (error != PB_ERROR_OK)
			return error;
	}
	pb_shared_acquire();
	channel->epoch = pb_shared_read32(&channel->entry->epoch);
	return PB_ERROR_OK;
}

static enum pb_error attach_once(struct pb_channel *channel, uint64_t deadline)
{
	struct pb_link *link = channel->link;
	struct pb_channel_entry *directory = pb_at(link, channel->card.channel_directory_offset);
	enum pb_error error;

	if (link->channel >= channel->card.channel_count)
		return PB_ERROR_NO_SPACE;
	channel->entry = &directory[link->channel];
	if (pb_observes(link))
		return await_supervisor(channel, deadline);
	error = ask_attach(channel, deadline);
	if (error == PB_ERROR_OK)
		error = read_rings(channel);
	/* Values that a reboot left half written do not break the contract. */
	if (error == PB_ERROR_PROTOCOL && !same_firmware(channel))
		return PB_ERROR_FIRMWARE_DEAD;
	return error;
}

enum pb_error pb_channel_attach(struct pb_channel *channel, struct pb_link *link, uint64_t timeout_us)
{
	uint64_t deadline = pb_deadline(link, timeout_us);
	enum pb_error error;

	memset(channel, 0, sizeof(*channel));
	channel->link = link;
	for (;;) {
		enum pb_error pause;

		error = await_running(channel, deadline);
		if (error != PB_ERROR_OK)
			return error;
		error = attach_once(channel, deadline);
		if (error != PB_ERROR_BAD_ARGUMENT && error != PB_ERROR_FIRMWARE_DEAD)
			break;
		/* The firmware rebooted between the read of its incarnation and its check of the request: retry. */
		pause = pb_pause(link, deadline, PB_ATTACH_SLICE_US);
		if (pause != PB_ERROR_OK)
			return pause == PB_ERROR_TIMEOUT && error == PB_ERROR_FIRMWARE_DEAD ? error : pause;
	}
	channel->attached = error == PB_ERROR_OK;
	return error;
}

enum pb_error pb_channel_detach(struct pb_channel *channel)
{
	enum pb_error error;

	if (!channel->attached)
		return PB_ERROR_DETACHED;
	channel->attached = false;
	if (pb_observes(channel->link))
		return PB_ERROR_OK;
	error = ask(channel, PB_ATTACH_OP_DETACH, pb_deadline(channel->link, PB_COMMAND_TIMEOUT_US));
	if (error == PB_ERROR_OK && pb_shared_read32(&channel->entry->state) != PB_CHANNEL_CLOSED)
		return PB_ERROR_PROTOCOL;
	return error;
}

enum pb_error pb_channel_check(const struct pb_channel *channel, struct pb_card_info *now)
{
	enum pb_error error;
	bool open;

	if (now != NULL)
		*now = channel->card;
	if (!channel->attached)
		return PB_ERROR_DETACHED;
	error = pb_refresh(channel->link);
	if (error != PB_ERROR_OK)
		return error;
	if (now != NULL)
		pb_card_state(channel->link, now);
	/* State before incarnation: a reboot changes the incarnation first, then clears the channels. */
	open = pb_shared_read32(&channel->entry->state) == PB_CHANNEL_OPEN &&
	       pb_shared_read32(&channel->entry->epoch) == channel->epoch;
	pb_shared_acquire();
	if (!same_firmware(channel))
		return PB_ERROR_FIRMWARE_DEAD;
	return open ? PB_ERROR_OK : PB_ERROR_DETACHED;
}

enum pb_error pb_alive(const struct pb_channel *channel)
{
	enum pb_error error = pb_channel_check(channel, NULL);

	return error == PB_ERROR_OK ? pb_channel_watch(channel) : error;
}

enum pb_error pb_diagnose(const struct pb_channel *channel, enum pb_error error)
{
	enum pb_error check = pb_channel_check(channel, NULL);

	return check != PB_ERROR_OK ? check : error;
}

enum pb_error pb_still_owns(const struct pb_channel *channel)
{
	const struct pb_boot_block *block = pb_at(channel->link, PB_BOOT_OFFSET);

	if (pb_shared_read32(&channel->entry->epoch) == channel->epoch &&
	    pb_shared_read32(&block->incarnation) == channel->card.incarnation)
		return PB_ERROR_OK;
	return pb_diagnose(channel, PB_ERROR_DETACHED);
}

/* ---- events ---- */

/* Reads and consumes the oldest unread event. Pre: the caller holds the lock of the events. */
static bool pop_event(struct pb_channel *channel, struct pb_event *event)
{
	const struct pb_event *ring = pb_at(channel->link, channel->event_offset);
	uint32_t unread = pb_shared_read32(&channel->entry->event_put) - channel->event_get;
	bool fresh = false;

	if (unread > channel->event_entries)
		return false;
	pb_shared_acquire();
	for (; unread != 0 && !fresh; unread--) {
		pb_shared_copy_in(event, &ring[channel->event_get++ & (channel->event_entries - 1)],
				  sizeof(*event));
		fresh = event->epoch == channel->epoch;
	}
	pb_shared_release();
	pb_shared_write32(&channel->entry->event_get, channel->event_get);
	return fresh;
}

bool pb_channel_event(struct pb_channel *channel, struct pb_event *event)
{
	bool fresh;

	if (!channel->attached || pb_observes(channel->link))
		return false;
	(void)pb_refresh(channel->link);
	pb_lock(pb_event_lock(channel));
	fresh = pop_event(channel, event);
	pb_unlock(pb_event_lock(channel));
	return fresh;
}

uint32_t pb_channel_dropped(struct pb_channel *channel)
{
	uint32_t since, now;

	if (!channel->attached || pb_observes(channel->link))
		return 0;
	(void)pb_refresh(channel->link);
	pb_lock(pb_event_lock(channel));
	since = channel->events_dropped;
	now = pb_shared_read32(&channel->entry->events_dropped);
	channel->events_dropped = now;
	pb_unlock(pb_event_lock(channel));
	/* Records read after this barrier are at least as new as the count. */
	pb_shared_acquire();
	return now - since;
}
