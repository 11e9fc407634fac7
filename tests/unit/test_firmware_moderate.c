/* SPDX-License-Identifier: MIT */
/* MODERATE: when completions interrupt the host, and what does so at once. */
#include <string.h>

#include "tests/unit/card_queues.h"

#define TICK_MICROSECONDS 5000u
#define NEVER             1000000u
/** Long enough for a submission to complete, far from a tick. */
#define SOON 1000u

static void moderate(const struct card *card, struct pb_channel *channel, uint32_t count,
		     uint32_t microseconds)
{
	assert_int_equal(card_command(channel, PB_COMMAND_MODERATE, count, microseconds, 0, 0, 0),
			 PB_ERROR_OK);
	(void)pb_sim_interrupt_take(card->sim, channel->link->channel);
}

/** Submits, and waits until it has completed. @return whether that interrupted the channel */
static bool complete(struct card *card, uint32_t node, const struct pb_descriptor *descriptor)
{
	card_submit(card, node, descriptor);
	card_wait(card, node, card->queues[node].put);
	return pb_sim_interrupt_take(card->sim, 1);
}

/** Time until the channel is interrupted. */
static uint64_t time_to_interrupt(const struct card *card)
{
	const uint64_t start = pb_sim_now(card->sim);

	while (!pb_sim_interrupt_take(card->sim, 1)) {
		assert_true(pb_sim_now(card->sim) - start < NEVER);
		pb_sim_step(card->sim);
	}
	return pb_sim_now(card->sim) - start;
}

static void each_one_unless_asked(void **state)
{
	static const uint32_t counts[] = {0, 1};
	struct card card;
	struct pb_descriptor nothing;

	(void)state;
	card_start(&card);
	nothing = card_nothing(&card, 0);
	(void)pb_sim_interrupt_take(card.sim, 1);
	assert_true(complete(&card, 0, &nothing));
	for (uint32_t i = 0; i < 2; i++) {
		moderate(&card, &card.channel, counts[i], NEVER);
		for (uint32_t n = 0; n < 3; n++)
			assert_true(complete(&card, 0, &nothing));
	}
	card_stop(&card);
}

/** So many gather, of all queues of the channel together. */
static void by_count(void **state)
{
	static const uint32_t counts[] = {2, 3, 7};
	struct card card;
	struct pb_descriptor nothing;

	(void)state;
	card_start(&card);
	nothing = card_nothing(&card, 0);
	for (uint32_t i = 0; i < 3; i++) {
		moderate(&card, &card.channel, counts[i], NEVER);
		for (uint32_t n = 1; n <= 3 * counts[i]; n++)
			assert_int_equal(complete(&card, n % 2, &nothing), n % counts[i] == 0);
		card_run(&card, 4 * TICK_MICROSECONDS);
		assert_false(pb_sim_interrupt_take(card.sim, 1));
	}
	card_stop(&card);
}

/** The first one is old enough: at the tick after that, and no earlier. */
static void by_time(void **state)
{
	static const uint32_t times[] = {2, 5000, 20000, 50001};
	struct card card;
	struct pb_descriptor nothing;

	(void)state;
	card_start(&card);
	nothing = card_nothing(&card, 0);
	for (uint32_t i = 0; i < 4; i++) {
		moderate(&card, &card.channel, 100, times[i]);
		for (uint32_t round = 0; round < 3; round++) {
			/* Within a tick of now, wherever that is. */
			card_run(&card, 1230 * round);
			assert_false(complete(&card, 0, &nothing));
			assert_in_range(time_to_interrupt(&card) + SOON, times[i],
					times[i] + TICK_MICROSECONDS + 2 * SOON);
			card_run(&card, 3 * TICK_MICROSECONDS);
			assert_false(pb_sim_interrupt_take(card.sim, 1)); /* once */
		}
	}
	card_stop(&card);
}

/** The time counts from the first of them. */
static void by_time_of_the_first(void **state)
{
	struct card card;
	struct pb_descriptor nothing;
	uint64_t start;

	(void)state;
	card_start(&card);
	nothing = card_nothing(&card, 0);
	moderate(&card, &card.channel, 100, 30000);
	start = pb_sim_now(card.sim);
	for (uint32_t i = 0; i < 4; i++) {
		assert_false(complete(&card, 0, &nothing));
		card_run(&card, 3000);
	}
	time_to_interrupt(&card);
	assert_in_range(pb_sim_now(card.sim) - start, 30000, 30000 + TICK_MICROSECONDS + 2 * SOON);
	card_stop(&card);
}

/** Failures and replies interrupt at once; the count of what was held back goes on. */
static void what_is_not_moderated(void **state)
{
	struct card card;
	struct pb_descriptor nothing, bad;

	(void)state;
	card_start(&card);
	nothing = card_nothing(&card, 0);
	bad = nothing;
	bad.options = 2;
	moderate(&card, &card.channel, 100, NEVER);
	assert_false(complete(&card, 0, &nothing));
	assert_true(complete(&card, 0, &bad));
	assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	card_run(&card, 2 * TICK_MICROSECONDS);
	(void)pb_sim_interrupt_take(card.sim, 1);
	assert_false(complete(&card, 0, &nothing));
	assert_int_equal(card_command(&card.channel, PB_COMMAND_PING, 0, 0, 0, 0, 0), PB_ERROR_OK);
	card_stop(&card);
}

/** One channel's wish is not another's, nor that of who attaches next. */
static void of_one_channel_once(void **state)
{
	struct card card;
	struct card_client other;
	struct pb_descriptor nothing;

	(void)state;
	card_start(&card);
	card_join_client(&card, &other, 2);
	moderate(&card, &other.channel, 100, NEVER);
	nothing = card_nothing(&card, 0);
	assert_true(complete(&card, 0, &nothing));
	nothing.context = other.context;
	card_queue_submit(&other.queue, &nothing);
	card_wait_queue(&card, &other.queue, 1);
	assert_false(pb_sim_interrupt_take(card.sim, 2));
	card_leave(&other.channel);
	moderate(&card, &card.channel, 100, NEVER);
	assert_int_equal(pb_channel_attach(&card.channel, card.link, NEVER), PB_ERROR_OK);
	card_make_segments(&card.channel, card.segments);
	assert_int_equal(pb_context_create(&card.channel, &card.context), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&card.queues[0], &card.channel, &card.segments[0], 0, 8),
			 PB_ERROR_OK);
	(void)pb_sim_interrupt_take(card.sim, 1);
	nothing = card_nothing(&card, 0);
	assert_true(complete(&card, 0, &nothing));
	card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_one_unless_asked),
		cmocka_unit_test(by_count),
		cmocka_unit_test(by_time),
		cmocka_unit_test(by_time_of_the_first),
		cmocka_unit_test(what_is_not_moderated),
		cmocka_unit_test(of_one_channel_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
