/* SPDX-License-Identifier: MIT */
/* The control ring while replies are not read. */
#include <string.h>

#include "tests/unit/card_fixture.h"

#define CONTROL_ENTRIES 16u

static void ring_doorbell(struct card *card)
{
	pb_sim_doorbell(card->sim, 1);
}

/** Passes of the firmware's main loop. */
static uint32_t passes(const struct card *card)
{
	const struct pb_boot_block *boot = (const void *)(pb_sim_memory(card->sim) + PB_BOOT_OFFSET);

	return boot->heartbeat;
}

static void write_ping(struct card *card, uint32_t index)
{
	const struct pb_command command = {.code = PB_COMMAND_PING, .tag = 0x7a60 + index};

	memcpy(card->link->memory + card->channel.control_offset + index % CONTROL_ENTRIES * sizeof(command),
	       &command, sizeof(command));
	card->channel.entry->control_put = index + 1;
}

static void expect_reply(struct card *card, uint32_t index)
{
	struct pb_reply reply;

	memcpy(&reply,
	       card->link->memory + card->channel.reply_offset + index % CONTROL_ENTRIES * sizeof(reply),
	       sizeof(reply));
	assert_int_equal(reply.code, PB_COMMAND_PING);
	assert_int_equal(reply.tag, 0x7a60 + index);
	assert_int_equal(reply.error, PB_ERROR_OK);
}

/** The host does not read its replies: later commands wait for room, and none is lost. */
static void commands_wait_for_room(void **state)
{
	struct card card;
	struct pb_channel_entry *entry;
	uint32_t read = 0, before;

	(void)state;
	card_attach(&card);
	entry = card.channel.entry;
	for (uint32_t i = 0; i < 16; i++)
		write_ping(&card, i);
	ring_doorbell(&card);
	card_run(&card, 1000);
	assert_int_equal(entry->control_get, 16);
	assert_int_equal(entry->reply_put, 16);
	for (uint32_t i = 16; i < 32; i++)
		write_ping(&card, i);
	ring_doorbell(&card);
	before = passes(&card);
	card_run(&card, 50000);
	/* Ten ticks, each with a pass for every two channels and a few more: commands that wait keep nothing awake. */
	assert_true(passes(&card) - before < 100);
	assert_int_equal(entry->control_get, 16);
	assert_int_equal(entry->reply_put, 16);
	for (; read < 32; read++) {
		assert_int_equal(entry->reply_put, read < 16 ? 16 + read : 32);
		expect_reply(&card, read);
		entry->reply_get = read + 1;
		/* Room made without a doorbell is found by the tick. */
		card_run(&card, 11000);
	}
	assert_int_equal(entry->state, PB_CHANNEL_OPEN);
	card_stop(&card);
}

/** A put that goes back among commands that were shown and not taken is a fault too. */
static void control_put_back_among_the_untaken(void **state)
{
	struct card card;

	(void)state;
	card_attach(&card);
	for (uint32_t i = 0; i < 16; i++)
		write_ping(&card, i);
	ring_doorbell(&card);
	card_run(&card, 1000);
	for (uint32_t i = 16; i < 26; i++)
		write_ping(&card, i);
	ring_doorbell(&card);
	card_run(&card, 1000);
	card.channel.entry->reply_get = 2;
	ring_doorbell(&card);
	card_run(&card, 1000);
	assert_int_equal(card.channel.entry->control_get, 18);
	card.channel.entry->control_put = 20;
	ring_doorbell(&card);
	card_run(&card, 1000);
	assert_int_equal(card.channel.entry->state, PB_CHANNEL_FAULTED);
	assert_int_equal(card.channel.entry->error, PB_ERROR_RING_FAULT);
	assert_int_equal(card.channel.entry->control_get, 18);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_replies)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_wait_for_room),
		cmocka_unit_test(control_put_back_among_the_untaken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
