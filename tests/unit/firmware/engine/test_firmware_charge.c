/* SPDX-License-Identifier: MIT */
/* What is charged for engine time, for a stop and for preparation, and to whom, under the fair policy. */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static struct pb_firmware firmware;
static struct pb_core_queue queues[4];
static struct pb_core_node *const node = &firmware.nodes[0];

static void append(struct pb_core_queue *queue)
{
	pb_core_ready_append(queues, &node->ready, queue);
}

/** Queue i of channel i / 2, of the lowest priority, with a submission that is not admitted yet. All are in no list. */
static void start(void)
{
	static const struct pb_firmware_config config = {.node_count = 1};

	memset(&firmware, 0, sizeof(firmware));
	memset(queues, 0, sizeof(queues));
	firmware.table.queues = queues;
	firmware.table.count = COUNT(queues);
	firmware.config = &config;
	node->bit = 1;
	firmware.node_at[0] = node;
	pb_core_schedule_init(node);
	for (uint32_t i = 0; i < COUNT(queues); i++) {
		queues[i].channel = (uint8_t)(i / 2u);
		queues[i].put = 1;
		queues[i].identity = PB_CORE_QUEUE_OPEN << PB_CORE_QUEUE_STATE_SHIFT;
	}
}

/** What a channel may still use of its share. */
static int32_t deficit(uint32_t channel)
{
	return node->fair.at[0].deficit[channel];
}

/** The longer of the engine's runtime and the card's time is charged; its runtime if no submission waited meanwhile. */
static void runtime_or_elapsed_time_is_charged(void **state)
{
	static const struct {
		bool uncharged;
		uint32_t since, clock;     /* on the card's clock */
		uint32_t before, reported; /* the engine's time */
		int32_t charged;
	} rows[] = {
		{false, 100, 400, 50, 60, 300}, {false, 100, 400, 50, 750, 700},
		{true, 100, 400, 50, 60, 10},   {true, 100, 400, 50, 50, 0},
		{false, 400, 400, 50, 50, 0},   {false, UINT32_MAX, 9, 50, 51, 10},
		{true, 0, 9, UINT32_MAX, 4, 5},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct pb_core_submission submission = {.queue = &queues[0]};

		start();
		append(&queues[2]);
		firmware.clock = &rows[i].clock;
		node->retirement.uncharged = rows[i].uncharged;
		node->retirement.charged_until = rows[i].since;
		node->retirement.time = rows[i].before;
		pb_core_charge(&firmware, node, &submission, rows[i].reported);
		assert_int_equal(deficit(0), -rows[i].charged);
		assert_int_equal(node->retirement.time, rows[i].reported);
		assert_int_equal(node->retirement.charged_until, rows[i].clock);
		assert_false(node->retirement.uncharged);
	}
}

/** A charge for the engine serves the priority of the queue that has the timeslice: its starvation count begins anew. */
static void a_priority_that_used_the_engine_starves_no_more(void **state)
{
	const uint32_t clock = 400;

	(void)state;
	for (uint32_t current = 0; current < 2; current++) {
		const struct pb_core_submission submission = {.queue = &queues[0]};
		const struct pb_core_submission asker = {.queue = &queues[2]};

		start();
		firmware.clock = &clock;
		node->ready.at[0].starvation = 9;
		if (current != 0)
			pb_core_timeslice_begin(&node->slice, &queues[0]);
		pb_core_charge(&firmware, node, &submission, 50);
		assert_int_equal(node->ready.at[0].starvation, current != 0 ? 0 : 9);
		/* The queue that an engine is stopped for has the timeslice by then. */
		node->ready.at[0].starvation = 9;
		if (current != 0)
			node->slice.current = &queues[2];
		pb_core_charge_stop(&firmware, node, &submission, &asker, 50);
		assert_int_equal(node->ready.at[0].starvation, current != 0 ? 0 : 9);
	}
}

/** Of a stop, the ring head is charged its runtime; the rest is the channel's that asked for the stop. */
static void a_stop_is_charged_to_the_channel_that_asked(void **state)
{
	static const struct {
		uint32_t asker; /* queue: 1 is of the head's channel, 2 of another */
		bool uncharged;
		uint32_t elapsed, run;
		int32_t head, other;
	} rows[] = {
		{2, false, 300, 100, -100, -200}, {2, false, 100, 300, -300, 0},
		{2, false, 300, 300, -300, 0},    {2, true, 300, 100, -100, 0},
		{1, false, 300, 100, -300, 0},    {1, false, 100, 300, -300, 0},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct pb_core_submission head = {.queue = &queues[0]};
		const struct pb_core_submission asker = {.queue = &queues[rows[i].asker]};
		const uint32_t clock = 1000;

		start();
		append(&queues[0]);
		append(&queues[2]);
		firmware.clock = &clock;
		node->retirement.uncharged = rows[i].uncharged;
		node->retirement.charged_until = clock - rows[i].elapsed;
		pb_core_charge_stop(&firmware, node, &head, &asker, rows[i].run);
		assert_int_equal(deficit(0), rows[i].head);
		assert_int_equal(deficit(1), rows[i].other);
		assert_int_equal(node->retirement.charged_until, clock);
		assert_int_equal(node->retirement.time, rows[i].run);
		assert_false(node->retirement.uncharged);
	}
}

/** Preparation that keeps the engine without anything to run is charged to its channel, also if it comes to nothing. */
static void preparation_is_charged_while_the_engine_is_idle(void **state)
{
	static const struct {
		bool unsubmitted, in_flight, uncharged;
		uint32_t idle, preparing; /* for so long */
		int32_t charged;
	} rows[] = {
		{true, false, true, 500, 300, 300},
		{true, false, false, 500, 300, 500}, /* its wait for the job, too */
		{true, false, true, 200, 300, 200},
		{true, true, true, 500, 300, 0},
		{false, false, true, 500, 300, 300},
		{false, false, true, 200, 300, 200},
		{false, false, false, 500, 300, 0}, /* its completion is charged */
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const uint32_t clock = 1000;

		start();
		append(&queues[2]);
		firmware.clock = &clock;
		pb_core_in_flight_next(&node->flight)->queue = &queues[0];
		pb_core_timeslice_begin(&node->slice, &queues[0]);
		node->ready.at[0].starvation = 7;
		node->staged.kind = PB_CORE_STAGED_JOB;
		node->staged.preparing = clock - rows[i].preparing;
		node->retirement.idle_since = clock - rows[i].idle;
		node->retirement.charged_until = 400;
		node->retirement.uncharged = rows[i].uncharged;
		if (rows[i].in_flight) {
			node->flight.retired = UINT32_MAX;
			pb_core_in_flight_head(&node->flight)->queue = &queues[2];
		}
		if (rows[i].unsubmitted)
			pb_core_charge_unsubmitted(&firmware, node);
		else
			pb_core_charge_prepared(&firmware, node, pb_core_in_flight_next(&node->flight));
		assert_int_equal(deficit(0), -rows[i].charged);
		assert_int_equal(node->retirement.charged_until, rows[i].charged != 0 ? clock : 400);
		/* Its priority was not served. */
		assert_int_equal(node->ready.at[0].starvation, 7);
	}
}

/** When the last submission in flight has completed, the engine's time without work begins. */
static void the_time_without_work_begins_with_the_last_completion(void **state)
{
	const uint32_t clock = 1000;

	(void)state;
	for (uint32_t in_flight = 0; in_flight < 2u; in_flight++) {
		const struct pb_core_submission submission = {.queue = &queues[0]};

		start();
		firmware.clock = &clock;
		node->retirement.idle_since = 400;
		node->flight.fed = in_flight;
		pb_core_in_flight_at(&node->flight, 1)->queue = &queues[0];
		pb_core_charge_report(&firmware, node, &submission, 50);
		assert_int_equal(node->retirement.idle_since, in_flight != 0 ? 400 : clock);
		assert_int_equal(node->retirement.idles, 1u - in_flight);
	}
}

/** At a tick, what a long submission has run is charged while its channel is alone at its priority, unless it is protected. */
static void what_ran_alone_is_charged_at_each_tick(void **state)
{
	static const struct {
		bool current, protected, other,
			lower;       /* another channel of the priority is ready, or a lower priority */
		uint32_t time, used; /* the engine's time that is charged until, and of the timeslice */
		bool uncharged;
	} rows[] = {
		{true, false, false, false, 700, 0, true}, {true, false, false, true, 700, 650, false},
		{true, false, true, false, 50, 0, false},  {true, true, false, true, 50, 0, false},
		{false, false, false, true, 50, 0, false},
	};
	const uint32_t clock = 1000;

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_core_submission *head;

		start();
		firmware.clock = &clock;
		queues[0].identity |= PB_PRIORITY_NORMAL << PB_CORE_QUEUE_PRIORITY_SHIFT;
		queues[2].identity |= (rows[i].other ? PB_PRIORITY_NORMAL : PB_PRIORITY_LOW)
				      << PB_CORE_QUEUE_PRIORITY_SHIFT;
		if (rows[i].current)
			pb_core_timeslice_begin(&node->slice, &queues[0]);
		if (rows[i].other || rows[i].lower)
			append(&queues[2]);
		node->flight.fed = 1;
		head = pb_core_in_flight_head(&node->flight);
		*head = (struct pb_core_submission){.queue = &queues[0], .protected = rows[i].protected};
		node->retirement.time = 50;
		node->retirement.charged_until = clock;
		node->fair.at[PB_PRIORITY_LOW].repay_us = 5000;
		node->fair.repays = 1u << PB_PRIORITY_LOW;
		pb_core_charge_alone(&firmware, node, 700);
		assert_int_equal(node->retirement.time, rows[i].time);
		assert_int_equal(node->slice.used, rows[i].used);
		assert_int_equal(node->retirement.uncharged, rows[i].uncharged);
		assert_int_equal(node->fair.at[PB_PRIORITY_NORMAL].deficit[0], 0);
		assert_int_equal(node->fair.at[PB_PRIORITY_LOW].repay_us, 5000u - rows[i].used);
	}
}

/** Time that passes uncharged is told once: for what the engine had nothing to run, since that was asked or charged last. */
static void a_gap_is_told_once(void **state)
{
	static const struct {
		uint32_t idle_since, charged_until, gap;
	} rows[] = {{700, 400, 300}, {400, 700, 300}, {1000, 0, 0}};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start();
		node->retirement.idle_since = rows[i].idle_since;
		node->retirement.charged_until = rows[i].charged_until;
		assert_int_equal(pb_core_charge_gap(&node->retirement, 1000), rows[i].gap);
		assert_true(node->retirement.uncharged);
		assert_int_equal(pb_core_charge_gap(&node->retirement, 1000), 0);
	}
}

/** What channels were charged for that held jobs is not the submission's that waited for one. */
static void a_wait_that_others_pay_for_is_not_charged(void **state)
{
	static const struct {
		uint16_t excused;
		uint32_t charged_until;
	} rows[] = {{0, 400}, {250, 650}, {700, 1000}};
	const uint32_t clock = 1000;

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start();
		append(&queues[2]);
		firmware.clock = &clock;
		pb_core_in_flight_next(&node->flight)->queue = &queues[0];
		node->staged.kind = PB_CORE_STAGED_JOB;
		node->retirement.charged_until = 400;
		node->asks.excused = rows[i].excused;
		pb_core_charge_prepared(&firmware, node, pb_core_in_flight_next(&node->flight));
		assert_int_equal(node->retirement.charged_until, rows[i].charged_until);
	}
}

UNIT_SUITE(test_firmware_charge)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_is_told_once),
		cmocka_unit_test(the_time_without_work_begins_with_the_last_completion),
		cmocka_unit_test(what_ran_alone_is_charged_at_each_tick),
		cmocka_unit_test(a_wait_that_others_pay_for_is_not_charged),
		cmocka_unit_test(runtime_or_elapsed_time_is_charged),
		cmocka_unit_test(a_priority_that_used_the_engine_starves_no_more),
		cmocka_unit_test(a_stop_is_charged_to_the_channel_that_asked),
		cmocka_unit_test(preparation_is_charged_while_the_engine_is_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
