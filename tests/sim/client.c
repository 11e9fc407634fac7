/* SPDX-License-Identifier: MIT */
#include "tests/sim/client.h"

#include <string.h>

#include "patchbay/abi/boot.h"

void pb_client_init(struct pb_client *client, struct pb_world *world, uint32_t channel)
{
	const uint32_t directory = pb_shared_read32(&pb_world_boot_block(world)->channel_directory_offset);
	struct pb_channel_entry *entry =
		(struct pb_channel_entry *)(void *)(world->memory + directory) + channel;

	*client = (struct pb_client){
		.world = world,
		.channel = channel,
		.entry = entry,
		.control_offset = pb_shared_read32(&entry->control_offset),
		.reply_offset = pb_shared_read32(&entry->reply_offset),
		.kick_offset = pb_shared_read32(&entry->kick_offset),
		.event_offset = pb_shared_read32(&entry->event_offset),
	};
}

void pb_client_forget(struct pb_client *client)
{
	memset(client->questions, 0, sizeof(client->questions));
}

static void ask(struct pb_client *client, uint32_t op)
{
	struct pb_channel_entry *entry = client->entry;

	client->request = ((pb_shared_read32(&entry->attach_done) | PB_ATTACH_OP_MASK) + 1u) | op;
	pb_shared_release();
	pb_shared_write32(&entry->attach_request, client->request);
	pb_world_doorbell(client->world, client->channel);
}

void pb_client_attach(struct pb_client *client, uint32_t incarnation)
{
	struct pb_channel_entry *entry = client->entry;

	pb_client_forget(client);
	client->control_put = 0;
	client->reply_get = 0;
	client->kick_put = 0;
	client->rescans = 0;
	client->event_get = 0;
	client->next_tag = 0;
	pb_shared_write32(&entry->control_put, 0);
	pb_shared_write32(&entry->reply_get, 0);
	pb_shared_write32(&entry->kick_put, 0);
	pb_shared_write32(&entry->rescan, 0);
	pb_shared_write32(&entry->event_get, 0);
	pb_shared_write32(&entry->host_version, PB_ABI_VERSION);
	pb_shared_write32(&entry->incarnation, incarnation);
	ask(client, PB_ATTACH_OP_ATTACH);
}

void pb_client_ask(struct pb_client *client, uint32_t op)
{
	if (op == PB_ATTACH_OP_ATTACH)
		pb_client_attach(client, pb_shared_read32(&pb_world_boot_block(client->world)->incarnation));
	else
		ask(client, op);
}

bool pb_client_answered(struct pb_client *client)
{
	if (pb_shared_read32(&client->entry->attach_done) != client->request)
		return false;
	client->epoch = pb_shared_read32(&client->entry->epoch);
	return true;
}

static struct pb_question *free_question(struct pb_client *client)
{
	for (uint32_t i = 0; i < PB_LIMIT_CONTROL_ENTRIES; i++) {
		if (client->questions[i].code == 0)
			return &client->questions[i];
	}
	return NULL;
}

bool pb_client_post(struct pb_client *client, uint32_t code, uint32_t object, const uint32_t *arguments,
		    uint32_t count)
{
	struct pb_question *question = free_question(client);
	struct pb_command *command =
		(struct pb_command *)(void *)(client->world->memory + client->control_offset) +
		client->control_put % PB_LIMIT_CONTROL_ENTRIES;

	if (question == NULL)
		return false;
	*question = (struct pb_question){
		.code = code, .tag = client->next_tag++, .object = object, .asked = client->world->now};
	pb_shared_write32(&command->code, code);
	pb_shared_write32(&command->tag, question->tag);
	for (uint32_t i = 0; i < PB_COMMAND_ARGUMENTS; i++) {
		question->arguments[i] = i < count ? arguments[i] : 0;
		pb_shared_write32(&command->arguments[i], question->arguments[i]);
	}
	pb_shared_release();
	pb_shared_write32(&client->entry->control_put, ++client->control_put);
	pb_world_doorbell(client->world, client->channel);
	return true;
}

bool pb_client_query(struct pb_client *client, uint32_t object, uint64_t step, const uint32_t arguments[3])
{
	struct pb_question *question = free_question(client);

	if (!pb_client_post(client, PB_COMMAND_QUERY, object, arguments, 3))
		return false;
	question->step = step;
	return true;
}

bool pb_client_reply(struct pb_client *client, struct pb_reply *reply, struct pb_question *question)
{
	const struct pb_reply *ring =
		(const struct pb_reply *)(const void *)(client->world->memory + client->reply_offset);

	if (pb_shared_read32(&client->entry->reply_put) == client->reply_get)
		return false;
	pb_shared_acquire();
	*reply = ring[client->reply_get % PB_LIMIT_CONTROL_ENTRIES];
	pb_shared_write32(&client->entry->reply_get, ++client->reply_get);
	*question = (struct pb_question){.code = 0};
	for (uint32_t i = 0; i < PB_LIMIT_CONTROL_ENTRIES; i++) {
		struct pb_question *open = &client->questions[i];

		if (open->code == 0 || open->tag != reply->tag)
			continue;
		*question = *open;
		open->code = 0;
	}
	return true;
}

bool pb_client_asks(const struct pb_client *client, uint32_t code, uint32_t object)
{
	for (uint32_t i = 0; i < PB_LIMIT_CONTROL_ENTRIES; i++) {
		if (client->questions[i].code == code && client->questions[i].object == object)
			return true;
	}
	return false;
}

uint32_t pb_client_open_questions(const struct pb_client *client)
{
	uint32_t open = 0;

	for (uint32_t i = 0; i < PB_LIMIT_CONTROL_ENTRIES; i++)
		open += client->questions[i].code != 0;
	return open;
}

bool pb_client_event(struct pb_client *client, struct pb_event *event)
{
	const struct pb_event *ring =
		(const struct pb_event *)(const void *)(client->world->memory + client->event_offset);

	if (pb_shared_read32(&client->entry->event_put) == client->event_get)
		return false;
	pb_shared_acquire();
	*event = ring[client->event_get % PB_LIMIT_EVENT_ENTRIES];
	client->event_get++;
	if (!client->unread)
		pb_shared_write32(&client->entry->event_get, client->event_get);
	return true;
}

/** Whether a kick is to be a rescan. Unless the client is patient, the ring counts as full now and then: schedules are too short to fill it. */
static bool kicks_are_full(const struct pb_client *client)
{
	return (!client->patient && client->kick_put / 8u != client->rescans) ||
	       client->kick_put - pb_shared_read32(&client->entry->kick_get) >= PB_LIMIT_KICK_ENTRIES;
}

void pb_client_kick(struct pb_client *client, uint32_t handle)
{
	struct pb_channel_entry *entry = client->entry;
	uint32_t *kicks = (uint32_t *)(void *)(client->world->memory + client->kick_offset);

	if (kicks_are_full(client)) {
		pb_shared_write32(&entry->rescan, ++client->rescans);
	} else {
		pb_shared_write32(&kicks[client->kick_put % PB_LIMIT_KICK_ENTRIES], handle);
		pb_shared_release();
		pb_shared_write32(&entry->kick_put, ++client->kick_put);
	}
	pb_world_doorbell(client->world, client->channel);
}
