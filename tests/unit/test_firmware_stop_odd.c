/* SPDX-License-Identifier: MIT */
/* Stops that an engine answers with nonsense, or that meet another one, a dead node, or a suspended card. */
#include <string.h>

#include "firmware/core.h"
#include "tests/unit/puppet_bench.h"

static uint32_t preempt_tag;

static enum pb_error command(uint32_t code, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {a, b, c, d};

	return pb_channel_command(&puppet_bench.channel, code, arguments, NULL);
}

static uint32_t begin(struct pb_channel *channel, uint32_t code, uint32_t a, uint32_t b, uint32_t c)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {a, b, c};
	uint32_t tag;

	assert_int_equal(pb_channel_begin(channel, code, arguments, &tag), PB_ERROR_OK);
	return tag;
}

/* Two works of two contexts at the engine, which has been asked to stop. */
static void preempt_two(void **state)
{
	assert_int_equal(puppet_start(state), 0);
	puppet_submit(0, 1);
	puppet_submit(1, 2);
	preempt_tag = begin(&puppet_bench.channel, PB_COMMAND_PREEMPT, puppet_bench.queue.handle, 2, 77);
	assert_int_equal(puppet_bench.puppet.stops, 1);
	assert_int_equal(puppet_bench.puppet.resets, 1);
}

static void expect_preempted(uint32_t completed, uint32_t returned)
{
	uint32_t results[PB_REPLY_RESULTS];

	assert_int_equal(pb_channel_finish(&puppet_bench.channel, preempt_tag, results), PB_ERROR_OK);
	assert_int_equal(results[2], completed + returned);
	assert_int_equal(results[3], returned);
}

/* What it says it has done cannot be: it is reset, and who was first in its ring is blamed. */
static void stops_that_make_no_sense(void **state)
{
	static const struct {
		struct pb_engine_stop stop;
		uint32_t done; /**< before the one that is blamed */
	} cases[] = {
		{{3, 0}, 0}, {{UINT32_MAX, 0}, 0}, {{0, 2}, 0}, {{1, 1}, 1},
		{{1, 3}, 1}, {{2, 3}, 2},          {{2, 1}, 2},
	};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const bool blamed = cases[i].done != 2;
		const uint32_t completed = cases[i].done + (blamed ? 1u : 0);

		preempt_two(state);
		puppet_stop_done(cases[i].stop.sequence, cases[i].stop.running);
		assert_int_equal(puppet_bench.puppet.resets, 2);
		puppet_reset_done();
		puppet_run(1u << PB_LINE_NODE(0));
		/* The guilty one is fed empty, to complete in its turn. */
		assert_int_equal(puppet_bench.puppet.count, blamed ? 1 : 0);
		if (blamed) {
			assert_int_equal(puppet_bench.puppet.fed[0].bytes, 0);
			puppet_finish(1);
		}
		expect_preempted(completed, 2u - completed);
		puppet_expect_fence(2, completed, blamed ? PB_ERROR_ENGINE_FAULT : PB_ERROR_OK);
	}
}

/* While it has not answered, only a report of what it was fed counts. */
static void reports_while_it_stops(void **state)
{
	preempt_two(state);
	puppet_finish(5);
	puppet_expect_fence(0, 0, PB_ERROR_OK);
	puppet_finish(1);
	puppet_expect_fence(1, 1, PB_ERROR_OK);
	puppet_stop_done(1, 0);
	expect_preempted(1, 1);
	assert_int_equal(puppet_bench.puppet.resets, 1);
}

/* While one stop is under way, another one is refused, but for one reset that forces a preemption. */
static void stops_beside_each_other(void **state)
{
	const uint32_t queue = puppet_bench.queue.handle;
	uint32_t tag;

	preempt_two(state);
	assert_int_equal(pb_queue_resume(&puppet_bench.queue), PB_ERROR_BUSY);
	assert_int_equal(command(PB_COMMAND_PREEMPT, queue, 2, 78, 0), PB_ERROR_BUSY);
	assert_int_equal(command(PB_COMMAND_SUSPEND, queue, 2, PB_STOP_WITHDRAW, 0), PB_ERROR_BUSY);
	tag = begin(&puppet_bench.channel, PB_COMMAND_RESET, 0, queue, 2);
	assert_int_equal(puppet_bench.puppet.resets, 2);
	assert_int_equal(command(PB_COMMAND_RESET, 0, queue, 2, 0), PB_ERROR_BUSY);
	puppet_reset_done();
	puppet_run(1u << PB_LINE_NODE(0));
	puppet_finish(1);
	expect_preempted(1, 1);
	assert_int_equal(pb_channel_finish(&puppet_bench.channel, tag, NULL), PB_ERROR_OK);
	puppet_expect_fence(2, 1, PB_ERROR_ENGINE_HANG);

	assert_int_equal(puppet_start(state), 0);
	puppet_submit(0, 1);
	tag = begin(&puppet_bench.channel, PB_COMMAND_SUSPEND, queue, 1, PB_STOP_WITHDRAW);
	assert_int_equal(command(PB_COMMAND_RESET, 0, queue, 1, 0), PB_ERROR_BUSY);
	puppet_stop_done(0, 0);
	assert_int_equal(pb_channel_finish(&puppet_bench.channel, tag, NULL), PB_ERROR_OK);
}

/*
 * A queue's turn is over and the engine is to stop inside its work, when its host wants that back without that: what
 * has begun ends first, and the answer comes then.
 */
static void preempted_while_its_turn_ends(void **state)
{
	const struct pb_descriptor descriptor = {
		.context = puppet_bench.contexts[1],
		.fence_id = 2,
		.dma_address_low = PUPPET_DMA,
		.dma_size = 4096,
		.dma_end = 8,
	};
	struct pb_fence fence;
	struct pb_queue other;

	(void)state;
	assert_int_equal(pb_queue_create(&other, &puppet_bench.channel, &puppet_bench.system, 0, 4),
			 PB_ERROR_OK);
	puppet_submit(0, 1);
	assert_int_equal(pb_queue_submit(&other, &descriptor), PB_ERROR_OK);
	puppet_stall(2u * PB_QUANTUM_MICROSECONDS / 1000u);
	assert_int_equal(puppet_bench.puppet.stops, 1);
	preempt_tag = begin(&puppet_bench.channel, PB_COMMAND_PREEMPT, puppet_bench.queue.handle, 1, 77);
	assert_int_equal(puppet_bench.puppet.stops, 1);
	puppet_stop_done(0, 1);
	/* The other one's has its turn; behind it what had begun goes on. */
	assert_int_equal(puppet_bench.puppet.count, 2);
	assert_int_equal(puppet_bench.puppet.fed[0].bytes, 8);
	assert_int_equal(puppet_bench.puppet.fed[1].bytes, 4);
	assert_int_equal(puppet_bench.puppet.restores, 1);
	puppet_finish(1);
	assert_int_equal(pb_channel_finish(&puppet_bench.channel, preempt_tag, NULL), PB_ERROR_TIMEOUT);
	puppet_finish(2);
	expect_preempted(1, 0);
	puppet_expect_fence(1, 1, PB_ERROR_OK);
	assert_int_equal(pb_queue_fence(&other, &fence), PB_ERROR_OK);
	assert_int_equal(fence.completed, 1);
	assert_int_equal(fence.fence_id, 2);
	assert_int_equal(fence.status, PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.resets, 1);
}

/* A cutoff that all has completed beyond: there is nothing to return. */
static void old_cutoff(void **state)
{
	uint32_t results[PB_REPLY_RESULTS];
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {puppet_bench.queue.handle, 1, 5};

	(void)state;
	for (uint32_t i = 1; i <= 3; i++)
		puppet_submit(0, i);
	puppet_finish(2);
	puppet_finish(3);
	assert_int_equal(pb_channel_command(&puppet_bench.channel, PB_COMMAND_PREEMPT, arguments, results),
			 PB_ERROR_OK);
	assert_int_equal(results[0], 3);
	assert_int_equal(results[2], 3);
	assert_int_equal(results[3], 0);
	assert_int_equal(puppet_bench.puppet.stops, 0);
}

/* ---- the whole card ---- */

/* The reply comes when the engine has nothing left; until then nobody may resume. */
static void suspended_while_it_works(void **state)
{
	uint32_t tag;

	(void)state;
	puppet_join_admin();
	puppet_submit(0, 1);
	tag = begin(&puppet_bench.admin, PB_COMMAND_SUSPEND, 0, 0, 0);
	assert_int_equal(pb_channel_finish(&puppet_bench.admin, tag, NULL), PB_ERROR_TIMEOUT);
	assert_int_equal(pb_card_resume(&puppet_bench.admin), PB_ERROR_BUSY);
	puppet_finish(1);
	assert_int_equal(pb_channel_finish(&puppet_bench.admin, tag, NULL), PB_ERROR_OK);
	puppet_submit(0, 2);
	assert_int_equal(puppet_bench.puppet.count, 1);
	assert_int_equal(pb_card_resume(&puppet_bench.admin), PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.count, 2);
}

/* All is done, but the engine has not answered. */
static void suspended_while_it_stops(void **state)
{
	uint32_t tag;

	preempt_two(state);
	puppet_join_admin();
	puppet_finish(2);
	puppet_expect_fence(2, 2, PB_ERROR_OK);
	tag = begin(&puppet_bench.admin, PB_COMMAND_SUSPEND, 0, 0, 0);
	assert_int_equal(pb_channel_finish(&puppet_bench.admin, tag, NULL), PB_ERROR_TIMEOUT);
	puppet_stop_done(2, 0);
	assert_int_equal(pb_channel_finish(&puppet_bench.admin, tag, NULL), PB_ERROR_OK);
	puppet_expect_fence(2, 2, PB_ERROR_OK);
}

/* What does not answer any more has nothing to wait for. */
static void suspended_with_a_dead_node(void **state)
{
	(void)state;
	puppet_join_admin();
	puppet_submit(0, 1);
	for (uint32_t rung = 0; rung < 3; rung++)
		puppet_stall(PUPPET_HANG_MS + 5);
	puppet_expect_fence(1, 1, PB_ERROR_ENGINE_HANG);
	assert_int_equal(puppet_bench.puppet.cycles, 1);
	assert_int_equal(pb_card_suspend(&puppet_bench.admin, PB_STOP_WITHDRAW), PB_ERROR_OK);
	assert_int_equal(pb_card_resume(&puppet_bench.admin), PB_ERROR_OK);
}

/* The reply of one who left goes to nobody, not to the next one either. */
static void suspended_by_one_who_left(void **state)
{
	for (uint32_t returns = 0; returns < 2; returns++) {
		assert_int_equal(puppet_start(state), 0);
		puppet_join_admin();
		puppet_submit(0, 1);
		(void)begin(&puppet_bench.admin, PB_COMMAND_SUSPEND, 0, 0, 0);
		assert_int_equal(pb_channel_detach(&puppet_bench.admin), PB_ERROR_OK);
		if (returns != 0)
			puppet_join_admin();
		puppet_finish(1);
		puppet_expect_fence(1, 1, PB_ERROR_OK);
		if (returns == 0)
			puppet_join_admin();
		assert_int_equal(puppet_bench.admin.entry->reply_put, 0);
		assert_int_equal(pb_card_resume(&puppet_bench.admin), PB_ERROR_OK);
	}
}

/* ---- queues that come to their end ---- */

/* A broken put takes no more work; what was withdrawn before goes on when its host resumes the queue. */
static void faulted_when_resumed(void **state)
{
	for (uint32_t works = 0; works <= 2; works += 2) {
		struct pb_queue_page *page;
		uint32_t tag;

		assert_int_equal(puppet_start(state), 0);
		page = (void *)puppet_bench.queue.memory.bytes_host;
		for (uint32_t i = 1; i <= works; i++)
			puppet_submit(0, i);
		tag = begin(&puppet_bench.channel, PB_COMMAND_SUSPEND, puppet_bench.queue.handle, works,
			    PB_STOP_WITHDRAW);
		if (works != 0)
			puppet_stop_done(0, 0);
		assert_int_equal(pb_channel_finish(&puppet_bench.channel, tag, NULL), PB_ERROR_OK);
		page->put = 100;
		assert_int_equal(pb_queue_resume(&puppet_bench.queue), PB_ERROR_OK);
		assert_int_equal(page->fence.error, PB_ERROR_RING_FAULT);
		assert_int_equal(puppet_bench.puppet.count, works);
		puppet_finish(works);
		assert_int_equal(page->fence.completed, works);
	}
}

/* A queue that is being destroyed when its channel is closed. */
static void closed_twice(void **state)
{
	struct pb_channel_entry *entry = puppet_bench.channel.entry;
	const uint32_t request =
		((entry->attach_request & ~PB_ATTACH_OP_MASK) + PB_ATTACH_COUNTER_ONE) | PB_ATTACH_OP_DETACH;

	(void)state;
	puppet_submit(0, 1);
	(void)begin(&puppet_bench.channel, PB_COMMAND_QUEUE_DESTROY, puppet_bench.queue.handle, 0, 0);
	entry->attach_request = request;
	puppet_run(1u << PB_LINE_CHANNEL(1));
	assert_int_not_equal(entry->attach_done, request);
	puppet_finish(1);
	assert_int_equal(entry->attach_done, request);
	assert_int_equal(entry->state, PB_CHANNEL_CLOSED);
	assert_int_equal(pb_firmware_instance()->channels[1].queues, 0);
}

/* Generation 0 is no handle's. */
static void generations_wrap(void **state)
{
	struct pb_firmware *firmware = pb_firmware_instance();
	struct pb_queue queue;
	uint32_t context;

	(void)state;
	firmware->queues[firmware->free_queues].generation = UINT16_MAX - 1u;
	for (uint32_t expected = UINT16_MAX; expected != 2u; expected = expected == UINT16_MAX ? 1u : 2u) {
		assert_int_equal(pb_queue_create(&queue, &puppet_bench.channel, &puppet_bench.system, 0, 4),
				 PB_ERROR_OK);
		assert_int_equal(PB_HANDLE_GENERATION(queue.handle), expected);
		assert_int_equal(pb_queue_destroy(&queue), PB_ERROR_OK);
	}
	firmware->contexts[3] = PB_CORE_CONTEXT(UINT16_MAX - 1u, 1);
	for (uint32_t expected = UINT16_MAX; expected != 2u; expected = expected == UINT16_MAX ? 1u : 2u) {
		assert_int_equal(pb_context_create(&puppet_bench.channel, &context), PB_ERROR_OK);
		assert_int_equal(context, PB_HANDLE(3, expected));
		assert_int_equal(pb_context_destroy(&puppet_bench.channel, context), PB_ERROR_OK);
	}
}

/* ---- boot ---- */

static void fatal_before_boot(void **state)
{
	struct pb_fault fault = {.record = {.kind = PB_FATAL_ASSERT}};

	(void)state;
	memset(puppet_memory, 0x5a, sizeof(puppet_memory));
	pb_firmware_fatal(&fault);
	for (uint32_t i = 0; i < sizeof(puppet_memory); i++)
		assert_int_equal(puppet_memory[i], 0x5a);
}

/* A name that does not fit is cut off. */
static void long_board_name(void **state)
{
	struct pb_card_info card;

	assert_int_equal(puppet_start(state), 0);
	puppet_bench.config.board = "a-board-whose-name-is-longer-than-the-room-for-it";
	pb_firmware_init(puppet_bench.firmware, &puppet_bench.config);
	assert_int_equal(pb_card_read(&puppet_bench.link, &card), PB_ERROR_OK);
	assert_int_equal(strlen(card.build), sizeof(((struct pb_boot_block *)0)->build) - 1u);
	assert_memory_equal(card.build, "patchbay " PB_VERSION " a-board-whose", 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fatal_before_boot),
		cmocka_unit_test(long_board_name),
		cmocka_unit_test_setup(stops_that_make_no_sense, puppet_start),
		cmocka_unit_test_setup(reports_while_it_stops, puppet_start),
		cmocka_unit_test_setup(stops_beside_each_other, puppet_start),
		cmocka_unit_test_setup(preempted_while_its_turn_ends, puppet_start),
		cmocka_unit_test_setup(old_cutoff, puppet_start),
		cmocka_unit_test_setup(suspended_while_it_works, puppet_start),
		cmocka_unit_test_setup(suspended_while_it_stops, puppet_start),
		cmocka_unit_test_setup(suspended_with_a_dead_node, puppet_start),
		cmocka_unit_test(suspended_by_one_who_left),
		cmocka_unit_test_setup(faulted_when_resumed, puppet_start),
		cmocka_unit_test_setup(closed_twice, puppet_start),
		cmocka_unit_test_setup(generations_wrap, puppet_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
