/* SPDX-License-Identifier: MIT */
/* Control commands but for those about segments: what they take, what they refuse, when they answer. */
#include <string.h>

#include "tests/unit/card_fixture.h"

#define COUNT(array)    ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define CONTROL_ENTRIES 16u
#define SYSTEM_END      ((uint32_t)CARD_SYSTEM_OS + CARD_SYSTEM_BYTES)
/** Of a ring of four descriptors with its page. */
#define SMALL_QUEUE (256u + 4u * 128u)

static const struct {
	const char *name;
	uint32_t code;
	uint32_t arguments[PB_COMMAND_ARGUMENTS];
	enum pb_error error;
} rows[] = {
	{"ping", PB_COMMAND_PING, {0}, PB_ERROR_OK},
	{"ping with arguments", PB_COMMAND_PING, {1, 2, 3}, PB_ERROR_OK},
	{"command 0", 0, {0}, PB_ERROR_BAD_COMMAND},
	{"first unknown command", 24, {0}, PB_ERROR_BAD_COMMAND},
	{"command of all ones", 0xffffffff, {0}, PB_ERROR_BAD_COMMAND},
	{"format that is built in", PB_COMMAND_FORMAT_SET, {0}, PB_ERROR_BAD_FORMAT},

	{"preempt no queue", PB_COMMAND_PREEMPT, {0}, PB_ERROR_BAD_HANDLE},
	{"preempt queue 2", PB_COMMAND_PREEMPT, {0x00010002}, PB_ERROR_BAD_HANDLE},
	{"preempt with unknown flags", PB_COMMAND_PREEMPT, {0x00010000, 0, 0, 4}, PB_ERROR_BAD_ARGUMENT},
	{"preempt past the ring", PB_COMMAND_PREEMPT, {0x00010000, 17}, PB_ERROR_BAD_ARGUMENT},
	{"suspend the card", PB_COMMAND_SUSPEND, {0}, PB_ERROR_NO_PERMISSION},
	{"suspend queue 2", PB_COMMAND_SUSPEND, {0x00010002}, PB_ERROR_BAD_HANDLE},
	{"suspend with unknown flags", PB_COMMAND_SUSPEND, {0x00010000, 0, 4}, PB_ERROR_BAD_ARGUMENT},
	{"suspend past the ring", PB_COMMAND_SUSPEND, {0x00010000, 17}, PB_ERROR_BAD_ARGUMENT},
	{"resume the card", PB_COMMAND_RESUME, {0}, PB_ERROR_NO_PERMISSION},
	{"resume queue 2", PB_COMMAND_RESUME, {0x00010002}, PB_ERROR_BAD_HANDLE},
	{"resume what is not suspended", PB_COMMAND_RESUME, {0x00010000}, PB_ERROR_OK},
	{"query nothing", PB_COMMAND_QUERY, {0}, PB_ERROR_BAD_ARGUMENT},
	{"set a node", PB_COMMAND_NODE_SET, {0}, PB_ERROR_NO_PERMISSION},
	{"moderate not at all", PB_COMMAND_MODERATE, {0}, PB_ERROR_OK},
	{"trace", PB_COMMAND_TRACE, {0x444444}, PB_ERROR_BAD_ARGUMENT},

	{"reset", PB_COMMAND_RESET, {0}, PB_ERROR_OK},
	{"reset the other node", PB_COMMAND_RESET, {1}, PB_ERROR_OK},
	{"reset the last node", PB_COMMAND_RESET, {3}, PB_ERROR_OK},
	{"reset node 4", PB_COMMAND_RESET, {4}, PB_ERROR_BAD_ARGUMENT},
	{"reset queue 2", PB_COMMAND_RESET, {0, 0x00010002}, PB_ERROR_BAD_HANDLE},
	{"reset a queue of another node", PB_COMMAND_RESET, {1, 0x00010000}, PB_ERROR_BAD_HANDLE},
	{"reset a queue past the ring", PB_COMMAND_RESET, {0, 0x00010000, 17}, PB_ERROR_BAD_ARGUMENT},
	{"reset node of all ones", PB_COMMAND_RESET, {-1u}, PB_ERROR_BAD_ARGUMENT},

	{"clear no context", PB_COMMAND_CONTEXT_CLEAR, {0}, PB_ERROR_BAD_HANDLE},
	{"clear a context never made", PB_COMMAND_CONTEXT_CLEAR, {0x00010001}, PB_ERROR_BAD_HANDLE},
	{"clear another generation", PB_COMMAND_CONTEXT_CLEAR, {0x00020000}, PB_ERROR_BAD_HANDLE},
	{"clear context 64", PB_COMMAND_CONTEXT_CLEAR, {0x00010040}, PB_ERROR_BAD_HANDLE},
	{"clear context of all ones", PB_COMMAND_CONTEXT_CLEAR, {0xffffffff}, PB_ERROR_BAD_HANDLE},
	{"clear a context not lost", PB_COMMAND_CONTEXT_CLEAR, {CARD_CONTEXT}, PB_ERROR_OK},
	{"destroy no context", PB_COMMAND_CONTEXT_DESTROY, {0}, PB_ERROR_BAD_HANDLE},
	{"destroy another generation", PB_COMMAND_CONTEXT_DESTROY, {0x00020000}, PB_ERROR_BAD_HANDLE},
	{"destroy context 64", PB_COMMAND_CONTEXT_DESTROY, {0x00010040}, PB_ERROR_BAD_HANDLE},

	{"queue on node 4", PB_COMMAND_QUEUE_CREATE, {4, 4, 0x10080000}, PB_ERROR_BAD_ARGUMENT},
	{"queue on the last node", PB_COMMAND_QUEUE_CREATE, {-1u, 4, 0x10080000}, PB_ERROR_BAD_ARGUMENT},
	{"queue of 0", PB_COMMAND_QUEUE_CREATE, {0, 0, 0x10080000}, PB_ERROR_BAD_ARGUMENT},
	{"queue of 2", PB_COMMAND_QUEUE_CREATE, {0, 2, 0x10080000}, PB_ERROR_BAD_ARGUMENT},
	{"queue of 5", PB_COMMAND_QUEUE_CREATE, {0, 5, 0x10080000}, PB_ERROR_BAD_ARGUMENT},
	{"queue of 255", PB_COMMAND_QUEUE_CREATE, {0, 255, 0x10080000}, PB_ERROR_BAD_ARGUMENT},
	{"queue of 512", PB_COMMAND_QUEUE_CREATE, {0, 512, 0x10080000}, PB_ERROR_BAD_ARGUMENT},
	{"queue of 2^31", PB_COMMAND_QUEUE_CREATE, {0, 0x80000000, 0x10080000}, PB_ERROR_BAD_ARGUMENT},
	{"queue off by 32", PB_COMMAND_QUEUE_CREATE, {0, 4, 0x10080020}, PB_ERROR_BAD_ARGUMENT},
	{"queue off by 1", PB_COMMAND_QUEUE_CREATE, {0, 4, 0x10080001}, PB_ERROR_BAD_ARGUMENT},
	{"queue at 0", PB_COMMAND_QUEUE_CREATE, {0, 4, 0}, PB_ERROR_BAD_ARGUMENT},
	{"queue 4 GiB up", PB_COMMAND_QUEUE_CREATE, {0, 4, 0x10080000, 1}, PB_ERROR_BAD_ARGUMENT},
	{"queue in video memory", PB_COMMAND_QUEUE_CREATE, {0, 4, 0, 8}, PB_ERROR_BAD_ARGUMENT},
	{"queue at the end of memory",
	 PB_COMMAND_QUEUE_CREATE,
	 {0, 4, SYSTEM_END - SMALL_QUEUE + 64},
	 PB_ERROR_BAD_ARGUMENT},
	{"queue that wraps 2^64",
	 PB_COMMAND_QUEUE_CREATE,
	 {0, 4, 0xffffffc0, 0xffffffff},
	 PB_ERROR_BAD_ARGUMENT},
	{"queue with priority 5", PB_COMMAND_QUEUE_CREATE, {0, 4, 0x10080000, 0, 5}, PB_ERROR_BAD_ARGUMENT},
	{"queue with priority 2^31",
	 PB_COMMAND_QUEUE_CREATE,
	 {0, 4, 0x10080000, 0, 0x80000000},
	 PB_ERROR_BAD_ARGUMENT},
	{"queue with a quantum of 65281",
	 PB_COMMAND_QUEUE_CREATE,
	 {0, 4, 0x10080000, 0, 0, 65281},
	 PB_ERROR_BAD_ARGUMENT},
	{"queue with a quantum of 2^32 - 1",
	 PB_COMMAND_QUEUE_CREATE,
	 {0, 4, 0x10080000, 0, 0, -1u},
	 PB_ERROR_BAD_ARGUMENT},

	{"clear no queue", PB_COMMAND_QUEUE_CLEAR, {0}, PB_ERROR_BAD_HANDLE},
	{"clear queue 2", PB_COMMAND_QUEUE_CLEAR, {0x00010002}, PB_ERROR_BAD_HANDLE},
	{"clear queue 0 to come", PB_COMMAND_QUEUE_CLEAR, {0x00020000}, PB_ERROR_BAD_HANDLE},
	{"clear queue 64", PB_COMMAND_QUEUE_CLEAR, {0x00010040}, PB_ERROR_BAD_HANDLE},
	{"clear queue 4096", PB_COMMAND_QUEUE_CLEAR, {0x00011000}, PB_ERROR_BAD_HANDLE},
	{"clear a queue", PB_COMMAND_QUEUE_CLEAR, {0x00010000}, PB_ERROR_OK},
	{"destroy no queue", PB_COMMAND_QUEUE_DESTROY, {0}, PB_ERROR_BAD_HANDLE},
	{"destroy queue 0 to come", PB_COMMAND_QUEUE_DESTROY, {0x00020000}, PB_ERROR_BAD_HANDLE},
	{"destroy queue 64", PB_COMMAND_QUEUE_DESTROY, {0x00010040}, PB_ERROR_BAD_HANDLE},
	{"destroy queue 4096", PB_COMMAND_QUEUE_DESTROY, {0x00011000}, PB_ERROR_BAD_HANDLE},

	{"close a neighbour", PB_COMMAND_CHANNEL_CLOSE, {2}, PB_ERROR_NO_PERMISSION},
	{"close oneself", PB_COMMAND_CHANNEL_CLOSE, {1}, PB_ERROR_NO_PERMISSION},
	{"close the admin", PB_COMMAND_CHANNEL_CLOSE, {0}, PB_ERROR_NO_PERMISSION},
	{"quota of a neighbour", PB_COMMAND_CHANNEL_QUOTA, {2, 0, 4096}, PB_ERROR_NO_PERMISSION},
	{"quota of oneself", PB_COMMAND_CHANNEL_QUOTA, {1, 0, 4096}, PB_ERROR_NO_PERMISSION},
	{"grant a neighbour", PB_COMMAND_CHANNEL_GRANT, {2, 0}, PB_ERROR_NO_PERMISSION},
	{"grant oneself", PB_COMMAND_CHANNEL_GRANT, {1, 1}, PB_ERROR_NO_PERMISSION},
	{"grant a channel that does not exist", PB_COMMAND_CHANNEL_GRANT, {-1u, -1u}, PB_ERROR_NO_PERMISSION},
};

static void every_row(void **state)
{
	static const uint32_t none[PB_REPLY_RESULTS];
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	assert_int_equal(card.queues[0].handle, PB_HANDLE(0, 1));
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		uint32_t results[PB_REPLY_RESULTS];

		memset(results, 0xee, sizeof(results));
		card_equal(rows[i].name,
			   pb_channel_command(&card.channel, rows[i].code, rows[i].arguments, results),
			   rows[i].error);
		if (rows[i].error == PB_ERROR_OK)
			card_equal(rows[i].name, memcmp(results, none, sizeof(none)), 0);
	}
	/* None of them did harm. */
	descriptor = card_mark(&card, 0, 3);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	card_expect_no_event(&card.channel, "after all");
	card_stop(&card);
}

/** A queue's ring may be the last thing in memory, and as long as the card says. */
static void queues_at_the_edge(void **state)
{
	static const struct {
		uint32_t entries;
		uint32_t address;
	} edges[] = {
		{4, SYSTEM_END - SMALL_QUEUE},
		{256, SYSTEM_END - 256 - 256 * 128},
		{8, (uint32_t)CARD_SYSTEM_OS + 0x80040},
	};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(edges); i++) {
		const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0, edges[i].entries, edges[i].address};
		uint32_t results[PB_REPLY_RESULTS];

		assert_int_equal(
			pb_channel_command(&card.channel, PB_COMMAND_QUEUE_CREATE, arguments, results),
			PB_ERROR_OK);
		assert_int_equal(results[0], PB_HANDLE(2 + i, 1));
	}
	card_stop(&card);
}

/** Objects of another channel do not exist here, whatever their handles. */
static void handles_belong_to_their_channel(void **state)
{
	static const uint32_t codes[] = {
		PB_COMMAND_CONTEXT_CLEAR,
		PB_COMMAND_CONTEXT_DESTROY,
		PB_COMMAND_QUEUE_CLEAR,
		PB_COMMAND_QUEUE_DESTROY,
	};
	const uint32_t first[PB_COMMAND_ARGUMENTS] = {PB_HANDLE(0, 1)};
	struct card card;
	struct pb_channel neighbour;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	card_join(&card, &neighbour, 2);
	for (uint32_t i = 0; i < COUNT(codes); i++)
		assert_int_equal(pb_channel_command(&neighbour, codes[i], first, NULL), PB_ERROR_BAD_HANDLE);
	descriptor = card_mark(&card, 0, 3);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	card_leave(&neighbour);
	card_stop(&card);
}

/* ---- replies that come later ---- */

static void write_command(struct pb_channel *channel, uint32_t code, uint32_t tag, uint32_t argument)
{
	const struct pb_command command = {.code = code, .tag = tag, .arguments = {argument}};

	memcpy(channel->link->memory + channel->control_offset +
		       channel->control_put % CONTROL_ENTRIES * sizeof(command),
	       &command, sizeof(command));
	channel->entry->control_put = ++channel->control_put;
	channel->link->ops->doorbell(channel->link);
}

static void expect_reply(struct pb_channel *channel, uint32_t code, uint32_t tag, enum pb_error error)
{
	struct pb_reply reply;

	assert_true((int32_t)(channel->entry->reply_put - channel->reply_get) > 0);
	memcpy(&reply,
	       channel->link->memory + channel->reply_offset +
		       channel->reply_get % CONTROL_ENTRIES * sizeof(reply),
	       sizeof(reply));
	channel->entry->reply_get = ++channel->reply_get;
	assert_int_equal(reply.tag, tag);
	assert_int_equal(reply.code, code);
	assert_int_equal(reply.error, error);
}

/** Work that keeps a node's engine for a while, and three that store a word each behind it. */
static void submit_slow_work(struct card *card, uint32_t microseconds)
{
	struct pb_descriptor descriptor = card_descriptor(card, 0, 8, 0, 0);

	card_dma(card, 0)[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	card_dma(card, 0)[1] = microseconds;
	card_submit(card, 0, &descriptor);
	for (uint32_t i = 1; i <= 3; i++) {
		descriptor = card_mark(card, i, i);
		card_submit(card, 0, &descriptor);
	}
	card_run(card, 1000);
}

/** What has been fed leaves the node, what has not is dropped; the page is the host's from then on. */
static void destroyed_queue_drains(void **state)
{
	struct card card;
	struct pb_channel *channel = &card.channel;
	struct pb_queue_page page;
	uint32_t old;

	(void)state;
	card_start(&card);
	submit_slow_work(&card, 50000);
	old = card.queues[0].handle;
	write_command(channel, PB_COMMAND_QUEUE_DESTROY, 0x1001, old);
	write_command(channel, PB_COMMAND_QUEUE_DESTROY, 0x1002, old);
	write_command(channel, PB_COMMAND_QUEUE_CLEAR, 0x1003, old);
	write_command(channel, PB_COMMAND_PING, 0x1004, 0);
	card_run(&card, 10000);
	expect_reply(channel, PB_COMMAND_QUEUE_DESTROY, 0x1002, PB_ERROR_BAD_HANDLE);
	expect_reply(channel, PB_COMMAND_QUEUE_CLEAR, 0x1003, PB_ERROR_BAD_HANDLE);
	expect_reply(channel, PB_COMMAND_PING, 0x1004, PB_ERROR_OK);
	assert_int_equal(channel->entry->reply_put, channel->reply_get);
	memset(card.queues[0].memory.bytes_host, 0x5a, sizeof(page));
	memset(&page, 0x5a, sizeof(page));
	card_run(&card, 60000);
	expect_reply(channel, PB_COMMAND_QUEUE_DESTROY, 0x1001, PB_ERROR_OK);
	assert_int_equal(channel->entry->reply_put, channel->reply_get);
	assert_memory_equal(card.queues[0].memory.bytes_host, &page, sizeof(page));
	assert_int_equal(card_word(&card, 1, 4), 1);
	assert_int_equal(card_word(&card, 1, 8), 0);
	assert_int_equal(card_word(&card, 1, 12), 0);
	card_stop(&card);
}

/** The slot of a deferred reply is reserved: with one reply deferred, fifteen others fit. */
static void deferred_reply_has_its_slot(void **state)
{
	struct card card;
	struct pb_channel *channel = &card.channel;

	(void)state;
	card_start(&card);
	submit_slow_work(&card, 50000);
	write_command(channel, PB_COMMAND_QUEUE_DESTROY, 0x2000, card.queues[0].handle);
	card_run(&card, 1000);
	for (uint32_t i = 1; i <= 16; i++) {
		write_command(channel, PB_COMMAND_PING, 0x2000 + i, 0);
		card_run(&card, 100);
	}
	assert_int_equal(channel->entry->reply_put - channel->reply_get, 15);
	card_run(&card, 60000);
	assert_int_equal(channel->entry->reply_put - channel->reply_get, 16);
	for (uint32_t i = 1; i <= 15; i++)
		expect_reply(channel, PB_COMMAND_PING, 0x2000 + i, PB_ERROR_OK);
	expect_reply(channel, PB_COMMAND_QUEUE_DESTROY, 0x2000, PB_ERROR_OK);
	card_run(&card, 6000);
	expect_reply(channel, PB_COMMAND_PING, 0x2010, PB_ERROR_OK);
	card_stop(&card);
}

static void context_in_use_is_busy(void **state)
{
	struct card card;

	(void)state;
	card_start(&card);
	submit_slow_work(&card, 20000);
	assert_int_equal(pb_context_destroy(&card.channel, card.context), PB_ERROR_BUSY);
	assert_int_equal(card_wait(&card, 0, 4).status, PB_ERROR_OK);
	assert_int_equal(pb_context_destroy(&card.channel, card.context), PB_ERROR_OK);
	assert_int_equal(pb_context_destroy(&card.channel, card.context), PB_ERROR_BAD_HANDLE);
	card_stop(&card);
}

/* ---- the admin ---- */

static void admin_closes_channels(void **state)
{
	static const uint32_t bad[] = {0, 9, 16, 0xffffffff};
	struct card card;
	struct pb_channel admin;
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0};
	uint32_t epoch;

	(void)state;
	card_start(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	for (uint32_t i = 0; i < COUNT(bad); i++) {
		arguments[0] = bad[i];
		assert_int_equal(pb_channel_command(&admin, PB_COMMAND_CHANNEL_CLOSE, arguments, NULL),
				 PB_ERROR_BAD_ARGUMENT);
	}
	/* Never opened. */
	arguments[0] = 8;
	assert_int_equal(pb_channel_command(&admin, PB_COMMAND_CHANNEL_CLOSE, arguments, NULL), PB_ERROR_OK);
	submit_slow_work(&card, 30000);
	epoch = card.channel.entry->epoch;
	arguments[0] = 1;
	write_command(&admin, PB_COMMAND_CHANNEL_CLOSE, 0x3001, 1);
	write_command(&admin, PB_COMMAND_CHANNEL_CLOSE, 0x3002, 1);
	card_run(&card, 10000);
	expect_reply(&admin, PB_COMMAND_CHANNEL_CLOSE, 0x3002, PB_ERROR_BUSY);
	assert_int_equal(admin.entry->reply_put, admin.reply_get);
	assert_int_equal(card.channel.entry->state, PB_CHANNEL_CLOSING);
	assert_int_equal(card.channel.entry->epoch, epoch + 1);
	card_run(&card, 40000);
	expect_reply(&admin, PB_COMMAND_CHANNEL_CLOSE, 0x3001, PB_ERROR_OK);
	assert_int_equal(card.channel.entry->state, PB_CHANNEL_CLOSED);
	assert_int_equal(pb_channel_check(&card.channel, NULL), PB_ERROR_DETACHED);
	card_leave(&admin);
	card_stop(&card);
}

/** An admin that attached anew gets the replies to what it asked itself, and no other. */
static void new_admin_gets_its_own_replies(void **state)
{
	struct card card;
	struct pb_channel admin;
	struct pb_channel neighbour;

	(void)state;
	card_start(&card);
	card_join(&card, &neighbour, 2);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	submit_slow_work(&card, 100000); /* outlasts the close of both others */
	write_command(&admin, PB_COMMAND_CHANNEL_CLOSE, 0x4001, 1);
	card_run(&card, 1000);
	assert_int_equal(pb_channel_attach(&admin, admin.link, 1000000), PB_ERROR_OK);
	/* Not BUSY: no channel waits for the first reply any more. */
	write_command(&admin, PB_COMMAND_CHANNEL_CLOSE, 0x4002, 1);
	write_command(&admin, PB_COMMAND_CHANNEL_CLOSE, 0x4003, 2);
	card_run(&card, 140000);
	expect_reply(&admin, PB_COMMAND_CHANNEL_CLOSE, 0x4003, PB_ERROR_OK);
	expect_reply(&admin, PB_COMMAND_CHANNEL_CLOSE, 0x4002, PB_ERROR_OK);
	assert_int_equal(admin.entry->reply_put, admin.reply_get);
	card_leave(&admin);
	card_leave(&neighbour);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_control)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(queues_at_the_edge),
		cmocka_unit_test(handles_belong_to_their_channel),
		cmocka_unit_test(destroyed_queue_drains),
		cmocka_unit_test(deferred_reply_has_its_slot),
		cmocka_unit_test(context_in_use_is_busy),
		cmocka_unit_test(admin_closes_channels),
		cmocka_unit_test(new_admin_gets_its_own_replies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
