/* SPDX-License-Identifier: MIT */
#include "tests/unit/firmware/flood.h"

#include "tests/unit/stepped.h"

/** Words read by a pass: an entry and a command of two channels, four engines, and one slice. Eight channels read 200. */
#define READS 100u

struct flood flood;
static const uint8_t *memory; /* the card's */
static uint32_t reads;        /* in this pass */
static bool flooding;

uint32_t pb_stepped_read32(const uint32_t *address)
{
	const uint8_t *at = (const uint8_t *)address;

	if (!flooding || flood.paused)
		return *address;
	if (at >= memory && at < memory + pb_sim_memory_bytes(flood.card.sim))
		reads++;
	else
		for (uint32_t c = 1; c <= flood.clients; c++)
			pb_sim_doorbell(flood.card.sim, c);
	return *address;
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	*address = value;
}

uint8_t pb_stepped_read8(const uint8_t *address)
{
	return *address;
}

void pb_stepped_write8(uint8_t *address, uint8_t value)
{
	*address = value;
}

/* ---- eight clients: the card's own channel, and seven others ---- */

struct pb_channel *flood_channel(uint32_t client)
{
	return client == 0 ? &flood.card.channel : &flood.others[client - 1u].channel;
}

static const struct pb_queue *queue_of(uint32_t client)
{
	return client == 0 ? &flood.card.queues[0] : &flood.others[client - 1u].queue;
}

/** As card_join_client(), with less memory: eight of them are to fit. */
static void join(struct card_client *client, uint32_t number)
{
	const struct pb_segment_request system = {.os_base = CARD_SYSTEM_OS,
						  .gpu_base = CARD_SYSTEM_GPU,
						  .size = 0x10000u,
						  .backing_bytes = 0x10000u};

	card_join(&flood.card, &client->channel, number);
	assert_int_equal(pb_segment_create(&client->segments[0], &client->channel, &system), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&client->queue, &client->channel, &client->segments[0], 0, 8),
			 PB_ERROR_OK);
}

void flood_start(void)
{
	card_start(&flood.card);
	for (uint32_t i = 1; i < FLOOD_CLIENTS; i++)
		join(&flood.others[i - 1u], i + 1u);
	card_run(&flood.card, 12000);
	memory = pb_sim_memory(flood.card.sim);
	flooding = true;
	flood.paused = false;
	flood.clients = FLOOD_CLIENTS;
}

void flood_end(void)
{
	flooding = false;
	for (uint32_t i = 1; i < FLOOD_CLIENTS; i++)
		card_leave(&flood.others[i - 1u].channel);
	card_stop(&flood.card);
}

/** A host that has always something to ask: its rings are full; with `all` of stops, and all queues are to be polled. */
static void molest(uint32_t client, bool all)
{
	const struct pb_channel *channel = flood_channel(client);
	struct pb_channel_entry *entry = channel->entry;
	uint32_t *kicks = (void *)(flood.card.link->memory + channel->kick_offset);
	struct pb_command *commands = (void *)(flood.card.link->memory + channel->control_offset);

	for (uint32_t i = 0; i < channel->kick_entries; i++)
		kicks[i] = queue_of(client)->handle;
	for (; entry->control_put - entry->control_get < channel->control_entries; entry->control_put++)
		commands[entry->control_put % channel->control_entries] = (struct pb_command){
			.code = all ? PB_COMMAND_PREEMPT : PB_COMMAND_PING,
			.arguments = {queue_of(client)->handle, 0},
		};
	entry->kick_put = entry->kick_get + channel->kick_entries;
	entry->rescan += all;
	entry->reply_get = entry->reply_put;
	entry->event_get = entry->event_put;
}

void flood_pass(uint32_t from, bool all)
{
	for (uint32_t i = from; i < FLOOD_CLIENTS; i++)
		molest(i, all);
	for (uint32_t c = 1; c <= FLOOD_CLIENTS; c++)
		pb_sim_doorbell(flood.card.sim, c);
	reads = 0;
	pb_sim_step(flood.card.sim);
	assert_in_range(reads, 0, READS);
}

uint32_t flood_served(uint32_t progress[FLOOD_CLIENTS])
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < FLOOD_CLIENTS; i++) {
		const struct pb_channel_entry *entry = flood_channel(i)->entry;
		const uint32_t now = entry->kick_get + entry->control_get;

		mask |= (uint32_t)(now != progress[i]) << i;
		progress[i] = now;
	}
	return mask;
}
