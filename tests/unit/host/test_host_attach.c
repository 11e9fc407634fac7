/* SPDX-License-Identifier: MIT */
/* Attach, check and detach, against firmware that keeps the contract and firmware that does not. */
#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

#define SECOND 1000000u
/* Waits of a millisecond in it. */
#define WHOLE_TIME 1000u
/* For rows that are not about that. */
#define ANY_TIME UINT32_MAX

/* ---- attach ---- */

static void no_magic(struct fake_firmware *fake)
{
	fake_boot(fake)->magic = 0;
}
static void next_major(struct fake_firmware *fake)
{
	fake_boot(fake)->abi_version = 0x20000;
}
static void bad_directory(struct fake_firmware *fake)
{
	fake_boot(fake)->channel_directory_offset = 0xffffff00;
}
static void never_answers(struct fake_firmware *fake)
{
	fake->stalled = true;
}
static void boot_hangs(struct fake_firmware *fake)
{
	fake_boot(fake)->boot_stage = PB_BOOT_STAGE_ENGINES_RESET;
}
static void no_incarnation(struct fake_firmware *fake)
{
	fake_boot(fake)->incarnation = 0;
}
static void channel_beyond(struct fake_firmware *fake)
{
	fake->link.channel = FAKE_CHANNELS;
}
static void refused_twice(struct fake_firmware *fake)
{
	fake->refusals = 2;
}
static void refused_forever(struct fake_firmware *fake)
{
	fake->refusals = UINT32_MAX;
}

static void boots_at_fourth_wait(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_WAIT)
		fake_boot(fake)->boot_stage = fake->waits < 4 ? PB_BOOT_STAGE_STARTED : PB_BOOT_STAGE_RUNNING;
}
static void boots_late(struct fake_firmware *fake)
{
	boot_hangs(fake);
	fake->tamper = boots_at_fourth_wait;
}

static void reboots_at_first_wait(struct fake_firmware *fake, enum fake_moment moment)
{
	fake->stalled = moment == FAKE_WAIT && fake->waits == 1;
	if (fake->stalled)
		fake_boot(fake)->incarnation++;
}
static void reboots_meanwhile(struct fake_firmware *fake)
{
	fake->tamper = reboots_at_first_wait;
}

static void dies_at_wait(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_WAIT)
		fake_die(fake);
}
static void dies_meanwhile(struct fake_firmware *fake)
{
	fake->stalled = true;
	fake->tamper = dies_at_wait;
}

static void fails_unsupervised(struct fake_firmware *fake)
{
	fake_fail(fake);
	fake_boot(fake)->mcu_state = PB_MCU_UNKNOWN;
}
static void fails_for_good(struct fake_firmware *fake)
{
	fake_fail(fake);
	fake_die(fake);
}
static void fails_and_restarts(struct fake_firmware *fake)
{
	fake_fail(fake);
	fake_restart(fake);
}

/* What hosts see from a death to the end of the next boot. */
static void comes_back(struct fake_firmware *fake, enum fake_moment moment)
{
	struct pb_boot_block *boot = fake_boot(fake);

	if (moment != FAKE_WAIT)
		return;
	if (fake->waits == 3) {
		boot->boot_stage = PB_BOOT_STAGE_STARTED;
		boot->incarnation++;
	}
	if (fake->waits == 4)
		boot->boot_stage = PB_BOOT_STAGE_RUNNING;
	if (fake->waits == 5)
		boot->mcu_state = PB_MCU_RUNNING;
}
static void is_being_restarted(struct fake_firmware *fake)
{
	fake_restart(fake);
	fake->tamper = comes_back;
}
static void failed_and_is_being_restarted(struct fake_firmware *fake)
{
	fails_and_restarts(fake);
	fake->tamper = comes_back;
}
/* The supervisor has not seen it yet. */
static void fails_then_is_restarted(struct fake_firmware *fake)
{
	fake_fail(fake);
	fake->tamper = comes_back;
}

static void gives_up(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_WAIT && fake->waits == 3)
		fake_die(fake);
}
static void fails_then_given_up(struct fake_firmware *fake)
{
	fake_fail(fake);
	fake->tamper = gives_up;
}
static void restarted_then_given_up(struct fake_firmware *fake)
{
	fake_restart(fake);
	fake->tamper = gives_up;
}
static void restarts_at_wait(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_WAIT)
		fake_restart(fake);
}
static void restarts_meanwhile(struct fake_firmware *fake)
{
	fake->stalled = true;
	fake->tamper = restarts_at_wait;
}

static uint32_t refusal_error;
static void refuse(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment != FAKE_ATTACHED)
		return;
	fake_entry(fake)->state = PB_CHANNEL_CLOSED;
	fake_entry(fake)->error = refusal_error;
}
static void refuses_version(struct fake_firmware *fake)
{
	refusal_error = PB_ERROR_BAD_VERSION;
	fake->tamper = refuse;
}
static void refuses_with_ok(struct fake_firmware *fake)
{
	refusal_error = PB_ERROR_OK;
	fake->tamper = refuse;
}
static void refuses_with_unknown(struct fake_firmware *fake)
{
	refusal_error = 999;
	fake->tamper = refuse;
}
static void refuses_as_dead(struct fake_firmware *fake)
{
	refusal_error = PB_ERROR_FIRMWARE_DEAD;
	fake->tamper = refuse;
}

static void attach_ends_as_the_firmware_behaves(void **state)
{
	static const struct {
		const char *name;
		void (*prepare)(struct fake_firmware *fake);
		enum pb_error expected;
		uint32_t stage; /* in channel.card afterwards */
		uint32_t waits;
	} cases[] = {
		{"sound", fake_nothing, PB_ERROR_OK, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"no magic", no_magic, PB_ERROR_TIMEOUT, PB_BOOT_STAGE_NONE, ANY_TIME},
		{"another major", next_major, PB_ERROR_BAD_VERSION, PB_BOOT_STAGE_NONE, ANY_TIME},
		{"directory outside", bad_directory, PB_ERROR_PROTOCOL, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"never answers", never_answers, PB_ERROR_TIMEOUT, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"boot hangs", boot_hangs, PB_ERROR_TIMEOUT, PB_BOOT_STAGE_ENGINES_RESET, ANY_TIME},
		{"no incarnation", no_incarnation, PB_ERROR_TIMEOUT, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"dead", fake_die, PB_ERROR_FIRMWARE_DEAD, PB_BOOT_STAGE_RUNNING, 0},
		{"fatal", fake_fail, PB_ERROR_FIRMWARE_DEAD, PB_BOOT_STAGE_FATAL, WHOLE_TIME},
		{"fatal, unsupervised", fails_unsupervised, PB_ERROR_FIRMWARE_DEAD, PB_BOOT_STAGE_FATAL, 0},
		{"fatal, for good", fails_for_good, PB_ERROR_FIRMWARE_DEAD, PB_BOOT_STAGE_FATAL, 0},
		{"fatal, given up", fails_then_given_up, PB_ERROR_FIRMWARE_DEAD, PB_BOOT_STAGE_FATAL, 3},
		{"restarting", fake_restart, PB_ERROR_FIRMWARE_DEAD, PB_BOOT_STAGE_RUNNING, WHOLE_TIME},
		{"fatal, restarting", fails_and_restarts, PB_ERROR_FIRMWARE_DEAD, PB_BOOT_STAGE_FATAL,
		 WHOLE_TIME},
		{"restarted", is_being_restarted, PB_ERROR_OK, PB_BOOT_STAGE_RUNNING, 6},
		{"fatal, restarted", failed_and_is_being_restarted, PB_ERROR_OK, PB_BOOT_STAGE_RUNNING, 6},
		{"fatal, then restarted", fails_then_is_restarted, PB_ERROR_OK, PB_BOOT_STAGE_RUNNING,
		 ANY_TIME},
		{"restart given up", restarted_then_given_up, PB_ERROR_FIRMWARE_DEAD, PB_BOOT_STAGE_RUNNING,
		 3},
		{"link gone", fake_unplug, PB_ERROR_NO_CARD, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"channel beyond", channel_beyond, PB_ERROR_NO_SPACE, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"refused twice", refused_twice, PB_ERROR_OK, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"refused forever", refused_forever, PB_ERROR_TIMEOUT, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"boots late", boots_late, PB_ERROR_OK, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"reboots meanwhile", reboots_meanwhile, PB_ERROR_OK, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"dies meanwhile", dies_meanwhile, PB_ERROR_FIRMWARE_DEAD, PB_BOOT_STAGE_RUNNING, 2},
		{"restarts meanwhile", restarts_meanwhile, PB_ERROR_FIRMWARE_DEAD, PB_BOOT_STAGE_RUNNING,
		 WHOLE_TIME},
		{"refuses version", refuses_version, PB_ERROR_BAD_VERSION, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"refuses with OK", refuses_with_ok, PB_ERROR_PROTOCOL, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"unknown error", refuses_with_unknown, PB_ERROR_PROTOCOL, PB_BOOT_STAGE_RUNNING, ANY_TIME},
		{"a host's error", refuses_as_dead, PB_ERROR_PROTOCOL, PB_BOOT_STAGE_RUNNING, ANY_TIME},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_firmware fake;
		struct pb_channel channel;

		print_message("%s\n", cases[i].name);
		fake_start(&fake);
		cases[i].prepare(&fake);
		assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), cases[i].expected);
		assert_int_equal(channel.card.boot_stage, cases[i].stage);
		assert_int_equal(channel.attached, cases[i].expected == PB_ERROR_OK);
		assert_true(fake.now <= 1000 + SECOND);
		if (cases[i].waits != ANY_TIME)
			assert_int_equal(fake.waits, cases[i].waits);
		assert_int_equal(fake.violations, 0);
		fake_stop(&fake);
	}
}

#define ENTRY(field) ((uint32_t)offsetof(struct pb_channel_entry, field))

static uint32_t bad_field;
static uint32_t bad_value;
static void tamper_ring(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_ATTACHED)
		*fake_word(fake, FAKE_DIRECTORY_OFFSET + FAKE_CHANNEL * 256u + bad_field) = bad_value;
}

static void attach_checks_the_rings(void **state)
{
	static const struct {
		uint32_t field;
		uint32_t value;
		enum pb_error expected;
	} cases[] = {
		{ENTRY(control_offset), FAKE_BYTES - 512, PB_ERROR_OK},
		{ENTRY(control_offset), FAKE_BYTES - 508, PB_ERROR_PROTOCOL},
		{ENTRY(control_offset), 0xfffffe00, PB_ERROR_PROTOCOL},
		{ENTRY(control_offset), FAKE_CONTROL_OFFSET + 2, PB_ERROR_PROTOCOL},
		{ENTRY(reply_offset), FAKE_BYTES - 508, PB_ERROR_PROTOCOL},
		{ENTRY(reply_offset), FAKE_REPLY_OFFSET + 1, PB_ERROR_PROTOCOL},
		{ENTRY(kick_offset), FAKE_BYTES - 16, PB_ERROR_OK},
		{ENTRY(kick_offset), FAKE_BYTES - 12, PB_ERROR_PROTOCOL},
		{ENTRY(kick_offset), FAKE_KICK_OFFSET + 3, PB_ERROR_PROTOCOL},
		{ENTRY(event_offset), FAKE_BYTES - 256, PB_ERROR_OK},
		{ENTRY(event_offset), FAKE_BYTES - 252, PB_ERROR_PROTOCOL},
		{ENTRY(event_offset), 0xfffffffc, PB_ERROR_PROTOCOL},
		{ENTRY(control_entries), 0, PB_ERROR_PROTOCOL},
		{ENTRY(control_entries), 1, PB_ERROR_OK},
		{ENTRY(control_entries), 6, PB_ERROR_PROTOCOL},
		{ENTRY(control_entries), 8192, PB_ERROR_PROTOCOL},
		{ENTRY(control_entries), 0x80000000, PB_ERROR_PROTOCOL},
		{ENTRY(kick_entries), 0, PB_ERROR_PROTOCOL},
		{ENTRY(kick_entries), 3, PB_ERROR_PROTOCOL},
		{ENTRY(kick_entries), 4096, PB_ERROR_OK},
		{ENTRY(kick_entries), 8192, PB_ERROR_PROTOCOL},
		{ENTRY(event_entries), 0, PB_ERROR_PROTOCOL},
		{ENTRY(event_entries), 0xffffffff, PB_ERROR_PROTOCOL},
		{ENTRY(event_entries), 0x08000000, PB_ERROR_PROTOCOL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_firmware fake;
		struct pb_channel channel;

		fake_start(&fake);
		bad_field = cases[i].field;
		bad_value = cases[i].value;
		fake.tamper = tamper_ring;
		print_message("word %u = %#x\n", bad_field, bad_value);
		assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), cases[i].expected);
		assert_int_equal(channel.attached, cases[i].expected == PB_ERROR_OK);
		fake_stop(&fake);
	}
}

/* What an earlier host left in the entry is neither repeated nor believed. */
static void attach_asks_with_a_fresh_request(void **state)
{
	static const struct {
		uint32_t request;
		uint32_t done;
		uint32_t expected;
	} cases[] = {
		{0, 0, 5}, {5, 5, 9},          {6, 6, 9}, {5, 9, 13}, {0xfffffffd, 0xfffffffd, 1},
		{5, 0, 9}, {0xfffffffd, 1, 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_firmware fake;
		struct pb_channel channel;
		struct pb_channel_entry *entry;

		fake_start(&fake);
		entry = fake_entry(&fake);
		entry->attach_request = cases[i].request;
		entry->attach_done = cases[i].done;
		entry->control_put = entry->reply_get = entry->kick_put = entry->event_get = entry->rescan =
			77;
		assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_OK);
		assert_int_equal(entry->attach_request, cases[i].expected);
		assert_int_equal(entry->host_version, 0x10003);
		assert_int_equal(entry->incarnation, FAKE_INCARNATION);
		assert_int_equal(entry->rescan, 0);
		assert_int_equal(channel.epoch, entry->epoch);
		assert_int_equal(fake.violations, 0);
		assert_int_equal(fake.doorbells, 1);
		fake_stop(&fake);
	}
}

/* ---- check and detach ---- */

static void attached_by_another(struct fake_firmware *fake)
{
	fake_entry(fake)->epoch++;
}
static void dead_and_closed(struct fake_firmware *fake)
{
	fake_die(fake);
	fake_close_channel(fake);
}

static const struct fake_case fates[] = {
	{"nothing", fake_nothing, PB_ERROR_OK},
	{"MCU dead", fake_die, PB_ERROR_FIRMWARE_DEAD},
	{"MCU restarting", fake_restart, PB_ERROR_FIRMWARE_DEAD},
	{"fatal", fake_fail, PB_ERROR_FIRMWARE_DEAD},
	{"rebooted", fake_reboot, PB_ERROR_FIRMWARE_DEAD},
	{"boots again", boot_hangs, PB_ERROR_FIRMWARE_DEAD},
	{"closed", fake_close_channel, PB_ERROR_DETACHED},
	{"faulted", fake_fault_channel, PB_ERROR_DETACHED},
	{"another epoch", attached_by_another, PB_ERROR_DETACHED},
	{"dead and closed", dead_and_closed, PB_ERROR_FIRMWARE_DEAD},
};

static void check_tells_what_became_of_the_firmware(void **state)
{
	const uint32_t none[PB_COMMAND_ARGUMENTS] = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++) {
		struct fake_firmware fake;
		struct pb_channel channel;
		struct pb_card_info now;

		print_message("%s\n", fates[i].name);
		fake_start(&fake);
		assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_OK);
		fake_boot(&fake)->heartbeat = 123;
		fates[i].happens(&fake);
		assert_int_equal(pb_channel_check(&channel, NULL), fates[i].expected);
		assert_int_equal(pb_channel_check(&channel, &now), fates[i].expected);
		assert_int_equal(now.heartbeat, 123);
		assert_int_equal(now.boot_stage, fake_boot(&fake)->boot_stage);
		assert_int_equal(now.channel_count, FAKE_CHANNELS);
		assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL),
				 fates[i].expected);
		fake_stop(&fake);
	}
}

static void unattached_channel_does_nothing(void **state)
{
	const uint32_t none[PB_COMMAND_ARGUMENTS] = {0};
	struct fake_firmware fake;
	struct pb_channel channel;
	struct pb_card_info now;
	struct pb_event event;

	(void)state;
	fake_start(&fake);
	boot_hangs(&fake);
	assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_TIMEOUT);
	assert_int_equal(pb_channel_check(&channel, &now), PB_ERROR_DETACHED);
	assert_int_equal(now.boot_stage, PB_BOOT_STAGE_ENGINES_RESET);
	assert_int_equal(pb_channel_command(&channel, PB_COMMAND_PING, none, NULL), PB_ERROR_DETACHED);
	assert_int_equal(pb_channel_detach(&channel), PB_ERROR_DETACHED);
	assert_false(pb_channel_event(&channel, &event));
	assert_int_equal(fake.doorbells, 0);
	fake_stop(&fake);
}

static void stays_open(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_ATTACHED)
		fake_entry(fake)->state = PB_CHANNEL_CLOSING;
}
static void detach_stays_open(struct fake_firmware *fake)
{
	fake->tamper = stays_open;
}

static void detach_ends_as_the_firmware_behaves(void **state)
{
	static const struct fake_case cases[] = {
		{"sound", fake_nothing, PB_ERROR_OK},
		{"faulted before", fake_fault_channel, PB_ERROR_OK},
		{"never answers", never_answers, PB_ERROR_TIMEOUT},
		{"dead", fake_die, PB_ERROR_FIRMWARE_DEAD},
		{"dies meanwhile", dies_meanwhile, PB_ERROR_FIRMWARE_DEAD},
		{"link gone", fake_unplug, PB_ERROR_NO_CARD},
		{"not closed", detach_stays_open, PB_ERROR_PROTOCOL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_firmware fake;
		struct pb_channel channel;

		print_message("%s\n", cases[i].name);
		fake_start(&fake);
		assert_int_equal(pb_channel_attach(&channel, &fake.link, SECOND), PB_ERROR_OK);
		cases[i].happens(&fake);
		assert_int_equal(pb_channel_detach(&channel), cases[i].expected);
		assert_int_equal(fake_entry(&fake)->attach_request, 10);
		assert_int_equal(pb_channel_detach(&channel), PB_ERROR_DETACHED);
		fake_stop(&fake);
	}
}

UNIT_SUITE(test_host_attach)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attach_ends_as_the_firmware_behaves),
		cmocka_unit_test(attach_checks_the_rings),
		cmocka_unit_test(attach_asks_with_a_fresh_request),
		cmocka_unit_test(check_tells_what_became_of_the_firmware),
		cmocka_unit_test(unattached_channel_does_nothing),
		cmocka_unit_test(detach_ends_as_the_firmware_behaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
