/* SPDX-License-Identifier: MIT */
/* Whose turn it is on a node: levels, shares of channels, turns of queues, depth and modes. */
#include <string.h>

#include "tests/unit/card_queues.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define CLIENTS      3u
#define LONG_RUN_US  2000000u

static struct pb_channel admin;

static void start(struct card *card)
{
	card_start(card);
	card_join(card, &admin, PB_CHANNEL_ADMIN);
}

static void stop(struct card *card)
{
	card_leave(&admin);
	card_stop(card);
}

/** While the card is suspended, work gathers: then all queues are ready at once. */
static void hold(bool held)
{
	assert_int_equal(card_command(&admin, held ? PB_COMMAND_SUSPEND : PB_COMMAND_RESUME, 0, 0, 0, 0, 0),
			 PB_ERROR_OK);
}

/** Which queue completed one after the other, until all have completed what they were given. */
static void record_order(const struct card *card, struct pb_queue *queues, uint32_t count, uint8_t *order,
			 uint32_t total)
{
	uint32_t seen = 0, before[8] = {0};

	assert_true(count <= COUNT(before));
	while (seen < total) {
		pb_sim_step(card->sim);
		for (uint32_t q = 0; q < count; q++) {
			uint32_t completed;

			assert_int_equal(pb_queue_completed(&queues[q], &completed), PB_ERROR_OK);
			assert_in_range(completed - before[q], 0, 1);
			if (completed != before[q])
				order[seen++] = (uint8_t)q;
			before[q] = completed;
		}
	}
}

/* ---- levels ---- */

static void more_urgent_goes_first(void **state)
{
	struct pb_queue queues[PB_PRIORITIES];
	uint8_t order[4 * PB_PRIORITIES];
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	start(&card);
	hold(true);
	descriptor = card_busy(&card, 0, 100);
	for (uint32_t i = 0; i < PB_PRIORITIES; i++) {
		/* In no order of levels. */
		const uint32_t level = i * 3u % PB_PRIORITIES;

		card_queue_make(&queues[level], &card,
				&(struct card_queue_request){.place = level, .level = level});
		for (uint32_t n = 0; n < 4; n++)
			card_queue_submit(&queues[level], &descriptor);
	}
	card_run(&card, 1000);
	hold(false);
	record_order(&card, queues, PB_PRIORITIES, order, COUNT(order));
	for (uint32_t i = 0; i < COUNT(order); i++)
		card_equal("level", order[i], PB_PRIORITIES - 1u - i / 4u);
	stop(&card);
}

/** After 32 of a more urgent level a less urgent one has one, each time. */
static void one_after_thirty_two(void **state)
{
	struct pb_queue *urgent, low;
	struct card card;
	struct pb_descriptor descriptor;
	uint32_t fed = 0, lows[4], count = 0;

	(void)state;
	start(&card);
	urgent = &card.queues[0];
	hold(true);
	descriptor = card_busy(&card, 0, 100);
	card_queue_make(&low, &card, &(struct card_queue_request){.level = PB_PRIORITY_LOW});
	assert_int_equal(pb_queue_destroy(urgent), PB_ERROR_OK);
	card_queue_make(urgent, &card, &(struct card_queue_request){.place = 1, .level = PB_PRIORITY_HIGH});
	for (uint32_t n = 0; n < 4; n++) {
		card_queue_submit(&low, &descriptor);
		card_queue_submit(urgent, &descriptor);
	}
	card_run(&card, 1000);
	hold(false);
	while (count < 4) {
		uint32_t completed;

		pb_sim_step(card.sim);
		if (pb_queue_submit(urgent, &descriptor) == PB_ERROR_OK)
			fed++;
		assert_int_equal(pb_queue_completed(&low, &completed), PB_ERROR_OK);
		if (completed == count)
			continue;
		assert_int_equal(pb_queue_completed(urgent, &lows[count]), PB_ERROR_OK);
		count = completed;
	}
	for (uint32_t i = 0; i < 4; i++)
		card_equal("urgent before", lows[i], 32u * (i + 1u));
	assert_true(fed >= 124);
	stop(&card);
}

/** The same when the more urgent queue never runs out of work, so that its turn would not end. */
static void one_after_thirty_two_at_once(void **state)
{
	struct pb_queue urgent, low;
	struct card card;
	struct pb_descriptor descriptor;
	uint32_t completed, before;

	(void)state;
	start(&card);
	hold(true);
	descriptor = card_busy(&card, 0, 100);
	/* Far from where the library's allocator puts the other one. */
	card_queue_make(&low, &card, &(struct card_queue_request){.place = 1000, .level = PB_PRIORITY_LOW});
	assert_int_equal(pb_queue_create(&urgent, &card.channel, &card.segments[0], 0, 64), PB_ERROR_OK);
	card_queue_submit(&low, &descriptor);
	for (uint32_t n = 0; n < 60; n++)
		card_queue_submit(&urgent, &descriptor);
	card_run(&card, 1000);
	hold(false);
	do {
		pb_sim_step(card.sim);
		assert_int_equal(pb_queue_completed(&low, &completed), PB_ERROR_OK);
	} while (completed == 0);
	assert_int_equal(pb_queue_completed(&urgent, &before), PB_ERROR_OK);
	assert_int_equal(before, 32);
	stop(&card);
}

#define TURNS_URGENT 8u
#define TURNS_EACH   15u

/** Which of two queues of one level completed one after the other, behind so many of a more urgent one. */
static void record_turns(uint32_t urgent_count, uint8_t order[2u * TURNS_EACH])
{
	struct pb_queue urgent[TURNS_URGENT], queues[2];
	struct card card;
	struct pb_descriptor descriptor;

	start(&card);
	hold(true);
	descriptor = card_busy(&card, 0, 2000); /* of a turn of 5000 */
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(pb_queue_create(&queues[i], &card.channel, &card.segments[0], 0, 16),
				 PB_ERROR_OK);
		for (uint32_t n = 0; n < TURNS_EACH; n++)
			card_queue_submit(&queues[i], &descriptor);
	}
	descriptor = card_busy(&card, 1, 10);
	for (uint32_t i = 0; i < TURNS_URGENT; i++)
		card_queue_make(&urgent[i], &card,
				&(struct card_queue_request){.place = 1000u + i, .level = PB_PRIORITY_HIGH});
	for (uint32_t n = 0; n < urgent_count; n++)
		card_queue_submit(&urgent[n % TURNS_URGENT], &descriptor);
	card_run(&card, 1000);
	hold(false);
	record_order(&card, queues, 2, order, 2u * TURNS_EACH);
	for (uint32_t i = 0; i < TURNS_URGENT; i++)
		assert_int_equal(card_queue_completed(&urgent[i]),
				 urgent_count / TURNS_URGENT + (i < urgent_count % TURNS_URGENT));
	stop(&card);
}

/**
 * Those of a level take turns as ever when it was passed by as often as it may be, and that was the last urgent work:
 * each has its turn until three have used up its quantum, when two more are prepared or in flight.
 */
static void turns_behind_thirty_two(void **state)
{
	static const uint32_t counts[] = {0, 31, 32};

	(void)state;
	for (uint32_t i = 0; i < COUNT(counts); i++) {
		uint8_t order[2u * TURNS_EACH];

		record_turns(counts[i], order);
		for (uint32_t n = 0; n < COUNT(order); n++)
			card_equal("whose turn", order[n], n / 5u % 2u);
	}
}

/* ---- shares ---- */

struct client {
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_queue queues[3];
	struct pb_descriptor descriptor;
	uint32_t count;
};

/** A channel of its own weight, with queues of the given quanta on node 0. */
static void join(const struct card *card, struct client *client, uint32_t number, uint32_t weight,
		 const uint32_t *quanta, uint32_t count, uint32_t microseconds)
{
	const struct pb_segment_request request = {0, CARD_SYSTEM_OS, CARD_SYSTEM_GPU, 0x40000, 0x40000, 0};
	uint32_t *words;
	uint32_t context;

	if (number != 1)
		card_join(card, &client->channel, number);
	assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_GRANT, number, 0, weight, 4, 0),
			 PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&client->system, &client->channel, &request), PB_ERROR_OK);
	assert_int_equal(pb_context_create(&client->channel, &context), PB_ERROR_OK);
	words = (uint32_t *)(void *)(card->link->memory + client->system.memory_offset + 0x1000);
	words[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	words[1] = microseconds;
	client->descriptor = (struct pb_descriptor){.context = context,
						    .dma_address_low = (uint32_t)CARD_SYSTEM_OS + 0x1000,
						    .dma_size = 4096,
						    .dma_end = 8};
	client->count = count;
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(card_queue_open(&client->queues[i], &client->channel, &client->system,
						 &(struct card_queue_request){.place = i,
									      .level = PB_PRIORITY_NORMAL,
									      .quantum = quanta[i]}),
				 PB_ERROR_OK);
}

static void keep_busy(struct client *client)
{
	for (uint32_t i = 0; i < client->count; i++) {
		while (pb_queue_submit(&client->queues[i], &client->descriptor) == PB_ERROR_OK)
			continue;
	}
}

/** Completed by each queue of a client in a long run with all of them busy. */
static void run_long(const struct card *card, struct client *clients, uint32_t count)
{
	const uint64_t end = pb_sim_now(card->sim) + LONG_RUN_US;

	while (pb_sim_now(card->sim) < end) {
		for (uint32_t c = 0; c < count; c++)
			keep_busy(&clients[c]);
		pb_sim_step(card->sim);
	}
}

static void expect_share(uint32_t part, uint32_t whole, uint32_t weight, uint32_t weights)
{
	/* Within a tenth of what it should be. */
	assert_in_range(part * weights * 10u, whole * weight * 9u, whole * weight * 11u);
}

/** Engine time of channels is as their weights, whatever the number of their queues and the size of their work. */
static void shares_by_weight(void **state)
{
	static const uint32_t quanta[3] = {0, 0, 0};
	static const struct {
		uint32_t weight[CLIENTS];
		uint32_t queues[CLIENTS];
		uint32_t microseconds[CLIENTS];
	} rows[] = {
		{{1, 1, 1}, {1, 1, 1}, {500, 500, 500}},
		{{1, 2, 4}, {1, 1, 1}, {500, 500, 500}},
		{{4, 2, 1}, {1, 2, 3}, {500, 500, 500}},
		{{3, 1, 2}, {3, 3, 1}, {2000, 200, 700}},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct client clients[CLIENTS];
		uint32_t time[CLIENTS] = {0}, total = 0, weights = 0;
		struct card card;

		card_attach(&card);
		card_join(&card, &admin, PB_CHANNEL_ADMIN);
		clients[0].channel = card.channel;
		for (uint32_t c = 0; c < CLIENTS; c++) {
			join(&card, &clients[c], c + 1, rows[i].weight[c], quanta, rows[i].queues[c],
			     rows[i].microseconds[c]);
			weights += rows[i].weight[c];
		}
		run_long(&card, clients, CLIENTS);
		for (uint32_t c = 0; c < CLIENTS; c++) {
			for (uint32_t q = 0; q < rows[i].queues[c]; q++)
				time[c] +=
					card_queue_completed(&clients[c].queues[q]) * rows[i].microseconds[c];
			total += time[c];
		}
		/* The engine was not idle, either. */
		assert_in_range(total, LONG_RUN_US / 10u * 9u, LONG_RUN_US);
		for (uint32_t c = 0; c < CLIENTS; c++)
			expect_share(time[c] / 100u, total / 100u, rows[i].weight[c], weights);
		for (uint32_t c = 1; c < CLIENTS; c++)
			card_leave(&clients[c].channel);
		stop(&card);
	}
}

/** Queues of a channel take turns; those of one quantum have equal shares. */
static void queues_of_a_channel_take_turns(void **state)
{
	static const uint32_t quanta[3] = {2000, 2000, 2000};
	struct client client;
	uint32_t total = 0;
	struct card card;

	(void)state;
	card_attach(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	client.channel = card.channel;
	join(&card, &client, 1, 1, quanta, 3, 500);
	run_long(&card, &client, 1);
	for (uint32_t q = 0; q < 3; q++)
		total += card_queue_completed(&client.queues[q]);
	for (uint32_t q = 0; q < 3; q++)
		expect_share(card_queue_completed(&client.queues[q]), total, 1, 3);
	stop(&card);
}

/* ---- caps, modes, depth ---- */

static void priority_cap(void **state)
{
	struct card card;

	(void)state;
	start(&card);
	for (uint32_t cap = 0; cap < PB_PRIORITIES; cap++) {
		assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_GRANT, 1, 0, 1, cap, 0),
				 PB_ERROR_OK);
		for (uint32_t level = 0; level < PB_PRIORITIES; level++) {
			struct pb_queue queue;

			card_equal(
				"level",
				card_queue_open(&queue, &card.channel, &card.segments[0],
						&(struct card_queue_request){.place = level, .level = level}),
				level > cap ? PB_ERROR_NO_PERMISSION : PB_ERROR_OK);
			if (level <= cap)
				assert_int_equal(card_queue_close(&queue), PB_ERROR_OK);
		}
	}
	stop(&card);
}

static enum pb_error node_set(uint32_t node, uint32_t mode, uint32_t depth, uint32_t hang, uint32_t answer)
{
	return card_command(&admin, PB_COMMAND_NODE_SET, node, mode, depth, hang, answer);
}

static void host_ordered_node(void **state)
{
	struct card card;
	struct pb_queue first, second;
	struct pb_descriptor descriptor;
	const struct card_queue_request request = {.place = 1, .node = 2, .level = PB_PRIORITY_LOW};
	const struct card_queue_request again = {.place = 2, .node = 2, .level = PB_PRIORITY_HIGH};

	(void)state;
	start(&card);
	/* Not while it has a queue. */
	assert_int_equal(node_set(0, PB_NODE_HOST_ORDERED, 0, 0, 0), PB_ERROR_BUSY);
	assert_int_equal(node_set(0, PB_NODE_SCHEDULED, 0, 0, 0), PB_ERROR_OK);
	assert_int_equal(node_set(2, PB_NODE_HOST_ORDERED, 0, 0, 0), PB_ERROR_OK);
	card_queue_make(&first, &card, &request);
	assert_int_equal(card_queue_open(&second, &card.channel, &card.segments[0], &again),
			 PB_ERROR_NO_SPACE);
	descriptor = card_nothing(&card, 0);
	card_queue_submit(&first, &descriptor);
	card_wait_queue(&card, &first, 1);
	assert_int_equal(node_set(2, PB_NODE_SCHEDULED, 0, 0, 0), PB_ERROR_BUSY);
	assert_int_equal(card_queue_close(&first), PB_ERROR_OK);
	card_queue_make(&second, &card, &again);
	assert_int_equal(card_queue_close(&second), PB_ERROR_OK);
	assert_int_equal(node_set(2, PB_NODE_SCHEDULED, 0, 0, 0), PB_ERROR_OK);
	card_queue_make(&first, &card, &request);
	card_queue_make(&second, &card, &again);
	stop(&card);
}

static uint32_t deepest(const struct card *card)
{
	return card->channel.card.capabilities[PB_CAPABILITY_IN_FLIGHT];
}

static void every_node_set(void **state)
{
	static const struct {
		uint32_t arguments[5];
		uint32_t deeper; /* added to the depth, with the deepest that there is */
		enum pb_error error;
	} rows[] = {
		{{3, 0, 0, 1, 1}, 0, PB_ERROR_OK},
		{{3, 0, 1, -1u, -1u}, 0, PB_ERROR_OK},
		{{0, 0, 0, 0, 0}, 0, PB_ERROR_OK},
		{{4, 0, 1, 1, 1}, 0, PB_ERROR_BAD_ARGUMENT},
		{{-1u, 0, 1, 1, 1}, 0, PB_ERROR_BAD_ARGUMENT},
		{{0, 2, 1, 1, 1}, 0, PB_ERROR_BAD_ARGUMENT},
		{{0, -1u, 1, 1, 1}, 0, PB_ERROR_BAD_ARGUMENT},
		{{0, 0, 1, 1, 1}, 1, PB_ERROR_BAD_ARGUMENT},
		{{0, 0, -1u, 1, 1}, 0, PB_ERROR_BAD_ARGUMENT},
	};
	struct card card;

	(void)state;
	start(&card);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const uint32_t *a = rows[i].arguments;
		const uint32_t in_flight = rows[i].deeper != 0 ? deepest(&card) + rows[i].deeper : a[2];

		card_equal("node set", node_set(a[0], a[1], in_flight, a[3], a[4]), rows[i].error);
	}
	stop(&card);
}

/** As many are fed and not retired as NODE_SET says, and 0 leaves it as it is. */
static void depth(void **state)
{
	uint32_t results[PB_REPLY_RESULTS], completed = 0;
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	start(&card);
	assert_in_range(deepest(&card), 2, 4);
	descriptor = card_busy(&card, 0, 2000);
	for (uint32_t i = 0; i <= 2 * deepest(&card); i++) {
		const uint32_t expected = i == 0 ? 2 : (i + 1) / 2; /* twice each: set, and left */

		assert_int_equal(node_set(0, PB_NODE_SCHEDULED, i % 2 != 0 ? expected : 0, 0, 0),
				 PB_ERROR_OK);
		for (uint32_t n = 0; n < 8; n++)
			card_submit(&card, 0, &descriptor);
		card_run(&card, 1000);
		card_query(&card.channel, PB_QUERY_NODE, 0, results);
		card_equal("depth", results[2], expected);
		card_equal("in flight", results[3], expected);
		card_wait(&card, 0, completed += 8);
	}
	stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_urgent_goes_first),
		cmocka_unit_test(one_after_thirty_two),
		cmocka_unit_test(one_after_thirty_two_at_once),
		cmocka_unit_test(turns_behind_thirty_two),
		cmocka_unit_test(shares_by_weight),
		cmocka_unit_test(queues_of_a_channel_take_turns),
		cmocka_unit_test(priority_cap),
		cmocka_unit_test(host_ordered_node),
		cmocka_unit_test(every_node_set),
		cmocka_unit_test(depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
