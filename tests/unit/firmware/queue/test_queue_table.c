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

UNIT_SUITE(test_queue_table)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handle_names_a_queue_of_its_channel_and_generation_in_the_table),
		cmocka_unit_test(a_slot_has_no_generation_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
