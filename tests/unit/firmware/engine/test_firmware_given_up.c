/* SPDX-License-Identifier: MIT */
/* An engine that is given up may still run: it is cut off before its clients' memory is handed on, or that memory is kept. */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/puppet_bench.h"

#define PAGE   0x1000u
#define SECRET 0xa5

static struct pb_channel *admin(void)
{
	return &puppet_bench.admin;
}

static const struct pb_channel_entry *entry_of(uint32_t channel)
{
	return &((struct pb_channel_entry *)(void *)(puppet_memory +
						     puppet_bench.channel.card
							     .channel_directory_offset))[channel];
}

/** The engine runs something of channel 1, hangs, and answers neither reset nor power cycle. */
static void give_up(bool cannot_cut)
{
	puppet_join_admin();
	puppet_bench.puppet.cannot_cut = cannot_cut;
	memset((puppet_memory + puppet_bench.system.memory_offset) + 0x8000, SECRET, PAGE);
	puppet_submit(0, 1);
	assert_int_equal(puppet_bench.puppet.cuts, 0);
	puppet_stall(4u * PUPPET_HANG_MS);
	puppet_expect_fence(1, 1, PB_ERROR_ENGINE_HANG);
	assert_int_equal(puppet_bench.firmware->nodes[0].machine.state, PB_NODE_STATE_DEAD);
	assert_int_equal(puppet_bench.puppet.cuts, 1);
}

static uint32_t pool_used(uint32_t channel)
{
	struct pb_quota_status status;

	assert_int_equal(pb_quota_query(admin(), channel, PB_RESOURCE_POOL_BYTES, &status), PB_ERROR_OK);
	return status.used;
}

/** Cut off: the client's memory is cleared and free, and the next client has the channel. */
static void memory_of_an_engine_that_was_cut_off_is_handed_on(void **state)
{
	const uint8_t *memory = (puppet_memory + puppet_bench.system.memory_offset);

	(void)state;
	give_up(false);
	assert_int_equal(pb_channel_detach(&puppet_bench.channel), PB_ERROR_OK);
	assert_int_equal(pool_used(1), 0);
	assert_int_equal(memory[0x8000], 0);
	assert_int_equal(puppet_bench.puppet.ranges[1][0], 0);
	assert_int_equal(pb_channel_attach(&puppet_bench.channel, &puppet_bench.link, 1000000), PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.cuts, 1);
}

/** Not cut off: the client's memory, its ranges and its channel have no other owner until the next boot. */
static void memory_that_an_engine_may_reach_is_kept(void **state)
{
	const uint8_t *memory = (puppet_memory + puppet_bench.system.memory_offset);
	const uint32_t segment[PB_COMMAND_ARGUMENTS] = {PB_SEGMENT_SYSTEM};
	const uint32_t victim[PB_COMMAND_ARGUMENTS] = {1};
	const uint32_t range = puppet_bench.puppet.ranges[1][0];
	uint32_t used;

	(void)state;
	give_up(true);
	used = pool_used(1);
	assert_int_not_equal(used, 0);
	assert_int_not_equal(range, 0);
	assert_int_equal(pb_queue_destroy(&puppet_bench.queue), PB_ERROR_OK);
	assert_int_equal(pb_channel_command(&puppet_bench.channel, PB_COMMAND_SEGMENT_DESTROY, segment, NULL),
			 PB_ERROR_ENGINE_DEAD);
	assert_int_equal(pb_channel_command(admin(), PB_COMMAND_CHANNEL_CLOSE, victim, NULL), PB_ERROR_OK);
	assert_int_equal(entry_of(1)->state, PB_CHANNEL_CLOSED);
	assert_int_equal(pool_used(1), used);
	assert_int_equal(memory[0x8000], SECRET);
	assert_int_equal(puppet_bench.puppet.ranges[1][0], range);
	assert_int_not_equal(
		pb_core_pool_owner(&puppet_bench.firmware->pool, puppet_bench.system.memory_offset), 0);
	assert_int_equal(pb_channel_attach(&puppet_bench.channel, &puppet_bench.link, 1000000),
			 PB_ERROR_ENGINE_DEAD);
	assert_int_equal(entry_of(1)->state, PB_CHANNEL_CLOSED);
}

static void ring_second(struct pb_link *link)
{
	(void)link;
	puppet_run(1u << PB_LINE_CHANNEL(2));
}

/** A channel that had nothing at the engine is not touched by all that. */
static void a_channel_that_the_engine_did_not_run_goes_on(void **state)
{
	const struct pb_segment_request request = {.size = PAGE, .backing_bytes = PAGE};
	struct pb_link_ops ops = *puppet_bench.link.ops;
	struct pb_link link = puppet_bench.link;
	struct pb_channel channel;
	struct pb_segment system;

	(void)state;
	ops.doorbell = ring_second;
	link.ops = &ops;
	link.channel = 2;
	assert_int_equal(pb_channel_attach(&channel, &link, 1000000), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&system, &channel, &request), PB_ERROR_OK);
	give_up(true);
	memset(puppet_memory + system.memory_offset, SECRET, PAGE);
	assert_int_equal(pb_channel_detach(&channel), PB_ERROR_OK);
	assert_int_equal(pool_used(2), 0);
	assert_int_equal(puppet_memory[system.memory_offset], 0);
	assert_int_equal(pb_channel_attach(&channel, &link, 1000000), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&system, &channel, &request), PB_ERROR_OK);
}

#define TEST(name) cmocka_unit_test_setup(name, puppet_start)

UNIT_SUITE(test_firmware_given_up)
{
	const struct CMUnitTest tests[] = {
		TEST(memory_of_an_engine_that_was_cut_off_is_handed_on),
		TEST(memory_that_an_engine_may_reach_is_kept),
		TEST(a_channel_that_the_engine_did_not_run_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
