/* SPDX-License-Identifier: MIT */
/* The boot block as the host reads it: what it takes over, what it refuses. */
#include <string.h>

#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

static void reads_a_sound_block(void **state)
{
	struct fake_firmware fake;
	struct pb_card_info info;

	(void)state;
	fake_start(&fake);
	fake_boot(&fake)->waypoint = PB_WAYPOINT_IDLE;
	fake_boot(&fake)->heartbeat = 55;
	fake_boot(&fake)->mcu_deaths = 3;
	fake_boot(&fake)->dead_stage = PB_BOOT_STAGE_RUNNING;
	fake_boot(&fake)->dead_waypoint = PB_WAYPOINT_PATCH;
	assert_int_equal(pb_card_read(&fake.link, &info), PB_ERROR_OK);
	assert_int_equal(info.abi_version, 0x10003);
	assert_int_equal(info.memory_bytes, FAKE_BYTES);
	assert_int_equal(info.channel_directory_offset, FAKE_DIRECTORY_OFFSET);
	assert_int_equal(info.channel_count, FAKE_CHANNELS);
	assert_string_equal(info.build, "fake 1.0");
	assert_int_equal(info.boot_stage, PB_BOOT_STAGE_RUNNING);
	assert_int_equal(info.waypoint, PB_WAYPOINT_IDLE);
	assert_int_equal(info.heartbeat, 55);
	assert_int_equal(info.incarnation, FAKE_INCARNATION);
	assert_int_equal(info.mcu_state, PB_MCU_RUNNING);
	assert_int_equal(info.mcu_deaths, 3);
	assert_int_equal(info.dead_stage, PB_BOOT_STAGE_RUNNING);
	assert_int_equal(info.dead_waypoint, PB_WAYPOINT_PATCH);
	fake_stop(&fake);
}

static void keeps_only_known_capabilities(void **state)
{
	struct fake_firmware fake;
	struct pb_card_info info;

	(void)state;
	fake_start(&fake);
	assert_int_equal(pb_card_read(&fake.link, &info), PB_ERROR_OK);
	for (uint32_t key = 0; key < PB_CAPABILITY_KEYS; key++)
		assert_int_equal(info.capabilities[key], key == PB_CAPABILITY_NODES              ? 2
							 : key == PB_CAPABILITY_RING_ENTRIES_MIN ? 4
							 : key == PB_CAPABILITY_RING_ENTRIES_MAX ? 64
							 : key == PB_CAPABILITY_WAKES_MIN        ? 3
												 : 0);
	fake_stop(&fake);
}

static void build_text_is_made_printable(void **state)
{
	struct fake_firmware fake;
	struct pb_card_info info;

	(void)state;
	fake_start(&fake);
	memcpy(fake_boot(&fake)->build, "a\x1b[2J\x7f\xff~ 0123456789abcdefghijklmnop", 32);
	assert_int_equal(pb_card_read(&fake.link, &info), PB_ERROR_OK);
	assert_string_equal(info.build, "a?[2J??~ 0123456789abcdefghijklm");
	fake_stop(&fake);
}

static void fatal_record_counts_once_it_is_valid(void **state)
{
	struct fake_firmware fake;
	struct pb_card_info info;
	const struct pb_fatal_record record = {1, PB_FATAL_CPU_FAULT, 2, 3, 4, 5, 6, 7};
	const struct pb_fatal_record none = {0};

	(void)state;
	fake_start(&fake);
	fake_boot(&fake)->fatal = record;
	assert_int_equal(pb_card_read(&fake.link, &info), PB_ERROR_OK);
	assert_memory_equal(&info.fatal, &record, sizeof(record));
	fake_boot(&fake)->fatal.valid = 0;
	assert_int_equal(pb_card_read(&fake.link, &info), PB_ERROR_OK);
	assert_memory_equal(&info.fatal, &none, sizeof(none));
	fake_stop(&fake);
}

#define BOOT(field) ((uint32_t)offsetof(struct pb_boot_block, field))

static void refuses_nonsense(void **state)
{
	static const struct {
		uint32_t offset;
		uint32_t value;
		enum pb_error expected;
	} cases[] = {
		{BOOT(magic), 0, PB_ERROR_NO_CARD},
		{BOOT(magic), 0x50424159, PB_ERROR_NO_CARD},
		{BOOT(abi_version), 0x20000, PB_ERROR_BAD_VERSION},
		{BOOT(abi_version), 0x0ffff, PB_ERROR_BAD_VERSION},
		{BOOT(abi_version), 0x10007, PB_ERROR_OK},
		{BOOT(block_bytes), 319, PB_ERROR_PROTOCOL},
		{BOOT(block_bytes), 384, PB_ERROR_OK},
		{BOOT(memory_bytes), FAKE_BYTES + 1, PB_ERROR_PROTOCOL},
		{BOOT(memory_bytes), 319, PB_ERROR_PROTOCOL},
		{BOOT(capability_offset), FAKE_CAPABILITY_OFFSET + 2, PB_ERROR_PROTOCOL},
		{BOOT(capability_offset), FAKE_BYTES - 48, PB_ERROR_OK},
		{BOOT(capability_offset), FAKE_BYTES - 44, PB_ERROR_PROTOCOL},
		{BOOT(capability_offset), 0xfffffffc, PB_ERROR_PROTOCOL},
		{BOOT(capability_count), 256, PB_ERROR_OK},
		{BOOT(capability_count), 257, PB_ERROR_PROTOCOL},
		{BOOT(capability_count), 0xffffffff, PB_ERROR_PROTOCOL},
		{BOOT(channel_directory_offset), FAKE_BYTES - 1024, PB_ERROR_OK},
		{BOOT(channel_directory_offset), FAKE_BYTES - 1020, PB_ERROR_PROTOCOL},
		{BOOT(channel_directory_offset), 0xffffff00, PB_ERROR_PROTOCOL},
		{BOOT(channel_directory_offset), FAKE_DIRECTORY_OFFSET + 1, PB_ERROR_PROTOCOL},
		{BOOT(channel_count), 0, PB_ERROR_PROTOCOL},
		{BOOT(channel_count), 0x1f0, PB_ERROR_OK},
		{BOOT(channel_count), 0x1f1, PB_ERROR_PROTOCOL},
		{BOOT(channel_count), 0x01000001, PB_ERROR_PROTOCOL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_firmware fake;
		struct pb_card_info info;

		fake_start(&fake);
		*fake_word(&fake, cases[i].offset) = cases[i].value;
		print_message("word %u = %#x\n", cases[i].offset, cases[i].value);
		assert_int_equal(pb_card_read(&fake.link, &info), cases[i].expected);
		if (cases[i].expected == PB_ERROR_BAD_VERSION)
			assert_int_equal(info.abi_version, cases[i].value);
		fake_stop(&fake);
	}
}

static void memory_may_be_too_small_for_a_card(void **state)
{
	struct fake_firmware fake;
	struct pb_card_info info;

	(void)state;
	fake_start(&fake);
	fake.link.memory_bytes = 319;
	assert_int_equal(pb_card_read(&fake.link, &info), PB_ERROR_NO_CARD);
	fake_stop(&fake);
}

UNIT_SUITE(test_host_card)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_sound_block),
		cmocka_unit_test(keeps_only_known_capabilities),
		cmocka_unit_test(build_text_is_made_printable),
		cmocka_unit_test(fatal_record_counts_once_it_is_valid),
		cmocka_unit_test(refuses_nonsense),
		cmocka_unit_test(memory_may_be_too_small_for_a_card),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
