/* SPDX-License-Identifier: MIT */
/*
 * The trace of a board whose engine and time are the test's: what shows only
 * at the higher levels, and a board that has no room for any.
 */
#include "patchbay/trace.h"
#include "tests/unit/puppet_bench.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define RECORDS_MAX  64u

static struct pb_trace trace;
/* All before has been read, and these levels are set. */
static void start_at(uint32_t levels)
{
	struct pb_trace_record records[RECORDS_MAX];

	puppet_join_admin();
	assert_int_equal(pb_trace_set(&puppet_bench.admin, levels, 0), PB_ERROR_OK);
	assert_int_equal(pb_trace_open(&trace, &puppet_bench.link), PB_ERROR_OK);
	while (pb_trace_read(&trace, records, RECORDS_MAX) != 0)
		continue;
}

struct expected {
	uint32_t event, object, first, second;
};

/* What has been written since. */
static void expect(const struct expected *expected, uint32_t count)
{
	struct pb_trace_record records[RECORDS_MAX];

	assert_int_equal(pb_trace_read(&trace, records, RECORDS_MAX), count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(records[i].clock, puppet_bench.clock);
		assert_int_equal(records[i].what, expected[i].object << 16 | expected[i].event);
		assert_int_equal(records[i].arguments[0], expected[i].first);
		assert_int_equal(records[i].arguments[1], expected[i].second);
	}
}

static void nothing(void)
{
	expect(NULL, 0);
}

#define EXPECT(...)                                                                                          \
	do {                                                                                                 \
		static const struct expected expected_[] = {__VA_ARGS__};                                    \
		expect(expected_, COUNT(expected_));                                                         \
	} while (0)

/* ---- ticks and sleep ---- */

static void ticks_and_sleep(void **state)
{
	(void)state;
	start_at(PB_TRACE_LEVELS_ALL);
	puppet_bench.clock = 123456;
	puppet_run(1u << PB_LINE_TICK);
	EXPECT({PB_TRACE_TICK, 0xffff, 0, 0});
	pb_firmware_idle(puppet_bench.firmware);
	EXPECT({PB_TRACE_IDLE, 0xffff, 0, 0});
}

/* They are of the third level: at the second there are none. */
static void neither_below(void **state)
{
	(void)state;
	start_at(0x222222);
	puppet_run(1u << PB_LINE_TICK);
	pb_firmware_idle(puppet_bench.firmware);
	nothing();
}

/* ---- what a doorbell shows ---- */

/* The host's word that all its queues are to be looked at. */
static void rescan(void)
{
	puppet_bench.channel.entry->rescan++;
	puppet_run(1u << PB_LINE_CHANNEL(1));
}

static void a_doorbell_of_a_busy_queue(void **state)
{
	(void)state;
	start_at(0x20); /* PACKET, each step */
	/* The queue has nothing to do and its node is free: its turn begins at once. */
	puppet_submit(0, 0x11);
	EXPECT({PB_TRACE_FEED, 0, 0x11, 0});
	puppet_submit(0, 0x12);
	EXPECT({PB_TRACE_SUBMIT, 0, 2, 0}, {PB_TRACE_FEED, 0, 0x12, 0});
	/* The engine has two: this one waits. */
	puppet_submit(0, 0x13);
	EXPECT({PB_TRACE_SUBMIT, 0, 3, 0});
	/* Looked at again, with nothing new. */
	rescan();
	nothing();
	puppet_finish(1);
	EXPECT({PB_TRACE_COMPLETE, 0, 0x11, 0}, {PB_TRACE_FEED, 0, 0x13, 0});
	puppet_submit(0, 0x14);
	EXPECT({PB_TRACE_SUBMIT, 0, 4, 1});
}

/* A queue whose node has other work comes to wait in a list. */
static void a_doorbell_of_a_queue_behind(void **state)
{
	const struct pb_descriptor descriptor = {
		.context = puppet_bench.contexts[1],
		.fence_id = 0x21,
		.dma_address_low = PUPPET_DMA,
		.dma_size = 4096,
		.dma_end = 4,
	};
	struct pb_queue queue;

	(void)state;
	assert_int_equal(pb_queue_create(&queue, &puppet_bench.channel, &puppet_bench.system, 0, 4),
			 PB_ERROR_OK);
	/* Two at the engine, one ready for it, one behind. */
	for (uint32_t i = 1; i <= 4; i++)
		puppet_submit(0, i);
	start_at(0x20);
	assert_int_equal(pb_queue_submit(&queue, &descriptor), PB_ERROR_OK);
	EXPECT({PB_TRACE_SUBMIT, 1, 1, 0});
	/* At the first level it says nothing of that. */
	assert_int_equal(pb_trace_set(&puppet_bench.admin, 0x10, 0), PB_ERROR_OK);
	assert_int_equal(pb_queue_submit(&queue, &descriptor), PB_ERROR_OK);
	nothing();
}

/* ---- no room ---- */

static void a_board_without_room(void **state)
{
	static const uint32_t levels[] = {PB_TRACE_LEVELS_NONE, PB_TRACE_LEVELS_DEFAULT, PB_TRACE_LEVELS_ALL,
					  4};

	(void)state;
	puppet_join_admin();
	assert_int_equal(pb_trace_open(&trace, &puppet_bench.link), PB_ERROR_UNSUPPORTED);
	for (uint32_t i = 0; i < COUNT(levels); i++)
		assert_int_equal(pb_trace_set(&puppet_bench.admin, levels[i], 0), PB_ERROR_UNSUPPORTED);
	/* Nothing is written where there is no room. */
	puppet_run(1u << PB_LINE_TICK);
	pb_firmware_idle(puppet_bench.firmware);
	puppet_submit(0, 7);
	puppet_finish(1);
	puppet_expect_fence(1, 7, PB_ERROR_OK);
	for (uint32_t at = PUPPET_MEMORY_BYTES - PUPPET_TRACE_BYTES; at < PUPPET_MEMORY_BYTES; at++)
		assert_int_equal(puppet_memory[at], 0);
}

UNIT_SUITE(test_trace_lines)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(ticks_and_sleep, puppet_start_traced),
		cmocka_unit_test_setup(neither_below, puppet_start_traced),
		cmocka_unit_test_setup(a_doorbell_of_a_busy_queue, puppet_start_traced),
		cmocka_unit_test_setup(a_doorbell_of_a_queue_behind, puppet_start_traced),
		cmocka_unit_test_setup(a_board_without_room, puppet_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
