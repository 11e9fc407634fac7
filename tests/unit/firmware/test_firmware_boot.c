/* SPDX-License-Identifier: MIT */
/* What a boot waits for, what it takes from the hosts before it, and what it writes. */
#include <string.h>

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
		cmocka_unit_test(the_first_submission_behind_a_restart_has_its_whole_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
