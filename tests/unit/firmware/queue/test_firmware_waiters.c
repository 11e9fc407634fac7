/* SPDX-License-Identifier: MIT */
/*
 * Waits of one client beside another: whatever the first one does with its own,
 * those of the second end in their time, and no submission waits for a search.
 */
#include <string.h>

#include "tests/unit/card_queues.h"

/** A value that no queue reaches. */
#define NEVER (UINT64_C(1) << 40)
/** A pass of the simulated card, in microseconds. */
#define PASS 10u

static struct card card;
/** The same card, as the second client has it. */
static struct card second;
static struct card_client client;
/** The second client's: `waiting` waits for `signal`. Both are of node 3, which the first client leaves alone. */
static struct pb_queue waiting, signal;

static void make(struct pb_queue *queue, uint32_t place, uint32_t node, uint32_t priority)
{
	card_queue_make(queue, &card,
			&(struct card_queue_request){.place = place, .node = node, .level = priority});
}

static void submit_waiting(struct pb_queue *queue, uint32_t list, const struct pb_queue *target,
			   uint64_t value)
{
	const struct pb_descriptor descriptor = card_waiting_for(&card, list, target, value);

	card_queue_submit(queue, &descriptor);
}

static void submit_nothing(struct pb_queue *queue)
{
	const struct pb_descriptor descriptor = card_nothing(&card, 0);

	card_queue_submit(queue, &descriptor);
}

static void make_second(struct pb_queue *queue, uint32_t place, uint32_t node, uint32_t priority)
{
	assert_int_equal(card_queue_open(queue, &client.channel, &client.segments[0],
					 &(struct card_queue_request){
						 .place = place, .node = node, .level = priority}),
			 PB_ERROR_OK);
}

/** Starts a card with two clients. */
static void start(void)
{
	card_start(&card);
	card_join(&card, &client.channel, 2);
	card_make_segments(&client.channel, client.segments);
	assert_int_equal(pb_context_create(&client.channel, &client.context), PB_ERROR_OK);
	make_second(&waiting, 0, 3, PB_PRIORITY_NORMAL);
	make_second(&signal, 1, 3, PB_PRIORITY_NORMAL);
	second = card;
	second.channel = client.channel;
	memcpy(second.segments, client.segments, sizeof(second.segments));
	second.context = client.context;
	second.link = client.channel.link;
}

static void stop(void)
{
	card_leave(&client.channel);
	card_stop(&card);
}

/** What the first client does before each pass. */
typedef void (*attack_fn)(void);

static void do_nothing(void)
{
}

/** Runs until the queue has completed so many. @return microseconds; `limit`: it has not */
static uint64_t time_to_complete(struct pb_queue *queue, uint32_t completed, attack_fn attack, uint64_t limit)
{
	const uint64_t begin = pb_sim_now(card.sim);

	while (pb_sim_now(card.sim) - begin < limit) {
		if (card_queue_completed(queue) == completed)
			return pb_sim_now(card.sim) - begin;
		attack();
		pb_sim_step(card.sim);
	}
	return limit;
}

/** Has the second client wait for a value and signal it. @param value the next of both queues @return microseconds from the signal on */
static uint64_t time_to_wake(uint32_t value, uint32_t passes, attack_fn attack, uint64_t limit)
{
	struct pb_descriptor descriptor = card_waiting_for(&second, 0, &signal, value);

	card_queue_submit(&waiting, &descriptor);
	for (uint32_t pass = 0; pass < passes; pass++) {
		attack();
		pb_sim_step(card.sim);
	}
	assert_int_equal(card_why(&waiting), PB_WHY_WAITING);
	descriptor = card_nothing(&second, value);
	card_queue_submit(&signal, &descriptor);
	return time_to_complete(&waiting, value, attack, limit);
}

/* ---- a waiter that leaves while it is being checked ---- */

static struct pb_queue a, b, c;

/**
 * B waits for A, which completes what it runs and then waits for B: B closes a cycle, and leaves the ring of A's waiters
 * about when these are checked. C waits for A, too. Then the second client's wait ends as ever, and A can be destroyed.
 */
static void a_waiter_that_leaves_at_any_time_holds_no_wait_up(void **state)
{
	(void)state;
	for (uint32_t passes = 20; passes < 90; passes++) {
		struct pb_descriptor descriptor;

		start();
		make(&a, 0, 0, PB_PRIORITY_NORMAL);
		make(&b, 1, 1, PB_PRIORITY_NORMAL);
		make(&c, 2, 2, PB_PRIORITY_NORMAL);
		descriptor = card_busy(&card, 0, 500);
		card_queue_submit(&a, &descriptor);
		submit_waiting(&a, 0, &b, 100);
		for (uint32_t pass = 0; pass < passes; pass++)
			pb_sim_step(card.sim);
		submit_waiting(&b, 1, &a, 50);
		pb_sim_step(card.sim);
		submit_waiting(&c, 2, &a, 60);
		card_run(&card, 20000);
		assert_in_range(time_to_wake(1, 100, do_nothing, 100000), 1, 99999);
		assert_int_equal(card_queue_close(&a), PB_ERROR_OK);
		assert_int_equal(card_wait_queue(&card, &c, 1).status, PB_ERROR_DEP_FAILED);
		stop();
	}
}

#define MANY 40u

/** Waiters that take several passes to check are checked while their target, which is destroyed, completes its last submission. */
static void a_queue_is_destroyed_while_it_completes_and_is_awaited(void **state)
{
	static struct pb_queue many[MANY];

	(void)state;
	for (uint32_t passes = 40; passes < 70; passes++) {
		uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0};
		struct pb_descriptor busy;
		uint32_t tag;

		start();
		make(&a, 0, 0, PB_PRIORITY_NORMAL);
		for (uint32_t i = 0; i < MANY; i++) {
			make(&many[i], i + 1u, 1, PB_PRIORITY_NORMAL);
			submit_waiting(&many[i], i, &a, 2);
		}
		card_run(&card, 5000);
		busy = card_busy(&card, 0, 500);
		card_queue_submit(&a, &busy);
		for (uint32_t pass = 0; pass < passes; pass++)
			pb_sim_step(card.sim);
		arguments[0] = a.handle;
		assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_QUEUE_DESTROY, arguments, &tag),
				 PB_ERROR_OK);
		card_run(&card, 5000);
		assert_int_equal(pb_channel_finish(&card.channel, tag, NULL), PB_ERROR_OK);
		for (uint32_t i = 0; i < MANY; i++)
			card_equal("waiter", card_wait_queue(&card, &many[i], 1).status, PB_ERROR_DEP_FAILED);
		stop();
	}
}

/* ---- searches for a cycle ---- */

/** Longer than many slices of a search. */
#define CHAIN 1000u
/** Passes in which a search takes two steps for each queue of the chain, if it has every second slice. */
#define SEARCH_PASSES (2u * CHAIN / 12u)
#define PLACE_BEHIND  CHAIN

static struct pb_queue chain[CHAIN], from, watcher, flipping, flip_signal;
static uint32_t flips;

/** One queue of the first client waits, is woken, and waits again. */
static void flip(void)
{
	if (flip_signal.put == flips && card_queue_completed(&flip_signal) == flips &&
	    card_queue_completed(&flipping) == flips)
		submit_nothing(&flip_signal);
	if (card_queue_completed(&flipping) == flips + 1)
		submit_waiting(&flipping, PLACE_BEHIND, &flip_signal, ++flips + 1u);
}

/** Each queue of the chain waits for the next one, from the end; the last one waits for none. */
static void make_chain(void)
{
	for (uint32_t i = 0; i < CHAIN; i++)
		make(&chain[i], i, 1 + i % 2, PB_PRIORITY_NORMAL);
	make(&from, PLACE_BEHIND, 0, PB_PRIORITY_NORMAL);
	make(&watcher, PLACE_BEHIND + 1, 1, PB_PRIORITY_NORMAL);
	make(&flipping, PLACE_BEHIND + 2, 3, PB_PRIORITY_NORMAL);
	make(&flip_signal, PLACE_BEHIND + 3, 3, PB_PRIORITY_NORMAL);
	flips = 0;
	for (uint32_t i = CHAIN - 1u; i-- > 0;) {
		submit_waiting(&chain[i], i, &chain[i + 1], NEVER);
		if (i % 4 == 0)
			card_run(&card, 100);
	}
	card_run(&card, 100000);
	for (uint32_t i = 0; i < CHAIN - 1u; i++)
		assert_int_equal(card_why(&chain[i]), PB_WHY_WAITING);
	submit_waiting(&flipping, PLACE_BEHIND, &flip_signal, 1);
	card_run(&card, 1000);
}

/**
 * A queue that another one waits for waits for the first of a long chain, so that a search begins; others of its client
 * keep waiting and being woken. Its node runs what both clients submit, and the second client's waits end, as if nothing
 * were searched.
 */
static void a_search_keeps_nothing_waiting(void **state)
{
	struct pb_queue own, other;
	uint64_t alone, alone_wake;

	(void)state;
	start();
	make_chain();
	make(&own, PLACE_BEHIND + 4, 0, PB_PRIORITY_NORMAL);
	make_second(&other, 2, 0, PB_PRIORITY_IDLE);
	submit_nothing(&own);
	alone = time_to_complete(&own, 1, flip, 100000);
	alone_wake = time_to_wake(1, 100, flip, 100000);
	submit_waiting(&watcher, PLACE_BEHIND + 1, &from, NEVER);
	card_run(&card, 1000);
	for (uint32_t round = 2; round < 12; round++) {
		const struct pb_descriptor descriptor = card_nothing(&second, 0);
		struct pb_preempt preempt;

		submit_waiting(&from, PLACE_BEHIND + 2, &chain[0], NEVER);
		for (uint32_t pass = 0; pass < 2 * round; pass++) {
			flip();
			pb_sim_step(card.sim);
		}
		submit_nothing(&own);
		card_queue_submit(&other, &descriptor);
		assert_in_range(time_to_complete(&own, round, flip, 100000), 0, alone + 10 * PASS);
		assert_in_range(time_to_complete(&other, round - 1u, flip, 100000), 0, alone + 10 * PASS);
		assert_in_range(time_to_wake(round, 100, flip, 100000), 0, alone_wake + 10 * PASS);
		assert_int_equal(card_why(&from), PB_WHY_WAITING);
		assert_int_equal(pb_queue_preempt(&from, from.put, 0, &preempt), PB_ERROR_OK);
		assert_int_equal(preempt.returned, 1);
	}
	stop();
}

/** The last queue of the chain closes the cycle. It fails in time, although other queues keep being woken. */
static void a_cycle_is_found_while_other_queues_are_woken(void **state)
{
	struct pb_fence fence;

	(void)state;
	start();
	make_chain();
	submit_waiting(&chain[CHAIN - 1u], CHAIN - 1u, &chain[0], NEVER);
	assert_in_range(time_to_complete(&chain[CHAIN - 1u], 1, flip, 100000), 0,
			(SEARCH_PASSES + 50) * PASS);
	assert_true(flips > 2);
	assert_int_equal(pb_queue_fence(&chain[CHAIN - 1u], &fence), PB_ERROR_OK);
	assert_int_equal(fence.status, PB_ERROR_DEADLOCK);
	stop();
}

#define CYCLES 10u
#define CYCLE  (CHAIN / CYCLES)

/** Each cycle is closed before the search for the one before has ended. */
static void every_one_of_many_cycles_is_found(void **state)
{
	(void)state;
	start();
	for (uint32_t i = 0; i < CHAIN; i++)
		make(&chain[i], i, i % 4, PB_PRIORITY_NORMAL);
	for (uint32_t i = 0; i < CHAIN; i++) {
		if (i % CYCLE != 0)
			submit_waiting(&chain[i], i, &chain[(i + 1) % CYCLE != 0 ? i + 1 : i + 1 - CYCLE], 1);
		if (i % 4 == 0)
			card_run(&card, 100);
	}
	card_run(&card, 10000);
	for (uint32_t i = 0; i < CHAIN; i += CYCLE)
		submit_waiting(&chain[i], i, &chain[i + 1], 1);
	for (uint32_t i = 0; i < CHAIN; i++)
		card_equal("in its cycle", card_wait_queue(&card, &chain[i], 1).status,
			   i % CYCLE == 0 ? PB_ERROR_DEADLOCK : PB_ERROR_DEP_FAILED);
	stop();
}

/* ---- more queues that are moved and awaited than any list would hold ---- */

#define TARGETS 34u
#define WAITERS 60u

static struct pb_queue targets[TARGETS], waiters[TARGETS * WAITERS];

/** Has three of the first client's awaited queues signal again. */
static void signal_some(void)
{
	static uint32_t next;

	for (uint32_t n = 0; n < 3; n++) {
		struct pb_queue *target = &targets[next++ % TARGETS];

		if (target->put == card_queue_completed(target))
			submit_nothing(target);
	}
}

/** The first client has thousands of queues that wait for queues which signal all the time, but never their value. */
static void a_client_whose_waiters_are_checked_all_the_time_delays_no_other(void **state)
{
	uint64_t alone;

	(void)state;
	start();
	alone = time_to_wake(1, 100, do_nothing, 100000);
	for (uint32_t i = 0; i < TARGETS; i++)
		make(&targets[i], i, i % 3, PB_PRIORITY_IDLE);
	for (uint32_t i = 0; i < TARGETS * WAITERS; i++) {
		make(&waiters[i], TARGETS + i, i % 3, PB_PRIORITY_IDLE);
		submit_waiting(&waiters[i], i % CARD_WAIT_LISTS, &targets[i % TARGETS], NEVER);
		if (i % 64 == 63)
			card_run(&card, 2000);
	}
	card_run(&card, 20000);
	for (uint32_t pass = 0; pass < 500; pass++) {
		signal_some();
		pb_sim_step(card.sim);
	}
	for (uint32_t round = 2; round < 42; round++)
		assert_in_range(time_to_wake(round, 100 + round * 7 % 64, signal_some, 1000000), 0,
				alone + 8 * PASS);
	stop();
}

/* ---- anything, in any order ---- */

#define MIXED  10u
#define ACTS   120u
#define SEEDS  60u
#define SETTLE 20000u

static struct pb_queue mixed[MIXED];
static uint32_t random_state;

static uint32_t random_below(uint32_t bound)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % bound;
}

static bool has_room(struct pb_queue *queue)
{
	return queue->put - card_queue_completed(queue) < CARD_QUEUE_ENTRIES;
}

/** Some queue waits for a value that is reached, is on its way, comes next, or is never submitted. */
static void wait_somehow(struct pb_queue *queue, uint32_t list)
{
	const struct pb_queue *target = &mixed[random_below(MIXED)];

	if (has_room(queue))
		submit_waiting(queue, list, target,
			       random_below(2) != 0 ? NEVER : random_below(target->put + 2u));
}

static void make_again(uint32_t i)
{
	assert_int_equal(card_queue_close(&mixed[i]), PB_ERROR_OK);
	make(&mixed[i], i, random_below(4), random_below(PB_PRIORITIES));
}

static void act(uint32_t number)
{
	const uint32_t i = random_below(MIXED);
	struct pb_preempt preempt;

	switch (random_below(16)) {
	case 0:
		make_again(i);
		break;
	case 1:
		assert_int_equal(pb_queue_preempt(&mixed[i], mixed[i].put, 0, &preempt), PB_ERROR_OK);
		break;
	case 2:
	case 3:
	case 4:
		if (has_room(&mixed[i]))
			submit_nothing(&mixed[i]);
		break;
	default:
		wait_somehow(&mixed[i], number);
		break;
	}
	for (uint32_t pass = random_below(4); pass != 0; pass--)
		pb_sim_step(card.sim);
}

/** The queue of a handle. */
static uint32_t find(uint32_t handle)
{
	for (uint32_t i = 0; i < MIXED; i++) {
		if (mixed[i].handle == handle)
			return i;
	}
	fail_msg("a queue waits for one that is gone");
	return 0;
}

/** Expects that a queue has completed all, or waits for a value that its target has not reached. @return its target if the value is NEVER, else MIXED */
static uint32_t expect_settled(uint32_t i)
{
	uint32_t results[PB_REPLY_RESULTS], target[PB_REPLY_RESULTS];
	uint64_t value, reached;

	card_query(&card.channel, PB_QUERY_QUEUE, mixed[i].handle, results);
	if (results[0] != PB_WHY_WAITING) {
		assert_int_equal(results[0], PB_WHY_EMPTY);
		return MIXED;
	}
	card_query(&card.channel, PB_QUERY_QUEUE, results[1], target);
	value = (uint64_t)results[3] << 32 | results[2];
	reached = (uint64_t)target[8] << 32 | target[7];
	assert_true(reached < value);
	return value == NEVER ? find(results[1]) : MIXED;
}

/** Expects that no wait is left that is over or will never be because it is in a cycle. */
static void expect_all_settled(void)
{
	uint32_t targets_of[MIXED + 1u];

	for (uint32_t i = 0; i < MIXED; i++)
		targets_of[i] = expect_settled(i);
	targets_of[MIXED] = MIXED;
	for (uint32_t i = 0; i < MIXED; i++) {
		uint32_t at = i;

		for (uint32_t step = 0; step < MIXED; step++)
			at = targets_of[at];
		assert_int_equal(at, MIXED);
	}
}

/** Queues of one client wait for one another, signal, are preempted and destroyed. In the end every wait is as it must be. */
static void no_wait_is_forgotten_whatever_happens_around_it(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < SEEDS; seed++) {
		random_state = seed;
		start();
		for (uint32_t i = 0; i < MIXED; i++)
			make(&mixed[i], i, random_below(4), random_below(PB_PRIORITIES));
		for (uint32_t number = 0; number < ACTS; number++)
			act(number);
		card_run(&card, SETTLE);
		expect_all_settled();
		for (uint32_t i = 0; i < MIXED; i++)
			assert_int_equal(card_queue_close(&mixed[i]), PB_ERROR_OK);
		assert_in_range(time_to_wake(1, 100, do_nothing, 100000), 1, 1000);
		stop();
	}
}

UNIT_SUITE(test_firmware_waiters)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_waiter_that_leaves_at_any_time_holds_no_wait_up),
		cmocka_unit_test(a_queue_is_destroyed_while_it_completes_and_is_awaited),
		cmocka_unit_test(a_search_keeps_nothing_waiting),
		cmocka_unit_test(a_cycle_is_found_while_other_queues_are_woken),
		cmocka_unit_test(every_one_of_many_cycles_is_found),
		cmocka_unit_test(a_client_whose_waiters_are_checked_all_the_time_delays_no_other),
		cmocka_unit_test(no_wait_is_forgotten_whatever_happens_around_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
