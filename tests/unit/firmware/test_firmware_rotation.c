/* SPDX-License-Identifier: MIT */
/*
 * What a pass of the main loop does, and for whom, while the lines of eight
 * clients are pending again at once: a bounded amount of work, channels in
 * rotation.
 */
#include "firmware/limits.h"
#include "tests/unit/firmware/flood.h"

/** The clients take their turns one behind the other, two in a pass, and none waits for more than eight passes. */
static void busy_channels_are_served_in_rotation(void **state)
{
	uint32_t progress[FLOOD_CLIENTS] = {0}, waited[FLOOD_CLIENTS] = {0};
	uint32_t next = 0;

	(void)state;
	flood_start();
	(void)flood_served(progress);
	for (uint32_t p = 0; p < FLOOD_PASSES; p++) {
		uint32_t mask, count = 0;

		flood_pass(0, false);
		mask = flood_served(progress);
		if (p == 0)
			while (next < FLOOD_CLIENTS - 1u && (mask & 1u << next) == 0)
				next++;
		for (; (mask & 1u << next) != 0; next = (next + 1u) % FLOOD_CLIENTS) {
			mask &= ~(1u << next);
			waited[next] = 0;
			count++;
		}
		assert_int_equal(mask, 0); /* none out of turn */
		assert_in_range(count, 0, 2);
		for (uint32_t i = 0; i < FLOOD_CLIENTS; i++)
			assert_in_range(++waited[i], 0, FLOOD_CHANNEL_WAIT + 1u);
	}
	flood_end();
}

/** Passes until a reply to a command of the card's channel. */
static uint32_t passes_to_reply(uint32_t code, const uint32_t *arguments)
{
	uint32_t tag, passes = 0;
	const uint32_t before = flood.card.channel.entry->reply_put;

	assert_int_equal(pb_channel_begin(&flood.card.channel, code, arguments, &tag), PB_ERROR_OK);
	while (flood.card.channel.entry->reply_put == before && passes <= FLOOD_PASSES) {
		flood_pass(1, true);
		passes++;
	}
	assert_int_equal(pb_channel_finish(&flood.card.channel, tag, NULL), PB_ERROR_OK);
	return passes;
}

/** Seven clients ask for everything; the eighth one's command has its reply within a bounded number of passes. */
static void a_command_is_answered_under_a_flood(void **state)
{
	const uint32_t nothing[PB_COMMAND_ARGUMENTS] = {0};
	uint32_t preempt[PB_COMMAND_ARGUMENTS] = {0};

	(void)state;
	flood_start();
	preempt[0] = flood.card.queues[0].handle;
	for (uint32_t i = 0; i < 100; i++) {
		assert_in_range(passes_to_reply(PB_COMMAND_PING, nothing), 1, FLOOD_CHANNEL_WAIT);
		assert_in_range(passes_to_reply(PB_COMMAND_PREEMPT, preempt), 1, FLOOD_REPORT_WAIT);
		for (uint32_t p = 0; p < i % 7u; p++)
			flood_pass(1, true);
	}
	flood_end();
}

/** Queues of a host that asks for nothing but stops, over and over: more than it may have under way. */
#define STOPPED 10u

static void ask_for_stops(uint32_t client, const struct pb_queue queues[STOPPED])
{
	const struct pb_channel *channel = flood_channel(client);
	struct pb_channel_entry *entry = channel->entry;
	struct pb_command *commands = (void *)(flood.card.link->memory + channel->control_offset);

	for (; entry->control_put - entry->control_get < channel->control_entries; entry->control_put++)
		commands[entry->control_put % channel->control_entries] =
			(struct pb_command){.code = PB_COMMAND_PREEMPT,
					    .arguments = {queues[entry->control_put % STOPPED].handle}};
	entry->reply_get = entry->reply_put;
	entry->event_get = entry->event_put;
}

/** One pass, while other clients stop queues of another node, which have nothing. */
static void pass_beside_stops(struct pb_queue queues[FLOOD_CLIENTS][STOPPED])
{
	for (uint32_t i = 1; i < flood.clients; i++)
		ask_for_stops(i, queues[i]);
	for (uint32_t c = 1; c <= flood.clients; c++)
		pb_sim_doorbell(flood.card.sim, c);
	pb_sim_step(flood.card.sim);
}

/** Passes until the reply to a PREEMPT, beside stops of others, which have been under way for some passes. */
static uint32_t passes_to_stop(const struct pb_queue *mine, struct pb_queue queues[FLOOD_CLIENTS][STOPPED],
			       uint32_t before)
{
	const uint32_t replies = flood.card.channel.entry->reply_put;
	uint32_t preempt[PB_COMMAND_ARGUMENTS] = {0};
	uint32_t tag, passes = 0;

	while (before-- != 0)
		pass_beside_stops(queues);
	preempt[0] = mine->handle;
	assert_int_equal(pb_channel_begin(&flood.card.channel, PB_COMMAND_PREEMPT, preempt, &tag),
			 PB_ERROR_OK);
	for (; flood.card.channel.entry->reply_put == replies && passes <= FLOOD_PASSES; passes++)
		pass_beside_stops(queues);
	assert_int_equal(pb_channel_finish(&flood.card.channel, tag, NULL), PB_ERROR_OK);
	return passes;
}

/** The ends of stops are reported in rotation: none waits for those that others ask for again as soon as they are reported. */
static void a_stop_is_reported_beside_stops_without_end(void **state)
{
	static struct pb_queue queues[FLOOD_CLIENTS][STOPPED];
	struct pb_queue mine;

	(void)state;
	flood_start();
	flood.paused = true;
	for (uint32_t i = 0; i < (FLOOD_CLIENTS - 1u) * STOPPED; i++) {
		const uint32_t client = 1u + i / STOPPED;

		assert_int_equal(pb_queue_create(&queues[client][i % STOPPED], flood_channel(client),
						 &flood.others[client - 1u].segments[0], 0, 8),
				 PB_ERROR_OK);
	}
	card_queue_make(&mine, &flood.card,
			&(struct card_queue_request){.place = 0, .node = FLOOD_NODES - 1u, .level = 2});
	flood.paused = false;
	for (uint32_t i = 0; i < 100; i++) {
		/* Of two clients in a pass, the second one finds the stop request taken that has just ended. */
		flood.clients = FLOOD_CLIENTS - i % 2u;
		/* The command, and the reports of all others before. */
		assert_in_range(passes_to_stop(&mine, queues, i % 9u), 1,
				FLOOD_CHANNEL_WAIT + PB_LIMIT_STOPS * 3u);
	}
	flood_end();
}

/** The value that a queue waits for is reached: the queue goes on, and the next one too, within a bounded number of passes. */
static void a_wait_ends_under_a_flood(void **state)
{
	struct pb_queue waiting, signalling;
	struct pb_descriptor descriptor;

	(void)state;
	flood_start();
	flood.paused = true;
	card_queue_make(&waiting, &flood.card,
			&(struct card_queue_request){.place = 0, .node = 2, .level = 2});
	card_queue_make(&signalling, &flood.card,
			&(struct card_queue_request){.place = 1, .node = 3, .level = 2});
	flood.paused = false;
	for (uint32_t i = 1; i <= 30; i++) {
		uint32_t passes = 0;

		descriptor = card_waiting_for(&flood.card, 0, &signalling, i);
		card_queue_submit(&waiting, &descriptor);
		for (uint32_t p = 0; p < 40u + i % 7u; p++)
			flood_pass(1, true);
		assert_int_equal(card_queue_completed(&waiting), i - 1u);
		descriptor = card_nothing(&flood.card, i);
		card_queue_submit(&signalling, &descriptor);
		for (; card_queue_completed(&waiting) != i && passes <= FLOOD_PASSES; passes++)
			flood_pass(1, true);
		/* The kick, two slices of nodes with their retirements, and the wake. */
		assert_in_range(passes, 1, FLOOD_CHANNEL_WAIT + 2u * FLOOD_NODE_WAIT + FLOOD_REPORT_WAIT);
	}
	flood_end();
}

UNIT_SUITE(test_firmware_rotation)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy_channels_are_served_in_rotation),
		cmocka_unit_test(a_command_is_answered_under_a_flood),
		cmocka_unit_test(a_stop_is_reported_beside_stops_without_end),
		cmocka_unit_test(a_wait_ends_under_a_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
