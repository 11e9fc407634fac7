/* SPDX-License-Identifier: MIT */
/* Commands and events, against firmware that keeps the contract and firmware that does not. */
#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

#define SECOND 1000000u

/* ---- commands ---- */

static void command_goes_out_and_results_come_back(void **state)
{
	uint32_t arguments[PB_COMMAND_ARGUMENTS];
	uint32_t results[PB_REPLY_RESULTS];
	struct fake_firmware fake;
	struct pb_channel channel;

	(void)state;
	fake_start(&fake);
	assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_OK);
	for (uint32_t i = 0; i < PB_COMMAND_ARGUMENTS; i++)
		arguments[i] = 100 + i;
	/* More than twice around the ring of 8. */
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(pb_channel_command(&channel, PB_COMMAND_CONTEXT_CREATE, arguments, results),
				 PB_ERROR_OK);
		assert_int_equal(results[0], PB_HANDLE(3, 9));
		assert_int_equal(results[12], 0);
		assert_int_equal(fake.last_command[0], PB_COMMAND_CONTEXT_CREATE);
		assert_memory_equal(&fake.last_command[2], arguments, sizeof(arguments));
		assert_int_equal(fake_entry(&fake)->control_put, i + 1);
		assert_int_equal(fake_entry(&fake)->reply_get, i + 1);
		assert_int_equal(fake.doorbells, i + 2);
	}
	assert_int_equal(pb_channel_command(&channel, PB_COMMAND_CHANNEL_CLOSE, arguments, results),
			 PB_ERROR_NO_PERMISSION);
	assert_int_equal(fake.violations, 0);
	fake_stop(&fake);
}

static void no_reply(struct fake_firmware *fake)
{
	fake->reply_copies = 0;
}
static void two_replies(struct fake_firmware *fake)
{
	fake->reply_copies = 2;
}
static void newer_tag(struct fake_firmware *fake)
{
	fake->reply.tag++;
}
static void older_tag(struct fake_firmware *fake)
{
	fake->reply.tag--;
}
static void other_code(struct fake_firmware *fake)
{
	fake->reply.code++;
}
static void unknown_error(struct fake_firmware *fake)
{
	fake->reply.error = 12;
}
static void last_wire_error(struct fake_firmware *fake)
{
	fake->reply.error = PB_ERROR_CANCELLED;
}
static void library_error(struct fake_firmware *fake)
{
	fake->reply.error = PB_ERROR_TIMEOUT;
}
static void put_far_ahead(struct fake_firmware *fake)
{
	fake_entry(fake)->reply_put += 9;
}
static void put_moves_back(struct fake_firmware *fake)
{
	fake_entry(fake)->reply_put -= 2;
}
static void garbage_by_reboot(struct fake_firmware *fake)
{
	fake_entry(fake)->reply_put = 0x1234;
	fake_reboot(fake);
}

static void (*spoil)(struct fake_firmware *fake);
static void tamper_reply(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_REPLY)
		spoil(fake);
}

static void replies_are_not_trusted(void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct fake_firmware *fake);
		enum pb_error expected;
	} cases[] = {
		{"sound", fake_nothing, PB_ERROR_OK},
		{"no reply", no_reply, PB_ERROR_TIMEOUT},
		{"two replies", two_replies, PB_ERROR_PROTOCOL},
		{"newer tag", newer_tag, PB_ERROR_PROTOCOL},
		{"older tag", older_tag, PB_ERROR_PROTOCOL},
		{"other code", other_code, PB_ERROR_PROTOCOL},
		{"unknown error", unknown_error, PB_ERROR_PROTOCOL},
		{"known error", last_wire_error, PB_ERROR_CANCELLED},
		{"the library's error", library_error, PB_ERROR_PROTOCOL},
		{"put far ahead", put_far_ahead, PB_ERROR_PROTOCOL},
		{"put moves back", put_moves_back, PB_ERROR_PROTOCOL},
		{"reboot", garbage_by_reboot, PB_ERROR_FIRMWARE_DEAD},
		{"dead", fake_die, PB_ERROR_OK},
		{"closed", fake_close_channel, PB_ERROR_OK},
		{"link gone", fake_unplug, PB_ERROR_OK},
	};
	const uint32_t none[PB_COMMAND_ARGUMENTS] = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_firmware fake;
		struct pb_channel channel;
		uint64_t begin;

		print_message("%s\n", cases[i].name);
		fake_start(&fake);
		assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_OK);
		assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL), PB_ERROR_OK);
		spoil = cases[i].spoil;
		fake.tamper = tamper_reply;
		begin = fake.now;
		assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL),
				 cases[i].expected);
		if (cases[i].expected == PB_ERROR_TIMEOUT)
			assert_true(fake.now - begin >= PB_COMMAND_TIMEOUT_US);
		assert_true(fake.now - begin <= PB_COMMAND_TIMEOUT_US + FAKE_PASS_US);
		fake_stop(&fake);
	}
}

static void control_get_is_not_trusted(void **state)
{
	static const struct {
		uint32_t get;
		enum pb_error expected;
	} cases[] = {
		{2, PB_ERROR_OK},
		{3, PB_ERROR_PROTOCOL},
		{0x80000002, PB_ERROR_PROTOCOL},
		{2u - 8, PB_ERROR_TIMEOUT}, /* full: never taken, so never answered */
		{2u - 9, PB_ERROR_PROTOCOL},
	};
	const uint32_t none[PB_COMMAND_ARGUMENTS] = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_firmware fake;
		struct pb_channel channel;
		uint32_t waits;

		fake_start(&fake);
		assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_OK);
		assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL), PB_ERROR_OK);
		assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL), PB_ERROR_OK);
		fake_entry(&fake)->control_get = cases[i].get;
		waits = fake.waits;
		assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL),
				 cases[i].expected);
		assert_int_equal(fake.waits, waits + (cases[i].expected == PB_ERROR_OK));
		assert_int_equal(fake_entry(&fake)->control_put, cases[i].expected == PB_ERROR_OK ? 3 : 2);
		fake_stop(&fake);
	}
}

static void late_replies_are_skipped(void **state)
{
	const uint32_t none[PB_COMMAND_ARGUMENTS] = {0};
	uint32_t results[PB_REPLY_RESULTS];
	struct fake_firmware fake;
	struct pb_channel channel;

	(void)state;
	fake_start(&fake);
	assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_OK);
	/* It answers nothing, until the rings are full; the next command is refused at once. */
	fake.stalled = true;
	for (uint32_t i = 0; i < FAKE_CONTROL_ENTRIES; i++)
		assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL), PB_ERROR_TIMEOUT);
	fake.waits = 0;
	assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL), PB_ERROR_TIMEOUT);
	assert_int_equal(fake.waits, 0);
	assert_int_equal(fake_entry(&fake)->control_put, FAKE_CONTROL_ENTRIES);
	/* Then it answers all of them. */
	fake.stalled = false;
	fake_serve(&fake);
	assert_int_equal(pb_channel_command(&channel, PB_COMMAND_CONTEXT_CREATE, none, results), PB_ERROR_OK);
	assert_int_equal(results[0], PB_HANDLE(3, 9));
	assert_int_equal(fake_entry(&fake)->reply_get, FAKE_CONTROL_ENTRIES + 1);
	assert_int_equal(fake.violations, 0);
	fake_stop(&fake);
}

static void reply_to_nothing_is_refused(void **state)
{
	const uint32_t none[PB_COMMAND_ARGUMENTS] = {0};
	struct fake_firmware fake;
	struct pb_channel channel;

	(void)state;
	fake_start(&fake);
	assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_OK);
	fake_entry(&fake)->reply_put = 1;
	assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL), PB_ERROR_PROTOCOL);
	assert_int_equal(fake_entry(&fake)->control_put, 0);
	fake_stop(&fake);
}

static void (*fate)(struct fake_firmware *fake);
static void fate_at_wait(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_WAIT)
		fate(fake);
}

static void fate_of_a_command_that_waits(void **state)
{
	static const struct fake_case cases[] = {
		{"dies", fake_die, PB_ERROR_FIRMWARE_DEAD},
		{"reboots", fake_reboot, PB_ERROR_FIRMWARE_DEAD},
		{"fatal", fake_fail, PB_ERROR_FIRMWARE_DEAD},
		{"faults", fake_fault_channel, PB_ERROR_DETACHED},
		{"link goes", fake_unplug, PB_ERROR_NO_CARD},
	};
	const uint32_t none[PB_COMMAND_ARGUMENTS] = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_firmware fake;
		struct pb_channel channel;

		print_message("%s\n", cases[i].name);
		fake_start(&fake);
		assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_OK);
		fake.stalled = true;
		fate = cases[i].happens;
		fake.tamper = fate_at_wait;
		fake.waits = 0;
		assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL),
				 cases[i].expected);
		assert_int_equal(fake.waits, 1);
		fake_stop(&fake);
	}
}

/* ---- events ---- */

static void events_come_in_order_and_once(void **state)
{
	struct fake_firmware fake;
	struct pb_channel channel;
	struct pb_event event;

	(void)state;
	fake_start(&fake);
	assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_OK);
	assert_false(pb_channel_event(&channel, &event));
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < FAKE_EVENT_ENTRIES; i++)
			fake_event(&fake, PB_EVENT_ENGINE_FAULT, channel.epoch);
		for (uint32_t i = 0; i < FAKE_EVENT_ENTRIES; i++) {
			assert_true(pb_channel_event(&channel, &event));
			assert_int_equal(event.type, PB_EVENT_ENGINE_FAULT);
			assert_int_equal(event.fence_id, 40 + round * FAKE_EVENT_ENTRIES + i);
			assert_int_equal(fake_entry(&fake)->event_get, round * FAKE_EVENT_ENTRIES + i + 1);
		}
		assert_false(pb_channel_event(&channel, &event));
	}
	fake_stop(&fake);
}

static void events_of_another_epoch_are_skipped(void **state)
{
	struct fake_firmware fake;
	struct pb_channel channel;
	struct pb_event event;

	(void)state;
	fake_start(&fake);
	assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_OK);
	fake_event(&fake, PB_EVENT_QUEUE_FAULT, channel.epoch - 1);
	fake_event(&fake, PB_EVENT_CONTEXT_LOST, channel.epoch);
	fake_event(&fake, PB_EVENT_QUEUE_FAULT, channel.epoch + 1);
	assert_true(pb_channel_event(&channel, &event));
	assert_int_equal(event.type, PB_EVENT_CONTEXT_LOST);
	assert_false(pb_channel_event(&channel, &event));
	assert_int_equal(fake_entry(&fake)->event_get, 3);
	fake_stop(&fake);
}

static void nonsense_in_event_put_is_no_event(void **state)
{
	static const uint32_t puts[] = {FAKE_EVENT_ENTRIES + 2, 0, 0x80000000, 0xffffffff};

	(void)state;
	for (size_t i = 0; i < sizeof(puts) / sizeof(puts[0]); i++) {
		struct fake_firmware fake;
		struct pb_channel channel;
		struct pb_event event;

		fake_start(&fake);
		assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_OK);
		fake_event(&fake, PB_EVENT_CONTEXT_LOST, channel.epoch);
		assert_true(pb_channel_event(&channel, &event));
		fake_entry(&fake)->event_put = puts[i];
		assert_false(pb_channel_event(&channel, &event));
		assert_int_equal(fake_entry(&fake)->event_get, 1);
		fake_stop(&fake);
	}
}

UNIT_SUITE(test_host_command)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_goes_out_and_results_come_back),
		cmocka_unit_test(replies_are_not_trusted),
		cmocka_unit_test(control_get_is_not_trusted),
		cmocka_unit_test(late_replies_are_skipped),
		cmocka_unit_test(reply_to_nothing_is_refused),
		cmocka_unit_test(fate_of_a_command_that_waits),
		cmocka_unit_test(events_come_in_order_and_once),
		cmocka_unit_test(events_of_another_epoch_are_skipped),
		cmocka_unit_test(nonsense_in_event_put_is_no_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
