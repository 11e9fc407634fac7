/* SPDX-License-Identifier: MIT */
/* Steps of hosts: channels and queues, commands and their replies, what QUERY and events report. */
#include <string.h>

#include "hal/shared.h"
#include "tests/unit/firmware/scenario/scenario_world.h"

#define PATIENCE_US 1000000u

/* ---- channels and queues ---- */

void scenario_furnish(struct scenario_client *client)
{
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t bytes = i != 0                 ? CARD_VIDEO_BACKED
				       : client->own.attached ? 0x40000
							      : CARD_SYSTEM_BYTES;
		const struct pb_segment_request request = {.id = i,
							   .os_base = i == 0 ? CARD_SYSTEM_OS : CARD_VIDEO_OS,
							   .gpu_base =
								   i == 0 ? CARD_SYSTEM_GPU : CARD_VIDEO_GPU,
							   .size = bytes,
							   .backing_bytes = bytes};

		assert_int_equal(pb_segment_create(&client->segments[i], client->channel, &request),
				 PB_ERROR_OK);
	}
	client->context_count = 0;
	(void)scenario_context(client, 0);
}

struct scenario_client *scenario_client(uint32_t number)
{
	struct scenario_client *client = &world.clients[number];

	assert_true(number < SCENARIO_CLIENTS);
	if (client->channel != NULL)
		return client;
	world.bench->join(client, number);
	return client;
}

/** The error behind a '='; OK if there is none. Then results, of which _ may be anything. */
static void check_reply(enum pb_error error, const uint32_t *results)
{
	(void)scenario_accept("=");
	scenario_equal("error", error, scenario_more() ? scenario_value(scenario_next()) : PB_ERROR_OK);
	for (uint32_t i = 0; scenario_more(); i++) {
		assert_true(i < PB_REPLY_RESULTS);
		if (!scenario_accept("_"))
			scenario_equal("result", results[i], scenario_number());
	}
}

/** Another host takes the channel over: nothing of what stood there is left. */
static void attach(void)
{
	struct pb_channel *channel = world.client->channel;

	assert_int_equal(pb_channel_attach(channel, channel->link, PATIENCE_US), PB_ERROR_OK);
	memset(world.queues, 0, sizeof(world.queues));
	scenario_furnish(world.client);
}

static void detach(void)
{
	check_reply(pb_channel_detach(world.client->channel), NULL);
	if (world.client == &world.clients[PB_CHANNEL_ADMIN])
		world.client->channel = NULL;
}

/** The channel is closed, as its host asked. */
static void detached(void)
{
	const struct pb_channel_entry *entry = world.client->channel->entry;

	scenario_equal("answered", entry->attach_done, entry->attach_request);
	scenario_equal("state", entry->state, PB_CHANNEL_CLOSED);
}

static void queue(void)
{
	struct scenario_queue *made = scenario_next_queue();
	const uint32_t old = made->queue.handle;
	const struct pb_queue_request request = {
		.node = scenario_option_value("node", 0),
		.entries = scenario_option_value("entries", world.bench->is_card ? 8 : 4),
		.priority = scenario_option_value("prio", PB_PRIORITY_NORMAL),
		.quantum_us = scenario_option_value("quantum", 0),
	};
	enum pb_error error;

	memset(made, 0, sizeof(*made));
	error = pb_queue_create_with(&made->queue, world.client->channel, &world.client->segments[0],
				     &request);
	made->client = error == PB_ERROR_OK ? world.client : NULL;
	if (scenario_accept("again"))
		scenario_equal("slot", PB_HANDLE_INDEX(made->queue.handle), PB_HANDLE_INDEX(old));
	check_reply(error, NULL);
}

static void break_put(void)
{
	struct pb_queue *broken = &scenario_next_queue()->queue;

	((struct pb_queue_page *)(void *)broken->memory.bytes_host)->put = scenario_number();
}

/* ---- commands ---- */

/** [CHANNEL] COMMAND arguments, up to a '='. @return the command's number */
static uint32_t read_command(uint32_t arguments[PB_COMMAND_ARGUMENTS])
{
	const char *word = scenario_next();

	if (word[0] >= '0' && word[0] <= '9') {
		world.client = scenario_client((uint32_t)scenario_value(word));
		word = scenario_next();
	}
	for (uint32_t i = 0; scenario_more() && !scenario_accept("="); i++) {
		assert_true(i < PB_COMMAND_ARGUMENTS);
		arguments[i] = scenario_number();
	}
	return scenario_named(pb_command_name, word);
}

static void command(void)
{
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0}, results[PB_REPLY_RESULTS] = {0};
	const uint32_t code = read_command(arguments);

	check_reply(pb_channel_command(world.client->channel, code, arguments, results), results);
}

static void begin(void)
{
	const uint32_t tag = (uint32_t)*scenario_next() % SCENARIO_TAGS;
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0};
	const uint32_t code = read_command(arguments);

	world.tags[tag].channel = world.client->channel;
	assert_int_equal(pb_channel_begin(world.client->channel, code, arguments, &world.tags[tag].tag),
			 PB_ERROR_OK);
}

static void reply(void)
{
	const uint32_t tag = (uint32_t)*scenario_next() % SCENARIO_TAGS;
	uint32_t results[PB_REPLY_RESULTS] = {0};

	check_reply(pb_channel_finish(world.tags[tag].channel, world.tags[tag].tag, results), results);
}

/** Replies that the library has not read. */
static void replies(void)
{
	const struct pb_channel *channel = world.client->channel;

	scenario_equal("replies", channel->entry->reply_put - channel->reply_get, scenario_number());
}

/* ---- reports ---- */

static uint32_t query(uint32_t what, uint32_t object)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {what, object};
	uint32_t results[PB_REPLY_RESULTS];

	assert_int_equal(pb_channel_command(world.client->channel, PB_COMMAND_QUERY, arguments, results),
			 PB_ERROR_OK);
	return results[0];
}

static void why(void)
{
	const uint32_t reason = query(PB_QUERY_QUEUE, scenario_next_queue()->queue.handle);

	scenario_equal("reason", reason, scenario_named(pb_why_name, scenario_next()));
}

static void node(void)
{
	const uint32_t state = query(PB_QUERY_NODE, scenario_number());

	scenario_equal("state", state, scenario_named(pb_node_state_name, scenario_next()));
}

/** TYPE QUEUE [FENCE [ERROR [DETAIL]]] */
static void event(void)
{
	const uint32_t type = scenario_named(pb_event_name, scenario_next());
	struct pb_event found;

	if (!pb_channel_event(world.client->channel, &found))
		scenario_fail("no event", "");
	scenario_equal("type", found.type, type);
	scenario_equal("epoch", found.epoch, world.client->channel->epoch);
	scenario_equal("queue", found.queue, scenario_number());
	scenario_equal("fence id", found.fence_id, scenario_more() ? scenario_number() : 0);
	scenario_equal("error", found.error, scenario_more() ? scenario_number() : 0);
	scenario_equal("index", found.index, PB_INDEX_NONE);
	scenario_equal("detail", found.detail, scenario_more() ? scenario_number() : 0);
}

static void no_event(void)
{
	struct pb_event found;

	if (pb_channel_event(world.client->channel, &found))
		scenario_fail("an event: ", pb_event_name(found.type));
}

static void skip_events(void)
{
	struct pb_event found;

	while (pb_channel_event(world.client->channel, &found))
		continue;
}

const struct scenario_verb scenario_host_verbs[] = {{"attach", attach},
						    {"detach", detach},
						    {"detached", detached},
						    {"queue", queue},
						    {"put", break_put},
						    {"do", command},
						    {"begin", begin},
						    {"reply", reply},
						    {"why", why},
						    {"replies", replies},
						    {"node", node},
						    {"event", event},
						    {"noevent", no_event},
						    {"skip-events", skip_events},
						    {NULL, NULL}};
