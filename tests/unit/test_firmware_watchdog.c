/* SPDX-License-Identifier: MIT */
/* The core against an engine that is told what to say: late, silent, or wrong. */
#include <string.h>

#include "firmware/firmware.h"
#include "hal/host/host_lines.h"
#include "host/patchbay.h"
#include "tests/unit/unit.h"

#define MEMORY_BYTES 0x80000u
#define CHANNELS     0x6000u
#define POOL         0x20000u
#define SYSTEM_BYTES 0x20000u
#define DMA          0x10000u
#define HANG_MS      100u
#define FED_MAX      32u

/** An engine that does nothing of itself. */
struct puppet {
	struct pb_engine_work fed[FED_MAX];
	uint32_t sequences[FED_MAX];
	uint32_t count;
	uint32_t resets;
	enum pb_engine_state state;
	uint32_t sequence;
	uint32_t progress;
	uint32_t time;
};

struct bench {
	uint8_t *memory;
	struct pb_firmware *firmware;
	struct pb_host_lines host_lines;
	struct pb_lines lines;
	struct puppet puppet;
	struct pb_engine engine;
	struct pb_firmware_config config;
	struct pb_link link;
	uint64_t now;
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_queue queue;
	uint32_t contexts[3];
	uint32_t clock;
	uint64_t queues[8u * PB_FIRMWARE_QUEUE_BYTES / sizeof(uint64_t)];
};
static struct bench bench;
static _Alignas(64) uint8_t memory[MEMORY_BYTES];

static void feed(void *context, const struct pb_engine_work *work, uint32_t sequence)
{
	struct puppet *puppet = context;

	assert_true(puppet->count < FED_MAX);
	puppet->fed[puppet->count] = *work;
	puppet->sequences[puppet->count++] = sequence;
}

static enum pb_engine_state poll(void *context, struct pb_engine_report *report)
{
	const struct puppet *puppet = context;

	*report = (struct pb_engine_report){.sequence = puppet->sequence, .time = puppet->time};
	return puppet->state;
}

static void fault(void *context, struct pb_engine_fault *out)
{
	(void)context;
	*out = (struct pb_engine_fault){.sequence = 0x12345678, .code = 0x77};
}

static void reset(void *context)
{
	struct puppet *puppet = context;

	puppet->resets++;
	puppet->state = PB_ENGINE_BUSY;
}

static uint32_t stopwatch(void *context, uint32_t *progress)
{
	const struct puppet *puppet = context;

	*progress = puppet->progress;
	return puppet->time;
}

static void set_range(void *context, uint32_t channel, uint32_t index, const struct pb_engine_range *range)
{
	(void)context;
	(void)channel;
	(void)index;
	(void)range;
}

/** These tests have no aperture. */
static uint32_t page(void *context, uint32_t table_offset, uint32_t index)
{
	(void)context;
	(void)table_offset;
	(void)index;
	return 0;
}

static void page_clear(void *context, uint32_t table_offset, uint32_t index, uint32_t count)
{
	(void)context;
	(void)table_offset;
	(void)index;
	(void)count;
}

static const struct pb_engine_ops puppet_ops = {
	.feed = feed,
	.poll = poll,
	.fault = fault,
	.reset = reset,
	.stopwatch = stopwatch,
	.set_range = set_range,
	.page = page,
	.page_clear = page_clear,
};

/** Raises lines and lets the firmware run until it has nothing to do. */
static void run(uint32_t lines)
{
	bench.host_lines.pending |= lines;
	for (uint32_t pass = 0; pass < 1000; pass++) {
		if (!pb_firmware_pass(bench.firmware))
			return;
	}
	fail_msg("the firmware does not come to rest");
}

static void ring(struct pb_link *link)
{
	(void)link;
	run(1u << PB_LINE_CHANNEL(1));
}

static enum pb_error wait_for_card(struct pb_link *link, uint64_t timeout_us)
{
	(void)link;
	bench.now += timeout_us;
	run(0);
	return PB_ERROR_TIMEOUT;
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return bench.now;
}

static const struct pb_link_ops link_ops = {.doorbell = ring, .wait = wait_for_card, .now = now};

static void reset_done(void)
{
	bench.puppet.state = PB_ENGINE_READY;
	bench.puppet.sequence = 0;
	bench.puppet.count = 0;
}

static void boot(void)
{
	bench.engine = (struct pb_engine){&puppet_ops, &bench.puppet, PB_NODE_COPY};
	bench.lines = (struct pb_lines){&pb_host_lines_ops, &bench.host_lines, &bench.host_lines.pending};
	bench.config = (struct pb_firmware_config){
		.memory = memory,
		.memory_bytes = MEMORY_BYTES,
		.channels_offset = CHANNELS,
		.pool_offset = POOL,
		.lines = &bench.lines,
		.engines = &bench.engine,
		.node_count = 1,
		.clock = &bench.clock,
		.queues = bench.queues,
		.queue_count = 8,
		.board = "puppet",
	};
	bench.link = (struct pb_link){
		.ops = &link_ops, .memory = memory, .memory_bytes = MEMORY_BYTES, .channel = 1};
	bench.firmware = pb_firmware_instance();
	pb_firmware_init(bench.firmware, &bench.config);
}

static int start(void **state)
{
	const struct pb_segment_request request = {0, 0, 0, SYSTEM_BYTES, SYSTEM_BYTES, 0};

	(void)state;
	memset(&bench, 0, sizeof(bench));
	memset(memory, 0, sizeof(memory));
	boot();
	reset_done();
	assert_int_equal(pb_channel_attach(&bench.channel, &bench.link, 1000000), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&bench.system, &bench.channel, &request), PB_ERROR_OK);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(pb_context_create(&bench.channel, &bench.contexts[i]), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&bench.queue, &bench.channel, &bench.system, 0, 8), PB_ERROR_OK);
	return 0;
}

/** One word to run, in a context of the bench; fence id as given. */
static void submit(uint32_t context, uint32_t fence_id)
{
	const struct pb_descriptor descriptor = {
		.context = bench.contexts[context],
		.fence_id = fence_id,
		.dma_address_low = DMA,
		.dma_size = 4096,
		.dma_end = 4,
	};

	assert_int_equal(pb_queue_submit(&bench.queue, &descriptor), PB_ERROR_OK);
}

static void expect_fence(uint32_t completed, uint32_t fence_id, enum pb_error status)
{
	struct pb_fence fence;

	assert_int_equal(pb_queue_fence(&bench.queue, &fence), PB_ERROR_OK);
	assert_int_equal(fence.completed, completed);
	assert_int_equal(fence.fence_id, fence_id);
	assert_int_equal(fence.status, status);
}

/** The engine reports what it has finished. */
static void finish(uint32_t sequence)
{
	bench.puppet.sequence = sequence;
	bench.puppet.progress++;
	run(1u << PB_LINE_NODE(0));
}

/** Time in which the engine runs and does not get on, with its ticks. */
static void stall(uint32_t milliseconds)
{
	for (uint32_t i = 0; i < milliseconds; i += 5) {
		bench.puppet.time += 5000;
		run(1u << PB_LINE_TICK);
	}
}

static void in_order_and_two_at_a_time(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 5; i++)
		submit(0, i);
	assert_int_equal(bench.puppet.count, 2);
	finish(1);
	expect_fence(1, 1, PB_ERROR_OK);
	assert_int_equal(bench.puppet.count, 3);
	finish(3);
	expect_fence(3, 3, PB_ERROR_OK);
	assert_int_equal(bench.puppet.count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(bench.puppet.sequences[i], i + 1);
		assert_int_equal(bench.puppet.fed[i].address_low, DMA);
		assert_int_equal(bench.puppet.fed[i].bytes, 4);
		assert_int_equal(bench.puppet.fed[i].owner, 1);
	}
	finish(5);
	expect_fence(5, 5, PB_ERROR_OK);
	assert_int_equal(bench.puppet.resets, 1);
}

/** An interrupt that got lost is made up for by the tick. */
static void lost_interrupt(void **state)
{
	(void)state;
	submit(0, 1);
	bench.puppet.sequence = 1;
	run(0);
	expect_fence(0, 0, PB_ERROR_OK);
	run(1u << PB_LINE_TICK);
	expect_fence(1, 1, PB_ERROR_OK);
}

/** After a hang the work that is fed again has its time from there, however late the engine answers. */
static void innocent_work_has_its_own_time(void **state)
{
	(void)state;
	submit(0, 1);
	submit(1, 2);
	stall(HANG_MS);
	assert_int_equal(bench.puppet.resets, 1);
	stall(5);
	assert_int_equal(bench.puppet.resets, 2);
	expect_fence(0, 0, PB_ERROR_OK);
	/* The tick and the answer come in the same pass. */
	reset_done();
	run(1u << PB_LINE_TICK | 1u << PB_LINE_NODE(0));
	assert_int_equal(bench.puppet.count, 2);
	assert_int_equal(bench.puppet.fed[0].bytes, 0);
	assert_int_equal(bench.puppet.fed[1].bytes, 4);
	stall(HANG_MS - 5);
	assert_int_equal(bench.puppet.resets, 2);
	finish(2);
	expect_fence(2, 2, PB_ERROR_OK);
}

/** A dead engine: nothing completes that did not happen, and the rest of the firmware lives. */
static void reset_that_is_never_answered(void **state)
{
	const uint32_t nothing[PB_COMMAND_ARGUMENTS] = {0};

	(void)state;
	for (uint32_t i = 1; i <= 4; i++)
		submit(0, i);
	stall(HANG_MS + 10);
	assert_int_equal(bench.puppet.resets, 2);
	stall(10 * HANG_MS);
	assert_int_equal(bench.puppet.resets, 2);
	assert_int_equal(bench.puppet.count, 2);
	expect_fence(0, 0, PB_ERROR_OK);
	assert_int_equal(pb_channel_command(&bench.channel, PB_COMMAND_PING, nothing, NULL), PB_ERROR_OK);
	/* It comes back after all. */
	reset_done();
	run(1u << PB_LINE_NODE(0));
	finish(2);
	finish(4);
	expect_fence(4, 4, PB_ERROR_CONTEXT_LOST);
}

/** A number that the engine was not fed completes nothing. */
static void sequence_out_of_range(void **state)
{
	static const uint32_t wrong[] = {4, 0, 0x80000001, 0xffffffff};

	(void)state;
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		start(NULL);
		submit(0, 1);
		finish(1);
		submit(0, 2);
		submit(1, 3);
		assert_int_equal(bench.puppet.resets, 1);
		finish(wrong[i]);
		assert_int_equal(bench.puppet.resets, 2);
		expect_fence(1, 1, PB_ERROR_OK);
		reset_done();
		run(1u << PB_LINE_NODE(0));
		assert_int_equal(bench.puppet.sequences[0], 1);
		assert_int_equal(bench.puppet.sequences[1], 2);
		finish(1);
		expect_fence(2, 2, PB_ERROR_ENGINE_FAULT);
		finish(2);
		expect_fence(3, 3, PB_ERROR_OK);
	}
}

static void fault_with_nothing_to_run(void **state)
{
	struct pb_event event;

	(void)state;
	bench.puppet.state = PB_ENGINE_FAULTED;
	run(1u << PB_LINE_NODE(0));
	assert_int_equal(bench.puppet.resets, 2);
	assert_false(pb_channel_event(&bench.channel, &event));
	submit(0, 1);
	assert_int_equal(bench.puppet.count, 0);
	reset_done();
	run(1u << PB_LINE_NODE(0));
	assert_int_equal(bench.puppet.count, 1);
	finish(1);
	expect_fence(1, 1, PB_ERROR_OK);
}

/** What had finished before the fault is told apart from what faulted by the engine's number alone. */
static void fault_behind_finished_work(void **state)
{
	struct pb_event event;

	(void)state;
	submit(0, 1);
	submit(1, 2);
	bench.puppet.state = PB_ENGINE_FAULTED;
	finish(1);
	expect_fence(1, 1, PB_ERROR_OK);
	reset_done();
	run(1u << PB_LINE_NODE(0));
	assert_int_equal(bench.puppet.count, 1);
	assert_int_equal(bench.puppet.fed[0].bytes, 0);
	finish(1);
	expect_fence(2, 2, PB_ERROR_ENGINE_FAULT);
	assert_true(pb_channel_event(&bench.channel, &event));
	assert_int_equal(event.detail, 0x77);
	assert_int_equal(event.fence_id, 2);
}

/** Until every engine has answered the reset of the boot, no channel is served. */
static void boot_waits_for_the_engine(void **state)
{
	struct pb_channel channel;
	const struct pb_boot_block *block = (const struct pb_boot_block *)(const void *)memory;
	const uint32_t incarnation = block->incarnation;

	(void)state;
	bench.puppet.resets = 0;
	boot();
	assert_int_equal(bench.puppet.resets, 1);
	assert_int_equal(block->incarnation, incarnation + 1);
	assert_int_equal(pb_channel_attach(&channel, &bench.link, 100000), PB_ERROR_TIMEOUT);
	assert_int_equal(block->boot_stage, PB_BOOT_STAGE_STARTED);
	assert_int_equal(pb_channel_check(&bench.channel, NULL), PB_ERROR_FIRMWARE_DEAD);
	reset_done();
	assert_int_equal(pb_channel_attach(&channel, &bench.link, 100000), PB_ERROR_OK);
	assert_int_equal(block->boot_stage, PB_BOOT_STAGE_RUNNING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(in_order_and_two_at_a_time, start),
		cmocka_unit_test_setup(lost_interrupt, start),
		cmocka_unit_test_setup(innocent_work_has_its_own_time, start),
		cmocka_unit_test_setup(reset_that_is_never_answered, start),
		cmocka_unit_test_setup(sequence_out_of_range, start),
		cmocka_unit_test_setup(fault_with_nothing_to_run, start),
		cmocka_unit_test_setup(fault_behind_finished_work, start),
		cmocka_unit_test_setup(boot_waits_for_the_engine, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
