/* SPDX-License-Identifier: MIT */
/* An engine without preempt operations: a stop is answered when all that was fed has completed. */
#include "firmware/instance.h"
#include "tests/unit/puppet_bench.h"

#define NODE_LINE (1u << PB_LINE_NODE(0))

/** @param put how many were submitted */
static uint32_t preempt(uint32_t put)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {puppet_bench.queue.handle, put, 77};
	uint32_t tag;

	assert_int_equal(pb_channel_begin(&puppet_bench.channel, PB_COMMAND_PREEMPT, arguments, &tag),
			 PB_ERROR_OK);
	return tag;
}

static void expect_waiting(uint32_t tag)
{
	assert_int_equal(pb_channel_finish(&puppet_bench.channel, tag, NULL), PB_ERROR_TIMEOUT);
}

static void expect_preempted(uint32_t tag, uint32_t completed, uint32_t returned)
{
	uint32_t results[PB_REPLY_RESULTS];

	assert_int_equal(pb_channel_finish(&puppet_bench.channel, tag, results), PB_ERROR_OK);
	assert_int_equal(results[2], completed + returned);
	assert_int_equal(results[3], returned);
}

/* Two of three submissions are fed; the third one is returned. */
static void a_preemption_ends_when_all_that_was_fed_has_completed(void **state)
{
	uint32_t tag;

	(void)state;
	for (uint32_t i = 1; i <= 3; i++)
		puppet_submit(0, i);
	tag = preempt(3);
	expect_waiting(tag);
	puppet_run(NODE_LINE);
	expect_waiting(tag);
	puppet_finish(1);
	expect_waiting(tag);
	puppet_expect_fence(1, 1, PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.count, 2);
	puppet_finish(2);
	expect_preempted(tag, 2, 1);
	puppet_expect_fence(3, 2, PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.count, 2);
	assert_int_equal(puppet_bench.puppet.stops, 0);
	assert_int_equal(puppet_bench.puppet.resets, 1);
}

/* The engine was not asked anything, so that it counts on. */
static void sequence_numbers_go_on_behind_a_stop(void **state)
{
	uint32_t tag;

	(void)state;
	for (uint32_t i = 1; i <= 3; i++)
		puppet_submit(0, i);
	tag = preempt(3);
	puppet_finish(2);
	expect_preempted(tag, 2, 1);
	puppet_submit(0, 4);
	assert_int_equal(puppet_bench.puppet.count, 3);
	assert_int_equal(puppet_bench.puppet.sequences[2], 3);
	puppet_finish(3);
	puppet_expect_fence(4, 4, PB_ERROR_OK);
	/* A reset begins anew. */
	puppet_submit(0, 5);
	puppet_stall(PUPPET_HANG_MS + 15);
	assert_int_equal(puppet_bench.puppet.resets, 2);
	puppet_reset_done();
	puppet_run(NODE_LINE);
	assert_int_equal(puppet_bench.puppet.sequences[0], 1);
	puppet_finish(1);
	puppet_expect_fence(5, 5, PB_ERROR_ENGINE_HANG);
}

/* The end of a timeslice drains the engine; then the other queue has its own. */
static void timeslices_end_between_submissions(void **state)
{
	const struct pb_descriptor descriptor = {
		.context = puppet_bench.contexts[1],
		.fence_id = 2,
		.dma_address_low = PUPPET_DMA,
		.dma_size = 4096,
		.dma_end = 8,
	};
	struct pb_queue other;

	(void)state;
	assert_int_equal(pb_queue_create(&other, &puppet_bench.channel, &puppet_bench.system, 0, 4),
			 PB_ERROR_OK);
	puppet_submit(0, 1);
	assert_int_equal(pb_queue_submit(&other, &descriptor), PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.count, 2);
	puppet_submit(0, 3);
	for (uint32_t time = 0; time < 4u * PB_QUANTUM_MICROSECONDS; time += 5000) {
		puppet_bench.puppet.progress++;
		puppet_stall(5);
	}
	assert_int_equal(puppet_bench.firmware->nodes[0].machine.state, PB_NODE_STATE_STOPPING);
	puppet_finish(1);
	assert_int_equal(puppet_bench.puppet.count, 2);
	puppet_finish(2);
	assert_int_equal(puppet_bench.puppet.count, 3);
	puppet_finish(3);
	puppet_expect_fence(2, 3, PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.stops, 0);
	assert_int_equal(puppet_bench.puppet.restores, 0);
	assert_int_equal(puppet_bench.puppet.resets, 1);
}

/* Without progress the submission that runs is blamed after the time of a hang, and the next one has its own. */
static void a_drain_without_progress_is_a_hang(void **state)
{
	uint32_t tag;

	(void)state;
	puppet_submit(0, 1);
	puppet_submit(1, 2);
	tag = preempt(2);
	puppet_stall(PUPPET_HANG_MS - 5);
	puppet_finish(1);
	puppet_stall(PUPPET_HANG_MS - 5);
	assert_int_equal(puppet_bench.puppet.resets, 1);
	puppet_stall(20);
	assert_int_equal(puppet_bench.puppet.resets, 2);
	puppet_reset_done();
	puppet_run(NODE_LINE);
	assert_int_equal(puppet_bench.puppet.count, 1);
	assert_int_equal(puppet_bench.puppet.fed[0].bytes, 0);
	puppet_finish(1);
	expect_preempted(tag, 2, 0);
	puppet_expect_fence(2, 2, PB_ERROR_ENGINE_HANG);
}

/* A fault while the engine drains is the first submission's that has not completed. */
static void a_fault_while_draining_is_blamed(void **state)
{
	uint32_t tag;

	(void)state;
	puppet_submit(0, 1);
	puppet_submit(1, 2);
	tag = preempt(2);
	puppet_bench.puppet.state = PB_ENGINE_FAULTED;
	puppet_finish(1);
	assert_int_equal(puppet_bench.puppet.resets, 2);
	puppet_expect_fence(1, 1, PB_ERROR_OK);
	puppet_reset_done();
	puppet_run(NODE_LINE);
	puppet_finish(1);
	expect_preempted(tag, 2, 0);
	puppet_expect_fence(2, 2, PB_ERROR_ENGINE_FAULT);
}

/* A report of what was not fed makes the engine untrustworthy: it is reset. One of a busy engine does not count. */
static void reports_while_draining_are_checked(void **state)
{
	uint32_t tag;

	(void)state;
	puppet_submit(0, 1);
	puppet_submit(1, 2);
	tag = preempt(2);
	puppet_bench.puppet.state = PB_ENGINE_BUSY;
	puppet_finish(2);
	puppet_expect_fence(0, 0, PB_ERROR_OK);
	puppet_bench.puppet.state = PB_ENGINE_READY;
	puppet_finish(3);
	assert_int_equal(puppet_bench.puppet.resets, 2);
	puppet_reset_done();
	puppet_run(NODE_LINE);
	puppet_finish(1);
	expect_preempted(tag, 1, 1);
	puppet_expect_fence(2, 1, PB_ERROR_ENGINE_FAULT);
}

/* There is nothing that it could resume from. */
static void resuming_is_refused(void **state)
{
	const struct pb_descriptor descriptor = {
		.context = puppet_bench.contexts[0],
		.fence_id = 1,
		.options = PB_OPTION_RESUME,
		.dma_address_low = PUPPET_DMA,
		.dma_size = 4096,
		.dma_end = 4,
	};

	(void)state;
	assert_int_equal(pb_queue_submit(&puppet_bench.queue, &descriptor), PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.restores, 0);
	assert_int_equal(puppet_bench.puppet.fed[0].bytes, 0);
	puppet_finish(1);
	puppet_expect_fence(1, 1, PB_ERROR_BAD_OPTIONS);
}

UNIT_SUITE(test_firmware_cannot_stop)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_preemption_ends_when_all_that_was_fed_has_completed,
				       puppet_start_without_preempt),
		cmocka_unit_test_setup(sequence_numbers_go_on_behind_a_stop, puppet_start_without_preempt),
		cmocka_unit_test_setup(timeslices_end_between_submissions, puppet_start_without_preempt),
		cmocka_unit_test_setup(a_drain_without_progress_is_a_hang, puppet_start_without_preempt),
		cmocka_unit_test_setup(a_fault_while_draining_is_blamed, puppet_start_without_preempt),
		cmocka_unit_test_setup(reports_while_draining_are_checked, puppet_start_without_preempt),
		cmocka_unit_test_setup(resuming_is_refused, puppet_start_without_preempt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
