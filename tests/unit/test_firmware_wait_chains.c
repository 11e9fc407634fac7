/* SPDX-License-Identifier: MIT */
/* Chains and cycles of waits: the one that closes a cycle fails, and nobody else but for it. */
#include <string.h>

#include "tests/unit/card_queues.h"

#define LONGEST 1000u

static struct pb_queue queues[LONGEST];
static struct card card;

static void start(uint32_t count)
{
	card_start(&card);
	for (uint32_t i = 0; i < count; i++)
		card_queue_make(&queues[i], &card,
				&(struct card_queue_request){
					.place = i, .node = i % 4, .level = i / 4 % PB_PRIORITIES});
}

static void wait_for(uint32_t waiter, uint32_t target, uint64_t value)
{
	const struct pb_descriptor descriptor = card_waiting_for(&card, waiter, &queues[target], value);

	card_queue_submit(&queues[waiter], &descriptor);
}

static void submit(uint32_t q, const struct pb_descriptor *descriptor)
{
	card_queue_submit(&queues[q], descriptor);
}

static void signal_next(uint32_t q)
{
	const struct pb_descriptor descriptor = card_nothing(&card, 0);

	submit(q, &descriptor);
}

static void expect(const char *row, uint32_t q, uint32_t completed, enum pb_error status)
{
	card_expect_completed(&card, row, &queues[q], completed, status);
}

/* ---- alone ---- */

static const struct {
	const char *name;
	uint64_t value; /* where its own is 5 and the one before it was 3 */
	enum pb_error status;
} own[] = {
	{"0", 0, PB_ERROR_OK},
	{"reached", 2, PB_ERROR_OK},
	{"the one before it", 3, PB_ERROR_OK},
	{"between", 4, PB_ERROR_DEADLOCK},
	{"its own", 5, PB_ERROR_DEADLOCK},
	{"the next", 6, PB_ERROR_DEADLOCK},
	{"the last there is", UINT64_MAX, PB_ERROR_DEADLOCK},
};

static void waits_for_itself(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		struct pb_descriptor descriptor;

		start(1);
		/* The one before it runs meanwhile. */
		descriptor = card_busy(&card, 0, 3000);
		descriptor.timeline_low = 3;
		submit(0, &descriptor);
		descriptor = card_waiting_for(&card, 0, &queues[0], own[i].value);
		descriptor.timeline_low = 5;
		submit(0, &descriptor);
		signal_next(0);
		card_run(&card, 1000);
		expect(own[i].name, 0, 0, PB_ERROR_OK);
		card_run(&card, 3000);
		expect(own[i].name, 0, 3, PB_ERROR_OK); /* no context is lost */
		if (own[i].status == PB_ERROR_DEADLOCK)
			card_expect_event(&card.channel, own[i].name,
					  &(struct pb_event){.type = PB_EVENT_SUBMISSION_FAILED,
							     .queue = queues[0].handle,
							     .error = PB_ERROR_DEADLOCK,
							     .index = PB_INDEX_NONE});
		card_expect_no_event(&card.channel, own[i].name);
		card_stop(&card);
	}
}

/* ---- cycles ---- */

/** So many queues wait in a ring for what comes behind the wait of the next. The last to wait closes it. */
static void expect_cycle(uint32_t count)
{
	start(count);
	for (uint32_t i = 0; i < count; i++) {
		wait_for(i, (i + 1) % count, 1);
		/* The next may wait already, so that the walk starts anywhere. */
		if (i + 2 >= count)
			card_run(&card, 50000);
		if (i + 2 == count)
			expect("open", i, 0, PB_ERROR_OK);
	}
	for (uint32_t i = 0; i < count; i++)
		signal_next(i);
	card_run(&card, 20000 + 100 * count);
	for (uint32_t i = 0; i < count; i++) {
		const struct pb_fence fence = card_wait_queue(&card, &queues[i], 2);

		card_equal("first", fence.error, i == count - 1 ? PB_ERROR_DEADLOCK : PB_ERROR_DEP_FAILED);
		card_equal("errors", fence.errors, 1);
		card_equal("behind it", fence.status, PB_ERROR_OK);
	}
	card_stop(&card);
}

static void cycles(void **state)
{
	static const uint32_t counts[] = {2, 3, 4, 23, 24, 25, 50, LONGEST};

	(void)state;
	for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		expect_cycle(counts[i]);
}

/** What stands behind the one that deadlocks was submitted with it, and nobody kicks again. */
static void work_behind_a_deadlock_goes_on(void **state)
{
	(void)state;
	start(2);
	wait_for(0, 1, 1);
	card_run(&card, 2000);
	wait_for(1, 0, 1);
	signal_next(1);
	signal_next(1);
	expect("closes it", 1, 3, PB_ERROR_OK);
	expect("waited for it", 0, 1, PB_ERROR_DEP_FAILED);
	card_stop(&card);
}

/** The one that closes the cycle is told apart from one that waits for a queue of the cycle from outside. */
static void outsiders_of_a_cycle(void **state)
{
	(void)state;
	start(4);
	wait_for(0, 1, 1);
	wait_for(1, 2, 1);
	wait_for(3, 0, 1);
	card_run(&card, 2000);
	wait_for(2, 0, 1);
	expect("closes it", 2, 1, PB_ERROR_DEADLOCK);
	for (uint32_t i = 0; i < 4; i++)
		expect("depends on it", i, 1, i == 2 ? PB_ERROR_DEADLOCK : PB_ERROR_DEP_FAILED);
	card_stop(&card);
}

/* ---- what only looks like one ---- */

/** Two queues wait for each other, but one for what the other has submitted before: in each order of submitting. */
static void values_that_are_on_their_way(void **state)
{
	static const uint32_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					      {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	(void)state;
	for (uint32_t o = 0; o < 6; o++) {
		struct pb_descriptor descriptor;

		start(3);
		descriptor = card_busy(&card, 0, 30000);
		submit(0, &descriptor);
		card_run(&card, 1000);
		for (uint32_t n = 0; n < 3; n++) {
			/* 0's second waits for 1, 1 for 2, and 2 for the first of 0. */
			wait_for(orders[o][n], (orders[o][n] + 1) % 3, 1);
			card_run(&card, 1000);
		}
		for (uint32_t i = 0; i < 3; i++)
			expect("all wait", i, 0, PB_ERROR_OK);
		card_run(&card, 30000);
		for (uint32_t i = 0; i < 3; i++)
			expect("no cycle", i, i == 0 ? 2 : 1, PB_ERROR_OK);
		card_expect_no_event(&card.channel, "no cycle");
		card_stop(&card);
	}
}

/** A cycle through a later value than the one submitted is one; through an earlier one it is none. */
static void later_value_of_a_waiting_queue(void **state)
{
	struct pb_descriptor descriptor;

	(void)state;
	start(2);
	descriptor = card_busy(&card, 0, 10000);
	descriptor.timeline_low = 10;
	submit(0, &descriptor);
	card_run(&card, 1000);
	wait_for(0, 1, 1); /* its value is 11 */
	card_run(&card, 1000);
	wait_for(1, 0, 11);
	expect("cycle", 1, 1, PB_ERROR_DEADLOCK);
	wait_for(1, 0, 10);
	card_run(&card, 10000);
	expect("none", 1, 2, PB_ERROR_OK);
	expect("failed", 0, 2, PB_ERROR_DEP_FAILED);
	card_stop(&card);
}

/* ---- chains ---- */

/** A thousand queues in a chain over all nodes and levels, begun from either end, or in the middle. */
static void long_chains(void **state)
{
	static const uint32_t steps[] = {1, LONGEST - 1, 7};

	(void)state;
	for (uint32_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		start(LONGEST);
		for (uint32_t n = 0; n < LONGEST; n++) {
			const uint32_t i = n * steps[s] % LONGEST;

			if (i != LONGEST - 1)
				wait_for(i, i + 1, 1);
		}
		card_run(&card, 100000);
		expect("before", 0, 0, PB_ERROR_OK);
		expect("before", LONGEST - 2, 0, PB_ERROR_OK);
		signal_next(LONGEST - 1);
		card_run(&card, 300000);
		for (uint32_t i = 0; i < LONGEST; i++)
			card_equal("in the chain", card_wait_queue(&card, &queues[i], 1).status, PB_ERROR_OK);
		card_expect_no_event(&card.channel, "chain");
		card_stop(&card);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_itself),
		cmocka_unit_test(cycles),
		cmocka_unit_test(work_behind_a_deadlock_goes_on),
		cmocka_unit_test(outsiders_of_a_cycle),
		cmocka_unit_test(values_that_are_on_their_way),
		cmocka_unit_test(later_value_of_a_waiting_queue),
		cmocka_unit_test(long_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
