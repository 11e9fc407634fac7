/* SPDX-License-Identifier: MIT */
/* A core that is not to run says why in a boot block that hosts can read, and touches nothing else. */
#include <string.h>

#include "firmware/firmware.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/trace.h"
#include "tests/unit/unit.h"

#define BYTES 0x4000u
#define USED  0x400u /* boot block and capability table lie below it */

static uint32_t memory[BYTES / sizeof(uint32_t)];

/* Neither lines nor engines have operations: a call of one would end the test. */
static const struct pb_engine engines[2] = {{.kind = PB_NODE_3D}, {.kind = PB_NODE_COPY}};

static const struct pb_firmware_config config = {
	.memory = (uint8_t *)memory,
	.memory_bytes = BYTES,
	.channels_offset = 0x1000,
	.pool_offset = 0x2000,
	.engines = engines,
	.node_count = 2,
	.queue_count = 64,
	.board = "refused",
};

static const struct pb_fatal_record why = {
	.kind = PB_FATAL_BAD_IMAGE, .pc = 0x08000000, .status = 0xabcdef01, .address = 0x08000200};

static void check_block(const struct pb_boot_block *boot, uint32_t incarnation)
{
	const struct pb_fatal_record expected = {
		.valid = 1, .kind = 3, .pc = 0x08000000, .status = 0xabcdef01, .address = 0x08000200};

	assert_int_equal(boot->magic, PB_BOOT_MAGIC);
	assert_int_equal(boot->boot_stage, PB_BOOT_STAGE_FATAL);
	assert_int_equal(boot->incarnation, incarnation);
	assert_int_equal(boot->heartbeat, 0);
	assert_int_equal(boot->memory_bytes, BYTES);
	assert_memory_equal(&boot->fatal, &expected, sizeof(expected));
	assert_string_equal(boot->build, "patchbay " PB_VERSION " refused");
}

static void a_refusing_core_says_why(void **state)
{
	static const uint32_t former[] = {0, 7, 0xffffffff};
	static const uint32_t now[] = {1, 8, 1};
	struct pb_boot_block *boot = (struct pb_boot_block *)memory;

	(void)state;
	for (size_t i = 0; i < sizeof(former) / sizeof(former[0]); i++) {
		memset(memory, 0x5a, sizeof(memory));
		boot->incarnation = former[i];
		/* What a former firmware left there does not stay. */
		boot->boot_stage = PB_BOOT_STAGE_RUNNING;
		boot->waypoint = PB_WAYPOINT_PATCH;
		pb_firmware_refuse(pb_firmware_instance(), &config, &why);
		check_block(boot, now[i]);
		for (uint32_t w = USED / sizeof(uint32_t); w < BYTES / sizeof(uint32_t); w++)
			assert_int_equal(memory[w], 0x5a5a5a5a);
	}
}

/* It leaves a trace even so: two stages and CLOCK, at the time that the board's clock has. */
static void a_refusing_core_leaves_a_trace(void **state)
{
	static const uint32_t now = 0x1234567;
	static const uint32_t expected[3][4] = {
		{0x1234567, 0xffff0000 | PB_TRACE_BOOT, PB_BOOT_STAGE_NONE, 1},
		{0x1234567, 0xffff0000 | PB_TRACE_CLOCK, 0x1234567, 0},
		{0x1234567, 0xffff0000 | PB_TRACE_BOOT, PB_BOOT_STAGE_STARTED, 1}};
	const struct pb_boot_block *boot = (const struct pb_boot_block *)memory;
	const struct pb_trace_ring *ring =
		(const struct pb_trace_ring *)&memory[BYTES / 2u / sizeof(memory[0])];
	struct pb_firmware_config traced = config;

	(void)state;
	memset(memory, 0, sizeof(memory));
	traced.memory_bytes = BYTES / 2u;
	traced.trace_bytes = BYTES / 2u;
	traced.clock = &now;
	pb_firmware_refuse(pb_firmware_instance(), &traced, &why);
	check_block(boot, 1);
	assert_int_equal(boot->trace_offset, BYTES / 2u);
	assert_int_equal(ring->magic, PB_TRACE_MAGIC);
	assert_int_equal(ring->put, sizeof(expected));
	assert_memory_equal(ring + 1, expected, sizeof(expected));
}

UNIT_SUITE(test_firmware_refuse)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refusing_core_says_why),
		cmocka_unit_test(a_refusing_core_leaves_a_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
