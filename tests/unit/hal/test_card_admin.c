/* SPDX-License-Identifier: MIT */
/* The card as its firmware's admin, against firmware that answers in any portions: no client's channel is lost. */
#include <string.h>

#include "hal/card_admin/admin.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/errors.h"
#include "tests/unit/unit.h"

#define CHANNELS  9u
#define DIRECTORY 0x1000u
#define CONTROL   0x2000u
#define REPLIES   0x4000u
#define ENTRIES   16u

static union {
	uint8_t bytes[0x8000];
	struct pb_boot_block boot;
} memory;

static struct pb_card_admin admin;
static uint32_t closed[CHANNELS];
static uint32_t answered; /* commands, of those in the control ring */
static uint32_t granted[CHANNELS];
static uint32_t weights[CHANNELS]; /* by the last grant; 0: none since the close */

/* Host memory that the card reaches, and how the card divides it: chosen for two channels, or in equal parts. */
#define CAPABILITIES 0x400u
#define HOST_BYTES   0x81000u
static bool has_host_memory;
static struct pb_card_admin_shares shares = {.offset = {[2] = 0x1000, [5] = 0x40000},
					     .bytes = {[2] = 0x3000, [5] = 0x40000}};
static struct {
	uint32_t bytes;
	uint32_t offset;
} hosts[CHANNELS]; /* as granted */

/* Limits of the nodes with limits of their own, and what queues of a channel may ask for. */
#define SLOW_US 7000000u
static uint32_t slow_nodes;
static struct {
	uint32_t hang_us;
	uint32_t stop_us;
} times[CHANNELS]; /* 0: the firmware's */

static void expect_times(void)
{
	for (uint32_t c = 1; c < CHANNELS; c++) {
		assert_int_equal(times[c].hang_us, slow_nodes != 0 ? SLOW_US : 0);
		assert_int_equal(times[c].stop_us, slow_nodes != 0 ? SLOW_US : 0);
	}
}

static void expect_shares(void)
{
	for (uint32_t c = 1; c < CHANNELS; c++) {
		/* The whole pages of an eighth. */
		const uint32_t equal = has_host_memory ? 0x10000u : 0;

		assert_int_equal(hosts[c].bytes, shares.chosen ? shares.bytes[c] : equal);
		assert_int_equal(hosts[c].offset, shares.chosen ? shares.offset[c] : (c - 1u) * equal);
	}
}

static struct pb_channel_entry *entry(void)
{
	return (struct pb_channel_entry *)(void *)&memory.bytes[DIRECTORY];
}

static void ring(void *context)
{
	(void)context;
}

static void was_closed(void *context, uint32_t channel)
{
	(void)context;
	closed[channel]++;
}

static void refused(void *context, uint32_t code, uint32_t channel, uint32_t error)
{
	(void)context;
	fail_msg("command %u about channel %u: error %u", code, channel, error);
}

/* The firmware runs and has let the admin attach; nothing has been asked yet. */
static int setup(void **state)
{
	const struct pb_card_admin_config config = {.memory = memory.bytes,
						    .memory_bytes = sizeof(memory),
						    .ring = ring,
						    .closed = was_closed,
						    .host = &shares,
						    .slow_nodes = slow_nodes,
						    .slow_us = SLOW_US,
						    .refused = refused};

	(void)state;
	memset(&memory, 0, sizeof(memory));
	memset(closed, 0, sizeof(closed));
	memset(granted, 0, sizeof(granted));
	memset(weights, 0, sizeof(weights));
	answered = 0;
	memory.boot.abi_version = PB_ABI_VERSION;
	memory.boot.channel_directory_offset = DIRECTORY;
	memory.boot.channel_count = CHANNELS;
	memory.boot.capability_offset = CAPABILITIES;
	memory.boot.capability_count = has_host_memory ? PB_CAPABILITY_HOST_BYTES : 0;
	((struct pb_capability *)(void *)&memory.bytes[CAPABILITIES])[PB_CAPABILITY_HOST_BYTES - 1u] =
		(struct pb_capability){PB_CAPABILITY_HOST_BYTES, HOST_BYTES};
	memset(hosts, 0, sizeof(hosts));
	memset(times, 0, sizeof(times));
	pb_card_admin_init(&admin, &config);
	pb_card_admin_start(&admin);
	entry()->control_offset = CONTROL;
	entry()->reply_offset = REPLIES;
	entry()->control_entries = ENTRIES;
	entry()->state = PB_CHANNEL_OPEN;
	entry()->attach_done = entry()->attach_request;
	return 0;
}

/* Answers up to `count` commands. @return whether there was one */
static bool answer(uint32_t count)
{
	const struct pb_command *commands = (const void *)&memory.bytes[CONTROL];
	struct pb_reply *replies = (void *)&memory.bytes[REPLIES];
	bool any = false;

	for (; count != 0 && answered != entry()->control_put; count--) {
		const struct pb_command *command = &commands[answered % ENTRIES];

		replies[answered % ENTRIES] =
			(struct pb_reply){.code = command->code, .tag = command->tag, .error = PB_ERROR_OK};
		if (command->code == PB_COMMAND_CHANNEL_GRANT) {
			granted[command->arguments[0]]++;
			weights[command->arguments[0]] = command->arguments[2];
		} else if (command->code == PB_COMMAND_HOST_GRANT) {
			assert_int_equal(command->arguments[2] | command->arguments[3], 0);
			hosts[command->arguments[0]].bytes = command->arguments[1];
			hosts[command->arguments[0]].offset = command->arguments[4];
		} else if (command->code == PB_COMMAND_CHANNEL_QUOTA) {
			if (command->arguments[1] == PB_RESOURCE_HANG_MICROSECONDS)
				times[command->arguments[0]].hang_us = command->arguments[2];
			else if (command->arguments[1] == PB_RESOURCE_STOP_MICROSECONDS)
				times[command->arguments[0]].stop_us = command->arguments[2];
			else
				fail_msg("quota of resource %u", command->arguments[1]);
		} else if (command->code == PB_COMMAND_NODE_SET) {
			assert_int_equal(command->arguments[3], SLOW_US);
			assert_int_equal(command->arguments[4], SLOW_US);
			assert_int_equal(command->arguments[1] | command->arguments[2], 0);
		} else {
			assert_int_equal(command->code, PB_COMMAND_CHANNEL_CLOSE);
			granted[command->arguments[0]] = 0;
			weights[command->arguments[0]] = 0;
			memset(&hosts[command->arguments[0]], 0, sizeof(hosts[0]));
			memset(&times[command->arguments[0]], 0, sizeof(times[0]));
		}
		answered++;
		any = true;
	}
	entry()->reply_put = answered;
	return any;
}

/*
 * A client that has left is asked to be closed before the attach is finished,
 * in the midst of the first grants, or behind them; the firmware answers so
 * many commands between two polls. Its channel is free once, and has its
 * privileges then.
 */
static void test_a_client_leaves(void **state)
{
	for (uint32_t portion = 1; portion <= CHANNELS + 1u; portion++) {
		for (uint32_t early = 0; early <= CHANNELS; early++) {
			const uint32_t channel = 1u + early % (CHANNELS - 1u);

			assert_int_equal(setup(state), 0);
			for (uint32_t poll = 0; poll < early; poll++) {
				pb_card_admin_poll(&admin);
				(void)answer(portion);
			}
			pb_card_admin_close(&admin, channel);
			while (answer(portion))
				pb_card_admin_poll(&admin);
			assert_int_equal(admin.state, PB_CARD_ADMIN_ATTACHED);
			assert_true(pb_card_admin_settled(&admin));
			for (uint32_t c = 1; c < CHANNELS; c++) {
				assert_int_equal(closed[c], c == channel ? 1 : 0);
				assert_true(granted[c] >= 1);
			}
			expect_shares();
			expect_times();
		}
	}
}

/* All leave at once, and their successors too. */
static void test_all_leave(void **state)
{
	for (uint32_t portion = 1; portion <= 3u; portion++) {
		assert_int_equal(setup(state), 0);
		for (uint32_t round = 1; round <= 5u; round++) {
			for (uint32_t c = 1; c < CHANNELS; c++)
				pb_card_admin_close(&admin, c);
			while (answer(portion))
				pb_card_admin_poll(&admin);
			assert_int_equal(admin.state, PB_CARD_ADMIN_ATTACHED);
			for (uint32_t c = 1; c < CHANNELS; c++)
				assert_int_equal(closed[c], round);
			expect_shares();
			expect_times();
		}
	}
}

/* The same with host memory in equal parts, and in parts that the card has chosen. */
static void test_host_memory_comes_with_the_privileges(void **state)
{
	has_host_memory = true;
	for (uint32_t chosen = 0; chosen < 2; chosen++) {
		shares.chosen = chosen != 0;
		test_a_client_leaves(state);
		test_all_leave(state);
	}
	has_host_memory = false;
	shares.chosen = false;
}

/* Channels of a card whose nodes have limits of their own may ask for as much. */
static void times_come_with_the_privileges(void **state)
{
	slow_nodes = 0x6;
	test_a_client_leaves(state);
	test_all_leave(state);
	test_host_memory_comes_with_the_privileges(state);
	slow_nodes = 0;
}

/* The MCU ends in the midst of the first grants. The next one's firmware grants all anew. */
static void an_mcu_ends_in_the_midst_of_the_grants(void **state)
{
	slow_nodes = 0x6;
	has_host_memory = true;
	for (uint32_t early = 0; early <= 5u * CHANNELS; early++) {
		assert_int_equal(setup(state), 0);
		for (uint32_t poll = 0; poll < early; poll++) {
			pb_card_admin_poll(&admin);
			(void)answer(1);
		}
		pb_card_admin_stop(&admin);
		memset(granted, 0, sizeof(granted));
		memset(hosts, 0, sizeof(hosts));
		memset(times, 0, sizeof(times));
		pb_card_admin_start(&admin);
		entry()->attach_done = entry()->attach_request;
		entry()->reply_put = 0;
		answered = 0;
		do {
			pb_card_admin_poll(&admin);
		} while (answer(3));
		assert_int_equal(admin.state, PB_CARD_ADMIN_ATTACHED);
		assert_true(pb_card_admin_settled(&admin));
		for (uint32_t c = 1; c < CHANNELS; c++)
			assert_int_equal(granted[c], 1);
		expect_shares();
		expect_times();
	}
	slow_nodes = 0;
	has_host_memory = false;
}

/*
 * A client asks for a weight before the attach is finished, in the midst of the first grants, or behind them, and then
 * for another one. The last one counts, until the channel is closed: the next client has 1 again. A new MCU gives the
 * channel its weight again.
 */
static void a_client_has_the_weight_that_it_asked_for_last(void **state)
{
	for (uint32_t portion = 1; portion <= 3u; portion++) {
		for (uint32_t early = 0; early <= CHANNELS; early++) {
			const uint32_t channel = 1u + early % (CHANNELS - 1u);

			assert_int_equal(setup(state), 0);
			for (uint32_t poll = 0; poll < early; poll++) {
				pb_card_admin_poll(&admin);
				(void)answer(portion);
			}
			pb_card_admin_weigh(&admin, channel, 64);
			(void)answer(portion);
			pb_card_admin_weigh(&admin, channel, 3);
			while (answer(portion))
				pb_card_admin_poll(&admin);
			for (uint32_t c = 1; c < CHANNELS; c++)
				assert_int_equal(weights[c], c == channel ? 3 : 1);
			pb_card_admin_stop(&admin);
			memset(weights, 0, sizeof(weights));
			pb_card_admin_start(&admin);
			entry()->attach_done = entry()->attach_request;
			entry()->reply_put = 0;
			answered = 0;
			do {
				pb_card_admin_poll(&admin);
			} while (answer(portion));
			for (uint32_t c = 1; c < CHANNELS; c++)
				assert_int_equal(weights[c], c == channel ? 3 : 1);
			pb_card_admin_close(&admin, channel);
			while (answer(portion))
				pb_card_admin_poll(&admin);
			assert_int_equal(admin.state, PB_CARD_ADMIN_ATTACHED);
			for (uint32_t c = 1; c < CHANNELS; c++)
				assert_int_equal(weights[c], 1);
		}
	}
}

/* A reply that nothing asked for: the firmware is not to be trusted. */
static void test_a_reply_too_many(void **state)
{
	struct pb_reply *replies = (void *)&memory.bytes[REPLIES];

	(void)state;
	pb_card_admin_poll(&admin);
	(void)answer(2);
	replies[1] = replies[0];
	pb_card_admin_poll(&admin);
	assert_int_equal(admin.state, PB_CARD_ADMIN_LOST);
	assert_true(pb_card_admin_settled(&admin));
}

UNIT_SUITE(test_card_admin)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_client_leaves),
		cmocka_unit_test(test_all_leave),
		cmocka_unit_test(test_host_memory_comes_with_the_privileges),
		cmocka_unit_test(times_come_with_the_privileges),
		cmocka_unit_test(an_mcu_ends_in_the_midst_of_the_grants),
		cmocka_unit_test(a_client_has_the_weight_that_it_asked_for_last),
		cmocka_unit_test_setup(test_a_reply_too_many, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
