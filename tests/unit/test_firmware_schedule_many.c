/* SPDX-License-Identifier: MIT */
/* As many queues as the card has: all of them work, again and again, and nobody pays for those of others. */
#include <string.h>

#include "tests/unit/card_queues.h"

#define CARD_QUEUES 4096u
/** Beside the two of the fixture. */
#define QUEUES (CARD_QUEUES - 2u)

static struct pb_queue queues[QUEUES + 1u];

static void make_all(struct card *card)
{
	for (uint32_t i = 0; i < QUEUES; i++)
		card_queue_make(&queues[i], card,
				&(struct card_queue_request){
					.place = i, .node = i % 4, .level = i / 4 % PB_PRIORITIES});
}

/** One submission on each, all at once; more than the kick ring has room for. */
static void use_all(struct card *card, uint32_t completed)
{
	for (uint32_t i = 0; i < QUEUES; i++) {
		const struct pb_descriptor descriptor = card_nothing(card, i);

		card_queue_submit(&queues[i], &descriptor);
	}
	for (uint32_t i = 0; i < QUEUES; i++) {
		const struct pb_fence fence = card_wait_queue(card, &queues[i], completed);

		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_int_equal(fence.fence_id, i);
	}
}

static void made_used_destroyed_and_made_again(void **state)
{
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t round = 0; round < 2; round++) {
		uint32_t results[PB_REPLY_RESULTS];

		make_all(&card);
		assert_int_equal(card_queue_open(&queues[QUEUES], &card.channel, &card.segments[0],
						 &(struct card_queue_request){.place = QUEUES}),
				 PB_ERROR_NO_SPACE);
		card_query(&card.channel, PB_QUERY_CHANNEL, 1, results);
		assert_int_equal(results[3], CARD_QUEUES);
		use_all(&card, 1);
		use_all(&card, 2);
		for (uint32_t i = 0; i < QUEUES; i++) /* in another order than made */
			assert_int_equal(card_queue_close(&queues[i * 5u % QUEUES]), PB_ERROR_OK);
		card_query(&card.channel, PB_QUERY_CHANNEL, 1, results);
		assert_int_equal(results[3], 2);
	}
	card_expect_no_event(&card.channel, "many");
	card_stop(&card);
}

/** Passes of the main loop from a doorbell to the completion. */
static uint32_t cost_of_one(struct card *card)
{
	const struct pb_boot_block *boot = (const void *)(card->link->memory + PB_BOOT_OFFSET);
	const struct pb_descriptor descriptor = card_nothing(card, 0);
	uint32_t before;

	card_run(card, 20000);
	before = boot->heartbeat;
	card_execute(card, 0, &descriptor);
	return boot->heartbeat - before;
}

/** However many queues there are, a doorbell and a pick take as many passes as with two. */
static void others_cost_nothing(void **state)
{
	struct card card;
	uint32_t alone;

	(void)state;
	card_start(&card);
	alone = cost_of_one(&card);
	make_all(&card);
	assert_int_equal(cost_of_one(&card), alone);
	card_stop(&card);
}

/** Nor does it matter how many of them wait, on whatever level or node. */
static void waiting_ones_cost_nothing(void **state)
{
	struct card card;
	uint32_t alone;

	(void)state;
	card_start(&card);
	alone = cost_of_one(&card);
	make_all(&card);
	for (uint32_t i = 4; i < QUEUES; i++) {
		/* All wait for the first that never signals. */
		const struct pb_descriptor descriptor = card_waiting_for(&card, 0, &queues[0], 1);

		card_queue_submit(&queues[i], &descriptor);
	}
	card_run(&card, 500000);
	assert_int_equal(card_why(&queues[QUEUES - 1u]), PB_WHY_WAITING);
	assert_int_equal(cost_of_one(&card), alone);
	card_stop(&card);
}

/** Segment 0 goes when the last queue has gone, whatever its level was. */
static void segment_of_destroyed_queues(void **state)
{
	struct card card;
	struct pb_segment *system = &card.segments[0];

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < PB_PRIORITIES; i++)
		card_queue_make(&queues[i], &card, &(struct card_queue_request){.place = i, .level = i});
	for (uint32_t i = 0; i < PB_PRIORITIES; i++) {
		assert_int_equal(pb_segment_destroy(system), PB_ERROR_BUSY);
		assert_int_equal(card_queue_close(&queues[i]), PB_ERROR_OK);
	}
	for (uint32_t node = 0; node < 2; node++) {
		assert_int_equal(pb_segment_destroy(system), PB_ERROR_BUSY);
		assert_int_equal(pb_queue_destroy(&card.queues[node]), PB_ERROR_OK);
	}
	assert_int_equal(pb_segment_destroy(system), PB_ERROR_OK);
	card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_used_destroyed_and_made_again),
		cmocka_unit_test(others_cost_nothing),
		cmocka_unit_test(waiting_ones_cost_nothing),
		cmocka_unit_test(segment_of_destroyed_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
