/* SPDX-License-Identifier: MIT */
/* The core against an engine that is told what to say: late, silent, or wrong. */
#include "tests/unit/puppet_bench.h"

static void in_order_and_two_at_a_time(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 5; i++)
		puppet_submit(0, i);
	assert_int_equal(puppet_bench.puppet.count, 2);
	puppet_finish(1);
	puppet_expect_fence(1, 1, PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.count, 3);
	puppet_finish(3);
	puppet_expect_fence(3, 3, PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(puppet_bench.puppet.sequences[i], i + 1);
		assert_int_equal(puppet_bench.puppet.fed[i].address_low, PUPPET_DMA);
		assert_int_equal(puppet_bench.puppet.fed[i].bytes, 4);
		assert_int_equal(puppet_bench.puppet.fed[i].owner, 1);
	}
	puppet_finish(5);
	puppet_expect_fence(5, 5, PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.resets, 1);
}

/** An interrupt that got lost is made up for by the tick. */
static void lost_interrupt(void **state)
{
	(void)state;
	puppet_submit(0, 1);
	puppet_bench.puppet.sequence = 1;
	puppet_run(0);
	puppet_expect_fence(0, 0, PB_ERROR_OK);
	puppet_run(1u << PB_LINE_TICK);
	puppet_expect_fence(1, 1, PB_ERROR_OK);
}

/** After a hang the work that is fed again has its time from there, however late the engine answers. */
static void innocent_work_has_its_own_time(void **state)
{
	(void)state;
	puppet_submit(0, 1);
	puppet_submit(1, 2);
	puppet_stall(PUPPET_HANG_MS);
	assert_int_equal(puppet_bench.puppet.resets, 1);
	puppet_stall(5);
	assert_int_equal(puppet_bench.puppet.resets, 2);
	puppet_expect_fence(0, 0, PB_ERROR_OK);
	/* The tick and the answer come in the same pass. */
	puppet_reset_done();
	puppet_run(1u << PB_LINE_TICK | 1u << PB_LINE_NODE(0));
	assert_int_equal(puppet_bench.puppet.count, 2);
	assert_int_equal(puppet_bench.puppet.fed[0].bytes, 0);
	assert_int_equal(puppet_bench.puppet.fed[1].bytes, 4);
	puppet_stall(PUPPET_HANG_MS - 5);
	assert_int_equal(puppet_bench.puppet.resets, 2);
	puppet_finish(2);
	puppet_expect_fence(2, 2, PB_ERROR_OK);
}

/** The clock goes on while the tick looks at the engine: what begins in that look has not waited for ages. */
static void the_clock_moves_within_a_look(void **state)
{
	(void)state;
	puppet_submit(0, 1);
	puppet_submit(1, 2);
	puppet_stall(PUPPET_HANG_MS + 5);
	assert_int_equal(puppet_bench.puppet.resets, 2);
	puppet_bench.puppet.poll_takes = 7;
	puppet_reset_done(); /* its interrupt gets lost */
	puppet_run(1u << PB_LINE_TICK);
	assert_int_equal(puppet_bench.puppet.resets, 2);
	assert_int_equal(puppet_bench.puppet.count, 2);
	/* The same with a look in which the reset is asked for. */
	puppet_bench.puppet.state = PB_ENGINE_FAULTED;
	puppet_run(1u << PB_LINE_TICK);
	assert_int_equal(puppet_bench.puppet.resets, 3);
	assert_int_equal(puppet_bench.puppet.cycles, 0);
	puppet_reset_done();
	puppet_run(1u << PB_LINE_TICK);
	assert_int_equal(puppet_bench.puppet.resets, 3);
	assert_int_equal(puppet_bench.puppet.cycles, 0);
	puppet_finish(2);
	puppet_expect_fence(2, 2, PB_ERROR_OK);
}

/** Time on the card's clock in which the engine runs and gets on, with its ticks. */
static void get_on(uint32_t milliseconds)
{
	for (uint32_t i = 0; i < milliseconds; i += 5u) {
		puppet_bench.puppet.progress++;
		puppet_stall(5);
	}
}

/** Work that is to stop and gets on without end has two seconds, and then the time of an engine that does not answer. */
static void work_that_never_stops(void **state)
{
	(void)state;
	puppet_submit(0, 1);
	get_on(5000);
	puppet_expect_fence(0, 0, PB_ERROR_OK);
	assert_int_equal(pb_queue_preempt_begin(&puppet_bench.queue, 1, 0), PB_ERROR_OK);
	puppet_run(1u << PB_LINE_CHANNEL(1));
	assert_int_equal(puppet_bench.puppet.stops, 1);
	get_on(2000 + PUPPET_HANG_MS - 5);
	assert_int_equal(puppet_bench.puppet.resets, 1);
	get_on(15);
	assert_int_equal(puppet_bench.puppet.resets, 2);
	puppet_reset_done();
	puppet_run(1u << PB_LINE_NODE(0));
	puppet_finish(1); /* it is fed empty */
	puppet_expect_fence(1, 1, PB_ERROR_ENGINE_HANG);
}

static void expect_event(uint32_t type, uint32_t fence_id, enum pb_error error, uint32_t detail)
{
	const bool of_queue = type != PB_EVENT_NODE_DEAD;
	struct pb_event event;

	assert_true(pb_channel_event(&puppet_bench.channel, &event));
	assert_int_equal(event.type, type);
	assert_int_equal(event.queue, of_queue ? puppet_bench.queue.handle : PB_HANDLE_NONE);
	assert_int_equal(event.fence_id, fence_id);
	assert_int_equal(event.error, error);
	assert_int_equal(event.detail, detail);
}

static void expect_no_event(void)
{
	struct pb_event event;

	assert_false(pb_channel_event(&puppet_bench.channel, &event));
}

/** Four of three contexts, and a hang: 100 ms on the card's clock for each rung of the ladder. */
static void hang_unanswered(void)
{
	static const uint32_t contexts[] = {0, 1, 1, 2};

	for (uint32_t i = 0; i < 4; i++)
		puppet_submit(contexts[i], i + 1);
	puppet_stall(PUPPET_HANG_MS);
	assert_int_equal(puppet_bench.puppet.resets, 1);
	puppet_stall(5);
	assert_int_equal(puppet_bench.puppet.resets, 2);
	puppet_stall(PUPPET_HANG_MS);
	assert_int_equal(puppet_bench.puppet.cycles, 0);
	puppet_stall(5);
	assert_int_equal(puppet_bench.puppet.cycles, 1);
	/* Nothing completes that did not happen. */
	assert_int_equal(puppet_bench.puppet.count, 2);
	puppet_expect_fence(0, 0, PB_ERROR_OK);
	expect_no_event();
}

/** A reset that comes late, by force or not, is as good as one that comes at once. */
static void reset_answered_by_power(void **state)
{
	(void)state;
	hang_unanswered();
	puppet_stall(PUPPET_HANG_MS);
	puppet_reset_done();
	puppet_run(1u << PB_LINE_NODE(0));
	assert_int_equal(puppet_bench.puppet.resets, 2);
	assert_int_equal(puppet_bench.puppet.cycles, 1);
	assert_int_equal(puppet_bench.puppet.fed[0].bytes, 0);
	assert_int_equal(puppet_bench.puppet.fed[1].bytes, 4);
	puppet_finish(2);
	puppet_finish(4);
	puppet_expect_fence(4, 4, PB_ERROR_OK);
	expect_event(PB_EVENT_ENGINE_HANG, 1, PB_ERROR_ENGINE_HANG, 0);
	expect_event(PB_EVENT_CONTEXT_LOST, 1, PB_ERROR_ENGINE_HANG, puppet_bench.contexts[0]);
	expect_no_event();
}

/** A dead node fails what it has and what comes, at once; the rest of the firmware lives, and no context is lost. */
static void reset_that_is_never_answered(void **state)
{
	const uint32_t nothing[PB_COMMAND_ARGUMENTS] = {0};

	(void)state;
	hang_unanswered();
	puppet_stall(PUPPET_HANG_MS);
	puppet_expect_fence(0, 0, PB_ERROR_OK);
	puppet_stall(5);
	puppet_expect_fence(4, 4, PB_ERROR_ENGINE_DEAD);
	expect_event(PB_EVENT_NODE_DEAD, 0, PB_ERROR_ENGINE_DEAD, 0);
	expect_event(PB_EVENT_ENGINE_HANG, 1, PB_ERROR_ENGINE_HANG, 0);
	expect_event(PB_EVENT_CONTEXT_LOST, 1, PB_ERROR_ENGINE_HANG, puppet_bench.contexts[0]);
	for (uint32_t i = 2; i <= 4; i++)
		expect_event(PB_EVENT_SUBMISSION_FAILED, i, PB_ERROR_ENGINE_DEAD, 0);
	expect_no_event();
	puppet_submit(1, 5);
	puppet_expect_fence(5, 5, PB_ERROR_ENGINE_DEAD);
	puppet_submit(0, 6);
	puppet_expect_fence(6, 6, PB_ERROR_CONTEXT_LOST);
	assert_int_equal(pb_channel_command(&puppet_bench.channel, PB_COMMAND_PING, nothing, NULL),
			 PB_ERROR_OK);
	/* An answer that comes after all changes nothing. */
	puppet_reset_done();
	puppet_run(1u << PB_LINE_NODE(0));
	puppet_submit(1, 7);
	puppet_expect_fence(7, 7, PB_ERROR_ENGINE_DEAD);
	puppet_stall(10 * PUPPET_HANG_MS);
	assert_int_equal(puppet_bench.puppet.count, 0);
	assert_int_equal(puppet_bench.puppet.resets, 2);
	assert_int_equal(puppet_bench.puppet.cycles, 1);
	assert_int_equal(pb_queue_destroy(&puppet_bench.queue), PB_ERROR_OK);
}

static uint32_t why(const struct pb_queue *queue)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {PB_QUERY_QUEUE, queue->handle};
	uint32_t results[PB_REPLY_RESULTS];

	assert_int_equal(pb_channel_command(&puppet_bench.channel, PB_COMMAND_QUERY, arguments, results),
			 PB_ERROR_OK);
	return results[0];
}

static uint32_t node_state(void)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {PB_QUERY_NODE};
	uint32_t results[PB_REPLY_RESULTS];

	assert_int_equal(pb_channel_command(&puppet_bench.channel, PB_COMMAND_QUERY, arguments, results),
			 PB_ERROR_OK);
	return results[0];
}

/** What QUERY says on each rung, of the node and of a queue that has nothing at the engine. */
static void rungs_as_seen_by_the_host(void **state)
{
	const struct pb_descriptor nothing = {.context = puppet_bench.contexts[2]};
	/* Less urgent, so that nobody's turn is over. */
	const struct pb_queue_request less = {.entries = 4, .priority = PB_PRIORITY_LOW};
	struct pb_queue second;

	(void)state;
	assert_int_equal(pb_queue_create_with(&second, &puppet_bench.channel, &puppet_bench.system, &less),
			 PB_ERROR_OK);
	puppet_submit(0, 1);
	puppet_submit(0, 2);
	assert_int_equal(pb_queue_submit(&second, &nothing), PB_ERROR_OK);
	assert_int_equal(node_state(), PB_NODE_STATE_RUNNING);
	assert_int_equal(why(&second), PB_WHY_READY);
	puppet_stall(PUPPET_HANG_MS + 5);
	assert_int_equal(node_state(), PB_NODE_STATE_RESETTING);
	assert_int_equal(why(&second), PB_WHY_NODE_BUSY);
	assert_int_equal(why(&puppet_bench.queue), PB_WHY_RUNNING);
	puppet_stall(PUPPET_HANG_MS + 5);
	assert_int_equal(node_state(), PB_NODE_STATE_CYCLING);
	assert_int_equal(why(&second), PB_WHY_NODE_BUSY);
	puppet_stall(PUPPET_HANG_MS + 5);
	assert_int_equal(node_state(), PB_NODE_STATE_DEAD);
	assert_int_equal(why(&second), PB_WHY_NODE_DEAD);
	assert_int_equal(why(&puppet_bench.queue), PB_WHY_NODE_DEAD);
}

/** The engine's own time says nothing: an engine that has stopped counting hangs all the same, and none hangs while the card stands still. */
static void hangs_are_told_by_the_cards_clock(void **state)
{
	(void)state;
	puppet_submit(0, 1);
	for (uint32_t i = 0; i < 4 * PUPPET_HANG_MS; i += 5) {
		puppet_bench.puppet.time += 5000;
		puppet_run(1u << PB_LINE_TICK);
	}
	assert_int_equal(puppet_bench.puppet.resets, 1);
	for (uint32_t i = 0; i <= PUPPET_HANG_MS; i += 5) {
		puppet_bench.clock += 5000;
		puppet_run(1u << PB_LINE_TICK);
	}
	assert_int_equal(puppet_bench.puppet.resets, 2);
}

/** The card's clock wraps in the middle of a wait for an answer. */
static void clock_wraps(void **state)
{
	(void)state;
	puppet_bench.clock = UINT32_MAX - 150000u;
	puppet_run(1u << PB_LINE_TICK);
	hang_unanswered();
	puppet_stall(PUPPET_HANG_MS);
	puppet_expect_fence(0, 0, PB_ERROR_OK);
	puppet_stall(5);
	puppet_expect_fence(4, 4, PB_ERROR_ENGINE_DEAD);
}

/** A number that the engine was not fed completes nothing. */
static void sequence_out_of_range(void **state)
{
	static const uint32_t wrong[] = {4, 0, 0x80000001, 0xffffffff};

	(void)state;
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		puppet_start(NULL);
		puppet_submit(0, 1);
		puppet_finish(1);
		puppet_submit(0, 2);
		puppet_submit(1, 3);
		assert_int_equal(puppet_bench.puppet.resets, 1);
		puppet_finish(wrong[i]);
		assert_int_equal(puppet_bench.puppet.resets, 2);
		puppet_expect_fence(1, 1, PB_ERROR_OK);
		puppet_reset_done();
		puppet_run(1u << PB_LINE_NODE(0));
		assert_int_equal(puppet_bench.puppet.sequences[0], 1);
		assert_int_equal(puppet_bench.puppet.sequences[1], 2);
		puppet_finish(1);
		puppet_expect_fence(2, 2, PB_ERROR_ENGINE_FAULT);
		puppet_finish(2);
		puppet_expect_fence(3, 3, PB_ERROR_OK);
	}
}

static void fault_with_nothing_to_run(void **state)
{
	struct pb_event event;

	(void)state;
	puppet_bench.puppet.state = PB_ENGINE_FAULTED;
	puppet_run(1u << PB_LINE_NODE(0));
	assert_int_equal(puppet_bench.puppet.resets, 2);
	assert_false(pb_channel_event(&puppet_bench.channel, &event));
	puppet_submit(0, 1);
	assert_int_equal(puppet_bench.puppet.count, 0);
	puppet_reset_done();
	puppet_run(1u << PB_LINE_NODE(0));
	assert_int_equal(puppet_bench.puppet.count, 1);
	puppet_finish(1);
	puppet_expect_fence(1, 1, PB_ERROR_OK);
}

/** What had finished before the fault is told apart from what faulted by the engine's number alone. */
static void fault_behind_finished_work(void **state)
{
	struct pb_event event;

	(void)state;
	puppet_submit(0, 1);
	puppet_submit(1, 2);
	puppet_bench.puppet.state = PB_ENGINE_FAULTED;
	puppet_finish(1);
	puppet_expect_fence(1, 1, PB_ERROR_OK);
	puppet_reset_done();
	puppet_run(1u << PB_LINE_NODE(0));
	assert_int_equal(puppet_bench.puppet.count, 1);
	assert_int_equal(puppet_bench.puppet.fed[0].bytes, 0);
	puppet_finish(1);
	puppet_expect_fence(2, 2, PB_ERROR_ENGINE_FAULT);
	assert_true(pb_channel_event(&puppet_bench.channel, &event));
	assert_int_equal(event.detail, 0x77);
	assert_int_equal(event.fence_id, 2);
}

/** Until every engine has answered the reset of the boot, no channel is served. */
static void boot_waits_for_the_engine(void **state)
{
	struct pb_channel channel;
	const struct pb_boot_block *block = (const struct pb_boot_block *)(const void *)puppet_memory;
	const uint32_t incarnation = block->incarnation;

	(void)state;
	puppet_bench.puppet.resets = 0;
	puppet_boot();
	assert_int_equal(puppet_bench.puppet.resets, 1);
	assert_int_equal(block->incarnation, incarnation + 1);
	assert_int_equal(pb_channel_attach(&channel, &puppet_bench.link, 100000), PB_ERROR_TIMEOUT);
	assert_int_equal(block->boot_stage, PB_BOOT_STAGE_STARTED);
	assert_int_equal(pb_channel_check(&puppet_bench.channel, NULL), PB_ERROR_FIRMWARE_DEAD);
	puppet_reset_done();
	assert_int_equal(pb_channel_attach(&channel, &puppet_bench.link, 100000), PB_ERROR_OK);
	assert_int_equal(block->boot_stage, PB_BOOT_STAGE_RUNNING);
}

/** What a channel had before a restart, its next host must not reach: others may have it by then. */
static void boot_takes_all_ranges_away(void **state)
{
	uint32_t *last = &puppet_bench.puppet.ranges[PB_LIMIT_CHANNELS - 1u][PB_ENGINE_RANGES - 1u];

	(void)state;
	assert_int_not_equal(puppet_bench.puppet.ranges[1][0], 0);
	*last = PB_PAGE_BYTES; /* of an image with other limits, for one */
	puppet_boot();
	puppet_run(0);
	assert_int_equal(*last, PB_PAGE_BYTES); /* work of that channel may still run */
	puppet_reset_done();
	puppet_run(0);
	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++) {
		for (uint32_t index = 0; index < PB_ENGINE_RANGES; index++)
			assert_int_equal(puppet_bench.puppet.ranges[channel][index], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(in_order_and_two_at_a_time, puppet_start),
		cmocka_unit_test_setup(lost_interrupt, puppet_start),
		cmocka_unit_test_setup(innocent_work_has_its_own_time, puppet_start),
		cmocka_unit_test_setup(the_clock_moves_within_a_look, puppet_start),
		cmocka_unit_test_setup(reset_answered_by_power, puppet_start),
		cmocka_unit_test_setup(reset_that_is_never_answered, puppet_start),
		cmocka_unit_test_setup(rungs_as_seen_by_the_host, puppet_start),
		cmocka_unit_test_setup(hangs_are_told_by_the_cards_clock, puppet_start),
		cmocka_unit_test_setup(clock_wraps, puppet_start),
		cmocka_unit_test_setup(sequence_out_of_range, puppet_start),
		cmocka_unit_test_setup(fault_with_nothing_to_run, puppet_start),
		cmocka_unit_test_setup(fault_behind_finished_work, puppet_start),
		cmocka_unit_test_setup(boot_waits_for_the_engine, puppet_start),
		cmocka_unit_test_setup(boot_takes_all_ranges_away, puppet_start),
		cmocka_unit_test_setup(work_that_never_stops, puppet_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
