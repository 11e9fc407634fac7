/* SPDX-License-Identifier: MIT */
/* The clock of the trace's records: the board's counter, which the firmware publishes and compares with the card's clock. */
#include <string.h>

#include "patchbay/trace.h"
#include "tests/unit/puppet_bench.h"

#define RECORDS_MAX 64u
#define HERTZ       25000000u

static uint32_t counter;
static struct pb_trace trace;
static struct pb_trace_record records[RECORDS_MAX];

static const struct pb_trace_ring *ring(void)
{
	return (const struct pb_trace_ring
			*)(const void *)&puppet_memory[trace.records_offset - sizeof(struct pb_trace_ring)];
}

/** Boots a board with a counter, and passes over the trace so far. */
static void start(void)
{
	puppet_bench.config.counter = &counter;
	puppet_bench.config.counter_hertz = HERTZ;
	pb_firmware_init(puppet_bench.firmware, &puppet_bench.config);
	puppet_rejoin();
	puppet_join_admin();
	assert_int_equal(pb_trace_open(&trace, &puppet_bench.link), PB_ERROR_OK);
	while (pb_trace_read(&trace, records, RECORDS_MAX) != 0)
		continue;
}

static void each_record_has_the_counter(void **state)
{
	uint32_t count;

	(void)state;
	counter = 7;
	start();
	assert_int_equal(trace.hertz, HERTZ);
	counter = 0xfffffff0u;
	puppet_bench.clock = 1234;
	puppet_submit(0, 1);
	counter = 0x20;
	puppet_bench.clock = 1234; /* the card's clock has not moved */
	puppet_finish(1);
	count = pb_trace_read(&trace, records, RECORDS_MAX);
	assert_true(count >= 2);
	assert_int_equal(PB_TRACE_WHAT_EVENT(records[0].what), PB_TRACE_FEED);
	assert_int_equal(records[0].clock, 0xfffffff0u);
	assert_int_equal(PB_TRACE_WHAT_EVENT(records[count - 1u].what), PB_TRACE_COMPLETE);
	assert_int_equal(records[count - 1u].clock, 0x20);
}

/* Each tick publishes the counter, and each 2,048th writes it beside the card's clock. */
static void ticks_publish_and_compare_it(void **state)
{
	(void)state;
	start();
	for (uint32_t tick = 1; tick <= 2u * PB_TRACE_CLOCK_TICKS; tick++) {
		const uint32_t due = tick % PB_TRACE_CLOCK_TICKS == 0 ? 1 : 0;

		counter = 3u * tick;
		puppet_bench.clock = 0x1000u + tick;
		puppet_run(1u << PB_LINE_TICK);
		assert_int_equal(ring()->clock, 3u * tick);
		assert_int_equal(pb_trace_read(&trace, records, RECORDS_MAX), due);
		if (due == 0)
			continue;
		assert_int_equal(records[0].what, PB_TRACE_WHAT(PB_TRACE_CLOCK, PB_TRACE_NONE));
		assert_int_equal(records[0].clock, 3u * tick);
		assert_int_equal(records[0].arguments[0], 0x1000u + tick);
	}
}

/* It is published at every level, and compared only if the category is on. */
static void levels_spare_the_published_one(void **state)
{
	(void)state;
	start();
	assert_int_equal(pb_trace_set(&puppet_bench.admin, PB_TRACE_LEVELS_NONE, 0), PB_ERROR_OK);
	while (pb_trace_read(&trace, records, RECORDS_MAX) != 0)
		continue;
	for (uint32_t tick = 1; tick <= PB_TRACE_CLOCK_TICKS; tick++) {
		counter = tick;
		puppet_run(1u << PB_LINE_TICK);
		assert_int_equal(ring()->clock, tick);
	}
	assert_int_equal(pb_trace_read(&trace, records, RECORDS_MAX), 0);
}

/* A command compares the two at once, in front of the queues that it lists. */
static void the_command_compares_at_once(void **state)
{
	(void)state;
	start();
	counter = 99;
	puppet_bench.clock = 55;
	assert_int_equal(pb_trace_set(&puppet_bench.admin, PB_TRACE_LEVELS_DEFAULT, 5), PB_ERROR_OK);
	assert_true(pb_trace_read(&trace, records, RECORDS_MAX) > 2);
	assert_int_equal(records[0].what, PB_TRACE_WHAT(PB_TRACE_LEVELS, PB_TRACE_NONE));
	assert_int_equal(records[0].arguments[1], PB_TRACE_LEVELS_DEFAULT);
	assert_int_equal(records[1].what, PB_TRACE_WHAT(PB_TRACE_CLOCK, PB_TRACE_NONE));
	assert_int_equal(records[1].clock, 99);
	assert_int_equal(records[1].arguments[0], puppet_bench.clock);
}

static void a_board_without_a_counter_has_the_card_s_clock(void **state)
{
	(void)state;
	puppet_join_admin();
	assert_int_equal(pb_trace_open(&trace, &puppet_bench.link), PB_ERROR_OK);
	assert_int_equal(trace.hertz, 0);
	puppet_bench.clock = 4711;
	puppet_run(1u << PB_LINE_TICK);
	assert_int_equal(ring()->clock, 4711);
}

UNIT_SUITE(test_trace_counter)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_record_has_the_counter, puppet_start_traced),
		cmocka_unit_test_setup(ticks_publish_and_compare_it, puppet_start_traced),
		cmocka_unit_test_setup(levels_spare_the_published_one, puppet_start_traced),
		cmocka_unit_test_setup(the_command_compares_at_once, puppet_start_traced),
		cmocka_unit_test_setup(a_board_without_a_counter_has_the_card_s_clock, puppet_start_traced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
