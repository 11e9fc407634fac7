/* SPDX-License-Identifier: MIT */
/* What becomes of waits when a queue of theirs is destroyed, suspended, preempted or closed, and of many at once. */
#include <string.h>

#include "tests/unit/card_queues.h"

#define CONTROL_ENTRIES 16u
#define MANY            300u

static struct pb_queue many[MANY];

static void make(struct card *card, uint32_t count)
{
	card_start(card);
	for (uint32_t i = 0; i < count; i++)
		card_queue_make(
			&many[i], card,
			&(struct card_queue_request){.place = i, .node = i % 4, .level = PB_PRIORITY_NORMAL});
}

static void wait_for(const struct card *card, uint32_t waiter, uint32_t target, uint64_t value)
{
	const struct pb_descriptor descriptor = card_waiting_for(card, waiter, &many[target], value);

	card_queue_submit(&many[waiter], &descriptor);
}

static void signal_next(const struct card *card, uint32_t q)
{
	const struct pb_descriptor descriptor = card_nothing(card, 0);

	card_queue_submit(&many[q], &descriptor);
}

static void expect(const struct card *card, const char *row, uint32_t q, uint32_t completed,
		   enum pb_error status)
{
	card_expect_completed(card, row, &many[q], completed, status);
}

static uint32_t queues_of(const struct card *card, uint32_t channel)
{
	struct pb_channel admin;
	uint32_t results[PB_REPLY_RESULTS];

	card_join(card, &admin, PB_CHANNEL_ADMIN);
	card_query(&admin, PB_QUERY_CHANNEL, channel, results);
	card_leave(&admin);
	return results[3];
}

/* ---- destroyed ---- */

static void destroyed_signaller(void **state)
{
	struct card card;

	(void)state;
	make(&card, 4);
	signal_next(&card, 1);
	wait_for(&card, 0, 1, 2);
	wait_for(&card, 2, 1, 3);
	expect(&card, "waits", 0, 0, PB_ERROR_OK);
	assert_int_equal(card_queue_close(&many[1]), PB_ERROR_OK);
	expect(&card, "gone", 0, 1, PB_ERROR_DEP_FAILED);
	expect(&card, "gone", 2, 1, PB_ERROR_DEP_FAILED);
	/* Also what it had reached is gone with it. */
	wait_for(&card, 3, 1, 1);
	expect(&card, "later", 3, 1, PB_ERROR_DEP_FAILED);
	card_stop(&card);
}

static void write_command(struct pb_channel *channel, uint32_t code, uint32_t first, uint32_t second)
{
	const struct pb_command command = {.code = code, .arguments = {first, second}};

	memcpy(channel->link->memory + channel->control_offset +
		       channel->control_put % CONTROL_ENTRIES * sizeof(command),
	       &command, sizeof(command));
	channel->entry->control_put = ++channel->control_put;
}

/** Three queues in a chain are destroyed in every order, with nothing, or a while, between: all are gone then. */
static void destroyed_in_every_order(void **state)
{
	static const uint32_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					      {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	struct card card;

	(void)state;
	for (uint32_t i = 0; i < 12; i++) {
		const uint32_t *order = orders[i / 2];
		struct pb_channel *channel = &card.channel;
		uint32_t before;

		make(&card, 3);
		before = queues_of(&card, 1);
		wait_for(&card, 0, 1, 1);
		wait_for(&card, 1, 2, 1);
		card_run(&card, 1000);
		for (uint32_t n = 0; n < 3; n++) {
			write_command(channel, PB_COMMAND_QUEUE_DESTROY, many[order[n]].handle, 0);
			if (i % 2 == 0)
				continue;
			channel->link->ops->doorbell(channel->link);
			card_run(&card, 1000);
		}
		channel->link->ops->doorbell(channel->link);
		card_run(&card, 10000);
		card_equal("replies", channel->entry->reply_put - channel->reply_get, 3);
		card_equal("queues", before - queues_of(&card, 1), 3);
		card_stop(&card);
	}
}

/** The same slot is another queue at once: who waited for the old one does not wait for that. */
static void slot_used_again(void **state)
{
	struct card card;
	uint32_t old;

	(void)state;
	make(&card, 2);
	wait_for(&card, 0, 1, 1);
	card_run(&card, 1000);
	old = many[1].handle;
	assert_int_equal(card_queue_close(&many[1]), PB_ERROR_OK);
	card_queue_make(&many[1], &card, &(struct card_queue_request){.place = 1, .node = 1});
	assert_int_equal(PB_HANDLE_INDEX(many[1].handle), PB_HANDLE_INDEX(old));
	signal_next(&card, 1);
	expect(&card, "old one", 0, 1, PB_ERROR_DEP_FAILED);
	wait_for(&card, 0, 1, 1);
	expect(&card, "new one", 0, 2, PB_ERROR_OK);
	card_stop(&card);
}

/* ---- suspended, preempted ---- */

/** A suspended queue does not run when its wait is over, and waits anew when it is resumed. */
static void suspended_waiter(void **state)
{
	struct card card;

	(void)state;
	for (uint32_t signalled = 0; signalled < 2; signalled++) {
		make(&card, 2);
		wait_for(&card, 0, 1, 1);
		card_run(&card, 1000);
		assert_int_equal(card_command(&card.channel, PB_COMMAND_SUSPEND, many[0].handle, 1,
					      PB_STOP_WITHDRAW, 0, 0),
				 PB_ERROR_OK);
		assert_int_equal(card_why(&many[0]), PB_WHY_SUSPENDED);
		if (signalled != 0)
			signal_next(&card, 1);
		expect(&card, "suspended", 0, 0, PB_ERROR_OK);
		assert_int_equal(card_command(&card.channel, PB_COMMAND_RESUME, many[0].handle, 0, 0, 0, 0),
				 PB_ERROR_OK);
		expect(&card, "resumed", 0, signalled, PB_ERROR_OK);
		if (signalled == 0)
			signal_next(&card, 1);
		expect(&card, "signalled", 0, 1, PB_ERROR_OK);
		card_stop(&card);
	}
}

/** SUSPEND that lets what is before its cutoff complete waits for its waits. */
static void drained_waiter(void **state)
{
	struct card card;
	uint32_t replies;

	(void)state;
	make(&card, 2);
	wait_for(&card, 0, 1, 1);
	signal_next(&card, 0);
	card_run(&card, 1000);
	replies = card.channel.entry->reply_put;
	write_command(&card.channel, PB_COMMAND_SUSPEND, many[0].handle, 1);
	card.channel.link->ops->doorbell(card.channel.link);
	expect(&card, "waits", 0, 0, PB_ERROR_OK);
	assert_int_equal(card.channel.entry->reply_put, replies);
	signal_next(&card, 1);
	expect(&card, "drained", 0, 1, PB_ERROR_OK);
	assert_int_equal(card.channel.entry->reply_put, replies + 1);
	card.channel.entry->reply_get = ++card.channel.reply_get;
	assert_int_equal(card_command(&card.channel, PB_COMMAND_RESUME, many[0].handle, 0, 0, 0, 0),
			 PB_ERROR_OK);
	expect(&card, "behind the cutoff", 0, 2, PB_ERROR_OK);
	card_stop(&card);
}

static void suspended_signaller(void **state)
{
	struct card card;

	(void)state;
	make(&card, 2);
	assert_int_equal(card_command(&card.channel, PB_COMMAND_SUSPEND, many[1].handle, 0, 0, 0, 0),
			 PB_ERROR_OK);
	wait_for(&card, 0, 1, 1);
	signal_next(&card, 1);
	expect(&card, "suspended", 0, 0, PB_ERROR_OK);
	assert_int_equal(card_why(&many[0]), PB_WHY_WAITING);
	assert_int_equal(card_command(&card.channel, PB_COMMAND_RESUME, many[1].handle, 0, 0, 0, 0),
			 PB_ERROR_OK);
	expect(&card, "resumed", 0, 1, PB_ERROR_OK);
	card_stop(&card);
}

/** What waits is given back like other work that has not begun, and can be submitted again. */
static void preempted_waiter(void **state)
{
	const uint32_t preempt[PB_COMMAND_ARGUMENTS] = {0, 2, 0x77, 0};
	uint32_t arguments[PB_COMMAND_ARGUMENTS], results[PB_REPLY_RESULTS];
	struct card card;

	(void)state;
	make(&card, 2);
	wait_for(&card, 0, 1, 1);
	signal_next(&card, 0);
	card_run(&card, 1000);
	memcpy(arguments, preempt, sizeof(arguments));
	arguments[0] = many[0].handle;
	assert_int_equal(pb_channel_command(&card.channel, PB_COMMAND_PREEMPT, arguments, results),
			 PB_ERROR_OK);
	assert_int_equal(results[1], 0); /* nothing has completed */
	assert_int_equal(results[2], 2);
	assert_int_equal(results[3], 2);
	assert_int_equal(results[4], 0);
	card_expect_event(&card.channel, "preempted",
			  &(struct pb_event){.type = PB_EVENT_PREEMPTED,
					     .queue = many[0].handle,
					     .index = PB_INDEX_NONE,
					     .detail = 0x77});
	assert_int_equal(card_why(&many[0]), PB_WHY_EMPTY);
	many[0].timeline = 0; /* a value that was returned may be used again */
	wait_for(&card, 0, 1, 1);
	expect(&card, "again", 0, 2, PB_ERROR_OK);
	signal_next(&card, 1);
	expect(&card, "again", 0, 3, PB_ERROR_OK);
	card_stop(&card);
}

/* ---- closed channels ---- */

/** A channel closes with queues that wait for each other, whichever is closed first: no slot is lost. */
static void closed_with_waits(void **state)
{
	struct card card;
	struct pb_channel admin;
	uint32_t results[PB_REPLY_RESULTS];

	(void)state;
	make(&card, 64);
	for (uint32_t i = 0; i < 64; i++) {
		if (i % 2 == 0)
			wait_for(&card, i, i + 1, 5);
		else
			wait_for(&card, i, i * 7 % 64 & ~1u, 100);
	}
	card_run(&card, 5000);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_CLOSE, 1, 0, 0, 0, 0), PB_ERROR_OK);
	card_query(&admin, PB_QUERY_CHANNEL, 1, results);
	for (uint32_t i = 3; i < 7; i++)
		assert_int_equal(results[i], 0);
	card_leave(&admin);
	card_stop(&card);
}

/* ---- many ---- */

/** All who wait for one queue go when it is there, and not before. */
static void many_waiters(void **state)
{
	struct card card;

	(void)state;
	make(&card, MANY);
	for (uint32_t i = 1; i < MANY; i++)
		wait_for(&card, i, 0, 1 + i % 3);
	card_run(&card, 20000);
	for (uint32_t value = 1; value <= 3; value++) {
		signal_next(&card, 0);
		card_run(&card, 30000);
		for (uint32_t i = 1; i < MANY; i++) {
			struct pb_fence fence;

			assert_int_equal(pb_queue_fence(&many[i], &fence), PB_ERROR_OK);
			assert_int_equal(fence.completed, 1 + i % 3 <= value);
			assert_int_equal(fence.status, PB_ERROR_OK);
		}
	}
	card_stop(&card);
}

/** As many signallers as waiters, all at once: more than there is room to note. */
static void many_signallers(void **state)
{
	struct card card;

	(void)state;
	make(&card, MANY);
	for (uint32_t i = 0; i < MANY; i += 2)
		wait_for(&card, i, i + 1, 1);
	card_run(&card, 20000);
	for (uint32_t i = 0; i < MANY; i += 2)
		assert_int_equal(card_queue_completed(&many[i]), 0);
	for (uint32_t i = 1; i < MANY; i += 2)
		signal_next(&card, i);
	card_run(&card, 60000);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(card_wait_queue(&card, &many[i], 1).status, PB_ERROR_OK);
	card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(destroyed_signaller), cmocka_unit_test(destroyed_in_every_order),
		cmocka_unit_test(slot_used_again),     cmocka_unit_test(suspended_waiter),
		cmocka_unit_test(drained_waiter),      cmocka_unit_test(suspended_signaller),
		cmocka_unit_test(preempted_waiter),    cmocka_unit_test(closed_with_waits),
		cmocka_unit_test(many_waiters),        cmocka_unit_test(many_signallers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
