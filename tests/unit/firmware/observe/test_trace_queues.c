/* SPDX-License-Identifier: MIT */
/* Which queue a slot has, in the trace: when a queue comes and goes, and when the command TRACE asks for all. */
#include <string.h>

#include "patchbay/trace.h"
#include "tests/unit/card_queues.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define RECORDS_MAX  8192u
#define MANY         100u
/** Handles are compared by slot: all queues of the simulated card. */
#define SLOTS 4096u

static struct pb_trace_record records[RECORDS_MAX];
static uint32_t count;
static struct pb_trace trace;

static void read_all(void)
{
	uint32_t more;

	count = 0;
	do {
		more = pb_trace_read(&trace, &records[count], RECORDS_MAX - count);
		count += more;
	} while (more != 0);
}

static void start(struct card *card)
{
	card_start(card);
	assert_int_equal(pb_trace_open(&trace, card->link), PB_ERROR_OK);
	read_all();
}

/** A record about a queue, in the order of the trace. */
struct expected {
	uint32_t event, handle, channel, node, priority;
};

/** Expects exactly these among the new records. QUEUE has channel and node only. */
static void expect(const struct expected *expected, uint32_t expected_count)
{
	uint32_t seen = 0;

	read_all();
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t event = PB_TRACE_WHAT_EVENT(records[i].what);
		const uint32_t *arguments = records[i].arguments;

		if (event != PB_TRACE_QUEUE && event != PB_TRACE_HANDLE && event != PB_TRACE_FREE)
			continue;
		assert_true(seen < expected_count);
		assert_int_equal(event, expected[seen].event);
		assert_int_equal(records[i].what >> 16, expected[seen].handle & 0xffffu);
		if (event == PB_TRACE_QUEUE) {
			assert_int_equal(arguments[0], expected[seen].channel);
			assert_int_equal(arguments[1], expected[seen].node);
		} else {
			assert_int_equal(arguments[0], expected[seen].handle);
			assert_int_equal(arguments[1], expected[seen].priority << 16 |
							       expected[seen].node << 8 |
							       expected[seen].channel);
		}
		seen++;
	}
	assert_int_equal(seen, expected_count);
}

static void a_queue_is_named_when_it_comes_and_when_it_goes(void **state)
{
	static const struct card_queue_request requests[] = {
		{0, 1, PB_PRIORITY_HIGH, 0}, {1, 0, PB_PRIORITY_IDLE, 0}, {0, 3, PB_PRIORITY_REALTIME, 0}};
	uint32_t last = 0;
	struct card card;

	(void)state;
	start(&card);
	for (uint32_t i = 0; i < COUNT(requests); i++) {
		const uint32_t channel = card.link->channel, node = requests[i].node;
		const uint32_t priority = requests[i].level;
		struct pb_queue queue;

		card_queue_make(&queue, &card, &requests[i]);
		assert_int_not_equal(queue.handle, last);
		last = queue.handle;
		expect((const struct expected[]){{PB_TRACE_QUEUE, last, channel, node, 0},
						 {PB_TRACE_HANDLE, last, channel, node, priority}},
		       2);
		assert_int_equal(card_queue_close(&queue), PB_ERROR_OK);
		expect((const struct expected[]){{PB_TRACE_FREE, last, channel, node, priority}}, 1);
	}
	card_stop(&card);
}

static void a_channel_that_closes_ends_all_its_queues(void **state)
{
	struct card_client client;
	struct card card;
	uint32_t handle;

	(void)state;
	start(&card);
	card_join_client(&card, &client, 2);
	handle = client.queue.handle;
	expect((const struct expected[]){{PB_TRACE_QUEUE, handle, 2, 0, 0},
					 {PB_TRACE_HANDLE, handle, 2, 0, PB_PRIORITY_NORMAL}},
	       2);
	assert_int_equal(pb_channel_detach(&client.channel), PB_ERROR_OK);
	card_leave(&client.channel);
	expect((const struct expected[]){{PB_TRACE_FREE, handle, 2, 0, PB_PRIORITY_NORMAL}}, 1);
	card_stop(&card);
}

/** HANDLE records of each slot: the last one's handle, and how many. */
struct listed {
	uint32_t handles[SLOTS];
	uint32_t times[SLOTS];
};

/** Collects them for as long as a list of the whole table takes: a slice at each tick of 5 ms. */
static void collect(const struct card *card, struct listed *listed)
{
	memset(listed, 0, sizeof(*listed));
	for (uint32_t ticks = 0; ticks < SLOTS / 8u; ticks++) {
		card->link->ops->wait(card->link, 5000);
		read_all();
		for (uint32_t r = 0; r < count; r++) {
			if (PB_TRACE_WHAT_EVENT(records[r].what) != PB_TRACE_HANDLE)
				continue;
			listed->handles[records[r].what >> 16] = records[r].arguments[0];
			listed->times[records[r].what >> 16]++;
		}
	}
}

/** Each queue of the table is named once, and no other. */
static void expect_listed(const struct listed *listed, const uint32_t *handles, uint32_t handle_count)
{
	static uint32_t open[SLOTS];

	memset(open, 0, sizeof(open));
	for (uint32_t i = 0; i < handle_count; i++)
		open[handles[i] & 0xffffu] = handles[i];
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		assert_int_equal(listed->times[slot], open[slot] != 0);
		assert_int_equal(listed->handles[slot], open[slot]);
	}
}

static void the_command_trace_names_every_queue_of_the_card(void **state)
{
	static struct pb_queue queues[MANY];
	static struct listed listed;
	uint32_t handles[MANY + 2u], left = 0;
	struct pb_channel admin;
	struct card card;

	(void)state;
	start(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	for (uint32_t i = 0; i < 2u; i++)
		handles[left++] = card.queues[i].handle;
	for (uint32_t i = 0; i < MANY; i++)
		card_queue_make(&queues[i], &card, &(struct card_queue_request){i, i % 4u, i % 5u, 0});
	/* Nothing is listed before. */
	read_all();
	collect(&card, &listed);
	expect_listed(&listed, NULL, 0);
	for (uint32_t i = 0; i < MANY; i++) {
		if (i % 3u == 0)
			assert_int_equal(card_queue_close(&queues[i]), PB_ERROR_OK);
		else
			handles[left++] = queues[i].handle;
	}
	read_all();
	assert_int_equal(pb_trace_set(&admin, PB_TRACE_LEVELS_DEFAULT, 0), PB_ERROR_OK);
	collect(&card, &listed);
	expect_listed(&listed, handles, left);
	collect(&card, &listed);
	expect_listed(&listed, NULL, 0);
	card_leave(&admin);
	card_stop(&card);
}

static void queues_come_and_go_in_silence_while_their_category_is_off(void **state)
{
	static const struct card_queue_request request = {0, 0, PB_PRIORITY_NORMAL, 0};
	struct pb_queue queue;
	struct pb_channel admin;
	struct card card;

	(void)state;
	start(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	assert_int_equal(pb_trace_set(&admin, PB_TRACE_LEVELS_DEFAULT & ~0xfu, 0), PB_ERROR_OK);
	read_all();
	/* The last record of the category says that there are no more. */
	assert_int_equal(records[count - 2u].what, PB_TRACE_WHAT(PB_TRACE_LEVELS, PB_TRACE_NONE));
	assert_int_equal(records[count - 2u].arguments[0], 0x111110);
	assert_int_equal(records[count - 2u].arguments[1], 0x111111);
	card_queue_make(&queue, &card, &request);
	assert_int_equal(card_queue_close(&queue), PB_ERROR_OK);
	expect(NULL, 0);
	card_leave(&admin);
	card_stop(&card);
}

UNIT_SUITE(test_trace_queues)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_is_named_when_it_comes_and_when_it_goes),
		cmocka_unit_test(a_channel_that_closes_ends_all_its_queues),
		cmocka_unit_test(the_command_trace_names_every_queue_of_the_card),
		cmocka_unit_test(queues_come_and_go_in_silence_while_their_category_is_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
