/* SPDX-License-Identifier: MIT */
/* Rings of waiters, their checks, and searches for cycles, call by call: slices, turns, and what is left of each. */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define CHAIN        60u

static struct pb_firmware firmware;
static struct pb_core_queue queues[CHAIN];

/** Queues 0 to count - 1 are those of channel 0, and none waits. */
static void make_queues(uint32_t count)
{
	static struct pb_boot_block boot;

	memset(&firmware, 0, sizeof(firmware));
	memset(queues, 0, sizeof(queues));
	firmware.boot.block = &boot;
	firmware.table.queues = queues;
	firmware.table.count = CHAIN;
	firmware.node_at[0] = firmware.nodes;
	firmware.channels[0].quota.used[PB_RESOURCE_QUEUES] = (uint16_t)count;
	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++)
		firmware.channels[c].quota.limit[PB_RESOURCE_WAKES] = PB_SLICE_WAITERS;
	pb_core_wait_boot(&firmware);
	for (uint32_t q = 0; q < CHAIN; q++) {
		queues[q].identity = PB_CORE_QUEUE_OPEN << PB_CORE_QUEUE_STATE_SHIFT;
		queues[q].waiters = PB_CORE_NO_QUEUE;
	}
}

static void wait_for(uint32_t waiter, uint32_t target)
{
	queues[waiter].awaits = (uint16_t)target;
	queues[waiter].awaited = 1;
	pb_core_waiters_add(queues, &queues[target], &queues[waiter]);
}

/** Slices until the search from queue 0 has come to its end. @param found set to whether it is in a cycle */
static uint32_t slices_of_search(bool *found)
{
	struct pb_core_deadlock *search = &firmware.channels[0].search;
	struct pb_core_queue *closed = NULL;
	uint32_t slices = 0;

	assert_true(pb_core_deadlock_begin(&firmware, &queues[0]));
	assert_false(pb_core_deadlock_begin(&firmware, &queues[1]));
	for (; pb_core_deadlock_searches(search); slices++)
		closed = pb_core_deadlock_step(&firmware, search);
	assert_true(closed == NULL || closed == &queues[0]);
	*found = closed != NULL;
	return slices;
}

/**
 * Queue 0 waits for queue 1, and so on. The last one waits for no queue, or for an earlier one. Only a cycle through
 * queue 0 is its own; any other chain is left after as many steps as the channel has queues.
 */
static void searches_in_slices(void **state)
{
	static const struct {
		uint32_t count;
		uint32_t back; /* the queue that the last one waits for; count: none */
		uint32_t slices;
		bool found;
	} rows[] = {
		{1, 1, 1, false},   {11, 11, 1, false}, {12, 12, 1, false}, {13, 13, 2, false},
		{24, 24, 2, false}, {25, 25, 3, false}, {2, 0, 1, true},    {6, 0, 1, true},
		{7, 0, 2, true},    {12, 0, 2, true},   {13, 0, 3, true},   {CHAIN, 0, 10, true},
		{2, 1, 1, false},   {11, 5, 1, false},  {12, 1, 2, false},  {23, 22, 2, false},
		{24, 1, 3, false},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		bool found;

		make_queues(rows[i].count);
		for (uint32_t q = 0; q + 1u < rows[i].count; q++)
			wait_for(q, q + 1u);
		if (rows[i].back < rows[i].count)
			wait_for(rows[i].count - 1u, rows[i].back);
		assert_int_equal(slices_of_search(&found), rows[i].slices);
		assert_int_equal(found, rows[i].found);
	}
}

/** A queue that has ceased to wait and waits again does not complete a cycle that was never there as a whole. */
static void a_cycle_counts_if_its_queues_all_waited_at_once(void **state)
{
	struct pb_core_deadlock *search = &firmware.channels[0].search;

	(void)state;
	for (uint32_t left = 0; left < CHAIN; left++) {
		struct pb_core_queue *closed = NULL;

		make_queues(CHAIN);
		for (uint32_t q = 0; q < CHAIN; q++)
			wait_for(q, (q + 1u) % CHAIN);
		assert_true(pb_core_deadlock_begin(&firmware, &queues[0]));
		for (uint32_t slice = 0; slice < CHAIN / PB_SLICE_CHAIN; slice++)
			assert_null(pb_core_deadlock_step(&firmware, search));
		pb_core_wait_leave(&firmware, &queues[left]);
		pb_core_wait_leave(&firmware, &queues[left]); /* it does not wait any more */
		wait_for(left, (left + 1u) % CHAIN);
		while (pb_core_deadlock_searches(search))
			closed = pb_core_deadlock_step(&firmware, search);
		assert_null(closed);
	}
}

/** Searches that were to begin while another was under way begin before later ones; each as often as it is asked for. */
static void searches_begin_in_turn(void **state)
{
	static const struct {
		char what; /* - a queue leaves, + a search begins, ? a search may not begin yet */
		uint32_t queue;
	} rows[] = {
		{'+', 0}, {'?', 1}, {'?', 2}, {'?', 1}, {'-', 0}, /* 1 and 2 are next */
		{'?', 3}, {'+', 1}, {'?', 3}, {'-', 1}, {'?', 3}, /* only 2 is */
		{'+', 2}, {'?', 4}, {'-', 2}, {'?', 3}, {'+', 4}, /* then 4 was */
		{'?', 5}, {'?', 6}, {'-', 5}, {'-', 4}, {'?', 3}, /* 5 is gone */
		{'-', 6}, {'+', 3}, {'-', 3}, {'+', 5}, {'-', 5}, {'+', 1},
	};

	(void)state;
	make_queues(8);
	for (uint32_t q = 0; q < 7; q++)
		wait_for(q, 7);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_core_queue *queue = &queues[rows[i].queue];

		if (rows[i].what == '-') {
			pb_core_wait_leave(&firmware, queue);
			wait_for(rows[i].queue, 7);
		} else {
			assert_int_equal(pb_core_deadlock_begin(&firmware, queue), rows[i].what == '+');
		}
	}
}

static void check_in_slices(uint32_t limit)
{
	const uint32_t slice = PB_PASS_WAITS * limit;

	make_queues(CHAIN);
	firmware.channels[0].quota.limit[PB_RESOURCE_WAKES] = (uint16_t)limit;
	for (uint32_t q = 1; q < CHAIN; q++)
		wait_for(q, 0);
	pb_core_wait_wake(&firmware, &queues[0]);
	for (uint32_t checked = slice; checked < CHAIN - 1u; checked += slice) {
		pb_core_wait_step(&firmware);
		assert_int_equal(queues[0].waiters, 1);
		assert_int_equal(queues[1].prev, checked);
		assert_int_equal(firmware.channels[0].checks.first, checked + 1u);
		assert_true(firmware.marks.infrequent & PB_CORE_MARK_WAKE);
	}
	pb_core_wait_step(&firmware);
	assert_int_equal(queues[0].waiters, 1);
	assert_int_equal(queues[1].prev, CHAIN - 1u);
	assert_int_equal(firmware.channels[0].checks.first, PB_CORE_NO_QUEUE);
	assert_false(firmware.marks.infrequent & PB_CORE_MARK_WAKE);
	for (uint32_t q = 1; q < CHAIN; q++)
		assert_int_equal(pb_core_queue_place(&queues[q]), PB_CORE_PLACE_WAITING);
}

/** Those that wait are checked as many at a time as the channel's quota says; a queue that must wait on goes back, in its order. */
static void waiters_in_slices(void **state)
{
	(void)state;
	for (uint32_t limit = 1; limit <= PB_SLICE_WAITERS; limit++)
		check_in_slices(limit);
}

/** Ends all checks. @return passes */
static uint32_t check_all(void)
{
	uint32_t passes = 0;

	for (; pb_core_is_marked(&firmware.marks, PB_CORE_MARK_WAKE); passes++) {
		assert_true(passes < 1000);
		pb_core_wait_step(&firmware);
	}
	return passes;
}

/** A target that makes progress while its waiters are checked has those checked again that had their check before. */
static void progress_during_a_check_is_not_lost(void **state)
{
	const uint32_t slice = PB_PASS_WAITS * PB_SLICE_WAITERS;

	(void)state;
	for (uint32_t passes = 0; passes * slice < CHAIN; passes++) {
		make_queues(CHAIN);
		pb_core_schedule_init(&firmware.nodes[0]);
		for (uint32_t q = 1; q < CHAIN; q++)
			wait_for(q, 0);
		pb_core_wait_wake(&firmware, &queues[0]);
		for (uint32_t pass = 0; pass < passes; pass++)
			pb_core_wait_step(&firmware);
		queues[0].reached = 1;
		pb_core_wait_wake(&firmware, &queues[0]);
		check_all();
		for (uint32_t q = 1; q < CHAIN; q++)
			assert_int_not_equal(pb_core_queue_place(&queues[q]), PB_CORE_PLACE_WAITING);
		assert_false(pb_core_wait_is_awaited(&queues[0]));
	}
}

static bool has_waiters(uint32_t target)
{
	for (uint32_t q = 0; q < CHAIN; q++) {
		if (pb_core_queue_place(&queues[q]) == PB_CORE_PLACE_WAITING && queues[q].awaits == target)
			return true;
	}
	return false;
}

/** A target counts as awaited as long as any queue waits for it, wherever that stands, and no longer. */
static void a_target_is_awaited_until_its_last_waiter_is_gone(void **state)
{
	enum { TARGETS = 3 };

	(void)state;
	for (uint32_t leaves = TARGETS; leaves < CHAIN; leaves++) {
		make_queues(CHAIN);
		pb_core_schedule_init(&firmware.nodes[0]);
		for (uint32_t q = TARGETS; q < CHAIN; q++)
			wait_for(q, q % TARGETS);
		for (uint32_t target = 0; target < TARGETS; target++) {
			queues[target].reached = 1;
			pb_core_wait_wake(&firmware, &queues[target]);
		}
		for (uint32_t pass = 0; pb_core_is_marked(&firmware.marks, PB_CORE_MARK_WAKE); pass++) {
			pb_core_wait_step(&firmware);
			if (pass == 1)
				pb_core_wait_leave(&firmware, &queues[leaves]);
			for (uint32_t target = 0; target < TARGETS; target++)
				assert_int_equal(pb_core_wait_is_awaited(&queues[target]),
						 has_waiters(target));
		}
	}
}

/** Waiters that come while others of their target are checked wait for the next check: a target that each waits for stays awaited. */
static void waiters_that_come_during_a_check_are_checked_after_it(void **state)
{
	enum { TARGETS = 2, WAITERS = 4 };

	(void)state;
	make_queues(TARGETS + WAITERS);
	for (uint32_t i = 0; i < WAITERS; i++) {
		wait_for(TARGETS + i, i % TARGETS);
		pb_core_wait_wake(&firmware, &queues[i % TARGETS]);
	}
	for (uint32_t i = 0; i < WAITERS; i++) {
		pb_core_wait_leave(&firmware, &queues[TARGETS + i]);
		for (uint32_t target = 0; target < TARGETS; target++)
			assert_int_equal(pb_core_wait_is_awaited(&queues[target]), has_waiters(target));
	}
}

/** The waiters that are to be checked again may all leave before that, in any order. */
static void waiters_to_check_again_may_leave(void **state)
{
	(void)state;
	for (uint32_t stride = 1; stride < CHAIN - 1u; stride++) {
		if ((CHAIN - 1u) % stride == 0 && stride != 1)
			continue;
		make_queues(CHAIN);
		for (uint32_t q = 1; q < CHAIN; q++)
			wait_for(q, 0);
		pb_core_wait_wake(&firmware, &queues[0]);
		pb_core_wait_step(&firmware);
		pb_core_wait_wake(&firmware, &queues[0]);
		for (uint32_t n = 0; n < CHAIN - 1u; n++) {
			assert_true(pb_core_wait_is_awaited(&queues[0]));
			pb_core_wait_leave(&firmware, &queues[1u + n * stride % (CHAIN - 1u)]);
		}
		assert_false(pb_core_wait_is_awaited(&queues[0]));
		assert_int_equal(check_all(), 1);
	}
}

/** A search ends at a slot that a queue of another channel has got meanwhile, and passes none of that channel. */
static void a_search_stays_in_its_channel(void **state)
{
	struct pb_core_deadlock *search = &firmware.channels[0].search;

	(void)state;
	make_queues(CHAIN);
	for (uint32_t q = 0; q < CHAIN; q++)
		wait_for(q, (q + 1u) % CHAIN);
	assert_true(pb_core_deadlock_begin(&firmware, &queues[0]));
	assert_null(pb_core_deadlock_step(&firmware, search));
	for (uint32_t q = PB_SLICE_CHAIN; q < CHAIN; q++) {
		pb_core_wait_leave(&firmware, &queues[q]);
		queues[q].channel = 1;
		wait_for(q, q + 1u < CHAIN ? q + 1u : PB_SLICE_CHAIN);
	}
	assert_null(pb_core_deadlock_step(&firmware, search));
	assert_false(pb_core_deadlock_searches(search));
	for (uint32_t q = PB_SLICE_CHAIN; q < CHAIN; q++)
		assert_int_equal(queues[q].links & PB_CORE_QUEUE_PASSED, 0);
}

/** A queue may close a cycle if another one waits for it, checked or not, and its target waits before the value. */
static void searches_begin_where_a_cycle_may_close(void **state)
{
	static const struct {
		bool awaited, checked, waits;
		uint64_t value;
		bool suspect;
	} rows[] = {
		{true, false, true, 6, true},   {true, true, true, 6, true},   {false, false, true, 6, false},
		{true, false, false, 6, false}, {true, false, true, 5, false}, {true, false, true, 7, true},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		make_queues(4);
		queues[1].timeline = 5;
		if (rows[i].awaited)
			wait_for(2, 0);
		if (rows[i].checked)
			pb_core_wait_wake(&firmware, &queues[0]);
		if (rows[i].waits)
			wait_for(1, 3);
		assert_int_equal(pb_core_deadlock_is_suspect(&queues[0], &queues[1], rows[i].value),
				 rows[i].suspect);
	}
}

/** Every queue that may have closed a cycle is searched from once: then nothing is left to do. */
static void each_suspect_is_searched_from_once(void **state)
{
	(void)state;
	make_queues(CHAIN);
	for (uint32_t q = 0; q + 1u < CHAIN; q++) {
		wait_for(q, q + 1u);
		pb_core_links_set_suspect(&queues[q], true);
		pb_core_wait_wake(&firmware, &queues[q + 1u]);
	}
	/* A search takes a step for each queue behind the first, and begins as soon as the one before has ended. */
	assert_in_range(check_all(), CHAIN * CHAIN / 2u / (PB_PASS_WAITS * PB_SLICE_CHAIN),
			CHAIN * CHAIN / 2u / (PB_PASS_WAITS * PB_SLICE_CHAIN) + 8u * CHAIN);
	for (uint32_t q = 0; q + 1u < CHAIN; q++) {
		assert_int_equal(pb_core_queue_place(&queues[q]), PB_CORE_PLACE_WAITING);
		assert_int_equal(queues[q].links & (PB_CORE_QUEUE_SUSPECT | PB_CORE_QUEUE_NEXT), 0);
		assert_true((queues[q].links & PB_CORE_QUEUE_PASSED) != 0);
	}
}

/** Channels with more waiters than a slice take turns, as many in a pass as there are slices. */
static void channels_take_turns_with_their_waiters(void **state)
{
	enum { CHANNELS = PB_LIMIT_CHANNELS, EACH = PB_SLICE_WAITERS + 2u };

	(void)state;
	make_queues(CHAIN);
	for (uint32_t c = 0; c < CHANNELS; c++) {
		for (uint32_t q = 0; q < EACH; q++)
			queues[c * EACH + q].channel = (uint8_t)c;
		for (uint32_t q = 1; q < EACH; q++)
			wait_for(c * EACH + q, c * EACH);
		pb_core_wait_wake(&firmware, &queues[c * EACH]);
	}
	firmware.wakes.last = 0;
	for (uint32_t turn = 1; turn <= 2u * CHANNELS; turn++) {
		const uint32_t c = turn % CHANNELS;
		const bool done = turn > CHANNELS;

		if (turn % PB_PASS_WAITS == 1u)
			pb_core_wait_step(&firmware);
		assert_int_equal(firmware.channels[c].checks.first == PB_CORE_NO_QUEUE, done);
	}
	assert_int_equal(firmware.wakes.channels, 0);
}

UNIT_SUITE(test_firmware_checks)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(searches_in_slices),
		cmocka_unit_test(a_cycle_counts_if_its_queues_all_waited_at_once),
		cmocka_unit_test(searches_begin_in_turn),
		cmocka_unit_test(waiters_in_slices),
		cmocka_unit_test(progress_during_a_check_is_not_lost),
		cmocka_unit_test(a_target_is_awaited_until_its_last_waiter_is_gone),
		cmocka_unit_test(waiters_that_come_during_a_check_are_checked_after_it),
		cmocka_unit_test(waiters_to_check_again_may_leave),
		cmocka_unit_test(a_search_stays_in_its_channel),
		cmocka_unit_test(searches_begin_where_a_cycle_may_close),
		cmocka_unit_test(each_suspect_is_searched_from_once),
		cmocka_unit_test(channels_take_turns_with_their_waiters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
