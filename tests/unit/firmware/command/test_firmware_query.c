/* SPDX-License-Identifier: MIT */
/* QUERY: every reason why a queue has nothing running, and what it says of nodes, contexts and channels. */
#include <string.h>

#include "hal/engine/registers.h"
#include "tests/unit/card_queues.h"

/** As many as a submission may have. */
#define PATCHES      65536u
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static struct pb_channel admin;

static void start(struct card *card)
{
	card_start(card);
	card_join(card, &admin, PB_CHANNEL_ADMIN);
}

static void stop(struct card *card)
{
	card_leave(&admin);
	card_stop(card);
}

static enum pb_error ask(struct pb_channel *channel, uint32_t what, uint32_t object)
{
	return card_command(channel, PB_COMMAND_QUERY, what, object, 0, 0, 0);
}

static void submit_busy(struct card *card, uint32_t node, uint32_t microseconds)
{
	const struct pb_descriptor descriptor = card_busy(card, node, microseconds);

	card_submit(card, node, &descriptor);
}

/** A command whose reply is not waited for. */
static void write_command(struct pb_channel *channel, uint32_t code, uint32_t first, uint32_t second)
{
	const struct pb_command command = {.code = code, .arguments = {first, second}};

	memcpy(channel->link->memory + channel->control_offset +
		       channel->control_put % channel->control_entries * sizeof(command),
	       &command, sizeof(command));
	channel->entry->control_put = ++channel->control_put;
	channel->link->ops->doorbell(channel->link);
}

static void skip_reply(struct pb_channel *channel)
{
	assert_int_equal(channel->entry->reply_put, channel->reply_get + 1u);
	channel->entry->reply_get = ++channel->reply_get;
}

/* ---- queues ---- */

static void empty_running_ready(void **state)
{
	struct pb_queue third;
	struct pb_descriptor descriptor;
	struct card card;

	(void)state;
	start(&card);
	card_queue_make(&third, &card, &(struct card_queue_request){.level = PB_PRIORITY_IDLE});
	assert_int_equal(card_why(&card.queues[0]), PB_WHY_EMPTY);
	for (uint32_t i = 0; i < 4; i++)
		submit_busy(&card, 0, 3000);
	descriptor = card_nothing(&card, 0);
	card_run(&card, 500);
	card_queue_submit(&third, &descriptor);
	assert_int_equal(card_why(&card.queues[0]), PB_WHY_RUNNING);
	assert_int_equal(card_why(&third), PB_WHY_READY);
	assert_int_equal(card_why(&card.queues[1]), PB_WHY_EMPTY);
	card_wait(&card, 0, 4);
	card_wait_queue(&card, &third, 1);
	assert_int_equal(card_why(&card.queues[0]), PB_WHY_EMPTY);
	assert_int_equal(card_why(&third), PB_WHY_EMPTY);
	stop(&card);
}

/** Lists that take their time: the first is being patched when it is asked. */
static void preparing(void **state)
{
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
						.patch_offset = 4};
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	start(&card);
	card_mark(&card, 0, 1);
	for (uint32_t i = 0; i < PATCHES; i++)
		card_patch(&card, i, &patch);
	descriptor = card_descriptor(&card, 0, PB_PACKET_FILL_WORDS * 4u, 1, PATCHES);
	card_submit(&card, 0, &descriptor);
	card_run(&card, 100);
	assert_int_equal(card_why(&card.queues[0]), PB_WHY_PREPARING);
	assert_int_equal(card_wait(&card, 0, 1).status, PB_ERROR_OK);
	stop(&card);
}

static void waiting(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	uint32_t results[PB_REPLY_RESULTS];

	(void)state;
	start(&card);
	descriptor = card_waiting_for(&card, 0, &card.queues[1], 0x500000002);
	card_submit(&card, 0, &descriptor);
	card_run(&card, 1000);
	card_query(&card.channel, PB_QUERY_QUEUE, card.queues[0].handle, results);
	assert_int_equal(results[0], PB_WHY_WAITING);
	assert_int_equal(results[1], card.queues[1].handle);
	assert_int_equal(results[2], 2);
	assert_int_equal(results[3], 5);
	stop(&card);
}

static void suspended_and_stopping(void **state)
{
	struct card card;

	(void)state;
	start(&card);
	submit_busy(&card, 0, 5000);
	submit_busy(&card, 0, 5000);
	card_run(&card, 500);
	write_command(&card.channel, PB_COMMAND_SUSPEND, card.queues[0].handle, 1);
	card_run(&card, 200);
	/* The queue completes what is before the cutoff, and the reply is deferred. */
	assert_int_equal(card.channel.entry->reply_put, card.channel.reply_get);
	card.channel.next_tag += 1000;
	assert_int_equal(card_why(&card.queues[0]), PB_WHY_PREEMPTED);
	card_run(&card, 12000);
	skip_reply(&card.channel);
	submit_busy(&card, 0, 100);
	card_run(&card, 1000);
	assert_int_equal(card_why(&card.queues[0]), PB_WHY_SUSPENDED);
	assert_int_equal(card_command(&card.channel, PB_COMMAND_RESUME, card.queues[0].handle, 0, 0, 0, 0),
			 PB_ERROR_OK);
	card_wait(&card, 0, 3);
	stop(&card);
}

static void halted(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	start(&card);
	descriptor = card_nothing(&card, 1);
	descriptor.flags = PB_FLAG_PAGING; /* with a context: a bad one */
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_BAD_PAGING);
	assert_int_equal(card_why(&card.queues[0]), PB_WHY_EMPTY);
	submit_busy(&card, 0, 100);
	card_run(&card, 1000);
	assert_int_equal(card_why(&card.queues[0]), PB_WHY_HALTED);
	assert_int_equal(card_command(&card.channel, PB_COMMAND_RESET, 0, 0, 0, 0, 0), PB_ERROR_OK);
	assert_int_equal(card_wait(&card, 0, 2).status, PB_ERROR_OK);
	stop(&card);
}

static void faulted(void **state)
{
	struct card card;
	struct pb_queue *queue = &card.queues[0];

	(void)state;
	start(&card);
	((struct pb_queue_page *)(void *)queue->memory.bytes_host)->put = 0x80000000;
	card.channel.entry->rescan = ++card.channel.rescan;
	card.link->ops->doorbell(card.link);
	card_run(&card, 20000);
	assert_int_equal(card_why(queue), PB_WHY_FAULTED);
	stop(&card);
}

static void card_suspended(void **state)
{
	struct card card;

	(void)state;
	start(&card);
	assert_int_equal(card_command(&admin, PB_COMMAND_SUSPEND, 0, 0, 0, 0, 0), PB_ERROR_OK);
	assert_int_equal(card_why(&card.queues[0]), PB_WHY_EMPTY);
	submit_busy(&card, 0, 100);
	card_run(&card, 1000);
	assert_int_equal(card_why(&card.queues[0]), PB_WHY_CARD_SUSPENDED);
	assert_int_equal(card_command(&admin, PB_COMMAND_SUSPEND, 0, 0, 0, 0, 0), PB_ERROR_BUSY);
	assert_int_equal(card_command(&admin, PB_COMMAND_RESUME, 0, 0, 0, 0, 0), PB_ERROR_OK);
	assert_int_equal(card_wait(&card, 0, 1).status, PB_ERROR_OK);
	stop(&card);
}

/** All else that is said of a queue. */
static void words_of_a_queue(void **state)
{
	struct pb_queue queue;
	struct card card;
	struct pb_descriptor descriptor;
	uint32_t results[PB_REPLY_RESULTS];

	(void)state;
	start(&card);
	card_queue_make(&queue, &card, &(struct card_queue_request){.node = 3, .level = PB_PRIORITY_HIGH});
	descriptor = card_nothing(&card, 1);
	descriptor.timeline_low = 7;
	descriptor.timeline_high = 9;
	card_queue_submit(&queue, &descriptor);
	card_wait_queue(&card, &queue, 1);
	descriptor = card_busy(&card, 0, 5000);
	for (uint32_t i = 0; i < 4; i++)
		card_queue_submit(&queue, &descriptor);
	card_run(&card, 1000);
	card_query(&card.channel, PB_QUERY_QUEUE, queue.handle, results);
	const uint32_t expected[] = {PB_WHY_RUNNING, 0, 0, 0, 5, 4, 1, 7, 9, 0, 0, 3, PB_PRIORITY_HIGH};
	for (uint32_t i = 0; i < COUNT(expected); i++)
		assert_int_equal(results[i], expected[i]);
	card_wait_queue(&card, &queue, 5);
	descriptor.options = 2;
	card_queue_submit(&queue, &descriptor);
	card_wait_queue(&card, &queue, 6);
	card_query(&card.channel, PB_QUERY_QUEUE, queue.handle, results);
	assert_int_equal(results[9], 1);
	assert_int_equal(pb_queue_clear(&queue), PB_ERROR_OK);
	assert_int_equal(card_command(&card.channel, PB_COMMAND_SUSPEND, queue.handle, 6, 0, 0, 0),
			 PB_ERROR_OK);
	card_query(&card.channel, PB_QUERY_QUEUE, queue.handle, results);
	assert_int_equal(results[9], 0);
	assert_int_equal(results[10], 1);
	stop(&card);
}

/* ---- nodes ---- */

static void words_of_a_node(void **state)
{
	uint32_t results[PB_REPLY_RESULTS], engine_time;
	struct card card;
	struct card_client other;

	(void)state;
	start(&card);
	card_join_client(&card, &other, 2);
	card_query(&card.channel, PB_QUERY_NODE, 0, results);
	assert_int_equal(results[0], PB_NODE_STATE_RUNNING);
	assert_int_equal(results[1], PB_NODE_SCHEDULED);
	assert_int_equal(results[2], 2);
	for (uint32_t i = 3; i < COUNT(results); i++) {
		if (i != 4 && i != 5 && i != 9) /* what the engine counts since it was made */
			assert_int_equal(results[i], 0);
	}
	engine_time = results[5];
	submit_busy(&card, 0, 4000);
	submit_busy(&card, 0, 4000);
	card_run(&card, 2000);
	card_query(&card.channel, PB_QUERY_NODE, 0, results);
	assert_int_equal(results[3], 2);
	assert_in_range(results[5] - engine_time, 1000, 2500);
	assert_int_equal(results[6], 0);
	assert_int_equal(results[10], card.queues[0].handle);
	assert_int_equal(results[11], 0);
	/* Whose work runs is told to its own channel only. */
	card_query(&other.channel, PB_QUERY_NODE, 0, results);
	assert_int_equal(results[3], 2);
	assert_int_equal(results[10], PB_HANDLE_NONE);
	card_wait(&card, 0, 2);
	submit_busy(&card, 0, 100);
	card_wait(&card, 0, 3);
	card_query(&card.channel, PB_QUERY_NODE, 0, results);
	assert_int_equal(results[3], 0);
	assert_in_range(results[5] - engine_time, 8100, 8110);
	assert_int_equal(results[6], 2);
	assert_int_equal(results[10], PB_HANDLE_NONE);
	assert_int_equal(results[11], 3);
	/* Other nodes have nothing to do with it. */
	card_query(&card.channel, PB_QUERY_NODE, 2, results);
	assert_int_equal(results[6], 0);
	assert_int_equal(results[11], 0);
	card_leave(&other.channel);
	/* What an engine that is stopped has done is counted too. */
	submit_busy(&card, 1, 500);
	submit_busy(&card, 1, 500);
	card_run(&card, 100);
	assert_int_equal(pb_queue_preempt(&card.queues[1], 1, 0, NULL), PB_ERROR_OK);
	card_query(&card.channel, PB_QUERY_NODE, 1, results);
	assert_int_equal(results[11], 1);
	stop(&card);
}

static uint32_t starved(struct card *card)
{
	uint32_t results[PB_REPLY_RESULTS];

	card_query(&card->channel, PB_QUERY_NODE, 0, results);
	return results[7];
}

/** Patching that an idle engine waits for is counted; patching behind work that runs is not. */
static void time_lost_to_patching(void **state)
{
	struct card card;
	struct pb_descriptor patched;
	uint32_t alone;

	(void)state;
	start(&card);
	card_allocation(&card, 0, 0, 0x1000, CARD_SEGMENT(3));
	for (uint32_t i = 0; i < PATCHES; i++)
		card_patch(&card, i, &(struct pb_patch_location){.patch_offset = i * 4u});
	patched = card_descriptor(&card, 0, PATCHES * 4u, 1, PATCHES);
	patched.flags = PB_FLAG_NULL_RENDERING;
	assert_int_equal(starved(&card), 0);
	assert_int_equal(card_execute(&card, 0, &patched).status, PB_ERROR_OK);
	alone = starved(&card);
	/* 48 slices of 24 entries in a pass, and 10 microseconds each. */
	assert_in_range(alone, 400, 1200);
	submit_busy(&card, 0, 20000);
	card_submit(&card, 0, &patched);
	card_wait(&card, 0, 3);
	assert_int_equal(starved(&card), alone);
	stop(&card);
}

static void resets_are_counted(void **state)
{
	uint32_t before[PB_REPLY_RESULTS], after[PB_REPLY_RESULTS];
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	start(&card);
	card_query(&card.channel, PB_QUERY_NODE, 0, before);
	card_dma(&card, 0)[0] = PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS);
	descriptor = card_descriptor(&card, 0, 4, 0, 0);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_ENGINE_FAULT);
	card_query(&card.channel, PB_QUERY_NODE, 0, after);
	assert_int_equal(after[9] - before[9], 1);
	assert_int_equal(after[8], before[8]);
	stop(&card);
}

/* ---- contexts and channels ---- */

static void words_of_a_context(void **state)
{
	uint32_t results[PB_REPLY_RESULTS];
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	start(&card);
	card_query(&card.channel, PB_QUERY_CONTEXT, card.context, results);
	assert_int_equal(results[0], 0);
	descriptor = card_nothing(&card, 0);
	descriptor.options = 2;
	card_execute(&card, 0, &descriptor);
	card_query(&card.channel, PB_QUERY_CONTEXT, card.context, results);
	assert_int_equal(results[0], 1);
	assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	card_query(&card.channel, PB_QUERY_CONTEXT, card.context, results);
	assert_int_equal(results[0], 0);
	stop(&card);
}

static void words_of_a_channel(void **state)
{
	uint32_t results[PB_REPLY_RESULTS];
	struct card card;

	(void)state;
	start(&card);
	assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_GRANT, 1, PB_PRIVILEGE_PAGING, 7,
				      PB_PRIORITY_HIGH, 0),
			 PB_ERROR_OK);
	for (uint32_t i = 0; i < 4; i++)
		submit_busy(&card, 0, 3000);
	submit_busy(&card, 1, 3000);
	card_run(&card, 500);
	for (uint32_t asker = 0; asker < 2; asker++) {
		card_query(asker == 0 ? &admin : &card.channel, PB_QUERY_CHANNEL, 1, results);
		/* Two in flight and one prepared on node 0, one in flight on node 1. */
		const uint32_t expected[] = {PB_PRIVILEGE_PAGING, 7, PB_PRIORITY_HIGH, 2, 1, 4, 4, 0};
		for (uint32_t i = 0; i < COUNT(expected); i++)
			assert_int_equal(results[i], expected[i]);
	}
	for (uint32_t i = 0; i < 70; i++) { /* events that the host does not read: 64 fit */
		*(uint32_t *)(void *)(card.link->memory + card.channel.kick_offset +
				      card.channel.kick_put % 256u * 4u) = PB_HANDLE_NONE;
		card.channel.entry->kick_put = ++card.channel.kick_put;
	}
	card.link->ops->doorbell(card.link);
	card_run(&card, 20000);
	card_query(&card.channel, PB_QUERY_CHANNEL, 1, results);
	assert_int_equal(results[6], 0);
	assert_int_equal(results[7], 6);
	stop(&card);
}

/* ---- what cannot be asked ---- */

static void refusals(void **state)
{
	struct card card;
	struct card_client other;

	(void)state;
	start(&card);
	card_join_client(&card, &other, 2);
	/* Nothing but paging. */
	assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_GRANT, 1, PB_PRIVILEGE_PAGING, 1, 4, 0),
			 PB_ERROR_OK);
	const struct {
		struct pb_channel *asker;
		uint32_t what;
		uint32_t object;
		enum pb_error error;
	} rows[] = {
		{&card.channel, 0, 0, PB_ERROR_BAD_ARGUMENT},
		{&card.channel, 7, 0, PB_ERROR_BAD_ARGUMENT},
		{&card.channel, -1u, 0, PB_ERROR_BAD_ARGUMENT},
		{&card.channel, PB_QUERY_QUEUE, PB_HANDLE(9, 0), PB_ERROR_BAD_HANDLE},
		{&card.channel, PB_QUERY_QUEUE, card.queues[0].handle + 0x10000, PB_ERROR_BAD_HANDLE},
		{&card.channel, PB_QUERY_QUEUE, PB_HANDLE(4096, 1), PB_ERROR_BAD_HANDLE},
		{&card.channel, PB_QUERY_QUEUE, other.queue.handle, PB_ERROR_BAD_HANDLE},
		{&admin, PB_QUERY_QUEUE, other.queue.handle, PB_ERROR_BAD_HANDLE},
		{&card.channel, PB_QUERY_NODE, 3, PB_ERROR_OK},
		{&card.channel, PB_QUERY_NODE, 4, PB_ERROR_BAD_ARGUMENT},
		{&card.channel, PB_QUERY_NODE, -1u, PB_ERROR_BAD_ARGUMENT},
		{&card.channel, PB_QUERY_CONTEXT, 0, PB_ERROR_BAD_HANDLE},
		{&card.channel, PB_QUERY_CONTEXT, other.context, PB_ERROR_BAD_HANDLE},
		{&card.channel, PB_QUERY_CHANNEL, 1, PB_ERROR_OK},
		{&card.channel, PB_QUERY_CHANNEL, 2, PB_ERROR_NO_PERMISSION},
		{&card.channel, PB_QUERY_CHANNEL, 0, PB_ERROR_NO_PERMISSION},
		{&card.channel, PB_QUERY_CHANNEL, 9, PB_ERROR_BAD_ARGUMENT},
		{&admin, PB_QUERY_CHANNEL, 8, PB_ERROR_OK},
		{&admin, PB_QUERY_CHANNEL, 0, PB_ERROR_OK},
		{&admin, PB_QUERY_CHANNEL, 9, PB_ERROR_BAD_ARGUMENT},
		{&admin, PB_QUERY_CHANNEL, -1u, PB_ERROR_BAD_ARGUMENT},
	};
	for (uint32_t i = 0; i < COUNT(rows); i++)
		card_equal("query", ask(rows[i].asker, rows[i].what, rows[i].object), rows[i].error);
	assert_int_equal(card_queue_close(&card.queues[0]), PB_ERROR_OK);
	assert_int_equal(ask(&card.channel, PB_QUERY_QUEUE, card.queues[0].handle), PB_ERROR_BAD_HANDLE);
	card_leave(&other.channel);
	stop(&card);
}

UNIT_SUITE(test_firmware_query)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_running_ready),
		cmocka_unit_test(preparing),
		cmocka_unit_test(waiting),
		cmocka_unit_test(suspended_and_stopping),
		cmocka_unit_test(halted),
		cmocka_unit_test(faulted),
		cmocka_unit_test(card_suspended),
		cmocka_unit_test(words_of_a_queue),
		cmocka_unit_test(words_of_a_node),
		cmocka_unit_test(time_lost_to_patching),
		cmocka_unit_test(resets_are_counted),
		cmocka_unit_test(words_of_a_context),
		cmocka_unit_test(words_of_a_channel),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
