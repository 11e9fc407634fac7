/* SPDX-License-Identifier: MIT */
/* Commands that are begun and finished apart: any number under way, replies in any order. */
#include <string.h>

#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

static const uint32_t none[PB_COMMAND_ARGUMENTS];

/* Each reply says how many there were before it. */
static uint32_t served;
static void number_replies(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_REPLY)
		fake->reply.results[0] = 500 + served++;
}

static void start(struct fake_firmware *fake, struct pb_channel *channel)
{
	fake_start(fake);
	assert_int_equal(pb_channel_attach(channel, &fake->link, 1000000), PB_ERROR_OK);
	served = 0;
	fake->tamper = number_replies;
}

static void begin(struct pb_channel *channel, uint32_t *tags, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(pb_channel_begin(channel, PB_COMMAND_PING, none, &tags[i]), PB_ERROR_OK);
}

static void replies_in_another_order(void **state)
{
	static const uint32_t orders[][5] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {3, 0, 4, 1, 2}};

	(void)state;
	for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
		uint32_t results[PB_REPLY_RESULTS];
		struct fake_firmware fake;
		struct pb_channel channel;
		uint32_t tags[5];

		start(&fake, &channel);
		channel.next_tag = 0xfffffffd; /* tags wrap */
		fake.defer = true;
		begin(&channel, tags, 5);
		fake_serve(&fake);
		for (uint32_t i = 0; i < 5; i++) {
			const uint32_t answered = orders[o][i];

			for (uint32_t k = i; k < 5; k++)
				assert_int_equal(pb_channel_finish(&channel, tags[orders[o][k]], results),
						 PB_ERROR_TIMEOUT);
			fake_answer(&fake, answered);
			assert_int_equal(pb_channel_finish(&channel, tags[answered], results), PB_ERROR_OK);
			assert_int_equal(results[0], 500 + answered);
			assert_int_equal(pb_channel_finish(&channel, tags[answered], results),
					 PB_ERROR_BAD_ARGUMENT);
		}
		assert_int_equal(fake.violations, 0);
		fake_stop(&fake);
	}
}

static void as_many_as_the_ring_holds(void **state)
{
	struct fake_firmware fake;
	struct pb_channel channel;
	uint32_t tags[PB_COMMANDS_PENDING + 1];
	uint32_t waits;

	(void)state;
	start(&fake, &channel);
	fake.defer = true;
	begin(&channel, tags, FAKE_CONTROL_ENTRIES);
	fake_serve(&fake);
	assert_int_equal(pb_channel_begin(&channel, PB_COMMAND_PING, none, &tags[8]), PB_ERROR_NO_SPACE);
	waits = fake.waits;
	assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL), PB_ERROR_TIMEOUT);
	assert_int_equal(fake.waits, waits);
	assert_int_equal(fake_entry(&fake)->control_put, 8);
	/* Replies that have arrived make room in the rings, even if no caller has popped them. */
	for (uint32_t i = 0; i < 8; i++)
		fake_answer(&fake, 7 - i);
	begin(&channel, &tags[8], 8);
	fake_serve(&fake);
	for (uint32_t i = 0; i < 8; i++)
		fake_answer(&fake, i);
	/* But only so many may wait to be taken. */
	assert_int_equal(pb_channel_begin(&channel, PB_COMMAND_PING, none, &tags[16]), PB_ERROR_NO_SPACE);
	assert_int_equal(pb_channel_finish(&channel, tags[5], NULL), PB_ERROR_OK);
	assert_int_equal(pb_channel_begin(&channel, PB_COMMAND_PING, none, &tags[16]), PB_ERROR_OK);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(pb_channel_finish(&channel, tags[i], NULL),
				 i == 5 ? PB_ERROR_BAD_ARGUMENT : PB_ERROR_OK);
	assert_int_equal(pb_channel_finish(&channel, tags[16], NULL), PB_ERROR_TIMEOUT);
	assert_int_equal(fake.violations, 0);
	fake_stop(&fake);
}

static void others_go_on_beside_a_long_one(void **state)
{
	uint32_t results[PB_REPLY_RESULTS];
	struct fake_firmware fake;
	struct pb_channel channel;
	uint32_t tag;

	(void)state;
	start(&fake, &channel);
	fake.defer = true;
	begin(&channel, &tag, 1);
	fake_serve(&fake);
	fake.defer = false;
	for (uint32_t i = 1; i < 50; i++) {
		assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, results), PB_ERROR_OK);
		assert_int_equal(results[0], 500 + i);
	}
	assert_int_equal(pb_channel_finish(&channel, tag, results), PB_ERROR_TIMEOUT);
	fake_answer(&fake, 0);
	assert_int_equal(pb_channel_finish(&channel, tag, results), PB_ERROR_OK);
	assert_int_equal(results[0], 500);
	fake_stop(&fake);
}

/* A command that was given up has no caller: its late reply is dropped. */
static void given_up_is_given_up(void **state)
{
	uint32_t results[PB_REPLY_RESULTS];
	struct fake_firmware fake;
	struct pb_channel channel;
	uint32_t lost;

	(void)state;
	start(&fake, &channel);
	fake.defer = true;
	lost = channel.next_tag;
	assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL), PB_ERROR_TIMEOUT);
	assert_int_equal(pb_channel_finish(&channel, lost, results), PB_ERROR_BAD_ARGUMENT);
	fake_answer(&fake, 0);
	assert_int_equal(pb_channel_finish(&channel, lost, results), PB_ERROR_BAD_ARGUMENT);
	fake.defer = false;
	assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, results), PB_ERROR_OK);
	assert_int_equal(results[0], 501);
	assert_int_equal(fake_entry(&fake)->reply_get, 2);
	fake_stop(&fake);
}

static void no_second_reply_to_one_command(void **state)
{
	struct fake_firmware fake;
	struct pb_channel channel;
	uint32_t tags[3];

	(void)state;
	start(&fake, &channel);
	fake.defer = true;
	begin(&channel, tags, 3);
	fake_serve(&fake);
	fake_answer(&fake, 1);
	fake_answer(&fake, 1);
	assert_int_equal(pb_channel_finish(&channel, tags[1], NULL), PB_ERROR_PROTOCOL);
	assert_int_equal(pb_channel_finish(&channel, tags[1], NULL), PB_ERROR_BAD_ARGUMENT);
	fake_stop(&fake);
}

static void errors_of_a_reply(void **state)
{
	static const struct {
		uint32_t error;
		uint32_t code;
		enum pb_error expected;
	} cases[] = {
		{PB_ERROR_OK, PB_COMMAND_PING, PB_ERROR_OK},
		{PB_ERROR_BUSY, PB_COMMAND_PING, PB_ERROR_BUSY},
		{PB_ERROR_ENGINE_DEAD, PB_COMMAND_PING, PB_ERROR_ENGINE_DEAD},
		{PB_ERROR_TIMEOUT, PB_COMMAND_PING, PB_ERROR_PROTOCOL},
		{PB_ERROR_RETURNED, PB_COMMAND_PING, PB_ERROR_PROTOCOL},
		{PB_ERROR_OK, PB_COMMAND_RESET, PB_ERROR_PROTOCOL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t results[PB_REPLY_RESULTS] = {7};
		struct fake_firmware fake;
		struct pb_channel channel;
		uint32_t tag;

		start(&fake, &channel);
		fake.defer = true;
		begin(&channel, &tag, 1);
		fake_serve(&fake);
		fake.deferred[0].error = cases[i].error;
		fake.deferred[0].code = cases[i].code;
		fake_answer(&fake, 0);
		assert_int_equal(pb_channel_finish(&channel, tag, results), cases[i].expected);
		assert_int_equal(results[0], cases[i].code == PB_COMMAND_PING ? 500 : 7);
		assert_int_equal(pb_channel_finish(&channel, tag, results), PB_ERROR_BAD_ARGUMENT);
		fake_stop(&fake);
	}
}

static void fate_of_a_command_under_way(void **state)
{
	static const struct {
		void (*happens)(struct fake_firmware *fake);
		enum pb_error expected;
	} cases[] = {
		{fake_die, PB_ERROR_FIRMWARE_DEAD},      {fake_reboot, PB_ERROR_FIRMWARE_DEAD},
		{fake_fail, PB_ERROR_FIRMWARE_DEAD},     {fake_close_channel, PB_ERROR_DETACHED},
		{fake_fault_channel, PB_ERROR_DETACHED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_firmware fake;
		struct pb_channel channel;
		uint32_t tag;
		uint32_t other;

		start(&fake, &channel);
		begin(&channel, &tag, 1);
		assert_int_equal(pb_channel_finish(&channel, tag, NULL), PB_ERROR_TIMEOUT);
		cases[i].happens(&fake);
		assert_int_equal(pb_channel_finish(&channel, tag, NULL), cases[i].expected);
		assert_int_equal(pb_channel_finish(&channel, tag, NULL), PB_ERROR_BAD_ARGUMENT);
		assert_int_equal(pb_channel_begin(&channel, PB_COMMAND_PING, none, &other),
				 cases[i].expected);
		channel.attached = false;
		assert_int_equal(pb_channel_finish(&channel, tag, NULL), PB_ERROR_DETACHED);
		fake_stop(&fake);
	}
}

UNIT_SUITE(test_host_begin)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies_in_another_order),       cmocka_unit_test(as_many_as_the_ring_holds),
		cmocka_unit_test(others_go_on_beside_a_long_one), cmocka_unit_test(given_up_is_given_up),
		cmocka_unit_test(no_second_reply_to_one_command), cmocka_unit_test(errors_of_a_reply),
		cmocka_unit_test(fate_of_a_command_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
