/* SPDX-License-Identifier: MIT */
/* What the commands say about a card that failed, from what lies in its memory. */
#include <stdio.h>

#include "host/tool/card_failure.h"
#include "tests/unit/unit.h"

static struct pb_boot_block block;
static struct pb_channel_entry entry;
static const struct pb_link_ops card_ops = {.now = NULL};
static struct pb_link card_link;

/* A channel that attached to the first firmware. */
static struct pb_channel attached(void)
{
	card_link = (struct pb_link){
		.ops = &card_ops, .memory = (uint8_t *)&block, .memory_bytes = sizeof(block)};
	entry = (struct pb_channel_entry){.state = PB_CHANNEL_OPEN, .epoch = 1};
	return (struct pb_channel){
		.link = &card_link,
		.card = {.incarnation = 1, .capabilities[PB_CAPABILITY_POOL_BYTES] = 0x10000},
		.entry = &entry,
		.epoch = 1,
		.attached = true,
	};
}

static void check(const struct pb_channel *channel, enum pb_error error, const char *end)
{
	char text[PB_CARD_FAILURE_BYTES], expected[PB_CARD_FAILURE_BYTES];

	pb_card_failure(channel, error, text);
	assert_true(snprintf(expected, sizeof(expected), "%s: %s%s", pb_error_name((uint32_t)error),
			     pb_error_meaning((uint32_t)error), end) < (int)sizeof(expected));
	assert_string_equal(text, expected);
}

static void test_deaths(void **state)
{
	static const struct {
		struct pb_boot_block block;
		const char *end;
	} cases[] = {
		{{.boot_stage = PB_BOOT_STAGE_RUNNING,
		  .waypoint = PB_WAYPOINT_IDLE,
		  .incarnation = 1,
		  .mcu_state = PB_MCU_DEAD,
		  .mcu_deaths = 1,
		  .dead_stage = PB_BOOT_STAGE_RUNNING,
		  .dead_waypoint = PB_WAYPOINT_FEED},
		 "; it died at stage RUNNING, waypoint FEED"},
		/* Its successor runs, and is elsewhere. */
		{{.boot_stage = PB_BOOT_STAGE_RUNNING,
		  .waypoint = PB_WAYPOINT_IDLE,
		  .incarnation = 2,
		  .mcu_state = PB_MCU_RUNNING,
		  .mcu_deaths = 1,
		  .dead_stage = PB_BOOT_STAGE_RINGS_CLEARED,
		  .dead_waypoint = PB_WAYPOINT_NONE},
		 "; it died at stage RINGS_CLEARED, waypoint NONE"},
		{{.boot_stage = PB_BOOT_STAGE_FATAL,
		  .waypoint = PB_WAYPOINT_RETIRE,
		  .incarnation = 1,
		  .fatal = {.valid = 1,
			    .kind = PB_FATAL_ASSERT,
			    .pc = 0x10,
			    .lr = 0x21,
			    .status = 77,
			    .waypoint = PB_WAYPOINT_RETIRE}},
		 "; it died at stage FATAL, waypoint RETIRE: failed assertion, pc 0x00000010, lr 0x00000021, "
		 "status 0x0000004d, address 0x00000000"},
		{{.boot_stage = PB_BOOT_STAGE_FATAL,
		  .incarnation = 1,
		  .fatal = {.valid = 1,
			    .kind = PB_FATAL_BAD_IMAGE,
			    .pc = 0x08000000,
			    .status = 0x12345678,
			    .address = 0x08000200}},
		 "; it died at stage FATAL, waypoint NONE: damaged image, pc 0x08000000, lr 0x00000000, "
		 "status 0x12345678, address 0x08000200"},
		{{.boot_stage = PB_BOOT_STAGE_FATAL,
		  .incarnation = 1,
		  .fatal = {.valid = 1, .kind = PB_FATAL_UNPROTECTED, .status = 4, .address = 8}},
		 "; it died at stage FATAL, waypoint NONE: too few regions for memory protection, "
		 "pc 0x00000000, lr 0x00000000, status 0x00000004, address 0x00000008"},
		{{.boot_stage = PB_BOOT_STAGE_FATAL,
		  .incarnation = 1,
		  .fatal = {.valid = 1, .kind = PB_FATAL_CACHED_MEMORY, .address = 0x60000000}},
		 "; it died at stage FATAL, waypoint NONE: card memory may be cached, pc 0x00000000, "
		 "lr 0x00000000, status 0x00000000, address 0x60000000"},
		/* The record is not there yet. */
		{{.boot_stage = PB_BOOT_STAGE_FATAL, .waypoint = PB_WAYPOINT_TICK, .incarnation = 1},
		 "; it is at stage FATAL, waypoint TICK now"},
		/* Words that make no sense. */
		{{.mcu_state = PB_MCU_DEAD, .mcu_deaths = 1, .dead_stage = 99, .dead_waypoint = 0xffffffff},
		 "; it died at stage ?, waypoint ?"},
	};
	struct pb_channel channel = attached();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		block = cases[i].block;
		check(&channel, PB_ERROR_FIRMWARE_DEAD, cases[i].end);
	}
}

/* What was read when the channel tried to attach. */
static void a_failed_attach_says_what_was_read(void **state)
{
	struct pb_channel channel = attached();

	(void)state;
	channel.attached = false;
	channel.card.mcu_deaths = 4;
	channel.card.dead_stage = PB_BOOT_STAGE_STARTED;
	check(&channel, PB_ERROR_FIRMWARE_DEAD, "; it died at stage STARTED, waypoint NONE");
}

/* Other errors need no channel that works. */
static void other_errors_need_no_channel(void **state)
{
	const struct pb_channel none = {0};

	(void)state;
	check(&none, PB_ERROR_HOST_MEMORY, "");
	check(&none, PB_ERROR_TIMEOUT, "");
}

static void test_full(void **state)
{
	struct pb_channel channel = attached();
	char text[PB_CARD_FAILURE_BYTES];

	(void)state;
	pb_card_full(&channel, 0x9000, text);
	assert_string_equal(text, "NO_SPACE: 36864 contiguous bytes are needed, and other clients hold too "
				  "much of the card's POOL_BYTES = 65536; try again when they have ended");
}

UNIT_SUITE(test_card_failure)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deaths),
		cmocka_unit_test(a_failed_attach_says_what_was_read),
		cmocka_unit_test(other_errors_need_no_channel),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
