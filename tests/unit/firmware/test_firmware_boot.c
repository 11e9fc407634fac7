/* SPDX-License-Identifier: MIT */
/* What a boot waits for, what it takes from the hosts before it, and what it writes. */
#include <string.h>

#include "firmware/instance.h"
#include "patchbay/abi/crash.h"
#include "patchbay/abi/telemetry.h"
#include "tests/unit/puppet_bench.h"

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
	assert_int_equal(*last, PB_PAGE_BYTES); /* a submission of that channel may still run */
	puppet_reset_done();
	puppet_run(0);
	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++) {
		for (uint32_t index = 0; index < PB_ENGINE_RANGES; index++)
			assert_int_equal(puppet_bench.puppet.ranges[channel][index], 0);
	}
}

/* ---- engines that do not answer the reset of the boot ---- */

#define CRASH_OFFSET 0x1000u

/** The engine of node 1. The puppet bench has node 0. */
static struct puppet second;

/** Boots a card of two nodes. Neither engine has answered. @param clock the card's */
static void boot_two(uint32_t clock)
{
	static struct pb_engine engines[2];

	puppet_boot();
	engines[0] = engines[1] = puppet_bench.engine;
	second = (struct puppet){0};
	engines[1].context = &second;
	puppet_bench.puppet.resets = 0;
	puppet_bench.clock = clock;
	puppet_bench.config.engines = engines;
	puppet_bench.config.node_count = 2;
	puppet_bench.config.crash_offset = CRASH_OFFSET;
	pb_firmware_init(puppet_bench.firmware, &puppet_bench.config);
	assert_int_equal(puppet_bench.puppet.resets, 1);
	assert_int_equal(second.resets, 1);
}

static uint32_t boot_stage(void)
{
	return ((const struct pb_boot_block *)(const void *)puppet_memory)->boot_stage;
}

/** State of a node in the telemetry, after ticks that publish both nodes. */
static uint32_t published_state(uint32_t node)
{
	const struct pb_boot_block *block = (const void *)puppet_memory;
	const struct pb_telemetry *card = (const void *)(puppet_memory + block->telemetry_offset);

	puppet_stall(10);
	return ((const struct pb_node_telemetry *)(const void *)(card + 1))[node]
		.values[PB_NODE_TAG_STATE]
		.low;
}

static void expect_state(uint32_t node, enum pb_node_state state)
{
	struct pb_node_status status;

	assert_int_equal(pb_node_query(&puppet_bench.channel, node, &status), PB_ERROR_OK);
	assert_int_equal(status.state, state);
	assert_int_equal(published_state(node), state);
}

/** A queue on node 1 runs a submission; node 0 takes none. */
static void expect_service_of_node_1(void)
{
	const struct pb_segment_request request = {0, 0, 0, 0x20000, 0x20000, 0};
	struct pb_channel *channel = &puppet_bench.channel;

	assert_int_equal(pb_channel_attach(channel, &puppet_bench.link, 1000000), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&puppet_bench.system, channel, &request), PB_ERROR_OK);
	assert_int_equal(pb_context_create(channel, &puppet_bench.contexts[0]), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&puppet_bench.queue, channel, &puppet_bench.system, 0, 8),
			 PB_ERROR_ENGINE_DEAD);
	assert_int_equal(pb_queue_create(&puppet_bench.queue, channel, &puppet_bench.system, 1, 8),
			 PB_ERROR_OK);
	puppet_submit(0, 77);
	assert_int_equal(second.count, 1);
	second.sequence = 1;
	puppet_run(1u << PB_LINE_NODE(1));
	puppet_expect_fence(1, 77, PB_ERROR_OK);
}

/** The crash record names the node: firmware that dies later tells which engine it had given up at boot. */
static void expect_crash_note(void)
{
	const struct pb_crash_record *record = (const void *)(puppet_memory + CRASH_OFFSET);
	const uint32_t stack[1] = {0};
	struct pb_fault fault = {.record = {.kind = PB_FATAL_ASSERT},
				 .stack = (uintptr_t)stack,
				 .stack_bottom = stack,
				 .stack_top = stack};
	uint32_t found = 0;

	pb_firmware_fatal(&fault);
	for (uint32_t i = 0; i < PB_CRASH_NOTES; i++)
		found += record->notes[i].what == (0u << 16 | PB_CRASH_NOTE_NODE_DEAD);
	assert_int_equal(found, 1);
}

/** Two times for an answer of 100 ms, in whole ticks; then the card is up without that node. */
static void boot_gives_up_an_engine_that_does_not_answer(void **state)
{
	static const uint32_t clocks[] = {0, UINT32_MAX - 50000u};
	/* Another word than READY does not answer a reset. */
	static const enum pb_engine_state silences[] = {PB_ENGINE_BUSY, PB_ENGINE_FAULTED};

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		boot_two(clocks[i / 2]);
		puppet_bench.puppet.state = silences[i % 2];
		second.state = PB_ENGINE_READY;
		puppet_stall(100);
		assert_int_equal(puppet_bench.puppet.cycles, i);
		puppet_stall(5);
		assert_int_equal(puppet_bench.puppet.cycles, i + 1);
		puppet_bench.puppet.state = silences[i % 2];
		puppet_stall(100);
		assert_int_equal(boot_stage(), PB_BOOT_STAGE_STARTED);
		puppet_stall(5);
		assert_int_equal(boot_stage(), PB_BOOT_STAGE_RUNNING);
		assert_int_equal(second.cycles, 0);
		expect_service_of_node_1();
		expect_state(0, PB_NODE_STATE_DEAD);
		expect_state(1, PB_NODE_STATE_RUNNING);
		puppet_reset_done(); /* too late */
		puppet_run(1u << PB_LINE_NODE(0));
		expect_state(0, PB_NODE_STATE_DEAD);
		assert_int_equal(puppet_bench.puppet.resets, 1);
		expect_crash_note();
	}
}

/** One engine is given up a tick before the other one answers: until then no channel is served. */
static void an_engine_that_was_given_up_is_left_alone_while_another_one_boots(void **state)
{
	(void)state;
	boot_two(0);
	puppet_bench.puppet.state = PB_ENGINE_BUSY;
	second.state = PB_ENGINE_BUSY;
	puppet_stall(100);
	second.poll_takes = 5000; /* it is power-cycled so much later */
	puppet_stall(5);
	second.poll_takes = 0;
	puppet_bench.puppet.state = PB_ENGINE_BUSY;
	second.state = PB_ENGINE_BUSY;
	puppet_stall(100);
	assert_int_equal(puppet_bench.puppet.cuts, 1);
	assert_int_equal(boot_stage(), PB_BOOT_STAGE_STARTED);
	second.state = PB_ENGINE_READY;
	puppet_stall(5);
	assert_int_equal(boot_stage(), PB_BOOT_STAGE_RUNNING);
	assert_int_equal(puppet_bench.puppet.cycles, 1);
	assert_int_equal(second.cycles, 1);
	expect_service_of_node_1();
	expect_state(0, PB_NODE_STATE_DEAD);
}

/** At boot it is not known what an engine runs: if it cannot be cut off, it may reach the memory of every channel. */
static void an_engine_that_boot_cannot_cut_off_keeps_every_channel_closed(void **state)
{
	(void)state;
	for (uint32_t cannot = 0; cannot < 2; cannot++) {
		boot_two(0);
		puppet_bench.puppet.cannot_cut = cannot != 0;
		puppet_bench.puppet.state = PB_ENGINE_BUSY;
		second.state = PB_ENGINE_READY;
		puppet_stall(105);
		puppet_bench.puppet.state = PB_ENGINE_BUSY;
		puppet_stall(105);
		assert_int_equal(boot_stage(), PB_BOOT_STAGE_RUNNING);
		for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++)
			assert_int_equal(pb_core_node_reaches(puppet_bench.firmware, c), cannot != 0);
		assert_int_equal(pb_channel_attach(&puppet_bench.channel, &puppet_bench.link, 1000000),
				 cannot != 0 ? PB_ERROR_ENGINE_DEAD : PB_ERROR_OK);
	}
}

/** An engine may answer as late as the ladder lets it; the card waits for the last one. */
static void boot_waits_for_engines_that_answer_late(void **state)
{
	static const struct {
		uint32_t answers; /**< milliseconds after the reset */
		uint32_t cycles;
	} rows[] = {{5, 0}, {100, 0}, {105, 1}, {150, 1}, {205, 1}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		boot_two(0);
		puppet_bench.puppet.cycles = 0;
		second.state = i % 2 != 0 ? PB_ENGINE_READY : PB_ENGINE_BUSY;
		puppet_stall(rows[i].answers);
		assert_int_equal(boot_stage(), PB_BOOT_STAGE_STARTED);
		assert_int_equal(puppet_bench.puppet.cycles, rows[i].cycles);
		second.state = PB_ENGINE_READY;
		puppet_reset_done();
		puppet_run(1u << PB_LINE_NODE(0));
		assert_int_equal(boot_stage(), PB_BOOT_STAGE_RUNNING);
		assert_int_equal(pb_channel_attach(&puppet_bench.channel, &puppet_bench.link, 1000000),
				 PB_ERROR_OK);
		expect_state(0, PB_NODE_STATE_RUNNING);
		expect_state(1, PB_NODE_STATE_RUNNING);
	}
}

/**
 * The card's clock runs on over a restart, and may be at its wrap. A submission that has begun, and whose engine has
 * shown no progress yet, is not hung at the first tick behind the boot. It is hung when its own time is over.
 */
static void the_first_submission_behind_a_restart_has_its_whole_time(void **state)
{
	static const uint32_t clocks[] = {5000, PUPPET_HANG_MS * 1000u, 3000000000u, 0u - 5000u};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		assert_int_equal(puppet_start(state), 0);
		puppet_bench.clock = clocks[i];
		puppet_boot();
		puppet_rejoin();
		puppet_submit(0, 7);
		assert_int_equal(puppet_bench.puppet.count, 1);
		puppet_bench.puppet.resets = 0;
		puppet_stall(PUPPET_HANG_MS);
		assert_int_equal(puppet_bench.puppet.resets, 0);
		puppet_stall(10);
		assert_int_equal(puppet_bench.puppet.resets, 1);
	}
}

UNIT_SUITE(test_firmware_boot)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fatal_before_boot),
		cmocka_unit_test(long_board_name),
		cmocka_unit_test_setup(boot_waits_for_the_engine, puppet_start),
		cmocka_unit_test_setup(boot_takes_all_ranges_away, puppet_start),
		cmocka_unit_test_setup(boot_gives_up_an_engine_that_does_not_answer, puppet_start),
		cmocka_unit_test_setup(an_engine_that_was_given_up_is_left_alone_while_another_one_boots,
				       puppet_start),
		cmocka_unit_test_setup(an_engine_that_boot_cannot_cut_off_keeps_every_channel_closed,
				       puppet_start),
		cmocka_unit_test_setup(boot_waits_for_engines_that_answer_late, puppet_start),
		cmocka_unit_test(the_first_submission_behind_a_restart_has_its_whole_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
