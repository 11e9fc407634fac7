/* SPDX-License-Identifier: MIT */
/*
 * What a pass of the main loop does, and for whom, while the lines of eight
 * clients are pending again at once: a bounded amount of work, channels and
 * nodes in rotation. Work is measured in words of shared memory that are read.
 */
#include "firmware/limits.h"
#include "hal/engine_model/model.h"
#include "tests/unit/card_queues.h"
#include "tests/unit/stepped.h"

#define CLIENTS 8u
#define NODES   4u
/** Passes within which a channel is served, of eight and the admin's: two in each, and a tick comes in between. */
#define CHANNEL_WAIT 8u
/** Passes within which a node has a slice: each of four in turn, in at least every fourth pass, and ticks. */
#define NODE_WAIT 20u
/** Passes within which the end of a stop, or of a wait, is reported: the command's, and turns of infrequent work. */
#define REPORT_WAIT 32u
/** Words read by a pass: an entry and a command of two channels, four engines, and one slice. Eight channels read 200. */
#define READS  100u
#define PASSES 2000u

static struct {
	struct pb_sim *sim;
	const uint8_t *memory;
	uint32_t reads; /* in this pass */
	bool flood;     /* each check of the lines finds those of some clients */
	uint32_t clients;
} watch;

uint32_t pb_stepped_read32(const uint32_t *address)
{
	const uint8_t *at = (const uint8_t *)address;

	if (watch.sim == NULL)
		return *address;
	if (at >= watch.memory && at < watch.memory + pb_sim_memory_bytes(watch.sim))
		watch.reads++;
	else if (watch.flood)
		for (uint32_t c = 1; c <= watch.clients; c++)
			pb_sim_doorbell(watch.sim, c);
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

static struct card card;
static struct card_client others[CLIENTS - 1u];

static struct pb_channel *channel_of(uint32_t client)
{
	return client == 0 ? &card.channel : &others[client - 1u].channel;
}

static const struct pb_queue *queue_of(uint32_t client)
{
	return client == 0 ? &card.queues[0] : &others[client - 1u].queue;
}

/** As card_join_client(), with less memory: eight of them are to fit. */
static void join(struct card_client *client, uint32_t number)
{
	const struct pb_segment_request system = {.os_base = CARD_SYSTEM_OS,
						  .gpu_base = CARD_SYSTEM_GPU,
						  .size = 0x10000u,
						  .backing_bytes = 0x10000u};

	card_join(&card, &client->channel, number);
	assert_int_equal(pb_segment_create(&client->segments[0], &client->channel, &system), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&client->queue, &client->channel, &client->segments[0], 0, 8),
			 PB_ERROR_OK);
}

static void start(void)
{
	card_start(&card);
	for (uint32_t i = 1; i < CLIENTS; i++)
		join(&others[i - 1u], i + 1u);
	card_run(&card, 12000);
	watch.memory = pb_sim_memory(card.sim);
	watch.sim = card.sim;
	watch.flood = true;
	watch.clients = CLIENTS;
}

static void end(void)
{
	watch.flood = false;
	watch.sim = NULL;
	for (uint32_t i = 1; i < CLIENTS; i++)
		card_leave(&others[i - 1u].channel);
	card_stop(&card);
}

/** A host that has always something to ask: its rings are full; with `all` of stops, and all queues are to be polled. */
static void molest(uint32_t client, bool all)
{
	const struct pb_channel *channel = channel_of(client);
	struct pb_channel_entry *entry = channel->entry;
	uint32_t *kicks = (void *)(card.link->memory + channel->kick_offset);
	struct pb_command *commands = (void *)(card.link->memory + channel->control_offset);

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

/** One pass. @param from the first client that asks for everything */
static void pass(uint32_t from, bool all)
{
	for (uint32_t i = from; i < CLIENTS; i++)
		molest(i, all);
	for (uint32_t c = 1; c <= CLIENTS; c++)
		pb_sim_doorbell(card.sim, c);
	watch.reads = 0;
	pb_sim_step(card.sim);
	assert_in_range(watch.reads, 0, READS);
}

/** Which clients had kicks or commands read since the last call. */
static uint32_t served(uint32_t progress[CLIENTS])
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < CLIENTS; i++) {
		const struct pb_channel_entry *entry = channel_of(i)->entry;
		const uint32_t now = entry->kick_get + entry->control_get;

		mask |= (uint32_t)(now != progress[i]) << i;
		progress[i] = now;
	}
	return mask;
}

/** The clients take their turns one behind the other, two in a pass, and none waits for more than eight passes. */
static void busy_channels_are_served_in_rotation(void **state)
{
	uint32_t progress[CLIENTS] = {0}, waited[CLIENTS] = {0};
	uint32_t next = 0;

	(void)state;
	start();
	(void)served(progress);
	for (uint32_t p = 0; p < PASSES; p++) {
		uint32_t mask, count = 0;

		pass(0, false);
		mask = served(progress);
		if (p == 0)
			while (next < CLIENTS - 1u && (mask & 1u << next) == 0)
				next++;
		for (; (mask & 1u << next) != 0; next = (next + 1u) % CLIENTS) {
			mask &= ~(1u << next);
			waited[next] = 0;
			count++;
		}
		assert_int_equal(mask, 0); /* none out of turn */
		assert_in_range(count, 0, 2);
		for (uint32_t i = 0; i < CLIENTS; i++)
			assert_in_range(++waited[i], 0, CHANNEL_WAIT + 1u);
	}
	end();
}

/** Passes until a reply to a command of the card's channel. */
static uint32_t passes_to_reply(uint32_t code, const uint32_t *arguments)
{
	uint32_t tag, passes = 0;
	const uint32_t before = card.channel.entry->reply_put;

	assert_int_equal(pb_channel_begin(&card.channel, code, arguments, &tag), PB_ERROR_OK);
	while (card.channel.entry->reply_put == before && passes <= PASSES) {
		pass(1, true);
		passes++;
	}
	assert_int_equal(pb_channel_finish(&card.channel, tag, NULL), PB_ERROR_OK);
	return passes;
}

/** Seven clients ask for everything; the eighth one's command has its reply within a bounded number of passes. */
static void a_command_is_answered_under_a_flood(void **state)
{
	const uint32_t nothing[PB_COMMAND_ARGUMENTS] = {0};
	uint32_t preempt[PB_COMMAND_ARGUMENTS] = {0};

	(void)state;
	start();
	preempt[0] = card.queues[0].handle;
	for (uint32_t i = 0; i < 100; i++) {
		assert_in_range(passes_to_reply(PB_COMMAND_PING, nothing), 1, CHANNEL_WAIT);
		assert_in_range(passes_to_reply(PB_COMMAND_PREEMPT, preempt), 1, REPORT_WAIT);
		for (uint32_t p = 0; p < i % 7u; p++)
			pass(1, true);
	}
	end();
}

/** Queues of a host that asks for nothing but stops, over and over: more than it may have under way. */
#define STOPPED 10u

static void ask_for_stops(uint32_t client, const struct pb_queue queues[STOPPED])
{
	const struct pb_channel *channel = channel_of(client);
	struct pb_channel_entry *entry = channel->entry;
	struct pb_command *commands = (void *)(card.link->memory + channel->control_offset);

	for (; entry->control_put - entry->control_get < channel->control_entries; entry->control_put++)
		commands[entry->control_put % channel->control_entries] =
			(struct pb_command){.code = PB_COMMAND_PREEMPT,
					    .arguments = {queues[entry->control_put % STOPPED].handle}};
	entry->reply_get = entry->reply_put;
	entry->event_get = entry->event_put;
}

/** One pass, while other clients stop queues of another node, which have nothing. */
static void pass_beside_stops(struct pb_queue queues[CLIENTS][STOPPED])
{
	for (uint32_t i = 1; i < watch.clients; i++)
		ask_for_stops(i, queues[i]);
	for (uint32_t c = 1; c <= watch.clients; c++)
		pb_sim_doorbell(card.sim, c);
	pb_sim_step(card.sim);
}

/** Passes until the reply to a PREEMPT, beside stops of others, which have been under way for some passes. */
static uint32_t passes_to_stop(const struct pb_queue *mine, struct pb_queue queues[CLIENTS][STOPPED],
			       uint32_t before)
{
	const uint32_t replies = card.channel.entry->reply_put;
	uint32_t preempt[PB_COMMAND_ARGUMENTS] = {0};
	uint32_t tag, passes = 0;

	while (before-- != 0)
		pass_beside_stops(queues);
	preempt[0] = mine->handle;
	assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_PREEMPT, preempt, &tag), PB_ERROR_OK);
	for (; card.channel.entry->reply_put == replies && passes <= PASSES; passes++)
		pass_beside_stops(queues);
	assert_int_equal(pb_channel_finish(&card.channel, tag, NULL), PB_ERROR_OK);
	return passes;
}

/** The ends of stops are reported in rotation: none waits for those that others ask for again as soon as they are reported. */
static void a_stop_is_reported_beside_stops_without_end(void **state)
{
	static struct pb_queue queues[CLIENTS][STOPPED];
	struct pb_queue mine;

	(void)state;
	start();
	watch.sim = NULL;
	for (uint32_t i = 0; i < (CLIENTS - 1u) * STOPPED; i++) {
		const uint32_t client = 1u + i / STOPPED;

		assert_int_equal(pb_queue_create(&queues[client][i % STOPPED], channel_of(client),
						 &others[client - 1u].segments[0], 0, 8),
				 PB_ERROR_OK);
	}
	card_queue_make(&mine, &card,
			&(struct card_queue_request){.place = 0, .node = NODES - 1u, .level = 2});
	watch.sim = card.sim;
	for (uint32_t i = 0; i < 100; i++) {
		/* Of two clients in a pass, the second one finds the stop request taken that has just ended. */
		watch.clients = CLIENTS - i % 2u;
		/* The command, and the reports of all others before. */
		assert_in_range(passes_to_stop(&mine, queues, i % 9u), 1, CHANNEL_WAIT + PB_LIMIT_STOPS * 3u);
	}
	end();
}

/** The value that a queue waits for is reached: the queue goes on, and the next one too, within a bounded number of passes. */
static void a_wait_ends_under_a_flood(void **state)
{
	struct pb_queue waiting, signalling;
	struct pb_descriptor descriptor;

	(void)state;
	start();
	watch.sim = NULL;
	card_queue_make(&waiting, &card, &(struct card_queue_request){.place = 0, .node = 2, .level = 2});
	card_queue_make(&signalling, &card, &(struct card_queue_request){.place = 1, .node = 3, .level = 2});
	watch.sim = card.sim;
	for (uint32_t i = 1; i <= 30; i++) {
		uint32_t passes = 0;

		descriptor = card_waiting_for(&card, 0, &signalling, i);
		card_queue_submit(&waiting, &descriptor);
		for (uint32_t p = 0; p < 40u + i % 7u; p++)
			pass(1, true);
		assert_int_equal(card_queue_completed(&waiting), i - 1u);
		descriptor = card_nothing(&card, i);
		card_queue_submit(&signalling, &descriptor);
		for (; card_queue_completed(&waiting) != i && passes <= PASSES; passes++)
			pass(1, true);
		/* The kick, two slices of nodes with their retirements, and the wake. */
		assert_in_range(passes, 1, CHANNEL_WAIT + 2u * NODE_WAIT + REPORT_WAIT);
	}
	end();
}

/** Every node has submissions all the time: each makes progress within a bounded number of passes. @param failing mask of nodes */
static void expect_progress(uint32_t failing)
{
	struct pb_queue queues[NODES];
	uint32_t waited[NODES] = {0}, completed[NODES] = {0};

	start();
	watch.sim = NULL;
	for (uint32_t n = 0; n < NODES; n++)
		card_queue_make(&queues[n], &card,
				&(struct card_queue_request){.place = n, .node = n, .level = 2});
	watch.sim = card.sim;
	for (uint32_t p = 0; p < PASSES; p++) {
		for (uint32_t n = 0; n < NODES; n++) {
			struct pb_descriptor descriptor = card_nothing(&card, p);
			const uint32_t now = card_queue_completed(&queues[n]);

			if ((failing & 1u << n) != 0)
				descriptor.context = 0;
			waited[n] = now == completed[n] ? waited[n] + 1u : 0;
			completed[n] = now;
			assert_in_range(waited[n], 0, CHANNEL_WAIT + NODE_WAIT);
			if (queues[n].put - now < 3u)
				card_queue_submit(&queues[n], &descriptor);
		}
		card.channel.entry->event_get = card.channel.entry->event_put;
		pass(1, true);
	}
	end();
}

static void each_node_makes_progress_under_a_flood(void **state)
{
	(void)state;
	expect_progress(0);
}

/** A completion that failed is expensive: it keeps those of other nodes waiting, but not for long. */
static void nodes_whose_submissions_fail_do_not_starve_the_others(void **state)
{
	(void)state;
	expect_progress(1);
	expect_progress(3);
	expect_progress(15);
}

/** How many of the queues have completed more than the test knows. */
static uint32_t count_completed(struct pb_queue queues[NODES], uint32_t completed[NODES])
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < NODES; n++) {
		const uint32_t now = card_queue_completed(&queues[n]);

		count += now != completed[n];
		completed[n] = now;
	}
	return count;
}

/**
 * A tick finds failed submissions on all nodes whose interrupts were lost: one node in a pass. What completes on a node
 * behind its turn is not left to the next tick, 500 passes later.
 */
static void a_tick_retires_one_failing_node_in_a_pass(void **state)
{
	static const struct pb_engine_model_defects deaf = {.lose_interrupt = 1};

	(void)state;
	for (uint32_t late = 0; late < 16u; late++) {
		struct pb_queue queues[NODES];
		uint32_t completed[NODES] = {0};
		struct pb_descriptor descriptor;
		uint32_t most = 0;

		start();
		watch.sim = NULL;
		for (uint32_t n = 0; n < NODES; n++) {
			card_queue_make(&queues[n], &card,
					&(struct card_queue_request){.place = n, .node = n, .level = 2});
			pb_engine_model_set_defects(pb_sim_engine(card.sim, n), &deaf);
			descriptor = card_nothing(&card, 1);
			descriptor.context = 0;
			card_queue_submit(&queues[n], &descriptor);
		}
		descriptor = card_busy(&card, 0,
				       5000u - (uint32_t)(pb_sim_now(card.sim) % 5000u) + late * 10u - 100u);
		card_queue_submit(&queues[0], &descriptor);
		watch.sim = card.sim;
		for (uint32_t p = 0; p < 600u; p++) {
			const uint32_t count = count_completed(queues, completed);

			most = count > most ? count : most;
			pass(CLIENTS, false);
		}
		assert_int_equal(most, 1);
		for (uint32_t n = 0; n < NODES; n++)
			assert_int_equal(completed[n], n == 0 ? 2 : 1);
		end();
	}
}

/** Passes until node 1 has completed its submission, which ends about when node 0's faults. @param late of node 1, in microseconds */
static uint32_t passes_beside_fault(uint32_t late)
{
	struct pb_queue faults, other;
	struct pb_descriptor descriptor;
	uint32_t passes = 0;

	start();
	watch.sim = NULL;
	card_queue_make(&faults, &card, &(struct card_queue_request){.place = 0, .level = 2});
	card_queue_make(&other, &card, &(struct card_queue_request){.place = 1, .node = 1, .level = 2});
	/* Right behind a tick. */
	card_run(&card, 5100u - pb_sim_now(card.sim) % 5000u);
	descriptor = card_busy(&card, 0, 500);
	card_dma(&card, 0)[2] = PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS);
	descriptor.dma_end += PB_PACKET_FAULT_WORDS * 4u;
	card_queue_submit(&faults, &descriptor);
	descriptor = card_busy(&card, 1, 400u + late);
	card_queue_submit(&other, &descriptor);
	watch.sim = card.sim;
	for (; card_queue_completed(&other) == 0 && passes <= PASSES; passes++)
		pass(CLIENTS, false);
	end();
	return passes;
}

/** Completions behind an expensive one, whose lines were claimed with it, are retired soon, and not at the next tick. */
static void a_completion_behind_an_expensive_one_is_not_left_to_the_tick(void **state)
{
	(void)state;
	for (uint32_t late = 0; late < 200u; late += 5u)
		assert_in_range(passes_beside_fault(late), 1, 60u + CHANNEL_WAIT + 2u * NODE_WAIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy_channels_are_served_in_rotation),
		cmocka_unit_test(a_command_is_answered_under_a_flood),
		cmocka_unit_test(a_stop_is_reported_beside_stops_without_end),
		cmocka_unit_test(a_wait_ends_under_a_flood),
		cmocka_unit_test(each_node_makes_progress_under_a_flood),
		cmocka_unit_test(nodes_whose_submissions_fail_do_not_starve_the_others),
		cmocka_unit_test(a_tick_retires_one_failing_node_in_a_pass),
		cmocka_unit_test(a_completion_behind_an_expensive_one_is_not_left_to_the_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
