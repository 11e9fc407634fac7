/* SPDX-License-Identifier: MIT */
/* `patchbay top`: what it makes of a card whose firmware runs, or does not, and of one that has gone. */
#include <string.h>

#include "host/tool/top_card.h"
#include "tests/unit/card_queues.h"

static struct card card;
static struct pb_top_card top;
static struct pb_link_ops ops;
static enum pb_error waited;

/* Of the simulation's link another wait: it can be gone, and a look alone does not let the firmware run. */
static enum pb_error (*real_wait)(struct pb_link *link, uint64_t timeout_us);

static enum pb_error wait_for_card(struct pb_link *link, uint64_t timeout_us)
{
	if (waited != PB_ERROR_OK)
		return waited;
	return timeout_us != 0 ? real_wait(link, timeout_us) : PB_ERROR_TIMEOUT;
}

static int start(void **state)
{
	(void)state;
	card_start(&card);
	memset(&top, 0, sizeof(top));
	top.socket = "/nonexistent/card.sock";
	assert_int_equal(pb_link_open_sim(card.sim, 4, &top.link), PB_ERROR_OK);
	ops = *top.link->ops;
	real_wait = ops.wait;
	ops.wait = wait_for_card;
	top.link->ops = &ops;
	waited = PB_ERROR_OK;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	pb_top_card_close(&top);
	card_stop(&card);
	return 0;
}

static struct pb_boot_block *boot(void)
{
	return (void *)(card.link->memory + PB_BOOT_OFFSET);
}

/** Time goes by, and what was asked is answered. */
static void go_on(void)
{
	uint32_t polls = 0;

	while (pb_top_card_poll(&top)) {
		(void)top.link->ops->wait(top.link, 1000);
		assert_true(++polls < 10000);
	}
	for (uint32_t i = 0; i < 5; i++)
		(void)top.link->ops->wait(top.link, 10000);
}

static void look(void)
{
	pb_top_card_refresh(&top);
	go_on();
}

static void a_card_that_works(void **state)
{
	const struct pb_top_queue *list[PB_SURVEY_QUEUES];
	struct pb_descriptor work = card_nothing(&card, 1);

	(void)state;
	look();
	assert_string_equal(top.message, "");
	assert_true(top.attached && !top.old);
	card_submit(&card, 1, &work);
	(void)card_wait(&card, 1, 1);
	go_on();
	look();
	assert_string_equal(top.message, "");
	assert_true(top.model.beating && top.model.now.node_count == 4);
	assert_int_equal(top.model.now.nodes[1].values[PB_NODE_TAG_SUBMISSIONS], 1);
	assert_int_equal(pb_survey_list(&top.survey, list), 2);
	assert_int_equal(list[0]->completed, 1);
	/* Ticks of 5 ms. */
	assert_int_equal(pb_top_card_uptime(&top), 5000u * top.model.now.values[PB_CARD_TAG_TICKS]);
	assert_true(pb_top_card_uptime(&top) > 0);
}

static void what_is_wrong(void **state)
{
	static const struct {
		uint32_t mcu_state, boot_stage, abi_version;
		const char *message;
	} rows[] = {
		{PB_MCU_RESTARTING, PB_BOOT_STAGE_STARTED, PB_ABI_VERSION, "MCU restarting"},
		{PB_MCU_DEAD, PB_BOOT_STAGE_RUNNING, PB_ABI_VERSION, "The MCU is dead; run patchbay crash"},
		{PB_MCU_RUNNING, PB_BOOT_STAGE_FATAL, PB_ABI_VERSION,
		 "The firmware has died; run patchbay crash"},
		{PB_MCU_RUNNING, PB_BOOT_STAGE_ENGINES_RESET, PB_ABI_VERSION, "The firmware is booting"},
		{PB_MCU_RUNNING, PB_BOOT_STAGE_RUNNING, 0x20000,
		 "the interface versions of host and firmware do not fit"},
		/* The heart has not beaten since the last look. */
		{PB_MCU_RUNNING, PB_BOOT_STAGE_RUNNING, PB_ABI_VERSION, "The firmware makes no progress"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct pb_boot_block before = *boot();

		look();
		assert_string_equal(top.message, "");
		pb_top_card_refresh(&top);
		boot()->mcu_state = rows[i].mcu_state;
		boot()->boot_stage = rows[i].boot_stage;
		boot()->abi_version = rows[i].abi_version;
		pb_top_card_refresh(&top);
		assert_string_equal(top.message, rows[i].message);
		assert_true(top.old);
		assert_false(rows[i].mcu_state != PB_MCU_RUNNING && pb_top_card_poll(&top));
		boot()->mcu_state = before.mcu_state;
		boot()->boot_stage = before.boot_stage;
		boot()->abi_version = before.abi_version;
		go_on();
		/* It attaches again if it had to leave. */
		look();
		assert_string_equal(top.message, "");
		assert_true(top.attached && !top.old);
	}
}

static void firmware_without_counters(void **state)
{
	(void)state;
	boot()->telemetry_offset = 0;
	look();
	assert_string_equal(
		top.message,
		"No counters: this firmware does not do that; its capability table says what it does");
	assert_true(top.attached && !top.old);
	assert_int_equal(top.survey.channels[1].known, 2);
}

static void firmware_that_admits_no_host(void **state)
{
	static const char words[] = "Cannot attach a channel to query queues: ";
	uint64_t begin;

	(void)state;
	look();
	/* What it says of itself is not what it is: it refuses who goes by that. */
	boot()->incarnation++;
	begin = pb_sim_now(card.sim);
	pb_top_card_refresh(&top);
	assert_memory_equal(top.message, words, sizeof(words) - 1u);
	assert_true(!top.attached && !top.old);
	/* It was not tried for long. */
	assert_in_range(pb_sim_now(card.sim) - begin, 1, 300000);
	assert_false(pb_top_card_poll(&top));
	boot()->incarnation--;
	go_on();
	look();
	assert_string_equal(top.message, "");
	assert_true(top.attached);
	assert_int_equal(top.survey.channels[1].known, 2);
}

static void no_permission(void **state)
{
	struct pb_channel admin;

	(void)state;
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_GRANT, 4, 0, 1, PB_PRIORITY_HIGH, 0),
			 PB_ERROR_OK);
	look();
	look();
	assert_string_equal(top.message, "Cannot query queues: the channel lacks the privilege");
	assert_false(top.old);
	card_leave(&admin);
}

static void it_goes_away(void **state)
{
	(void)state;
	look();
	waited = PB_ERROR_NO_CARD;
	pb_top_card_refresh(&top);
	assert_string_equal(top.message, "The card is gone. Retrying /nonexistent/card.sock");
	assert_true(top.old && !top.attached && top.link == NULL);
	assert_false(pb_top_card_poll(&top));
	/* The last picture is there still. */
	assert_int_equal(top.model.now.node_count, 4);
	assert_int_equal(top.survey.channels[1].known, 2);
	pb_top_card_refresh(&top);
	assert_true(top.old);
}

#define test(function) cmocka_unit_test_setup_teardown(function, start, stop)

UNIT_SUITE(test_top_card)
{
	const struct CMUnitTest tests[] = {
		test(a_card_that_works),
		test(what_is_wrong),
		test(firmware_without_counters),
		test(firmware_that_admits_no_host),
		test(no_permission),
		test(it_goes_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
