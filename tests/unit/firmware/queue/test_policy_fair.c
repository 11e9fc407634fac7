/* SPDX-License-Identifier: MIT */
/* The fair policy, to the microsecond: its functions on queues that the test makes up. */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define PRIORITY     PB_PRIORITY_NORMAL
#define SHARE        5000 /* microseconds that a channel of weight 1 gets in a round */
#define LEFT         156  /* so many microseconds of a share are none: a 32nd of a tick */
#define QUANTUM      (4u * PB_CORE_QUANTUM_UNIT)

static struct pb_firmware firmware;
static struct pb_core_queue queues[4];
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
	firmware.table.count = COUNT(queues);
	node->bit = 1;
	firmware.node_at[0] = node;
	firmware.config = &config;
	pb_core_schedule_init(node);
	for (uint32_t i = 0; i < COUNT(queues); i++) {
		queues[i].channel = (uint8_t)(i / 2u);
		queues[i].put = 1;
		queues[i].quantum = QUANTUM / PB_CORE_QUANTUM_UNIT;
		queues[i].identity = identity_of(PRIORITY);
	}
	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++)
		firmware.channels[channel].grants.weight = 1;
	return 0;
}

static int32_t *deficit(uint32_t channel)
{
	return &node->fair.at[PRIORITY].deficit[channel];
}

/**
 * A used quantum ends a timeslice for another queue of the channel. A used share ends it for another channel, whatever
 * the quantum; a share that is not charged yet is used, too, and so is the little that is left of one at a tick.
 */
static void a_timeslice_is_over_when_others_wait(void **state)
{
	static const struct {
		bool own, other; /* that wait */
		int32_t deficit;
		uint32_t charged; /* of the microseconds used */
		uint32_t used;
		bool over;
	} rows[] = {
		{false, false, -1, 0, UINT32_MAX, false},
		{false, true, 1, 0, 1, true},
		{false, true, LEFT, 0, 1, true},
		{false, true, 0, 0, 1, true},
		{false, true, -1, 0, 1, true},
		{false, true, LEFT + 700, 0, 699, false},
		{false, true, LEFT + 700, 0, 700, true},
		{false, true, LEFT + 700, 300, 999, false},
		{false, true, LEFT + 700, 300, 1000, true},
		{false, true, SHARE, 0, QUANTUM, false},
		{false, true, INT32_MAX, 0, INT32_MAX - LEFT - 1, false},
		{false, true, INT32_MAX, 0, INT32_MAX - LEFT, true},
		{true, false, -1, 0, QUANTUM - 1u, false},
		{true, false, -1, 0, QUANTUM, true},
		{true, true, SHARE, 0, QUANTUM - 1u, false},
		{true, true, SHARE, 0, QUANTUM, true},
		{true, true, 0, 0, QUANTUM - 1u, true},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start(state);
		node->flight.fed = 1;
		pb_core_in_flight_at(&node->flight, 1)->queue = &queues[0];
		pb_core_timeslice_begin(&node->slice, &queues[0]);
		pb_core_timeslice_charge(&node->slice, rows[i].charged);
		if (rows[i].own)
			append(&queues[1]);
		if (rows[i].other)
			append(&queues[2]);
		*deficit(0) = rows[i].deficit;
		assert_int_equal(pb_core_policy_fair.should_preempt(node, NULL, rows[i].used), rows[i].over);
		/* The reason that is asked for first: a peer waits, and the quantum is used up. */
		assert_int_equal(pb_core_policy_fair.is_over(node, &queues[0], rows[i].used),
				 rows[i].own && rows[i].used >= QUANTUM);
	}
}

/** Another channel waits wherever its submission is, unless that is not ready; a lower priority does not count. */
static void a_used_share_ends_a_timeslice_wherever_the_other_channel_waits(void **state)
{
	static const struct {
		enum { LISTED, CURRENT, IN_FLIGHT, STAGED, PREPARED } place;
		uint32_t queue, priority;
		bool over;
	} rows[] = {
		{LISTED, 2, PRIORITY, true},    {LISTED, 2, PRIORITY - 1u, false},
		{CURRENT, 2, PRIORITY, true},   {CURRENT, 2, PRIORITY - 1u, false},
		{IN_FLIGHT, 2, PRIORITY, true}, {IN_FLIGHT, 2, PRIORITY - 1u, false},
		{STAGED, 2, PRIORITY, true},    {STAGED, 2, PRIORITY - 1u, false},
		{PREPARED, 2, PRIORITY, false}, {LISTED, 1, PRIORITY, false},
		{CURRENT, 1, PRIORITY, false},  {IN_FLIGHT, 1, PRIORITY, false},
		{STAGED, 1, PRIORITY, false},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_core_queue *queue = &queues[rows[i].queue];
		const struct pb_core_submission *staged = NULL;

		start(state);
		queue->identity = identity_of(rows[i].priority);
		node->flight.fed = 1;
		pb_core_in_flight_at(&node->flight, 1)->queue = &queues[0];
		*deficit(0) = 1;
		if (rows[i].place == LISTED) {
			append(queue);
		} else if (rows[i].place == CURRENT) {
			pb_core_timeslice_begin(&node->slice, queue);
		} else if (rows[i].place == IN_FLIGHT) {
			node->flight.fed = 2;
			pb_core_in_flight_at(&node->flight, 2)->queue = queue;
		} else {
			node->staged.kind =
				rows[i].place == STAGED ? PB_CORE_STAGED_READY : PB_CORE_STAGED_JOB;
			staged = pb_core_in_flight_next(&node->flight);
			pb_core_in_flight_next(&node->flight)->queue = queue;
		}
		pb_core_in_flight_recount(&node->flight);
		assert_int_equal(pb_core_policy_fair.should_preempt(node, staged, QUANTUM - 1u),
				 rows[i].over);
	}
}

/** A queue without submissions loses its timeslice; its channel keeps its debt, and its credit if another queue is ready. */
static void an_idle_flow_keeps_no_credit(void **state)
{
	static const struct {
		int32_t before;
		bool own;
		int32_t after;
	} rows[] = {
		{SHARE, false, 0}, {1, false, 0}, {0, false, 0},
		{-1, false, -1},   {1, true, 1},  {-1, true, -1},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start(state);
		pb_core_timeslice_begin(&node->slice, &queues[0]);
		queues[0].put = 0;
		if (rows[i].own)
			append(&queues[1]);
		append(&queues[2]);
		node->fair.at[PRIORITY].serving = 1;
		*deficit(0) = rows[i].before;
		*deficit(1) = LEFT + 1;
		assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[2]);
		assert_int_equal(*deficit(0), rows[i].after);
		assert_int_equal(*deficit(1), LEFT + 1);
	}
}

/** The current channel stays while it has credit; else the next one gets a share more, until one is out of debt. */
static void channels_share_by_deficit(void **state)
{
	static const struct {
		int32_t before[2];
		uint32_t weight; /* of channel 1 */
		uint32_t current, next;
		int32_t after[2];
	} rows[] = {
		{{LEFT + 1, 1}, 1, 0, 0, {LEFT + 1, 1}},
		{{1, LEFT + 1}, 1, 1, 1, {1, LEFT + 1}},
		{{LEFT, 0}, 1, 0, 1, {LEFT, SHARE}},
		{{0, LEFT}, 1, 1, 0, {SHARE, LEFT}},
		{{0, 0}, 1, 0, 1, {0, SHARE}},
		{{0, 0}, 1, 1, 0, {SHARE, 0}},
		{{-SHARE, 0}, 1, 1, 1, {0, SHARE}},
		{{1 - SHARE, 0}, 1, 1, 0, {1, 0}},
		/* So deep in debt that most rounds are had at once: it must come to the same as one by one. */
		{{-200 * SHARE, -100 * SHARE - 1}, 1, 1, 1, {-99 * SHARE, SHARE - 1}},
		{{-10 * SHARE, -30 * SHARE - 1}, 3, 1, 0, {SHARE, -1}},
		{{-20 * SHARE, -30 * SHARE - 1}, 3, 1, 1, {-9 * SHARE, 3 * SHARE - 1}},
		/* As deep in debt as a channel can be, which no sum of rounds overflows. */
		{{INT32_MIN / 2 - 60000000, INT32_MIN / 2 - 60000000}, 1, 1, 0, {SHARE - 1824, -1824}},
		/* Credit that a channel could not use does not add up. */
		{{0, 3}, 1, 0, 1, {0, SHARE}},
		{{SHARE, 0}, 1, 1, 0, {SHARE, 0}},
		{{INT32_MAX, 0}, 1, 1, 0, {SHARE, 0}},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start(state);
		append(&queues[0]);
		append(&queues[2]);
		node->fair.at[PRIORITY].serving = (uint8_t)rows[i].current;
		firmware.channels[1].grants.weight = (uint8_t)rows[i].weight;
		for (uint32_t channel = 0; channel < 2; channel++)
			*deficit(channel) = rows[i].before[channel];
		assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[2u * rows[i].next]);
		for (uint32_t channel = 0; channel < 2; channel++)
			assert_int_equal(*deficit(channel), rows[i].after[channel]);
		assert_int_equal(node->fair.at[PRIORITY].serving, rows[i].next);
	}
}

/** A channel that is not alone at its priority is charged, down to a limit; so is the timeslice of the current queue. */
static void engine_time_is_charged_unless_the_channel_is_alone(void **state)
{
	static const struct {
		bool current, other,
			in_flight; /* timeslice; another channel that waits, or has a submission in the engine */
		int32_t before;
		uint32_t microseconds;
		int32_t after;
	} rows[] = {
		{true, false, false, 7, 300, 7},
		{true, true, false, 7, 300, 7 - 300},
		{false, true, false, 7, 300, 7 - 300},
		{false, false, true, 7, 300, 7 - 300},
		{true, true, false, INT32_MIN / 2 + 1, 300, INT32_MIN / 2 + 1 - 300},
		{true, true, false, INT32_MIN / 2, 300, INT32_MIN / 2},
		/* A minute is the most that counts: a clock that leaps, forward or back, costs no more. */
		{true, true, false, 7, 59999999, 7 - 59999999},
		{true, true, false, 7, 60000001, 7 - 60000000},
		{true, true, false, 7, UINT32_C(1) << 30, 7 - 60000000},
		{true, true, false, 7, UINT32_MAX, 7 - 60000000},
		{true, true, false, INT32_MIN / 2 + 1, UINT32_MAX, INT32_MIN / 2 + 1 - 60000000},
		{true, true, false, INT32_MIN / 2 - 60000000, UINT32_MAX, INT32_MIN / 2 - 60000000},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct pb_core_submission submission = {.queue = &queues[0]};
		uint32_t priority;

		start(state);
		priority = pb_core_queue_priority(&queues[0]);
		if (rows[i].current)
			pb_core_timeslice_begin(&node->slice, &queues[0]);
		if (rows[i].other)
			append(&queues[2]);
		if (rows[i].in_flight) {
			node->flight.fed = 1;
			pb_core_in_flight_at(&node->flight, 1)->queue = &queues[3];
			pb_core_in_flight_recount(&node->flight);
		}
		node->slice.used = 11;
		node->ready.at[priority].starvation = 9;
		*deficit(0) = rows[i].before;
		pb_core_policy_fair.charge(node, &submission, rows[i].microseconds);
		assert_int_equal(*deficit(0), rows[i].after);
		/* What was charged may not have run yet: whether the priority was served is not the policy's to say. */
		assert_int_equal(node->ready.at[priority].starvation, 9);
		assert_int_equal(node->slice.used,
				 11u + (!rows[i].current                  ? 0
					: rows[i].microseconds < 60000000 ? rows[i].microseconds
									  : 60000000));
	}
}

/** The debt of a channel is less by its share of each tick, by weight, unless it uses the node or waits for it. */
static void debts_age_while_a_channel_is_idle(void **state)
{
	enum { IDLE, LISTED, HELD, CURRENT, FED, STAGED };
	static const struct {
		int32_t before;
		uint32_t weight, place;
		int32_t after;
	} rows[] = {
		{0, 1, IDLE, 0},
		{SHARE, 1, IDLE, SHARE},
		{-1, 1, IDLE, 0},
		{-555, 1, IDLE, 0}, /* a ninth of 5000 */
		{-556, 1, IDLE, -1},
		{-4445, 64, IDLE, -1}, /* 64 of 72 */
		{INT32_MIN, 1, IDLE, INT32_MIN + 555},
		{-556, 1, LISTED, -556},
		{-556, 1, HELD, -556},
		{-556, 1, CURRENT, -556},
		{-556, 1, FED, -556},
		{-556, 1, STAGED, -556},
	};
	static const uint32_t levels[] = {PRIORITY, PB_PRIORITY_IDLE, PB_PRIORITY_REALTIME};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start(state);
		queues[0].identity = identity_of(PRIORITY - 1u);
		firmware.channels[0].grants.weight = (uint8_t)(rows[i].weight);
		if (rows[i].place == LISTED || rows[i].place == HELD)
			append(&queues[0]);
		if (rows[i].place == HELD)
			pb_core_schedule_hold_channel(&firmware, 0, true);
		if (rows[i].place == CURRENT)
			pb_core_timeslice_begin(&node->slice, &queues[0]);
		pb_core_in_flight_at(&node->flight, 1)->queue = &queues[0];
		node->flight.fed = rows[i].place == FED;
		pb_core_in_flight_recount(&node->flight);
		if (rows[i].place == STAGED)
			node->staged.kind = PB_CORE_STAGED_READY;
		for (uint32_t l = 0; l < COUNT(levels); l++) {
			node->fair.at[levels[l]].deficit[0] = rows[i].before;
			node->fair.at[levels[l]].charged = 1;
		}
		pb_core_fair_tick(&firmware, node);
		for (uint32_t l = 0; l < COUNT(levels); l++)
			assert_int_equal(node->fair.at[levels[l]].deficit[0], rows[i].after);
		assert_int_equal(*deficit(1), 0);
	}
}

/** What was charged, again too, ages at each tick until no debt is left, also after ticks at which the channel uses the node. */
static void a_charge_ages_from_tick_to_tick(void **state)
{
	static const struct {
		int32_t before;
		uint32_t microseconds;
		int32_t after[3]; /* ticks of 5000, of which a ninth is 555 */
	} rows[] = {{0, 555, {0, 0, 0}}, {0, 1200, {-645, -90, 0}}, {700, 300, {400, 400, 400}}};
	const struct pb_core_submission submission = {.queue = &queues[0]};

	for (uint32_t i = 0; i < 2u * COUNT(rows); i++) {
		if (i % 2u == 0)
			start(state);
		append(&queues[0]);
		if (i % 2u == 0)
			append(&queues[2]);
		*deficit(0) = rows[i / 2u].before;
		pb_core_policy_fair.charge(node, &submission, rows[i / 2u].microseconds);
		pb_core_fair_tick(&firmware, node);
		assert_int_equal(*deficit(0), rows[i / 2u].before - (int32_t)rows[i / 2u].microseconds);
		pb_core_ready_remove(queues, &node->ready, &queues[0]);
		for (uint32_t t = 0; t < 3; t++) {
			pb_core_fair_tick(&firmware, node);
			assert_int_equal(*deficit(0), rows[i / 2u].after[t]);
		}
	}
}

/**
 * A protected submission makes its priority repay a multiple of its time, and the other priorities below the highest
 * that waits one time less, without wrapping; the runtime of higher priorities repays.
 */
static void protected_runtime_is_repaid_to_higher_priorities(void **state)
{
	enum { NONE, READY, FED, STAGED }; /* where a submission of the highest priority is */
	static const struct {
		bool protected;
		uint32_t microseconds;
		uint32_t highest, place;
		uint32_t before[3], after[3]; /* to repay by the priority below, its own, the one above */
	} rows[] = {
		{false, 100, 0, NONE, {0, 0, 0}, {0, 0, 0}},
		{false, 100, 0, NONE, {100, 100, 100}, {0, 100, 100}},
		{false, 100, 0, NONE, {99, 7, 8}, {0, 7, 8}},
		{false, 100, 0, NONE, {101, 7, 8}, {1, 7, 8}},
		{false, 100, PB_PRIORITY_REALTIME, READY, {101, 7, 8}, {1, 7, 8}},
		{true, 100, 0, NONE, {250, 7, 8}, {250 + 1500, 7 + 1600, 8}},
		{true, 100, PB_PRIORITY_HIGH, READY, {250, 7, 8}, {250 + 1500, 7 + 1600, 8}},
		{true, 100, PB_PRIORITY_REALTIME, READY, {250, 7, 8}, {250 + 1500, 7 + 1600, 8 + 1500}},
		{true, 100, PB_PRIORITY_REALTIME, FED, {0, 0, 0}, {1500, 1600, 1500}},
		{true, 100, PB_PRIORITY_REALTIME, STAGED, {0, 0, 0}, {1500, 1600, 1500}},
		{true, UINT32_MAX, 0, NONE, {0, 0, 0}, {60000000u * 15u, 60000000u * 16u, 0}},
		{true, 1000, 0, NONE, {0, 1000, 0}, {15000, 17000, 0}},
		{true, 1000, 0, NONE, {UINT32_MAX, UINT32_MAX, 0}, {UINT32_MAX, UINT32_MAX, 0}},
		{true, 2, 0, NONE, {UINT32_MAX - 15u, UINT32_MAX - 16u, 0}, {UINT32_MAX, UINT32_MAX, 0}},
		{true, 1, 0, NONE, {~14u, ~15u, 0}, {~14u, ~15u, 0}},
		{false, UINT32_MAX, 0, NONE, {60000001, 7, 8}, {1, 7, 8}},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct pb_core_submission submission = {.queue = &queues[0],
							      .protected = rows[i].protected};

		start(state);
		queues[2].identity = identity_of(rows[i].highest);
		if (rows[i].place == READY)
			append(&queues[2]);
		pb_core_in_flight_at(&node->flight, 1)->queue = &queues[2];
		node->flight.fed = rows[i].place == FED;
		pb_core_in_flight_recount(&node->flight);
		if (rows[i].place == STAGED)
			node->staged.kind = PB_CORE_STAGED_JOB;
		for (uint32_t l = 0; l < 3u; l++)
			node->fair.at[PRIORITY - 1u + l].repay_us = rows[i].before[l];
		node->fair.at[PB_PRIORITY_IDLE].repay_us = rows[i].before[0];
		node->fair.repays = (1u << PB_PRIORITIES) - 1u;
		pb_core_policy_fair.charge(node, &submission, rows[i].microseconds);
		assert_int_equal(node->fair.at[PB_PRIORITY_IDLE].repay_us, rows[i].after[0]);
		for (uint32_t l = 0; l < 3u; l++)
			assert_int_equal(node->fair.at[PRIORITY - 1u + l].repay_us, rows[i].after[l]);
		assert_int_equal(node->fair.at[PB_PRIORITY_REALTIME].repay_us, 0);
	}
}

/** A lower priority is next when its starvation count is 32 and nothing is to repay; its submission is protected. */
static void a_starved_priority_is_served_once_and_protected(void **state)
{
	static const struct {
		uint32_t starvation, repay_us;
		bool current; /* the higher one has its timeslice */
		bool low;     /* the lower one is next */
		uint32_t starvation_then;
	} rows[] = {
		{31, 0, false, false, 32}, {32, 0, false, true, 0}, {32, 1, false, false, 32},
		{31, 0, true, false, 32},  {32, 0, true, true, 0},  {32, 1, true, false, 32},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start(state);
		queues[0].identity = identity_of(PRIORITY - 1u);
		append(&queues[0]);
		if (rows[i].current)
			pb_core_timeslice_begin(&node->slice, &queues[2]);
		else
			append(&queues[2]);
		node->ready.at[PRIORITY - 1u].starvation = (uint8_t)rows[i].starvation;
		node->fair.at[PRIORITY - 1u].repay_us = rows[i].repay_us;
		/* A priority without ready queues does not starve. */
		node->ready.at[PRIORITY - 2u].starvation = 5;
		assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[rows[i].low ? 0 : 2]);
		assert_int_equal(node->slice.protect, rows[i].low);
		assert_int_equal(node->ready.at[PRIORITY - 2u].starvation, 5);
		/* The lower priority is empty now if its queue is next. */
		assert_int_equal(node->ready.at[PRIORITY - 1u].starvation, rows[i].starvation_then);
		assert_int_equal(node->ready.priorities >> (PRIORITY - 1u) & 1u, !rows[i].low);
	}
}

/** Each ready lower priority, down to the last, counts a submission of a higher one, and no other does. */
static void every_lower_ready_priority_starves(void **state)
{
	start(state);
	for (uint32_t i = 0; i < 2; i++) {
		queues[i].identity = identity_of(i);
		append(&queues[i]);
	}
	append(&queues[2]);
	append(&queues[3]);
	queues[2].put = 2;
	for (uint32_t n = 1; n <= 2; n++) {
		assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[2]);
		for (uint32_t level = 0; level < PB_PRIORITIES; level++)
			assert_int_equal(node->ready.at[level].starvation, level < 2 ? n : 0);
	}
}

/** A protected timeslice lasts until its submission is admitted; a queue without a timeslice is not protected. */
static void a_protected_timeslice_is_kept_until_its_submission_is_admitted(void **state)
{
	start(state);
	pb_core_timeslice_begin(&node->slice, &queues[0]);
	append(&queues[2]);
	node->slice.protect = true;
	assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[0]);
	assert_true(node->slice.protect);
	pb_core_timeslice_remove(&firmware, node, &queues[0]);
	assert_false(node->slice.protect);
	assert_ptr_equal(pb_core_schedule_next(&firmware, node), &queues[2]);
	assert_false(node->slice.protect);
}

UNIT_SUITE(test_policy_fair)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_timeslice_is_over_when_others_wait),
		cmocka_unit_test(a_used_share_ends_a_timeslice_wherever_the_other_channel_waits),
		cmocka_unit_test(an_idle_flow_keeps_no_credit),
		cmocka_unit_test(channels_share_by_deficit),
		cmocka_unit_test(engine_time_is_charged_unless_the_channel_is_alone),
		cmocka_unit_test(debts_age_while_a_channel_is_idle),
		cmocka_unit_test(a_charge_ages_from_tick_to_tick),
		cmocka_unit_test(protected_runtime_is_repaid_to_higher_priorities),
		cmocka_unit_test(a_starved_priority_is_served_once_and_protected),
		cmocka_unit_test(every_lower_ready_priority_starves),
		cmocka_unit_test(a_protected_timeslice_is_kept_until_its_submission_is_admitted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
