/* SPDX-License-Identifier: MIT */
/* Work that never came to its end: each submission is handed out once, with the right error. */
#include <string.h>

#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

#define ENTRIES 4u

struct bench {
	struct fake_firmware fake;
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_queue queue;
	struct pb_descriptor history[ENTRIES];
};

/* `submitted` in all, of which so many completed and were seen to. */
static void start(struct bench *bench, uint32_t submitted, uint32_t completed)
{
	const struct pb_queue_request request = {
		.entries = ENTRIES, .priority = PB_PRIORITY_NORMAL, .history = bench->history};

	memset(bench->history, 0xee, sizeof(bench->history));
	fake_start(&bench->fake);
	fake_open(&bench->fake, &bench->channel, &bench->system);
	assert_int_equal(pb_queue_create_with(&bench->queue, &bench->channel, &bench->system, &request),
			 PB_ERROR_OK);
	bench->fake.work_limit = completed;
	for (uint32_t i = 0; i < submitted; i++) {
		const struct pb_descriptor work = {.fence_id = 70 + i, .cookie = 7 * i, .engine_ordinal = i};

		if (i >= ENTRIES)
			assert_int_equal(pb_queue_wait(&bench->queue, i - ENTRIES + 1, 10000, NULL),
					 PB_ERROR_OK);
		assert_int_equal(pb_queue_submit(&bench->queue, &work), PB_ERROR_OK);
	}
	assert_int_equal(pb_queue_wait(&bench->queue, completed, 10000, NULL), PB_ERROR_OK);
}

/* All that is handed out, from the submission of that number on. */
static void expect_all(struct bench *bench, uint32_t from, uint32_t to, enum pb_error error)
{
	struct pb_descriptor got;

	for (uint32_t i = from; i < to; i++) {
		const struct pb_descriptor expected = {
			.fence_id = 70 + i, .timeline_low = i + 1, .cookie = 7 * i, .engine_ordinal = i};

		assert_int_equal(pb_queue_unfinished(&bench->queue, &got), error);
		assert_memory_equal(&got, &expected, sizeof(got));
	}
	assert_int_equal(pb_queue_unfinished(&bench->queue, &got), PB_ERROR_OK);
	assert_int_equal(pb_queue_unfinished(&bench->queue, &got), PB_ERROR_OK);
}

static void fall_silent(struct fake_firmware *fake)
{
	fake->stalled = true;
	fake_boot(fake)->clock += PB_HEARTBEAT_US;
}

static void each_is_handed_out_once(void **state)
{
	static const struct fake_case cases[] = {
		{"dies", fake_die, PB_ERROR_FIRMWARE_DEAD},
		{"is started again", fake_restart, PB_ERROR_FIRMWARE_DEAD},
		{"fatal", fake_fail, PB_ERROR_FIRMWARE_DEAD},
		{"reboots", fake_reboot, PB_ERROR_FIRMWARE_DEAD},
		{"falls silent", fall_silent, PB_ERROR_FIRMWARE_DEAD},
		{"closes the channel", fake_close_channel, PB_ERROR_RETURNED},
		{"faults the channel", fake_fault_channel, PB_ERROR_RETURNED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint32_t submitted = 0; submitted <= 11; submitted++)
			for (uint32_t left = 0; left <= submitted && left <= ENTRIES; left++) {
				struct bench bench;

				print_message("%s, %u of %u\n", cases[i].name, left, submitted);
				start(&bench, submitted, submitted - left);
				expect_all(&bench, 0, 0, PB_ERROR_OK); /* they may yet complete */
				cases[i].happens(&bench.fake);
				expect_all(&bench, submitted - left, submitted, cases[i].expected);
				fake_stop(&bench.fake);
			}
}

static void after_leaving_the_card(void **state)
{
	struct bench bench;

	(void)state;
	start(&bench, 6, 3);
	assert_int_equal(pb_channel_detach(&bench.channel), PB_ERROR_OK);
	expect_all(&bench, 3, 6, PB_ERROR_RETURNED);
	fake_stop(&bench.fake);
}

/* What a preemption returned has been reported; it is not handed out again. */
static void returned_work_is_not_unfinished(void **state)
{
	const struct pb_descriptor work = {.fence_id = 73, .cookie = 21, .engine_ordinal = 3};
	struct pb_preempt result;
	struct bench bench;

	(void)state;
	start(&bench, 3, 1);
	assert_int_equal(pb_queue_preempt(&bench.queue, 1, 0, &result), PB_ERROR_OK);
	assert_int_equal(result.returned, 2);
	assert_int_equal(pb_queue_submit(&bench.queue, &work), PB_ERROR_OK);
	fake_die(&bench.fake);
	bench.history[3].timeline_low += 2; /* the value behind the one reached, not the fourth */
	expect_all(&bench, 3, 4, PB_ERROR_FIRMWARE_DEAD);
	fake_stop(&bench.fake);
}

static void indices_may_wrap(void **state)
{
	struct pb_descriptor got;
	struct bench bench;

	(void)state;
	start(&bench, 0, 0);
	bench.queue.put = bench.queue.completed = 0xfffffffe;
	bench.fake.queues[0].get = 0xfffffffe;
	fake_page(&bench.fake, 0)->put = 0xfffffffe;
	fake_page(&bench.fake, 0)->fence.completed = 0xfffffffe;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		const struct pb_descriptor work = {.fence_id = i};

		assert_int_equal(pb_queue_submit(&bench.queue, &work), PB_ERROR_OK);
	}
	fake_die(&bench.fake);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		assert_int_equal(pb_queue_unfinished(&bench.queue, &got), PB_ERROR_FIRMWARE_DEAD);
		assert_int_equal(got.fence_id, i);
	}
	assert_int_equal(pb_queue_unfinished(&bench.queue, &got), PB_ERROR_OK);
	fake_stop(&bench.fake);
}

static void without_a_history_there_is_none(void **state)
{
	struct pb_descriptor got;
	struct fake_bench bench;

	(void)state;
	fake_bench_start(&bench);
	assert_int_equal(fake_submit(&bench, 1), PB_ERROR_OK);
	assert_int_equal(pb_queue_unfinished(&bench.queue, &got), PB_ERROR_BAD_ARGUMENT);
	fake_die(&bench.fake);
	assert_int_equal(pb_queue_unfinished(&bench.queue, &got), PB_ERROR_BAD_ARGUMENT);
	fake_bench_stop(&bench);
}

UNIT_SUITE(test_host_unfinished)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_handed_out_once),         cmocka_unit_test(after_leaving_the_card),
		cmocka_unit_test(returned_work_is_not_unfinished), cmocka_unit_test(indices_may_wrap),
		cmocka_unit_test(without_a_history_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
