/* SPDX-License-Identifier: MIT */
/* What a recall takes from the engine, and in which order its queues come back, on submissions that the test makes up. */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/unit.h"

#define QUEUES   2u
#define PRIORITY PB_PRIORITY_NORMAL

static struct pb_firmware firmware;
static struct pb_core_queue queues[QUEUES];
static struct pb_core_node *const node = &firmware.nodes[0];
/** What the engine was fed since the start of a case. */
static uint32_t fed;

static void feed(void *context, const struct pb_engine_submission *submission, uint32_t sequence)
{
	(void)context;
	(void)submission;
	fed++;
	assert_int_equal(sequence, fed);
}

static const struct pb_engine_run_ops run = {.feed = feed};
static const struct pb_engine engine = {.run = &run};
static const struct pb_firmware_config config = {.node_count = 1};

/** Two submissions of channel 0 are in flight. The engine has stopped for another queue. */
static void start(uint32_t first, uint32_t second)
{
	static const uint32_t clock = 1000;
	const uint32_t of[] = {first, second};

	memset(&firmware, 0, sizeof(firmware));
	memset(queues, 0, sizeof(queues));
	fed = 0;
	firmware.config = &config;
	firmware.clock = &clock;
	firmware.table.queues = queues;
	firmware.table.count = QUEUES;
	firmware.channels[0].usage.in_flight = 2;
	pb_core_schedule_init(node);
	node->bit = 1;
	firmware.node_at[0] = node;
	node->engine = &engine;
	node->machine.reason = PB_CORE_STOP_TO_SWITCH;
	node->flight.fed = 2;
	for (uint32_t q = 0; q < QUEUES; q++)
		queues[q].identity = PB_CORE_QUEUE_OPEN << PB_CORE_QUEUE_STATE_SHIFT |
				     PRIORITY << PB_CORE_QUEUE_PRIORITY_SHIFT;
	for (uint32_t i = 0; i < 2; i++) {
		pb_core_in_flight_at(&node->flight, i + 1u)->queue = &queues[of[i]];
		queues[of[i]].in_flight++;
		queues[of[i]].put++;
	}
}

/** The queue whose submission was first is the first again. */
static void recalled_queues_come_back_in_their_order(void **state)
{
	(void)state;
	for (uint32_t first = 0; first < QUEUES; first++) {
		start(first, 1u - first);
		pb_core_recall(&firmware, node);
		assert_int_equal(node->ready.at[PRIORITY].lists[0].head, first);
		assert_int_equal(node->ready.at[PRIORITY].lists[0].tail, 1u - first);
		assert_int_equal(fed, 0);
	}
}

/** A protected submission stays, and so does what is before it in its queue, and nothing else. */
static void what_stays_keeps_those_before_it_in_its_queue(void **state)
{
	static const struct {
		uint32_t first, second; /* queues */
		uint32_t protected;     /* submission */
		uint32_t stay;
	} rows[] = {{0, 0, 2, 2}, {0, 0, 1, 1}, {0, 1, 2, 1}, {0, 1, 1, 1}, {1, 0, 2, 1}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(rows[i].first, rows[i].second);
		pb_core_in_flight_at(&node->flight, rows[i].protected)->protected = true;
		pb_core_recall(&firmware, node);
		assert_int_equal(fed, rows[i].stay);
		assert_int_equal(queues[0].in_flight + queues[1].in_flight, rows[i].stay);
	}
}

/** What was being prepared behind a recalled submission of its queue goes back, too; all time since the last charge is charged to its channel. */
static void preparation_behind_a_recalled_submission_is_charged(void **state)
{
	(void)state;
	start(0, 0);
	queues[1].channel = 1;
	queues[1].put = 1;
	firmware.channels[0].grants.weight = 1;
	firmware.channels[0].usage.in_flight = 3;
	queues[0].in_flight = 3;
	queues[0].put = 3;
	pb_core_ready_append(queues, &node->ready, &queues[1]);
	pb_core_in_flight_next(&node->flight)->queue = &queues[0];
	node->staged.kind = PB_CORE_STAGED_JOB;
	node->staged.job = &firmware.job[0];
	node->staged.preparing = 700;
	node->retirement.charged_until = 700;
	pb_core_timeslice_expire(&node->slice, &queues[0], 1);
	pb_core_recall(&firmware, node);
	assert_false(pb_core_staged_any(&node->staged));
	assert_int_equal(queues[0].in_flight, 0);
	assert_null(node->slice.expired); /* a timeslice that expired has no effect on later recalls */
	assert_int_equal(node->fair.at[PRIORITY].deficit[0], -300);
}

/** Time since the last charge, in which the engine had nothing to run, is charged, also if what was prepared goes back to its ring. */
static void preparation_that_comes_to_nothing_is_charged(void **state)
{
	(void)state;
	start(0, 1);
	queues[1].channel = 1;
	firmware.channels[0].grants.weight = 1;
	node->flight.fed = 0;
	pb_core_ready_append(queues, &node->ready, &queues[1]);
	pb_core_in_flight_next(&node->flight)->queue = &queues[0];
	node->staged.kind = PB_CORE_STAGED_JOB;
	node->staged.job = &firmware.job[0];
	node->staged.preparing = 700;
	node->retirement.charged_until = 700;
	pb_core_preempt_return_staged(&firmware, node);
	assert_int_equal(node->fair.at[PRIORITY].deficit[0], -300);
	assert_int_equal(queues[0].in_flight, 0);
}

static uint32_t asked;

static bool note_used(struct pb_core_node *of, const struct pb_core_submission *staged, uint32_t used)
{
	(void)of;
	(void)staged;
	asked = used;
	return false;
}

static bool never_over(const struct pb_core_node *of, const struct pb_core_queue *queue, uint32_t used)
{
	(void)of;
	(void)queue;
	(void)used;
	return false;
}

/** What the queue that runs has used of its timeslice before counts at a tick; what another one has used does not. */
static void the_whole_timeslice_counts_at_a_tick(void **state)
{
	static const struct pb_core_policy policy = {.is_over = never_over, .should_preempt = note_used};

	(void)state;
	for (uint32_t current = 0; current < QUEUES; current++) {
		start(0, 1);
		node->schedule.policy = &policy;
		pb_core_timeslice_begin(&node->slice, &queues[current]);
		pb_core_timeslice_charge(&node->slice, 40);
		node->retirement.time = 100;
		assert_false(pb_core_preempt_at_tick(&firmware, node, 110));
		assert_int_equal(asked, current == 0 ? 50 : 10);
	}
}

/** A staged submission goes back to its ring: its queue is admitted from, also if it waited for what is behind that. */
static void a_queue_whose_staged_submission_goes_back_waits_no_more(void **state)
{
	(void)state;
	start(0, 1);
	pb_core_wait_boot(&firmware);
	for (uint32_t q = 0; q < QUEUES; q++)
		queues[q].waiters = PB_CORE_NO_QUEUE;
	queues[0].put++;
	queues[0].in_flight++;
	firmware.channels[0].usage.in_flight++;
	firmware.channels[0].quota.used[PB_RESOURCE_QUEUES] = QUEUES;
	pb_core_in_flight_next(&node->flight)->queue = &queues[0];
	node->staged.kind = PB_CORE_STAGED_READY;
	queues[0].awaits = 1;
	queues[0].awaited = 100;
	pb_core_waiters_add(queues, &queues[1], &queues[0]);
	pb_core_preempt_return_staged(&firmware, node);
	assert_int_equal(pb_core_queue_place(&queues[0]), PB_CORE_PLACE_LISTED);
	assert_false(pb_core_wait_is_awaited(&queues[1]));
}

static bool always(struct pb_core_node *of, const struct pb_core_submission *staged, uint32_t used)
{
	(void)of;
	(void)staged;
	(void)used;
	return true;
}

/** A queue that is preempted at a tick has had its timeslice: it goes behind its peers when it comes back. */
static void a_queue_that_is_preempted_at_a_tick_has_expired(void **state)
{
	static const struct pb_core_policy policy = {.is_over = never_over, .should_preempt = always};

	(void)state;
	start(0, 1);
	node->schedule.policy = &policy;
	node->machine.state = PB_NODE_STATE_STOPPING; /* the engine need not be asked again */
	assert_true(pb_core_preempt_at_tick(&firmware, node, 10));
	assert_ptr_equal(node->slice.expired, &queues[0]);
}

UNIT_SUITE(test_recall_order)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recalled_queues_come_back_in_their_order),
		cmocka_unit_test(what_stays_keeps_those_before_it_in_its_queue),
		cmocka_unit_test(preparation_behind_a_recalled_submission_is_charged),
		cmocka_unit_test(the_whole_timeslice_counts_at_a_tick),
		cmocka_unit_test(a_queue_whose_staged_submission_goes_back_waits_no_more),
		cmocka_unit_test(preparation_that_comes_to_nothing_is_charged),
		cmocka_unit_test(a_queue_that_is_preempted_at_a_tick_has_expired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
