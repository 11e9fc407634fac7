/* SPDX-License-Identifier: MIT */
/* What the firmware counts, on a clock and with an engine that move only as the test has them. */
#include <stdio.h>
#include <string.h>

#include "patchbay/abi/telemetry.h"
#include "tests/unit/puppet_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct pb_telemetry *card_telemetry(void)
{
	const struct pb_boot_block *boot = (const void *)puppet_memory;

	assert_int_equal(boot->telemetry_offset, 0x1e000);
	return (struct pb_telemetry *)(void *)(puppet_memory + boot->telemetry_offset);
}

static struct pb_node_telemetry *node_telemetry(void)
{
	return (struct pb_node_telemetry *)(void *)(card_telemetry() + 1);
}

/** What is published at the next tick; each tick publishes the one node. */
static uint64_t value(enum pb_node_tag tag)
{
	const struct pb_telemetry_value *value = &node_telemetry()->values[tag];

	puppet_run(1u << PB_LINE_TICK);
	assert_int_equal(node_telemetry()->sequence % 2u, 0);
	return (uint64_t)value->high << 32 | value->low;
}

static void expect_bucket(const char *row, enum pb_latency which, uint32_t bucket)
{
	for (uint32_t b = 0; b < PB_LATENCY_BUCKETS; b++) {
		if (node_telemetry()->latencies[which][b] != (b == bucket))
			fail_msg("%s: bucket %u of latency %u holds %u", row, b, which,
				 node_telemetry()->latencies[which][b]);
	}
}

static uint32_t total(enum pb_latency which)
{
	uint32_t sum = 0;

	for (uint32_t b = 0; b < PB_LATENCY_BUCKETS; b++)
		sum += node_telemetry()->latencies[which][b];
	return sum;
}

/** None of the histogram's buckets. */
#define NOWHERE PB_LATENCY_BUCKETS

static struct pb_descriptor *ring(void)
{
	return (struct pb_descriptor *)(void *)(puppet_bench.queue.memory.bytes_host +
						sizeof(struct pb_queue_page));
}

static void a_boot_begins_at_nothing(void **state)
{
	const struct pb_telemetry *telemetry = card_telemetry();
	const uint32_t *words = (const uint32_t *)(const void *)(telemetry + 1);
	const uint32_t bytes =
		sizeof(struct pb_node_telemetry) + PB_LIMIT_CHANNELS * sizeof(struct pb_channel_account);

	(void)state;
	puppet_submit(0, 1);
	puppet_finish(1);
	puppet_stall(10);
	assert_int_equal(telemetry->values[PB_CARD_TAG_TICKS].low, 2);
	memset(puppet_memory + 0x1e000 + sizeof(*telemetry) + bytes, 0x5a, 4);
	puppet_bench.puppet.time = 0xfffffff0;
	puppet_boot();
	puppet_bench.puppet.time = 0x10;
	assert_int_equal(telemetry->version, 1);
	assert_int_equal(telemetry->nodes, 1);
	assert_int_equal(telemetry->node_values, 15);
	assert_int_equal(telemetry->card_values, 3);
	assert_int_equal(telemetry->sequence, 0);
	assert_int_equal(telemetry->values[PB_CARD_TAG_TICKS].low, 0);
	assert_int_equal(telemetry->channels, PB_LIMIT_CHANNELS);
	for (uint32_t i = 0; i < bytes / 4u; i++)
		assert_int_equal(words[i], 0);
	assert_int_equal(words[bytes / 4u], 0x5a5a5a5a); /* there are no more channels */
	puppet_reset_done();
	puppet_run(0);
	assert_int_equal(value(PB_NODE_TAG_BUSY), 0x20); /* the engine's own count goes on */
}

/** Each tick publishes what one channel has and may have. */
static void accounts_are_published(void **state)
{
	const struct pb_channel_account *accounts =
		(const void *)(puppet_memory + 0x1e000 + sizeof(struct pb_telemetry) +
			       sizeof(struct pb_node_telemetry));
	struct pb_quota_status status;

	(void)state;
	puppet_stall(5u * (PB_LIMIT_CHANNELS + 1u));
	assert_int_equal(accounts[1].used[PB_RESOURCE_QUEUES], 1);
	assert_int_equal(accounts[2].used[PB_RESOURCE_QUEUES], 0);
	for (uint32_t r = 0; r < PB_RESOURCE_COUNT; r++) {
		assert_int_equal(pb_quota_query(&puppet_bench.channel, 1, r, &status), PB_ERROR_OK);
		assert_int_equal(accounts[1].limit[r], status.limit);
		if (r < PB_RESOURCES_USED)
			assert_int_equal(accounts[1].used[r], status.used);
	}
	assert_int_equal(accounts[PB_LIMIT_CHANNELS - 1u].limit[PB_RESOURCE_CONTEXTS], PB_LIMIT_CONTEXTS);
}

/** Latencies, and the bucket that include/patchbay/abi/telemetry.h gives each. */
static const struct {
	uint32_t microseconds;
	uint32_t bucket;
} latencies[] = {
	{0, 32},         {1, 31},         {2, 30},          {3, 30},          {4, 29},     {7, 29},
	{8, 28},         {1023, 22},      {1024, 21},       {65535, 16},      {65536, 15}, {0x3fffffff, 2},
	{0x40000000, 1}, {0x7fffffff, 1}, {0x80000000u, 0}, {0xffffffffu, 0},
};

static void from_feed_to_fence(void **state)
{
	for (size_t i = 0; i < COUNT(latencies); i++) {
		char row[32];

		(void)snprintf(row, sizeof(row), "%u us", latencies[i].microseconds);
		assert_int_equal(puppet_start(state), 0);
		puppet_bench.clock = 0xfffffff0u; /* it goes round meanwhile */
		puppet_submit(0, 1);
		expect_bucket(row, PB_LATENCY_FEED, 32);
		expect_bucket(row, PB_LATENCY_FENCE, NOWHERE);
		puppet_bench.clock += latencies[i].microseconds;
		puppet_finish(1);
		expect_bucket(row, PB_LATENCY_FENCE, latencies[i].bucket);
		assert_int_equal(value(PB_NODE_TAG_FENCE_TIME), latencies[i].microseconds);
		assert_int_equal(value(PB_NODE_TAG_FEED_TIME), 0);
	}
}

/** The engine holds two: the third one waits for the first to be done. */
static void from_doorbell_to_feed(void **state)
{
	for (size_t i = 0; i < COUNT(latencies); i++) {
		char row[32];

		(void)snprintf(row, sizeof(row), "%u us", latencies[i].microseconds);
		assert_int_equal(puppet_start(state), 0);
		puppet_submit(0, 1);
		puppet_submit(0, 2);
		memset(node_telemetry()->latencies, 0, sizeof(node_telemetry()->latencies));
		puppet_bench.clock = 0xfffffff0u;
		puppet_submit(0, 3);
		expect_bucket(row, PB_LATENCY_FEED, NOWHERE);
		puppet_bench.clock += latencies[i].microseconds;
		puppet_finish(1);
		expect_bucket(row, PB_LATENCY_FEED, latencies[i].bucket);
		assert_int_equal(value(PB_NODE_TAG_FEED_TIME), latencies[i].microseconds);
	}
}

static struct pb_queue_page *page(void)
{
	return (struct pb_queue_page *)(void *)puppet_bench.queue.memory.bytes_host;
}

/** Has the firmware poll all queues, as after a doorbell whose kick was lost. */
static void rescan(void)
{
	((struct pb_channel_entry *)(void *)(puppet_memory + 0x6000))[1].rescan++;
	puppet_run(1u << PB_LINE_CHANNEL(1));
}

/** A doorbell is timed with the first descriptor that it shows; the descriptors themselves are not written to. */
static void a_doorbell_is_one_latency(void **state)
{
	struct pb_descriptor written[8];

	(void)state;
	puppet_bench.clock = 77;
	puppet_submit(0, 1);
	assert_int_equal(page()->preempt.doorbell_time_us, 77);
	assert_int_equal(page()->preempt.doorbell_index, 0);
	for (uint32_t i = 1; i < 5u; i++) {
		ring()[i] = ring()[0];
		ring()[i].timeline_low = 1u + i;
		ring()[i].reserved = 0x5a5a5a5a;
	}
	memcpy(written, ring(), sizeof(written));
	puppet_bench.clock = 99;
	page()->put = 5;
	rescan();
	assert_int_equal(page()->preempt.doorbell_time_us, 99);
	assert_int_equal(page()->preempt.doorbell_index, 1);
	/* Nothing new is shown. */
	puppet_bench.clock = 111;
	rescan();
	assert_int_equal(page()->preempt.doorbell_time_us, 99);
	puppet_bench.clock = 99;
	for (uint32_t done = 1; done <= 5; done++)
		puppet_finish(done);
	assert_memory_equal(ring(), written, sizeof(written));
	assert_int_equal(node_telemetry()->latencies[PB_LATENCY_FEED][32], 2);
	assert_int_equal(total(PB_LATENCY_FEED), 2);
	assert_int_equal(total(PB_LATENCY_FENCE), 5);
}

/** While a doorbell is measured whose first descriptor is not admitted, a later one is not. */
static void one_doorbell_of_a_queue_is_measured_at_a_time(void **state)
{
	(void)state;
	puppet_bench.clock = 10;
	for (uint32_t fence = 1; fence <= 4; fence++)
		puppet_submit(0, fence);
	assert_int_equal(page()->preempt.doorbell_index, 3);
	puppet_bench.clock = 30;
	puppet_submit(0, 5);
	assert_int_equal(page()->preempt.doorbell_index, 3);
	assert_int_equal(page()->preempt.doorbell_time_us, 10);
	puppet_finish(1);
	puppet_submit(0, 6);
	assert_int_equal(page()->preempt.doorbell_index, 5);
	for (uint32_t done = 2; done <= 6; done++)
		puppet_finish(done);
	assert_int_equal(total(PB_LATENCY_FEED), 5);
	assert_int_equal(value(PB_NODE_TAG_FEED_TIME), 40);
}

/** 0 is no time: such a doorbell is not counted. */
static void a_doorbell_at_0_is_not_counted(void **state)
{
	(void)state;
	puppet_bench.clock = 0;
	puppet_submit(0, 1);
	puppet_finish(1);
	assert_int_equal(total(PB_LATENCY_FEED), 0);
	assert_int_equal(total(PB_LATENCY_FENCE), 1);
}

/** What a host leaves in that word is a time of its own submissions, and nothing else. */
static void a_host_may_write_any_time(void **state)
{
	(void)state;
	puppet_bench.clock = 50;
	puppet_submit(0, 1);
	puppet_submit(0, 2);
	puppet_submit(0, 3);
	puppet_submit(0, 4);
	page()->preempt.doorbell_time_us = 51; /* in the future; those before the last have been read */
	for (uint32_t done = 1; done <= 4; done++)
		puppet_finish(done);
	puppet_expect_fence(4, 4, PB_ERROR_OK);
	assert_int_equal(node_telemetry()->latencies[PB_LATENCY_FEED][0], 1);
	assert_int_equal(total(PB_LATENCY_FEED), 4);
}

/** Refused, and cancelled as its context is lost: neither has a latency of its own. */
static void failed_work_has_no_fence_latency(void **state)
{
	const struct pb_descriptor bad = {.context = puppet_bench.contexts[0], .options = 2};

	(void)state;
	puppet_bench.clock = 5;
	assert_int_equal(pb_queue_submit(&puppet_bench.queue, &bad), PB_ERROR_OK);
	puppet_submit(0, 2);
	puppet_submit(1, 3);
	/* Each is fed when nothing of its queue is before it. */
	puppet_finish(1);
	puppet_finish(2);
	puppet_finish(3);
	puppet_expect_fence(3, 3, PB_ERROR_OK);
	assert_int_equal(total(PB_LATENCY_FENCE), 1);
	assert_int_equal(value(PB_NODE_TAG_SUBMISSIONS), 3);
	assert_int_equal(value(PB_NODE_TAG_BYTES), 4);
	assert_int_equal(value(PB_NODE_TAG_FAULTS), 0);
}

/**
 * More urgent work takes the engine from what was fed. That is fed once more: its fence's latency counts from then
 * on, and its doorbell's is counted already.
 */
static void a_recalled_submission_is_not_counted_twice(void **state)
{
	const struct pb_queue_request low = {.entries = 8, .priority = PB_PRIORITY_LOW};
	struct pb_descriptor descriptor = {.dma_address_low = PUPPET_DMA, .dma_size = 4096, .dma_end = 4};
	struct pb_queue queue;

	(void)state;
	descriptor.context = puppet_bench.contexts[0];
	assert_int_equal(pb_queue_create_with(&queue, &puppet_bench.channel, &puppet_bench.system, &low),
			 PB_ERROR_OK);
	puppet_bench.clock = 1000;
	assert_int_equal(pb_queue_submit(&queue, &descriptor), PB_ERROR_OK);
	assert_int_equal(pb_queue_submit(&queue, &descriptor), PB_ERROR_OK);
	puppet_bench.clock = 1100;
	puppet_submit(1, 3);
	assert_int_equal(value(PB_NODE_TAG_PREEMPTIONS), 1);
	assert_int_equal(total(PB_LATENCY_FEED), 2);
	puppet_bench.clock = 1200;
	puppet_stop_done(0, 0);
	/* The urgent one, and the first of the others behind it. */
	assert_int_equal(value(PB_NODE_TAG_IN_FLIGHT), 2);
	assert_int_equal(total(PB_LATENCY_FEED), 3);
	assert_int_equal(value(PB_NODE_TAG_FEED_TIME), 100);
	puppet_bench.clock = 1300;
	for (uint32_t done = 1; done <= 3; done++)
		puppet_finish(done);
	assert_int_equal(total(PB_LATENCY_FEED), 3);
	assert_int_equal(total(PB_LATENCY_FENCE), 3);
	/* 1200 to 1300 twice; the last one was fed as the first of these had gone. */
	assert_int_equal(value(PB_NODE_TAG_FENCE_TIME), 200);
	assert_int_equal(value(PB_NODE_TAG_SUBMISSIONS), 3);
}

static void totals_are_published(void **state)
{
	(void)state;
	puppet_bench.clock = 1;
	for (uint32_t i = 1; i <= 5; i++)
		puppet_submit(0, i);
	puppet_bench.puppet.time = 123456;
	assert_int_equal(value(PB_NODE_TAG_DEPTH), 5);
	assert_int_equal(value(PB_NODE_TAG_IN_FLIGHT), 2);
	assert_int_equal(value(PB_NODE_TAG_QUEUES), 1);
	assert_int_equal(value(PB_NODE_TAG_STATE), PB_NODE_STATE_RUNNING);
	puppet_finish(1);
	puppet_finish(2);
	assert_int_equal(value(PB_NODE_TAG_BUSY), 123456);
	assert_int_equal(value(PB_NODE_TAG_SUBMISSIONS), 2);
	assert_int_equal(value(PB_NODE_TAG_BYTES), 8);
	assert_int_equal(value(PB_NODE_TAG_DEPTH), 3);
	assert_int_equal(value(PB_NODE_TAG_IDLES), 0);
	for (uint32_t i = 3; i <= 5; i++)
		puppet_finish(i);
	assert_int_equal(value(PB_NODE_TAG_IDLES), 1);
	assert_int_equal(value(PB_NODE_TAG_DEPTH), 0);
	assert_int_equal(value(PB_NODE_TAG_IN_FLIGHT), 0);
	assert_int_equal(value(PB_NODE_TAG_PATCHES), 0);
	assert_int_equal(value(PB_NODE_TAG_PREEMPTIONS), 0);
	assert_int_equal(value(PB_NODE_TAG_RESETS), 0);
}

/** A hang is a fault and a reset; what had been completed before the reset still counts. */
static void a_hang_is_counted(void **state)
{
	(void)state;
	puppet_submit(0, 1);
	puppet_submit(1, 2);
	puppet_finish(1);
	puppet_stall(200);
	assert_int_equal(value(PB_NODE_TAG_FAULTS), 1);
	assert_int_equal(value(PB_NODE_TAG_RESETS), 1);
	assert_int_equal(value(PB_NODE_TAG_STATE), PB_NODE_STATE_RESETTING);
	puppet_reset_done();
	puppet_run(1u << PB_LINE_NODE(0));
	puppet_finish(1);
	puppet_expect_fence(2, 2, PB_ERROR_ENGINE_HANG);
	assert_int_equal(value(PB_NODE_TAG_SUBMISSIONS), 2);
	assert_int_equal(value(PB_NODE_TAG_STATE), PB_NODE_STATE_RUNNING);
}

/** Innocent work that a reset has the engine given once more has waited for its doorbell once. */
static void given_once_more_it_is_not_counted_twice(void **state)
{
	(void)state;
	puppet_bench.clock = 10;
	puppet_submit(0, 1);
	puppet_submit(1, 2);
	puppet_stall(200);
	puppet_reset_done();
	puppet_run(1u << PB_LINE_NODE(0));
	assert_int_equal(puppet_bench.puppet.count, 2);
	puppet_bench.clock += 5;
	puppet_finish(2);
	puppet_expect_fence(2, 2, PB_ERROR_OK);
	assert_int_equal(total(PB_LATENCY_FEED), 2);
	assert_int_equal(value(PB_NODE_TAG_FEED_TIME), 0);
	expect_bucket("since it was given once more", PB_LATENCY_FENCE, 29);
}

/** Low words go round; what the engine says of its time is one of them. */
static void counts_have_64_bits(void **state)
{
	(void)state;
	puppet_bench.puppet.time = 0xffffffff;
	assert_int_equal(value(PB_NODE_TAG_BUSY), 0xffffffff);
	puppet_bench.puppet.time = 0;
	assert_int_equal(value(PB_NODE_TAG_BUSY), UINT64_C(0x100000000));
	puppet_bench.puppet.time = 0;
	assert_int_equal(value(PB_NODE_TAG_BUSY), UINT64_C(0x100000000));
	puppet_bench.puppet.time = 0x80000000;
	assert_int_equal(value(PB_NODE_TAG_BUSY), UINT64_C(0x180000000));
	puppet_bench.puppet.time = 0x7fffffff;
	assert_int_equal(value(PB_NODE_TAG_BUSY), UINT64_C(0x27fffffff));
	/* A value that decreases is no progress. */
	puppet_submit(0, 1);
	assert_int_equal(value(PB_NODE_TAG_IN_FLIGHT), 1);
	puppet_finish(1);
	assert_int_equal(value(PB_NODE_TAG_IN_FLIGHT), 0);
}

/** What a host has written over the lock does not keep readers out for ever. */
static void a_spoiled_lock_heals(void **state)
{
	(void)state;
	node_telemetry()->sequence = 0xffffffff;
	card_telemetry()->sequence = 7;
	assert_int_equal(value(PB_NODE_TAG_QUEUES), 1);
	assert_int_equal(node_telemetry()->sequence, 0);
	assert_int_equal(card_telemetry()->sequence, 8);
}

static void drops_and_faults_of_channels(void **state)
{
	struct pb_channel_entry *entry = &((struct pb_channel_entry *)(void *)(puppet_memory + 0x6000))[1];
	const struct pb_telemetry_value *values = card_telemetry()->values;

	(void)state;
	/* Each kick of a queue that is none is an event; the ring holds 64. */
	for (uint32_t i = 0; i < 70; i++) {
		((uint32_t *)(void *)(puppet_memory + entry->kick_offset))[entry->kick_put % 256u] =
			0xdead0007u;
		entry->kick_put++;
		puppet_run(1u << PB_LINE_CHANNEL(1));
	}
	puppet_run(1u << PB_LINE_TICK);
	assert_int_equal(values[PB_CARD_TAG_DROPS].low, 6);
	assert_int_equal(values[PB_CARD_TAG_CHANNEL_FAULTS].low, 0);
	entry->kick_put += 257;
	puppet_run(1u << PB_LINE_CHANNEL(1));
	puppet_run(1u << PB_LINE_TICK);
	assert_int_equal(values[PB_CARD_TAG_CHANNEL_FAULTS].low, 1);
	assert_int_equal(values[PB_CARD_TAG_DROPS].low, 6);
}

#define TEST(name) cmocka_unit_test_setup(name, puppet_start)

UNIT_SUITE(test_firmware_telemetry)
{
	const struct CMUnitTest tests[] = {
		TEST(a_boot_begins_at_nothing),
		TEST(accounts_are_published),
		TEST(from_feed_to_fence),
		TEST(from_doorbell_to_feed),
		TEST(a_doorbell_is_one_latency),
		TEST(one_doorbell_of_a_queue_is_measured_at_a_time),
		TEST(a_doorbell_at_0_is_not_counted),
		TEST(a_host_may_write_any_time),
		TEST(failed_work_has_no_fence_latency),
		TEST(a_recalled_submission_is_not_counted_twice),
		TEST(totals_are_published),
		TEST(a_hang_is_counted),
		TEST(given_once_more_it_is_not_counted_twice),
		TEST(counts_have_64_bits),
		TEST(a_spoiled_lock_heals),
		TEST(drops_and_faults_of_channels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
