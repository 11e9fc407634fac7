/* SPDX-License-Identifier: MIT */
/* Which node gets a job when there are fewer than nodes that need one: grants, accounts and revocations, on made-up nodes. */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define NODES        4u
#define LOW          PB_PRIORITY_LOW
#define NORMAL       PB_PRIORITY_NORMAL
#define HIGH         PB_PRIORITY_HIGH
#define NONE         NODES /* no node */

static struct pb_firmware firmware;
static struct pb_core_queue queues[NODES];
static uint32_t now;

static const struct pb_firmware_config config = {.node_count = NODES};

/** Queue n is node n's, of channel n, and has the timeslice with one submission to admit. No job is free. */
static void start(void)
{
	memset(&firmware, 0, sizeof(firmware));
	memset(queues, 0, sizeof(queues));
	now = 1000;
	firmware.config = &config;
	firmware.clock = &now;
	firmware.table.queues = queues;
	firmware.table.count = NODES;
	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++)
		firmware.channels[channel].grants.weight = 1;
	for (uint32_t n = 0; n < NODES; n++) {
		struct pb_core_node *node = &firmware.nodes[n];

		node->bit = 1u << n;
		firmware.node_at[n] = node;
		pb_core_schedule_init(node);
		queues[n].channel = (uint8_t)n;
		queues[n].put = 1;
		queues[n].identity = (uint8_t)(PB_CORE_QUEUE_OPEN << PB_CORE_QUEUE_STATE_SHIFT |
					       NORMAL << PB_CORE_QUEUE_PRIORITY_SHIFT | n);
		pb_core_timeslice_begin(&node->slice, &queues[n]);
		pb_core_in_flight_next(&node->flight)->queue = &queues[n];
	}
}

static void set_priority(uint32_t n, uint32_t priority)
{
	queues[n].identity = (uint8_t)(PB_CORE_QUEUE_OPEN << PB_CORE_QUEUE_STATE_SHIFT |
				       priority << PB_CORE_QUEUE_PRIORITY_SHIFT | n);
}

/** Moves queue n to another node. */
static void set_node(uint32_t n, uint32_t node)
{
	queues[n].identity = (uint8_t)((queues[n].identity & ~3u) | node);
}

static bool ask(uint32_t n)
{
	return pb_core_jobs_ask(&firmware, &firmware.nodes[n], &queues[n]);
}

/** Node n's submission has job i. */
static void prepare(uint32_t n, uint32_t i)
{
	firmware.jobs.free |= 1u << i;
	pb_core_staged_prepare(&firmware, &firmware.nodes[n], &firmware.job[i]);
}

static void finish(uint32_t n)
{
	firmware.nodes[n].staged.job->state = PB_CORE_JOB_READY;
	pb_core_staged_ready(&firmware, &firmware.nodes[n]);
}

/** The node that was granted a job. */
static uint32_t granted(void)
{
	uint32_t n = 0;

	while (n < NODES && !firmware.nodes[n].asks.granted)
		n++;
	return n;
}

/** Node 0 frees its job; nodes 1 to 3 have asked for one. */
static void a_freed_job_goes_to_the_highest_priority_then_to_the_least_account(void **state)
{
	static const struct {
		uint32_t priority[NODES], account[NODES]; /* by node */
		uint8_t starved;                          /* this priority's count is full; 0: none is */
		uint32_t repay_us, longest, first; /* longest: the node that waits longest; 0: node 1 */
	} rows[] = {
		{{NORMAL, NORMAL, NORMAL, NORMAL}, {0, 5, 5, 5}, 0, 0, 0, 1},
		{{NORMAL, NORMAL, NORMAL, NORMAL}, {0, 5, 5, 5}, 0, 0, 2, 2},
		{{NORMAL, NORMAL, NORMAL, NORMAL}, {0, 5, 5, 5}, 0, 0, 3, 3},
		{{NORMAL, NORMAL, NORMAL, NORMAL}, {0, 4, 5, 5}, 0, 0, 3, 1},
		{{NORMAL, NORMAL, NORMAL, NORMAL}, {0, 6, 5, 4}, 0, 0, 0, 3},
		{{NORMAL, NORMAL, NORMAL, NORMAL}, {0, 6, 4, 5}, 0, 0, 0, 2},
		{{NORMAL, NORMAL, NORMAL, HIGH}, {0, 4, 5, 900}, 0, 0, 0, 3},
		{{NORMAL, LOW, HIGH, HIGH}, {0, 1, 9, 8}, 0, 0, 0, 3},
		{{NORMAL, LOW, HIGH, NORMAL}, {0, 9, 1, 1}, LOW, 0, 0, 1},
		{{NORMAL, LOW, HIGH, NORMAL}, {0, 9, 1, 1}, LOW, 1, 0, 2},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start();
		prepare(0, 0);
		for (uint32_t n = 0; n < NODES; n++) {
			set_priority(n, rows[i].priority[n]);
			firmware.jobs.account[n] = rows[i].account[n];
		}
		for (uint32_t n = 1; n < NODES; n++) {
			assert_false(ask(n));
			assert_true(pb_core_jobs_awaits(&firmware, &queues[n]));
		}
		if (rows[i].longest != 0)
			firmware.nodes[rows[i].longest].asks.since--;
		if (rows[i].starved != 0) {
			firmware.jobs.starvation[rows[i].starved] = PB_LIMIT_STARVATION;
			firmware.jobs.repay_us[rows[i].starved] = rows[i].repay_us;
		}
		pb_core_jobs_tick(&firmware, &firmware.nodes[1]);
		assert_int_equal(granted(), NONE);
		firmware.nodes[0].asks.since = now;
		firmware.jobs.repay_us[LOW] = rows[i].repay_us;
		firmware.marks.nodes = 0;
		finish(0);
		assert_int_equal(granted(), rows[i].first);
		assert_int_equal(firmware.marks.nodes, 1u << rows[i].first);
		assert_false(pb_core_jobs_awaits(&firmware, &queues[rows[i].first]));
		assert_int_equal(firmware.nodes[rows[i].first].slice.protect,
				 rows[i].starved != 0 && rows[i].repay_us == 0);
		if (rows[i].starved != 0)
			assert_int_equal(firmware.jobs.starvation[rows[i].starved],
					 rows[i].repay_us == 0 ? 0 : PB_LIMIT_STARVATION);
		/* The others leave the job to that one. */
		for (uint32_t n = 1; n < NODES; n++)
			assert_int_equal(ask(n), n == rows[i].first ||
							 rows[i].priority[n] >
								 firmware.nodes[rows[i].first].asks.rank);
	}
}

/** A channel is charged for the time that it held a job, by its weight; one that held none lately has no credit for that. */
static void the_time_of_a_job_is_charged(void **state)
{
	static const struct {
		uint32_t account, time, weight, held, after;
	} rows[] = {
		{0, 0, 1, 300, 301},
		{0, 0, 3, 300, 101},
		{0, 0, 1, 0, 1},
		{50, 20, 1, 300, 351},
		{50, 5000, 1, 300, 5301},
		{UINT32_MAX, 9, 1, 300, 310},
		{5, UINT32_MAX, 1, 300, 306},
		{0x80000000u, 9, 1, 300, 310},
		/* The clock leaps. */
		{0, 0, 1, 0x80000000u, 0x1000001u},
		{0, 0, 1, UINT32_MAX, 0x1000001u},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start();
		firmware.channels[2].grants.weight = (uint8_t)rows[i].weight;
		firmware.jobs.account[2] = rows[i].account;
		firmware.jobs.time = rows[i].time;
		prepare(2, 1);
		assert_int_equal(firmware.jobs.free, 0);
		now += rows[i].held;
		finish(2);
		assert_int_equal(firmware.jobs.free, 2);
		assert_int_equal(firmware.jobs.account[2], rows[i].after);
		assert_int_equal(firmware.jobs.account[1], 0);
	}
}

/** Only a submission of a lower priority that is not protected and has not failed gives its job back. */
static void a_higher_priority_revokes_a_job(void **state)
{
	static const struct {
		uint32_t priority[2]; /* of the submissions that have jobs, on nodes 0 and 1 */
		uint32_t asks;        /* priority of node 2's */
		bool protected;       /* node 0's is */
		uint32_t status;      /* node 0's */
		uint32_t revoked;     /* node */
	} rows[] = {
		{{NORMAL, NORMAL}, NORMAL, false, PB_ERROR_OK, NONE},
		{{HIGH, NORMAL}, NORMAL, false, PB_ERROR_OK, NONE},
		{{NORMAL, HIGH}, HIGH, false, PB_ERROR_OK, 0},
		{{LOW, NORMAL}, HIGH, false, PB_ERROR_OK, 0},
		{{NORMAL, LOW}, HIGH, false, PB_ERROR_OK, 1},
		{{LOW, NORMAL}, HIGH, true, PB_ERROR_OK, 1},
		{{LOW, NORMAL}, HIGH, false, PB_ERROR_BAD_PATCH_LIST, 1},
		{{LOW, HIGH}, HIGH, true, PB_ERROR_OK, NONE},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start();
		for (uint32_t n = 0; n < 2u; n++) {
			set_priority(n, rows[i].priority[n]);
			prepare(n, n);
		}
		set_priority(2, rows[i].asks);
		pb_core_in_flight_next(&firmware.nodes[0].flight)->protected = rows[i].protected;
		pb_core_in_flight_next(&firmware.nodes[0].flight)->status = rows[i].status;
		/* Once, however often it asks. */
		assert_false(ask(2));
		assert_false(ask(2));
		for (uint32_t n = 0; n < NODES; n++)
			assert_int_equal(firmware.nodes[n].asks.revoked, n == rows[i].revoked);
		if (rows[i].revoked != NONE)
			assert_int_equal(firmware.jobs.starvation[rows[i].priority[rows[i].revoked]], 1);
	}
}

/** A grant that is not used within 10 ms, or whose queue loses its turn, goes to the next, and is charged. */
static void an_unused_grant_goes_on(void **state)
{
	static const struct {
		uint32_t waited;
		bool loses_turn, empty;
		uint32_t next; /* who is granted the job then */
	} rows[] = {
		{10000, false, false, 1},
		{10001, false, false, 2},
		{5, true, false, 2},
		{5, false, true, 2},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start();
		prepare(0, 0);
		assert_false(ask(1));
		assert_false(ask(2));
		finish(0);
		assert_int_equal(granted(), 1);
		now += rows[i].waited;
		if (rows[i].loses_turn)
			pb_core_timeslice_remove(&firmware, &firmware.nodes[1], &queues[1]);
		if (rows[i].empty)
			queues[1].put = 0;
		pb_core_jobs_tick(&firmware, &firmware.nodes[2]);
		assert_int_equal(granted(), rows[i].next);
		assert_int_equal(firmware.jobs.account[1], rows[i].next == 1 ? 0 : rows[i].waited + 1u);
	}
}

/** A node whose queue ceases to wait, or has not used its grant, runs at the next tick: others may stand behind the queue. */
static void a_node_runs_when_its_queue_waits_no_longer(void **state)
{
	(void)state;
	for (uint32_t granted_first = 0; granted_first < 2u; granted_first++) {
		start();
		prepare(0, 0);
		assert_false(ask(1));
		if (granted_first != 0) {
			finish(0);
			assert_int_equal(granted(), 1);
			now += 10001;
		} else {
			pb_core_timeslice_remove(&firmware, &firmware.nodes[1], &queues[1]);
		}
		firmware.marks.nodes = 0;
		pb_core_jobs_tick(&firmware, &firmware.nodes[1]);
		assert_int_equal(firmware.marks.nodes, 2);
		assert_int_equal(firmware.jobs.wanted, 0);
	}
}

/** A priority has starved from the limit on: what it loses then is not counted. */
static void a_starvation_count_stays_at_its_limit(void **state)
{
	(void)state;
	start();
	set_priority(0, LOW);
	prepare(0, 0);
	firmware.jobs.starvation[LOW] = PB_LIMIT_STARVATION;
	assert_false(ask(1));
	assert_true(firmware.nodes[0].asks.revoked);
	assert_int_equal(firmware.jobs.starvation[LOW], PB_LIMIT_STARVATION);
}

/** One that fills a node, and needs a job after all, is refused and does not take the place of the one that waits. */
static void a_queue_without_the_timeslice_does_not_wait_for_a_job(void **state)
{
	(void)state;
	start();
	prepare(0, 0);
	assert_false(ask(1));
	pb_core_timeslice_remove(&firmware, &firmware.nodes[2], &queues[2]);
	set_node(2, 1);
	assert_false(pb_core_jobs_ask(&firmware, &firmware.nodes[1], &queues[2]));
	assert_false(pb_core_jobs_awaits(&firmware, &queues[2]));
	assert_true(pb_core_jobs_awaits(&firmware, &queues[1]));
}

/** A revocation ends with the job that it was for: the next one is kept. */
static void a_revocation_ends_with_its_job(void **state)
{
	(void)state;
	start();
	prepare(0, 0);
	firmware.nodes[0].asks.revoked = true;
	finish(0);
	assert_false(firmware.nodes[0].asks.revoked);
}

/** Patches that were applied count, also if their submission goes back to its queue before it runs. */
static void patches_of_a_submission_that_goes_back_count(void **state)
{
	static struct pb_channel_entry entry;
	struct pb_core_node *node = &firmware.nodes[1];

	(void)state;
	start();
	firmware.channels[1].endpoint.entry = &entry;
	firmware.channels[1].usage.in_flight = 1;
	queues[1].in_flight = 1;
	pb_core_in_flight_next(&node->flight)->patches = 5;
	prepare(1, 0);
	finish(1);
	pb_core_staged_unsubmit(&firmware, node);
	assert_int_equal(node->staged.patches, 5);
	assert_int_equal(entry.patches_low, 5);
	assert_int_equal(queues[1].in_flight, 0);
}

/** Queue 0 of node 0 waits for a job, and the others are ready there, with submissions that need none. */
static void wait_beside_others(void)
{
	static struct {
		struct pb_queue_page page;
		struct pb_descriptor ring[1];
	} memory; /* a descriptor without patches */

	start();
	assert_false(ask(0));
	for (uint32_t n = 1; n < NODES; n++) {
		pb_core_timeslice_remove(&firmware, &firmware.nodes[n], &queues[n]);
		queues[n].identity = queues[0].identity;
		queues[n].page = &memory.page;
		pb_core_ready_append(queues, &firmware.nodes[0].ready, &queues[n]);
	}
}

/** While a queue waits for a job, those of its node that need none are admitted from in turns of their channels. */
static void queues_that_need_no_job_take_turns(void **state)
{
	struct pb_core_node *node = &firmware.nodes[0];

	(void)state;
	wait_beside_others();
	for (uint32_t turn = 0; turn < 2u * (NODES - 1u); turn++) {
		struct pb_core_queue *queue = pb_core_jobs_fill(&firmware, node);

		assert_ptr_equal(queue, &queues[1u + turn % (NODES - 1u)]);
		pb_core_ready_append(queues, &node->ready, queue);
	}
}

/** A channel that has used more than a round's share in advance has no submission admitted beside its turn. */
static void a_channel_deep_in_debt_fills_no_gap(void **state)
{
	static const struct {
		int32_t deficit[NODES]; /* of the channel of each queue; a share is 5000 us */
		uint32_t fills[NODES];  /* the queues admitted from, one after the other; 0: none */
	} rows[] = {
		{{0, 0, 0, 0}, {1, 2, 3, 1}},
		{{0, -5000, -5000, -5000}, {1, 2, 3, 1}},
		{{0, -5000, -5001, -5000}, {1, 3, 1, 3}},
		{{0, -9000, -9000, -5000}, {3, 3, 3, 3}},
		{{0, -9000, -9000, -9000}, {0, 0, 0, 0}},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_core_node *node = &firmware.nodes[0];

		wait_beside_others();
		for (uint32_t n = 0; n < NODES; n++)
			node->fair.at[NORMAL].deficit[n] = rows[i].deficit[n];
		for (uint32_t turn = 0; turn < NODES; turn++) {
			struct pb_core_queue *queue = pb_core_jobs_fill(&firmware, node);

			assert_ptr_equal(queue,
					 rows[i].fills[turn] == 0 ? NULL : &queues[rows[i].fills[turn]]);
			if (queue != NULL)
				pb_core_ready_append(queues, &node->ready, queue);
		}
	}
}

/** A channel pays for the time for which its job kept another node's engine idle, each job for its part; the waiter does not. */
static void who_holds_a_job_pays_for_nodes_that_wait(void **state)
{
	static const struct {
		bool busy;                  /* the waiting node's engine has something to run */
		uint32_t idle, waits, held; /* for so long */
		int32_t charged;
	} rows[] = {
		{false, 900, 600, 700, 600 / (int32_t)PB_LIMIT_JOBS},
		{false, 900, 800, 700, 700 / (int32_t)PB_LIMIT_JOBS},
		{false, 500, 800, 700, 500 / (int32_t)PB_LIMIT_JOBS},
		{true, 900, 600, 700, 0},
		/* An excuse has 16 bits. */
		{false, 300000, 300000, 300000, 300000 / (int32_t)PB_LIMIT_JOBS},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_core_node *node = &firmware.nodes[1];

		start();
		prepare(0, 0);
		assert_false(ask(1));
		firmware.nodes[0].asks.since = now - rows[i].held;
		node->asks.since = now - rows[i].waits;
		node->retirement.idle_since = now - rows[i].idle;
		node->flight.fed = rows[i].busy;
		pb_core_in_flight_at(&node->flight, 1)->queue = &queues[1];
		finish(0);
		assert_int_equal(granted(), 1);
		assert_int_equal(node->fair.at[NORMAL].deficit[0], -rows[i].charged);
		assert_int_equal(node->fair.at[NORMAL].deficit[1], 0);
		assert_int_equal(node->asks.excused, rows[i].charged < 0xffff ? rows[i].charged : 0xffff);
	}
}

/** A channel that has used more than the share of a round in advance fills no gap of others. */
static void a_channel_deep_in_debt_is_told(void **state)
{
	(void)state;
	start();
	firmware.channels[2].grants.weight = 2;
	firmware.nodes[0].fair.at[NORMAL].deficit[1] = -5000;
	assert_false(pb_core_fair_is_in_debt(&firmware, &firmware.nodes[0], NORMAL, 1));
	firmware.nodes[0].fair.at[NORMAL].deficit[1] = -5001;
	assert_true(pb_core_fair_is_in_debt(&firmware, &firmware.nodes[0], NORMAL, 1));
	firmware.nodes[0].fair.at[NORMAL].deficit[2] = -10000;
	assert_false(pb_core_fair_is_in_debt(&firmware, &firmware.nodes[0], NORMAL, 2));
}

/** A turn that a starved priority could not take, as jobs are to be repaid, comes again after few submissions. */
static void a_turn_without_a_job_costs_no_whole_count(void **state)
{
	(void)state;
	start();
	set_priority(1, LOW);
	pb_core_timeslice_protect(&firmware.nodes[1].slice);
	firmware.jobs.repay_us[LOW] = 5;
	assert_false(ask(1));
	assert_int_equal(firmware.nodes[1].ready.at[LOW].starvation, PB_LIMIT_STARVATION - 4u);
}

UNIT_SUITE(test_firmware_jobs)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_holds_a_job_pays_for_nodes_that_wait),
		cmocka_unit_test(a_channel_deep_in_debt_is_told),
		cmocka_unit_test(a_channel_deep_in_debt_fills_no_gap),
		cmocka_unit_test(a_turn_without_a_job_costs_no_whole_count),
		cmocka_unit_test(a_freed_job_goes_to_the_highest_priority_then_to_the_least_account),
		cmocka_unit_test(the_time_of_a_job_is_charged),
		cmocka_unit_test(a_higher_priority_revokes_a_job),
		cmocka_unit_test(an_unused_grant_goes_on),
		cmocka_unit_test(a_node_runs_when_its_queue_waits_no_longer),
		cmocka_unit_test(a_starvation_count_stays_at_its_limit),
		cmocka_unit_test(a_queue_without_the_timeslice_does_not_wait_for_a_job),
		cmocka_unit_test(a_revocation_ends_with_its_job),
		cmocka_unit_test(queues_that_need_no_job_take_turns),
		cmocka_unit_test(patches_of_a_submission_that_goes_back_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
