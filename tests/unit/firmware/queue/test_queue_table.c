/* SPDX-License-Identifier: MIT */
/* The table of queues: what a handle names. */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/unit.h"

#define QUEUES 2u

static struct pb_firmware firmware;
/** One more than the table has, so that what lies behind it looks like a queue. */
static struct pb_core_queue queues[QUEUES + 1u];

/** Queues of channel 1 and generation 7. */
static void start(void)
{
	memset(&firmware, 0, sizeof(firmware));
	memset(queues, 0, sizeof(queues));
	firmware.table.queues = queues;
	firmware.table.count = QUEUES;
	firmware.table.free = PB_CORE_NO_QUEUE;
	for (uint32_t i = 0; i <= QUEUES; i++) {
		queues[i].channel = 1;
		queues[i].generation = 7;
		queues[i].identity = PB_CORE_QUEUE_OPEN << PB_CORE_QUEUE_STATE_SHIFT;
	}
}

static void a_handle_names_a_queue_of_its_channel_and_generation_in_the_table(void **state)
{
	static const struct {
		uint32_t channel, index, generation;
		bool found;
	} rows[] = {
		{1, 0, 7, true},  {1, QUEUES - 1u, 7, true}, {1, QUEUES, 7, false}, {1, UINT16_MAX, 7, false},
		{0, 0, 7, false}, {2, 0, 7, false},          {1, 0, 6, false},      {1, 0, 8, false},
	};

	(void)state;
	start();
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_ptr_equal(pb_core_table_find(&firmware, rows[i].channel,
						    PB_HANDLE(rows[i].index, rows[i].generation)),
				 rows[i].found ? &queues[rows[i].index] : NULL);
}

/** No handle is 0: a slot's generations are 1 to 65,535, in a circle. */
static void a_slot_has_no_generation_0(void **state)
{
	static const struct {
		uint16_t before, then;
	} rows[] = {{0, 1}, {1, 2}, {UINT16_MAX - 1u, UINT16_MAX}, {UINT16_MAX, 1}};
	const struct pb_core_queue_plan plan = {.channel = 1, .entries = 4};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start();
		queues[0].identity = PB_CORE_QUEUE_FREE << PB_CORE_QUEUE_STATE_SHIFT;
		queues[0].generation = rows[i].before;
		pb_core_stack_push(queues, &firmware.table.free, &queues[0]);
		assert_ptr_equal(pb_core_table_open(&firmware, &plan), &queues[0]);
		assert_int_equal(queues[0].generation, rows[i].then);
	}
}

/* ---- the queues of a channel ---- */

/** Slots of the greatest table here; no multiple of a cell. */
#define SLOTS 4090u

static struct pb_core_queue many[SLOTS];
static struct pb_firmware_config many_config = {.queues = many};

/** A table of free slots. */
static void start_many(uint32_t count)
{
	memset(&firmware, 0, sizeof(firmware));
	many_config.queue_count = count;
	firmware.config = &many_config;
	firmware.node_at[0] = firmware.nodes;
	pb_core_table_init(&firmware);
}

static struct pb_core_queue *open_one(uint32_t channel)
{
	const struct pb_core_queue_plan plan = {.channel = channel, .entries = 4};

	return pb_core_table_open(&firmware, &plan);
}

static void free_one(struct pb_core_queue *queue)
{
	(void)pb_core_table_step(queue, PB_CORE_QUEUE_EVENT_CLOSE);
	pb_core_table_free(&firmware, queue);
}

/** Walks the queues of a channel, which must be those of `owner`. @return how many steps that took */
static uint32_t walk(const uint8_t *owner, uint32_t count, uint32_t channel)
{
	uint32_t steps = 0, expected = 0;
	uint16_t at = 0;

	while (at != count) {
		const struct pb_core_queue *queue = pb_core_table_next(&firmware.table, channel, &at);

		steps++;
		if (queue == NULL)
			continue;
		while (expected != count && owner[expected] != channel)
			expected++;
		assert_int_equal(queue - many, expected);
		expected++;
	}
	while (expected != count && owner[expected] != channel)
		expected++;
	assert_int_equal(expected, count);
	assert_null(pb_core_table_next(&firmware.table, channel, &at));
	assert_int_equal(at, count);
	return steps;
}

/** Whatever was opened and freed, and whenever it was walked before. 0: the slot is free; channels count from 1 here. */
static void a_walk_finds_each_queue_of_the_channel_once(void **state)
{
	static const uint32_t counts[] = {1, 31, 32, 33, 64, 1024, 1025, SLOTS};
	static uint8_t owner[SLOTS];
	uint32_t seed = 1;

	(void)state;
	for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		memset(owner, 0, sizeof(owner));
		start_many(counts[i]);
		for (uint32_t step = 0; step < 4096; step++) {
			const uint32_t slot = (seed = seed * 1664525u + 1013904223u) / 7u % counts[i];

			if (owner[slot] != 0) {
				free_one(&many[slot]);
				owner[slot] = 0;
			} else if (firmware.table.free != PB_CORE_NO_QUEUE) {
				const uint8_t channel = (uint8_t)(1u + slot % 3u);

				owner[open_one(channel) - many] = channel;
			}
			if (step % 64u == 0)
				(void)walk(owner, counts[i], 1u + step / 64u % 3u);
		}
		for (uint32_t channel = 1; channel <= 3; channel++)
			(void)walk(owner, counts[i], channel);
	}
}

/** A channel with queues at both ends of a full table: cells in which it has none are passed over. */
static void a_walk_passes_over_the_cells_of_other_channels(void **state)
{
	static const struct {
		uint32_t last; /* slot of the channel's second queue */
		uint32_t steps;
	} rows[] = {{1, 4}, {31, 3}, {32, 4}, {64, 6}, {1000, 6}, {SLOTS - 1u, 5}};
	static uint8_t owner[SLOTS];

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start_many(SLOTS);
		for (uint32_t slot = 0; slot < SLOTS; slot++) {
			owner[slot] = slot == 0 || slot == rows[i].last ? 1 : 2;
			assert_ptr_equal(open_one(owner[slot]), &many[slot]);
		}
		assert_int_equal(walk(owner, SLOTS, 1), rows[i].steps);
	}
}

static void cells_are_forgotten_that_a_channel_has_left(void **state)
{
	static uint8_t owner[SLOTS];

	(void)state;
	start_many(SLOTS);
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		(void)open_one(owner[slot] = 1);
	for (uint32_t slot = 1; slot < SLOTS; slot++) {
		free_one(&many[slot]);
		owner[slot] = 0;
	}
	assert_int_equal(walk(owner, SLOTS, 1), 3);
}

UNIT_SUITE(test_queue_table)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handle_names_a_queue_of_its_channel_and_generation_in_the_table),
		cmocka_unit_test(a_slot_has_no_generation_0),
		cmocka_unit_test(a_walk_finds_each_queue_of_the_channel_once),
		cmocka_unit_test(a_walk_passes_over_the_cells_of_other_channels),
		cmocka_unit_test(cells_are_forgotten_that_a_channel_has_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
