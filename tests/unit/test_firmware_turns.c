/* SPDX-License-Identifier: MIT */
/* Whose turn it is, to the microsecond: the scheduler's own functions on queues that the test makes up. */
#include <string.h>

#include "firmware/core.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define LEVEL        PB_PRIORITY_NORMAL
#define SHARE        5000 /* microseconds: what a channel of weight 1 has of a round */
#define TURN         (4u * PB_CORE_QUANTUM_UNIT)

static struct pb_firmware firmware;
static struct pb_core_queue queues[4];
static struct pb_core_node *const node = &firmware.nodes[0];

/** Queue i of channel i / 2, with work that has not been admitted. All are in no list. */
static int start(void **state)
{
	(void)state;
	memset(&firmware, 0, sizeof(firmware));
	memset(queues, 0, sizeof(queues));
	firmware.queues = queues;
	firmware.queue_count = COUNT(queues);
	node->bit = 1;
	for (uint32_t level = 0; level < PB_PRIORITIES; level++) {
		for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++) {
			node->level[level].flows[channel].head = PB_CORE_NO_QUEUE;
			node->level[level].flows[channel].tail = PB_CORE_NO_QUEUE;
		}
	}
	for (uint32_t i = 0; i < COUNT(queues); i++) {
		queues[i].channel = (uint8_t)(i / 2u);
		queues[i].put = 1;
		queues[i].quantum = TURN / PB_CORE_QUANTUM_UNIT;
		queues[i].state = (uint8_t)(PB_CORE_QUEUE_OPEN | LEVEL << 4);
	}
	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++)
		firmware.channels[channel].weight = 1;
	return 0;
}

static int32_t *deficit(uint32_t channel)
{
	return &node->level[LEVEL].flows[channel].deficit;
}

/** Channel 0 has used up its share if another waits, and its queue the quantum if another of its own does. */
static void turns_end(void **state)
{
	static const struct {
		bool own, other; /* that wait */
		int32_t deficit;
		uint32_t used;
		bool over;
	} rows[] = {
		{false, false, -1, UINT32_MAX, false},
		{false, true, 1, UINT32_MAX, false},
		{false, true, 0, 0, true},
		{false, true, -1, 0, true},
		{true, false, -1, TURN - 1u, false},
		{true, false, -1, TURN, true},
		{true, true, 1, TURN - 1u, false},
		{true, true, 1, TURN, true},
		{true, true, 0, 0, true},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start(state);
		if (rows[i].own)
			pb_core_schedule_append(&firmware, &queues[1]);
		if (rows[i].other)
			pb_core_schedule_append(&firmware, &queues[2]);
		*deficit(0) = rows[i].deficit;
		assert_int_equal(pb_core_schedule_turn_over(node, &queues[0], rows[i].used), rows[i].over);
	}
}

/** A queue that has no more work loses its turn; its channel keeps its debt, and what it has saved if it has other work. */
static void idle_channels_save_nothing(void **state)
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
		pb_core_schedule_begin_turn(node, &queues[0]);
		queues[0].put = 0;
		if (rows[i].own)
			pb_core_schedule_append(&firmware, &queues[1]);
		pb_core_schedule_append(&firmware, &queues[2]);
		node->level[LEVEL].turn = 1;
		*deficit(0) = rows[i].before;
		*deficit(1) = 1;
		assert_ptr_equal(pb_core_schedule_take(&firmware, node), &queues[2]);
		assert_int_equal(*deficit(0), rows[i].after);
		assert_int_equal(*deficit(1), 1);
	}
}

/** Who has the turn keeps it while it has anything left; else the next has a share more, until one is out of debt. */
static void channels_take_turns(void **state)
{
	static const struct {
		int32_t before[2];
		uint32_t weight; /* of channel 1 */
		uint32_t turn, next;
		int32_t after[2];
	} rows[] = {
		{{1, 1}, 1, 0, 0, {1, 1}},
		{{1, 1}, 1, 1, 1, {1, 1}},
		{{0, 0}, 1, 0, 1, {0, SHARE}},
		{{0, 0}, 1, 1, 0, {SHARE, 0}},
		{{-SHARE, 0}, 1, 1, 1, {0, SHARE}},
		{{1 - SHARE, 0}, 1, 1, 0, {1, 0}},
		/* So deep in debt that most rounds are had at once: it must come to the same as one by one. */
		{{-200 * SHARE, -100 * SHARE - 1}, 1, 1, 1, {-99 * SHARE, SHARE - 1}},
		{{-10 * SHARE, -30 * SHARE - 1}, 3, 1, 0, {SHARE, -1}},
		{{-20 * SHARE, -30 * SHARE - 1}, 3, 1, 1, {-9 * SHARE, 3 * SHARE - 1}},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start(state);
		pb_core_schedule_append(&firmware, &queues[0]);
		pb_core_schedule_append(&firmware, &queues[2]);
		node->level[LEVEL].turn = (uint8_t)rows[i].turn;
		firmware.channels[1].weight = rows[i].weight;
		for (uint32_t channel = 0; channel < 2; channel++)
			*deficit(channel) = rows[i].before[channel];
		assert_ptr_equal(pb_core_schedule_take(&firmware, node), &queues[2u * rows[i].next]);
		for (uint32_t channel = 0; channel < 2; channel++)
			assert_int_equal(*deficit(channel), rows[i].after[channel]);
		assert_int_equal(node->level[LEVEL].turn, rows[i].next);
	}
}

/** Who is not alone at its level pays for its time, down to a limit; its turn is charged if it has it. */
static void time_is_charged(void **state)
{
	static const struct {
		bool current, other,
			in_flight; /* its turn; another channel that waits, or has work in the engine */
		int32_t before, after;
	} rows[] = {
		{true, false, false, 7, 7},
		{true, true, false, 7, 7 - 300},
		{false, true, false, 7, 7 - 300},
		{false, false, true, 7, 7 - 300},
		{true, true, false, INT32_MIN / 2 + 1, INT32_MIN / 2 + 1 - 300},
		{true, true, false, INT32_MIN / 2, INT32_MIN / 2},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct pb_core_work work = {.queue = &queues[0]};

		start(state);
		if (rows[i].current)
			pb_core_schedule_begin_turn(node, &queues[0]);
		if (rows[i].other)
			pb_core_schedule_append(&firmware, &queues[2]);
		if (rows[i].in_flight) {
			node->fed = 1;
			pb_core_work_at(node, 1)->queue = &queues[3];
		}
		node->used = 11;
		*deficit(0) = rows[i].before;
		pb_core_schedule_charge(node, &work, 300);
		assert_int_equal(*deficit(0), rows[i].after);
		assert_int_equal(node->used, rows[i].current ? 311 : 11);
	}
}

/** What the engine has run, or all the time that has gone by, unless nobody wanted it meanwhile. */
static void time_that_counts(void **state)
{
	static const struct {
		bool lapsed;
		uint32_t since, clock;     /* on the card's clock */
		uint32_t before, reported; /* the engine's time */
		int32_t charged;
	} rows[] = {
		{false, 100, 400, 50, 60, 300}, {false, 100, 400, 50, 750, 700},
		{true, 100, 400, 50, 60, 10},   {true, 100, 400, 50, 50, 0},
		{false, 400, 400, 50, 50, 0},   {false, UINT32_MAX, 9, 50, 51, 10},
		{true, 0, 9, UINT32_MAX, 4, 5},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct pb_core_work work = {.queue = &queues[0]};

		start(state);
		pb_core_schedule_append(&firmware, &queues[2]);
		firmware.clock = &rows[i].clock;
		node->lapsed = rows[i].lapsed;
		node->since = rows[i].since;
		node->time = rows[i].before;
		pb_core_charge(&firmware, node, &work, rows[i].reported);
		assert_int_equal(*deficit(0), -rows[i].charged);
		assert_int_equal(node->time, rows[i].reported);
		assert_int_equal(node->since, rows[i].clock);
		assert_false(node->lapsed);
	}
}

/** Guarded work owes more urgent levels a multiple of its time, as far as that can be counted; theirs pays for it. */
static void debts_to_more_urgent_levels(void **state)
{
	static const struct {
		bool guarded;
		uint32_t microseconds;
		uint32_t before[3], after[3]; /* owed by the level below, the same, and the one above */
	} rows[] = {
		{false, 100, {0, 0, 0}, {0, 0, 0}},
		{false, 100, {100, 100, 100}, {0, 100, 100}},
		{false, 100, {99, 7, 8}, {0, 7, 8}},
		{false, 100, {101, 7, 8}, {1, 7, 8}},
		{true, 100, {250, 7, 8}, {150, 7 + 100 * PB_BYPASS_TIMES, 8}},
		{true, UINT32_MAX, {0, 0, 0}, {0, UINT32_MAX / PB_BYPASS_TIMES * PB_BYPASS_TIMES, 0}},
		{true, 2, {0, UINT32_MAX - PB_BYPASS_TIMES, 0}, {0, UINT32_MAX, 0}},
		{true,
		 1,
		 {0, UINT32_MAX - PB_BYPASS_TIMES + 1u, 0},
		 {0, UINT32_MAX - PB_BYPASS_TIMES + 1u, 0}},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct pb_core_work work = {.queue = &queues[0], .guarded = rows[i].guarded};

		start(state);
		for (uint32_t l = 0; l < 3u; l++)
			node->level[LEVEL - 1u + l].owed = rows[i].before[l];
		node->level[PB_PRIORITY_IDLE].owed = rows[i].before[0];
		pb_core_schedule_charge(node, &work, rows[i].microseconds);
		assert_int_equal(node->level[PB_PRIORITY_IDLE].owed, rows[i].after[0]);
		for (uint32_t l = 0; l < 3u; l++)
			assert_int_equal(node->level[LEVEL - 1u + l].owed, rows[i].after[l]);
	}
}

/** A less urgent queue goes first when it was passed by 32 times, and owes nothing; then it is guarded. */
static void levels_that_are_due(void **state)
{
	static const struct {
		uint32_t bypassed, owed;
		bool current; /* the more urgent one has its turn */
		bool low;     /* the other one goes first */
		uint32_t bypassed_then;
	} rows[] = {
		{31, 0, false, false, 32}, {32, 0, false, true, 0}, {32, 1, false, false, 32},
		{31, 0, true, false, 32},  {32, 0, true, true, 0},  {32, 1, true, false, 32},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		start(state);
		queues[0].state = (uint8_t)(PB_CORE_QUEUE_OPEN | (LEVEL - 1u) << 4);
		pb_core_schedule_append(&firmware, &queues[0]);
		if (rows[i].current)
			pb_core_schedule_begin_turn(node, &queues[2]);
		else
			pb_core_schedule_append(&firmware, &queues[2]);
		node->level[LEVEL - 1u].bypassed = (uint8_t)rows[i].bypassed;
		node->level[LEVEL - 1u].owed = rows[i].owed;
		/* Nothing passes by what is not ready. */
		node->level[LEVEL - 2u].bypassed = 5;
		assert_ptr_equal(pb_core_schedule_take(&firmware, node), &queues[rows[i].low ? 0 : 2]);
		assert_int_equal(node->guard, rows[i].low);
		assert_int_equal(node->level[LEVEL - 2u].bypassed, 5);
		/* Its level is empty now if it was taken. */
		assert_int_equal(node->level[LEVEL - 1u].bypassed, rows[i].bypassed_then);
		assert_int_equal(node->levels >> (LEVEL - 1u) & 1u, !rows[i].low);
	}
}

/** Every less urgent level that is ready is passed by, down to the last, and no other. */
static void all_less_urgent_are_passed_by(void **state)
{
	start(state);
	for (uint32_t i = 0; i < 2; i++) {
		queues[i].state = (uint8_t)(PB_CORE_QUEUE_OPEN | i << 4);
		pb_core_schedule_append(&firmware, &queues[i]);
	}
	pb_core_schedule_append(&firmware, &queues[2]);
	pb_core_schedule_append(&firmware, &queues[3]);
	queues[2].put = 2;
	for (uint32_t n = 1; n <= 2; n++) {
		assert_ptr_equal(pb_core_schedule_take(&firmware, node), &queues[2]);
		for (uint32_t level = 0; level < PB_PRIORITIES; level++)
			assert_int_equal(node->level[level].bypassed, level < 2 ? n : 0);
	}
}

/** It keeps its turn until its work is admitted, whoever comes; without its turn it is guarded no longer. */
static void a_guarded_turn(void **state)
{
	start(state);
	pb_core_schedule_begin_turn(node, &queues[0]);
	pb_core_schedule_append(&firmware, &queues[2]);
	node->guard = true;
	assert_ptr_equal(pb_core_schedule_take(&firmware, node), &queues[0]);
	assert_true(node->guard);
	pb_core_schedule_remove(&firmware, &queues[0]);
	assert_false(node->guard);
	assert_ptr_equal(pb_core_schedule_take(&firmware, node), &queues[2]);
	assert_false(node->guard);
}

/** A hold of the whole card, and of one channel: what is held is in no mask, whichever channel it is. */
static void held_and_not(void **state)
{
	for (uint32_t channel = 0; channel < 2; channel++) {
		start(state);
		firmware.suspended = true;
		pb_core_schedule_hold(&firmware, node);
		pb_core_schedule_append(&firmware, &queues[2u * channel]);
		assert_int_equal(node->levels, 0);
		assert_null(pb_core_schedule_take(&firmware, node));
		firmware.suspended = false;
		pb_core_schedule_hold(&firmware, node);
		assert_int_equal(node->levels, 1u << LEVEL);
		assert_ptr_equal(pb_core_schedule_take(&firmware, node), &queues[2u * channel]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_end),           cmocka_unit_test(idle_channels_save_nothing),
		cmocka_unit_test(channels_take_turns), cmocka_unit_test(time_is_charged),
		cmocka_unit_test(time_that_counts),    cmocka_unit_test(debts_to_more_urgent_levels),
		cmocka_unit_test(levels_that_are_due), cmocka_unit_test(all_less_urgent_are_passed_by),
		cmocka_unit_test(a_guarded_turn),      cmocka_unit_test(held_and_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
