/* SPDX-License-Identifier: MIT */
#include "tests/unit/puppet_bench.h"

#include <string.h>

#define CHANNELS     0x6000u
#define TELEMETRY    0x1e000u
#define POOL         0x20000u
#define SYSTEM_BYTES 0x20000u

struct puppet_bench puppet_bench;
_Alignas(64) uint8_t puppet_memory[PUPPET_MEMORY_BYTES];

static void feed(void *context, const struct pb_engine_submission *work, uint32_t sequence)
{
	struct puppet *puppet = context;

	assert_true(puppet->count < PUPPET_FED_MAX);
	puppet->fed[puppet->count] = *work;
	puppet->sequences[puppet->count++] = sequence;
}

static enum pb_engine_state poll(void *context, struct pb_engine_report *report)
{
	const struct puppet *puppet = context;

	puppet_bench.clock += puppet->poll_takes;
	*report = (struct pb_engine_report){.sequence = puppet->sequence, .time = puppet->time};
	return puppet->state;
}

static void stop(void *context, bool inside)
{
	struct puppet *puppet = context;

	puppet->stops++;
	puppet->stopped_inside += inside;
	puppet->state = PB_ENGINE_BUSY;
}

static void stopped(void *context, struct pb_engine_stop *out)
{
	const struct puppet *puppet = context;

	*out = puppet->stopped;
}

static void save(void *context, uint32_t *words)
{
	(void)context;
	(void)words;
}

static void restore(void *context, const uint32_t *words)
{
	struct puppet *puppet = context;

	(void)words;
	puppet->restores++;
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

static void power_cycle(void *context)
{
	struct puppet *puppet = context;

	puppet->cycles++;
	puppet->state = PB_ENGINE_BUSY;
}

static uint32_t runtime(void *context, uint32_t *progress)
{
	const struct puppet *puppet = context;

	*progress = puppet->progress;
	return puppet->time;
}

static void set_range(void *context, uint32_t channel, uint32_t index, const struct pb_engine_range *range)
{
	struct puppet *puppet = context;

	puppet->ranges[channel][index] = range->bytes;
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

static const struct pb_engine_run_ops run_ops = {.feed = feed, .poll = poll, .runtime = runtime};
static const struct pb_engine_preempt_ops preempt_ops = {
	.stop = stop, .stopped = stopped, .save = save, .restore = restore};
static const struct pb_engine_recover_ops recover_ops = {
	.fault = fault, .reset = reset, .power_cycle = power_cycle};
static const struct pb_engine_memory_ops memory_ops = {
	.set_range = set_range, .page = page, .page_clear = page_clear};

void puppet_run(uint32_t lines)
{
	puppet_bench.host_lines.pending |= lines;
	for (uint32_t pass = 0; pass < 1000; pass++) {
		if (!pb_firmware_pass(puppet_bench.firmware))
			return;
	}
	fail_msg("the firmware does not come to rest");
}

static void ring(struct pb_link *link)
{
	(void)link;
	puppet_run(1u << PB_LINE_CHANNEL(1));
}

static enum pb_error wait_for_card(struct pb_link *link, uint64_t timeout_us)
{
	(void)link;
	puppet_bench.now += timeout_us;
	puppet_run(0);
	return PB_ERROR_TIMEOUT;
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return puppet_bench.now;
}

static const struct pb_link_ops link_ops = {.doorbell = ring, .wait = wait_for_card, .now = now};

void puppet_reset_done(void)
{
	puppet_bench.puppet.state = PB_ENGINE_READY;
	puppet_bench.puppet.sequence = 0;
	puppet_bench.puppet.count = 0;
}

void puppet_stop_done(uint32_t sequence, uint32_t running)
{
	puppet_bench.puppet.stopped = (struct pb_engine_stop){.sequence = sequence, .running = running};
	puppet_reset_done();
	puppet_run(1u << PB_LINE_NODE(0));
}

void puppet_boot(void)
{
	puppet_bench.engine =
		(struct pb_engine){&run_ops, puppet_bench.puppet.cannot_stop ? NULL : &preempt_ops,
				   &recover_ops, &puppet_bench.puppet, PB_NODE_COPY};
	puppet_bench.engine_memory = (struct pb_engine_memory){&memory_ops, &puppet_bench.puppet};
	puppet_bench.lines = (struct pb_lines){&pb_host_lines_ops, &puppet_bench.host_lines,
					       &puppet_bench.host_lines.pending};
	puppet_bench.config = (struct pb_firmware_config){
		.memory = puppet_memory,
		.memory_bytes = PUPPET_MEMORY_BYTES,
		.channels_offset = CHANNELS,
		.pool_offset = POOL,
		.telemetry_offset = TELEMETRY,
		.lines = &puppet_bench.lines,
		.engine_memory = &puppet_bench.engine_memory,
		.engines = &puppet_bench.engine,
		.node_count = 1,
		.clock = &puppet_bench.clock,
		.queues = puppet_bench.queues,
		.queue_count = 8,
		.board = "puppet",
	};
	puppet_bench.link = (struct pb_link){
		.ops = &link_ops, .memory = puppet_memory, .memory_bytes = PUPPET_MEMORY_BYTES, .channel = 1};
	puppet_bench.firmware = pb_firmware_instance();
	pb_firmware_init(puppet_bench.firmware, &puppet_bench.config);
}

static void clear_and_boot(bool cannot_stop)
{
	memset(&puppet_bench, 0, sizeof(puppet_bench));
	memset(puppet_memory, 0, sizeof(puppet_memory));
	puppet_bench.puppet.cannot_stop = cannot_stop;
	puppet_boot();
}

void puppet_rejoin(void)
{
	const struct pb_segment_request request = {0, 0, 0, SYSTEM_BYTES, SYSTEM_BYTES, 0};

	puppet_reset_done();
	assert_int_equal(pb_channel_attach(&puppet_bench.channel, &puppet_bench.link, 1000000), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&puppet_bench.system, &puppet_bench.channel, &request),
			 PB_ERROR_OK);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(pb_context_create(&puppet_bench.channel, &puppet_bench.contexts[i]),
				 PB_ERROR_OK);
	assert_int_equal(
		pb_queue_create(&puppet_bench.queue, &puppet_bench.channel, &puppet_bench.system, 0, 8),
		PB_ERROR_OK);
}

int puppet_start(void **state)
{
	(void)state;
	clear_and_boot(false);
	puppet_rejoin();
	return 0;
}

int puppet_start_without_preempt(void **state)
{
	(void)state;
	clear_and_boot(true);
	puppet_rejoin();
	return 0;
}

int puppet_start_traced(void **state)
{
	(void)state;
	clear_and_boot(false);
	puppet_bench.config.memory_bytes = PUPPET_MEMORY_BYTES - PUPPET_TRACE_BYTES;
	puppet_bench.config.trace_bytes = PUPPET_TRACE_BYTES;
	pb_firmware_init(puppet_bench.firmware, &puppet_bench.config);
	puppet_rejoin();
	return 0;
}

void puppet_submit(uint32_t context, uint32_t fence_id)
{
	const struct pb_descriptor descriptor = {
		.context = puppet_bench.contexts[context],
		.fence_id = fence_id,
		.dma_address_low = PUPPET_DMA,
		.dma_size = 4096,
		.dma_end = 4,
	};

	assert_int_equal(pb_queue_submit(&puppet_bench.queue, &descriptor), PB_ERROR_OK);
}

void puppet_expect_fence(uint32_t completed, uint32_t fence_id, enum pb_error status)
{
	struct pb_fence fence;

	assert_int_equal(pb_queue_fence(&puppet_bench.queue, &fence), PB_ERROR_OK);
	assert_int_equal(fence.completed, completed);
	assert_int_equal(fence.fence_id, fence_id);
	assert_int_equal(fence.status, status);
}

void puppet_finish(uint32_t sequence)
{
	puppet_bench.puppet.sequence = sequence;
	puppet_bench.puppet.progress++;
	puppet_run(1u << PB_LINE_NODE(0));
}

void puppet_stall(uint32_t milliseconds)
{
	for (uint32_t i = 0; i < milliseconds; i += 5) {
		puppet_bench.clock += 5000;
		puppet_bench.puppet.time += 5000;
		puppet_run(1u << PB_LINE_TICK);
	}
}

static void ring_admin(struct pb_link *link)
{
	(void)link;
	puppet_run(1u << PB_LINE_CHANNEL(PB_CHANNEL_ADMIN));
}

void puppet_join_admin(void)
{
	static struct pb_link_ops ops;

	ops = *puppet_bench.link.ops;
	ops.doorbell = ring_admin;
	puppet_bench.admin_link = puppet_bench.link;
	puppet_bench.admin_link.ops = &ops;
	puppet_bench.admin_link.channel = PB_CHANNEL_ADMIN;
	assert_int_equal(pb_channel_attach(&puppet_bench.admin, &puppet_bench.admin_link, 1000000),
			 PB_ERROR_OK);
}
