/* SPDX-License-Identifier: MIT */
/* As many queues as the card has: chains and cycles of waits, crowds of waiters; and none pays for the others. */
#include "tests/unit/card_queues.h"

#define CARD_QUEUES 4096u
/** Beside the two of the fixture. */
#define ALL  (CARD_QUEUES - 2u)
#define MANY 300u
#define LONG 1000u
/** Microseconds between two ticks. */
#define TICK 5000u
/** Longer than many slices of the search for a cycle. The last queue has PB_PRIORITY_NORMAL: (CYCLE - 1) / 4 % 5. */
#define CYCLE 92u
/** As many as a submission may have: for some ten thousand microseconds its node has a job. */
#define PATCHES 65536u

static struct pb_queue queues[ALL + 1u];
static struct card card;

/** Over all nodes and priorities. */
static void make(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		card_queue_make(&queues[i], &card,
				&(struct card_queue_request){
					.place = i, .node = i % 4, .level = i / 4 % PB_PRIORITIES});
}

static void start(uint32_t count)
{
	card_start(&card);
	make(count);
}

static void wait_for(uint32_t waiter, uint32_t target, uint64_t value)
{
	const struct pb_descriptor descriptor =
		card_waiting_for(&card, waiter % CARD_WAIT_LISTS, &queues[target], value);

	card_queue_submit(&queues[waiter], &descriptor);
}

static void signal_next(uint32_t q)
{
	const struct pb_descriptor descriptor = card_nothing(&card, q);

	card_queue_submit(&queues[q], &descriptor);
}

/** Queues of channel 1. */
static uint32_t queues_open(void)
{
	uint32_t results[PB_REPLY_RESULTS];

	card_query(&card.channel, PB_QUERY_CHANNEL, 1, results);
	return results[3];
}

/* ---- all of them ---- */

/** One submission on each, all at once; more than the kick ring has room for. */
static void use_all(uint32_t completed)
{
	for (uint32_t i = 0; i < ALL; i++)
		signal_next(i);
	for (uint32_t i = 0; i < ALL; i++) {
		const struct pb_fence fence = card_wait_queue(&card, &queues[i], completed);

		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_int_equal(fence.fence_id, i);
	}
}

static void every_queue_is_made_used_destroyed_and_made_again(void **state)
{
	const struct card_queue_request one_more = {.place = ALL};

	(void)state;
	card_start(&card);
	for (uint32_t round = 0; round < 2; round++) {
		make(ALL);
		assert_int_equal(card_queue_open(&queues[ALL], &card.channel, &card.segments[0], &one_more),
				 PB_ERROR_NO_SPACE);
		assert_int_equal(queues_open(), CARD_QUEUES);
		use_all(1);
		use_all(2);
		for (uint32_t i = 0; i < ALL; i++) /* in another order than made */
			assert_int_equal(card_queue_close(&queues[i * 5u % ALL]), PB_ERROR_OK);
		assert_int_equal(queues_open(), 2);
	}
	card_expect_no_event(&card.channel, "all");
	card_stop(&card);
}

/** Passes of the main loop from a doorbell to the completion. */
static uint32_t cost_of_one(void)
{
	const struct pb_boot_block *boot = (const void *)(card.link->memory + PB_BOOT_OFFSET);
	const struct pb_descriptor descriptor = card_nothing(&card, 0);
	uint32_t before;

	card_run(&card,
		 25000u + TICK / 2u - (uint32_t)(pb_sim_now(card.sim) % TICK)); /* until between two ticks */
	before = boot->heartbeat;
	card_execute(&card, 0, &descriptor);
	return boot->heartbeat - before;
}

/** A doorbell and a pick take as many passes as with two queues, whether the others are idle or wait. */
static void other_queues_cost_nothing(void **state)
{
	uint32_t alone;

	(void)state;
	card_start(&card);
	alone = cost_of_one();
	make(ALL);
	assert_int_equal(cost_of_one(), alone);
	for (uint32_t i = 4; i < ALL; i++)
		wait_for(i, 0, 1); /* which never signals */
	card_run(&card, 500000);
	assert_int_equal(card_why(&queues[ALL - 1u]), PB_WHY_WAITING);
	assert_int_equal(cost_of_one(), alone);
	card_stop(&card);
}

/* ---- waits ---- */

/** Each queue waits for what comes behind the wait of the next. The last to wait closes the cycle. */
static void the_wait_that_closes_a_cycle_of_any_length_fails(void **state)
{
	static const uint32_t counts[] = {2, 3, 4, 23, 24, 25, 50, LONG};

	(void)state;
	for (uint32_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		const uint32_t count = counts[c];

		start(count);
		for (uint32_t i = 0; i < count; i++) {
			wait_for(i, (i + 1) % count, 1);
			/* The next may wait already, so that the search starts anywhere. */
			card_run(&card, i + 2 >= count ? 50000 : 0);
			assert_int_equal(card_queue_completed(&queues[i]), i + 1 == count);
		}
		for (uint32_t i = 0; i < count; i++)
			signal_next(i);
		card_run(&card, 20000 + 100 * count);
		for (uint32_t i = 0; i < count; i++) {
			const struct pb_fence fence = card_wait_queue(&card, &queues[i], 2);

			card_equal("first", fence.error,
				   i == count - 1 ? PB_ERROR_DEADLOCK : PB_ERROR_DEP_FAILED);
			card_equal("errors", fence.errors, 1);
			card_equal("behind it", fence.status, PB_ERROR_OK);
		}
		card_stop(&card);
	}
}

/** While the cycle is searched for, two other nodes have begun to patch, at the priority of the queue that closes it. */
static void a_cycle_that_is_found_while_no_job_is_free_fails_later(void **state)
{
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
						.patch_offset = 4};
	struct pb_descriptor closing, waiting, patched;

	(void)state;
	start(CYCLE);
	for (uint32_t i = 0; i < CYCLE - 1; i++)
		wait_for(i, i + 1, 1);
	card_run(&card, 50000);
	for (uint32_t i = 0; i < 3; i++)
		closing = card_mark(&card, i, i);
	for (uint32_t i = 0; i < PATCHES; i++)
		card_patch(&card, i, &patch);
	waiting = card_waiting_for(&card, CYCLE, &queues[0], 1);
	closing.wait_address_low = waiting.wait_address_low;
	closing.wait_count = 1;
	card_queue_submit(&queues[CYCLE - 1], &closing);
	for (uint32_t node = 0; node < 2; node++) {
		patched = card_descriptor(&card, node, PB_PACKET_FILL_WORDS * 4u, 1, PATCHES);
		card_submit(&card, node, &patched);
	}
	card_run(&card, 200);
	assert_int_equal(card_queue_completed(&queues[CYCLE - 1]), 0);
	for (uint32_t i = 0; i < CYCLE; i++)
		card_equal("in the cycle", card_wait_queue(&card, &queues[i], 1).status,
			   i == CYCLE - 1 ? PB_ERROR_DEADLOCK : PB_ERROR_DEP_FAILED);
	card_stop(&card);
}

/** Begun from either end, or in the middle. */
static void a_chain_of_a_thousand_waits_ends_with_one_signal(void **state)
{
	static const uint32_t steps[] = {1, LONG - 1, 7};

	(void)state;
	for (uint32_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		start(LONG);
		for (uint32_t n = 0; n < LONG; n++) {
			const uint32_t i = n * steps[s] % LONG;

			if (i != LONG - 1)
				wait_for(i, i + 1, 1);
		}
		card_run(&card, 100000);
		for (uint32_t i = 0; i < LONG; i++)
			assert_int_equal(card_queue_completed(&queues[i]), 0);
		signal_next(LONG - 1);
		card_run(&card, 300000);
		for (uint32_t i = 0; i < LONG; i++)
			card_equal("in the chain", card_wait_queue(&card, &queues[i], 1).status, PB_ERROR_OK);
		card_expect_no_event(&card.channel, "chain");
		card_stop(&card);
	}
}

static void all_waiters_of_one_queue_run_at_their_value_and_not_before(void **state)
{
	(void)state;
	start(MANY);
	for (uint32_t i = 1; i < MANY; i++)
		wait_for(i, 0, 1 + i % 3);
	card_run(&card, 20000);
	for (uint32_t value = 1; value <= 3; value++) {
		signal_next(0);
		card_run(&card, 30000);
		for (uint32_t i = 1; i < MANY; i++) {
			struct pb_fence fence;

			assert_int_equal(pb_queue_fence(&queues[i], &fence), PB_ERROR_OK);
			assert_int_equal(fence.completed, 1 + i % 3 <= value);
			assert_int_equal(fence.status, PB_ERROR_OK);
		}
	}
	card_stop(&card);
}

static void as_many_signallers_as_waiters_wake_them_all(void **state)
{
	(void)state;
	start(MANY);
	for (uint32_t i = 0; i < MANY; i += 2)
		wait_for(i, i + 1, 1);
	card_run(&card, 20000);
	for (uint32_t i = 0; i < MANY; i += 2)
		assert_int_equal(card_queue_completed(&queues[i]), 0);
	for (uint32_t i = 1; i < MANY; i += 2)
		signal_next(i);
	card_run(&card, 60000);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(card_wait_queue(&card, &queues[i], 1).status, PB_ERROR_OK);
	card_stop(&card);
}

/** Whichever queue is closed first: no slot is lost. */
static void a_channel_closes_with_queues_that_wait_for_each_other(void **state)
{
	struct pb_channel admin;
	uint32_t results[PB_REPLY_RESULTS];

	(void)state;
	start(64);
	for (uint32_t i = 0; i < 64; i++)
		wait_for(i, i % 2 == 0 ? i + 1 : i * 7 % 64 & ~1u, i % 2 == 0 ? 5 : 100);
	card_run(&card, 5000);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_CLOSE, 1, 0, 0, 0, 0), PB_ERROR_OK);
	card_query(&admin, PB_QUERY_CHANNEL, 1, results);
	for (uint32_t i = 3; i < 7; i++)
		assert_int_equal(results[i], 0);
	card_leave(&admin);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_crowd)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_queue_is_made_used_destroyed_and_made_again),
		cmocka_unit_test(other_queues_cost_nothing),
		cmocka_unit_test(the_wait_that_closes_a_cycle_of_any_length_fails),
		cmocka_unit_test(a_cycle_that_is_found_while_no_job_is_free_fails_later),
		cmocka_unit_test(a_chain_of_a_thousand_waits_ends_with_one_signal),
		cmocka_unit_test(all_waiters_of_one_queue_run_at_their_value_and_not_before),
		cmocka_unit_test(as_many_signallers_as_waiters_wake_them_all),
		cmocka_unit_test(a_channel_closes_with_queues_that_wait_for_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
