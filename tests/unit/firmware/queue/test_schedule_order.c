/* SPDX-License-Identifier: MIT */
/* Which queue is next, and which goes before its peers: holds, recalls and cut timeslices, on queues that the test makes up. */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/unit.h"

#define QUEUES       4u
#define PRIORITY     PB_PRIORITY_NORMAL
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define QUANTUM      (4u * PB_CORE_QUANTUM_UNIT)

static struct pb_firmware firmware;
static struct pb_core_queue queues[QUEUES];
static struct pb_core_node *const node = &firmware.nodes[0];

static const struct pb_firmware_config config = {.node_count = 1};

static uint8_t identity_of(uint32_t priority)
{
	return (uint8_t)(PB_CORE_QUEUE_OPEN << PB_CORE_QUEUE_STATE_SHIFT |
			 priority << PB_CORE_QUEUE_PRIORITY_SHIFT);
}

static void append(struct pb_core_queue *queue)
{
	pb_core_ready_append(queues, &node->ready, queue);
}

/** Queue i of channel i / 2, with a submission that is not admitted yet. All are in no list. */
static int start(void **state)
{
	(void)state;
	memset(&firmware, 0, sizeof(firmware));
	memset(queues, 0, sizeof(queues));
	firmware.table.queues = queues;
	firmware.table.count = QUEUES;
	node->bit = 1;
	firmware.node_at[0] = node;
	firmware.config = &config;
	pb_core_schedule_init(node);
	for (uint32_t i = 0; i < QUEUES; i++) {
		queues[i].channel = (uint8_t)(i / 2u);
		queues[i].put = 1;
		queues[i].quantum = QUANTUM / PB_CORE_QUANTUM_UNIT;
		queues[i].identity = identity_of(PRIORITY);
	}
	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++)
		firmware.channels[channel].grants.weight = 1;
	return 0;
}

/** Channels that close are held, each until it has closed itself. */
static void each_closing_channel_is_held_until_it_has_closed(void **state)
{
	start(state);
	append(&queues[0]);
	append(&queues[2]);
	pb_core_schedule_hold_channel(&firmware, 0, true);
	pb_core_schedule_hold_channel(&firmware, 1, true);
	assert_null(pb_core_schedule_next(&firmware, node));
	pb_core_schedule_hold_channel(&firmware, 1, false);
	assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[2]);
	assert_int_equal(pb_core_queue_place(&queues[0]), PB_CORE_PLACE_LISTED);
}

/** A hold of the whole card: a held queue is in no mask, on whichever channel it is. */
static void a_held_channel_is_in_no_mask(void **state)
{
	for (uint32_t channel = 0; channel < 2; channel++) {
		start(state);
		pb_core_schedule_hold_all(&firmware, true);
		append(&queues[2u * channel]);
		assert_int_equal(node->ready.priorities, 0);
		assert_null(pb_core_schedule_next(&firmware, node));
		pb_core_schedule_hold_all(&firmware, false);
		assert_int_equal(node->ready.priorities, 1u << PRIORITY);
		assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[2u * channel]);
	}
}

/** Halted channels of a node are held, each until it is released itself. */
static void each_halted_channel_is_held_until_it_is_released(void **state)
{
	start(state);
	append(&queues[0]);
	append(&queues[2]);
	pb_core_schedule_halt(&firmware, node, 0, true);
	pb_core_schedule_halt(&firmware, node, 1, true);
	assert_null(pb_core_schedule_next(&firmware, node));
	pb_core_schedule_halt(&firmware, node, 1, false);
	assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[2]);
	assert_int_equal(pb_core_queue_place(&queues[0]), PB_CORE_PLACE_LISTED);
}

/** Each suspension of the card has all queues patched anew: it begins with the first one, wherever the last one ended. */
static void a_suspension_begins_with_the_first_queue(void **state)
{
	start(state);
	firmware.power.at = QUEUES;
	pb_core_power_suspend(&firmware, 9, 0);
	assert_int_equal(firmware.power.at, 0);
	assert_int_equal(firmware.power.tag, 9);
	assert_true(pb_core_is_marked(&firmware.marks, PB_CORE_MARK_POWER));
	append(&queues[0]);
	assert_null(pb_core_schedule_next(&firmware, node));
}

/** A starved priority that was served counts from 0 again, also if it has more to run. */
static void a_starved_priority_that_was_served_counts_anew(void **state)
{
	start(state);
	for (uint32_t i = 0; i < 2; i++) {
		queues[i].identity = identity_of(PRIORITY - 1u);
		append(&queues[i]);
	}
	append(&queues[2]);
	node->ready.at[PRIORITY - 1u].starvation = PB_LIMIT_STARVATION;
	assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[0]);
	assert_int_equal(node->ready.at[PRIORITY - 1u].starvation, 0);
}

/** A queue whose timeslice a higher priority has cut short goes before its peers, one that has used its quantum behind. */
static void a_queue_goes_before_its_peers_until_its_quantum_is_used(void **state)
{
	for (uint32_t over = 0; over < 2; over++) {
		start(state);
		queues[2].identity = identity_of(PRIORITY + 1u);
		pb_core_timeslice_begin(&node->slice, &queues[0]);
		pb_core_timeslice_charge(&node->slice, QUANTUM - 1u + over);
		append(&queues[1]);
		append(&queues[2]);
		assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[2]);
		assert_int_equal(node->ready.at[PRIORITY].lists[0].head, over);
	}
}

/** A recalled queue goes before its peers, unless its timeslice has expired. */
static void a_recalled_queue_goes_before_its_peers_unless_it_expired(void **state)
{
	for (uint32_t expired = 0; expired < 2; expired++) {
		start(state);
		append(&queues[1]);
		if (expired != 0)
			pb_core_timeslice_expire(&node->slice, &queues[0], QUANTUM);
		pb_core_schedule_return(&firmware, &queues[0]);
		assert_int_equal(node->ready.at[PRIORITY].lists[0].head, expired);
	}
}

/** A failed submission keeps those of its own queue before it at the engine; others make room for a higher priority. */
static void a_failed_submission_shields_its_own_queue_only(void **state)
{
	for (uint32_t failed = 0; failed < 2; failed++) {
		struct pb_core_submission staged = {.queue = &queues[2]};

		start(state);
		queues[2].identity = identity_of(PRIORITY + 1u);
		node->flight.fed = 2;
		pb_core_in_flight_at(&node->flight, 1)->queue = &queues[0];
		pb_core_in_flight_at(&node->flight, 2)->queue = &queues[failed];
		pb_core_in_flight_at(&node->flight, 2)->status = PB_ERROR_BAD_PATCH_LIST;
		pb_core_in_flight_recount(&node->flight);
		assert_int_equal(pb_core_policy_fair.should_preempt(node, &staged, 0), failed);
	}
}

/** A protected submission is recalled only if its queue's timeslice has expired; any other one always. */
static void a_protected_submission_is_recalled_when_its_queue_expired(void **state)
{
	for (uint32_t row = 0; row < 4; row++) {
		const bool protected = (row & 1u) != 0, expired = (row & 2u) != 0;
		const struct pb_core_submission submission = {.queue = &queues[0], .protected = protected};

		start(state);
		pb_core_timeslice_expire(&node->slice, &queues[expired ? 0 : 2], QUANTUM);
		assert_int_equal(pb_core_policy_fair.may_recall(node, &submission), !protected || expired);
	}
}

/** A priority that has nothing ready, as its queue left or its channel is held, does not count then, and keeps its count. */
static void a_priority_without_ready_queues_starves_no_more(void **state)
{
	for (uint32_t held = 0; held < 2; held++) {
		start(state);
		append(&queues[0]);
		node->ready.at[PRIORITY].starvation = PB_LIMIT_STARVATION - 2u;
		if (held != 0)
			pb_core_ready_hold(&node->ready, 1);
		else
			pb_core_ready_remove(queues, &node->ready, &queues[0]);
		pb_core_ready_starve_below(&node->ready, PB_PRIORITY_REALTIME);
		assert_int_equal(node->ready.at[PRIORITY].starvation, PB_LIMIT_STARVATION - 2u);
	}
}

/** Others that have starved wait until a protected submission has left, and is charged. */
static void one_submission_of_a_node_is_protected_at_a_time(void **state)
{
	static const struct {
		bool in_flight, staged; /* a protected submission is */
		uint32_t next;
	} rows[] = {{false, false, 0}, {true, false, 2}, {false, true, 2}};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start(state);
		queues[0].identity = identity_of(PRIORITY - 1u);
		append(&queues[0]);
		append(&queues[2]);
		node->ready.at[PRIORITY - 1u].starvation = PB_LIMIT_STARVATION;
		node->flight.fed = rows[i].in_flight;
		node->staged.kind = rows[i].staged ? PB_CORE_STAGED_READY : PB_CORE_STAGED_NONE;
		pb_core_in_flight_at(&node->flight, 1)->queue = &queues[1];
		pb_core_in_flight_at(&node->flight, 1)->protected = rows[i].in_flight || rows[i].staged;
		assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[rows[i].next]);
		assert_int_equal(node->slice.protect, rows[i].next == 0);
	}
}

/** What is admitted while a queue that has starved waits for a job is not protected, and leaves it its protection. */
static void only_the_queue_that_has_the_timeslice_is_protected(void **state)
{
	start(state);
	pb_core_timeslice_begin(&node->slice, &queues[0]);
	pb_core_timeslice_protect(&node->slice);
	assert_false(pb_core_timeslice_claim_protect(&node->slice, &queues[2]));
	assert_true(pb_core_timeslice_claim_protect(&node->slice, &queues[0]));
	assert_false(pb_core_timeslice_claim_protect(&node->slice, &queues[0]));
}

/** What a stop has charged a protected submission for counts in its quantum. */
static void a_stop_begins_no_quantum_anew(void **state)
{
	static const struct {
		bool protected;
		uint32_t charged, used;
		bool over;
	} rows[] = {
		{true, 0, QUANTUM - 1u, false},      {true, 0, QUANTUM, true},
		{true, 300, QUANTUM - 301u, false},  {true, 300, QUANTUM - 300u, true},
		{false, 300, QUANTUM - 300u, false},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start(state);
		node->flight.fed = 1;
		pb_core_in_flight_at(&node->flight, 1)->queue = &queues[0];
		pb_core_in_flight_at(&node->flight, 1)->protected = rows[i].protected;
		node->fair.at[PRIORITY].repay_us = rows[i].charged * PB_REPAY_TIMES;
		assert_int_equal(pb_core_policy_fair.should_preempt(node, NULL, rows[i].used), rows[i].over);
	}
}

/** The engine stops for a priority above what runs, also if a protected submission of a lower one is staged. */
static void a_protected_submission_that_is_staged_hides_no_higher_priority(void **state)
{
	static const struct {
		bool protected;
		uint32_t waits; /* priority that is listed */
		bool stops;
	} rows[] = {
		{true, PRIORITY + 1u, true},
		{true, PRIORITY, false},
		{false, PRIORITY + 1u, false}, /* such a one goes back by itself */
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_core_submission *staged;

		start(state);
		queues[1].identity = identity_of(PRIORITY - 1u);
		queues[2].identity = identity_of(rows[i].waits);
		queues[2].channel = 0;
		append(&queues[2]);
		node->flight.fed = 1;
		pb_core_in_flight_at(&node->flight, 1)->queue = &queues[0];
		node->staged.kind = PB_CORE_STAGED_READY;
		staged = pb_core_in_flight_next(&node->flight);
		staged->queue = &queues[1];
		staged->protected = rows[i].protected;
		assert_int_equal(pb_core_policy_fair.should_preempt(node, staged, 1), rows[i].stops);
	}
}

/** A node that asks for a job again, for one submission, counts it once against lower priorities. */
static void a_submission_that_waits_for_a_job_counts_once(void **state)
{
	for (uint32_t waits = 0; waits < 2; waits++) {
		start(state);
		queues[2].identity = identity_of(PRIORITY - 1u);
		append(&queues[2]);
		pb_core_timeslice_begin(&node->slice, &queues[0]);
		node->asks.queue = waits != 0 ? &queues[0] : NULL;
		for (uint32_t n = 0; n < 3; n++)
			assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[0]);
		assert_int_equal(node->ready.at[PRIORITY - 1u].starvation, waits != 0 ? 0 : 3);
	}
}

UNIT_SUITE(test_schedule_order)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_submission_of_a_node_is_protected_at_a_time),
		cmocka_unit_test(only_the_queue_that_has_the_timeslice_is_protected),
		cmocka_unit_test(a_stop_begins_no_quantum_anew),
		cmocka_unit_test(a_protected_submission_that_is_staged_hides_no_higher_priority),
		cmocka_unit_test(a_submission_that_waits_for_a_job_counts_once),
		cmocka_unit_test(each_closing_channel_is_held_until_it_has_closed),
		cmocka_unit_test(a_starved_priority_that_was_served_counts_anew),
		cmocka_unit_test(a_queue_goes_before_its_peers_until_its_quantum_is_used),
		cmocka_unit_test(a_recalled_queue_goes_before_its_peers_unless_it_expired),
		cmocka_unit_test(a_failed_submission_shields_its_own_queue_only),
		cmocka_unit_test(a_protected_submission_is_recalled_when_its_queue_expired),
		cmocka_unit_test(a_priority_without_ready_queues_starves_no_more),
		cmocka_unit_test(a_held_channel_is_in_no_mask),
		cmocka_unit_test(each_halted_channel_is_held_until_it_is_released),
		cmocka_unit_test(a_suspension_begins_with_the_first_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
