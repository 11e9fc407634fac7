/* SPDX-License-Identifier: MIT */
/* Paging buffers that fail in the engine, the work around them, and who may page at all. */
#include <string.h>

#include "hal/engine/registers.h"
#include "tests/unit/card_fixture.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define FILL_BYTES   (PB_PACKET_FILL_WORDS * 4u)
#define PACKET(name) PB_PACKET(PB_PACKET_##name, PB_PACKET_##name##_WORDS)

static enum pb_error command(struct pb_channel *channel, uint32_t code, uint32_t argument, uint32_t second)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {argument, second};

	return pb_channel_command(channel, code, arguments, NULL);
}

static enum pb_error grant(struct pb_channel *admin, uint32_t channel, uint32_t privileges, uint32_t weight,
			   uint32_t priority)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {channel, privileges, weight, priority};

	return pb_channel_command(admin, PB_COMMAND_CHANNEL_GRANT, arguments, NULL);
}

static uint8_t *memory_of(const struct card_client *client, uint32_t segment)
{
	return client->channel.link->memory + client->segments[segment].memory_offset;
}

/** Stores the fence id into its own word 0 of video memory; the same addresses as the fixture's. */
static void submit_as(struct card_client *client, uint32_t fence_id)
{
	const struct pb_descriptor descriptor = {
		.context = client->context,
		.fence_id = fence_id,
		.dma_address_low = (uint32_t)CARD_SYSTEM_OS + CARD_DMA,
		.dma_size = PB_PAGE_BYTES,
		.dma_end = FILL_BYTES,
	};

	card_fill((uint32_t *)(void *)(memory_of(client, 0) + CARD_DMA), CARD_VIDEO_GPU, 4, fence_id);
	assert_int_equal(pb_queue_submit(&client->queue, &descriptor), PB_ERROR_OK);
}

static struct pb_descriptor page_packet(const struct card *card, uint32_t slot, uint32_t header,
					uint32_t operand, uint32_t fence_id)
{
	struct pb_descriptor descriptor = card_descriptor(card, slot, PB_PACKET_WORDS(header) * 4u, 0, 0);

	card_dma(card, slot)[0] = header;
	card_dma(card, slot)[1] = operand;
	descriptor.flags = PB_FLAG_PAGING;
	descriptor.context = 0;
	descriptor.fence_id = fence_id;
	return descriptor;
}

/** The same behind a while of engine time, so that what comes behind it is in its place when it fails. */
static struct pb_descriptor page_slowly(const struct card *card, uint32_t slot, uint32_t header,
					uint32_t fence_id)
{
	struct pb_descriptor descriptor = page_packet(card, slot, PACKET(BUSY), 5000, fence_id);

	card_dma(card, slot)[2] = header;
	descriptor.dma_end += 4;
	return descriptor;
}

static void expect_event(struct card *card, uint32_t type, uint32_t fence_id, enum pb_error error,
			 uint32_t detail)
{
	const struct pb_event event = {
		.type = type,
		.queue = card->queues[0].handle,
		.fence_id = fence_id,
		.error = error,
		.index = PB_INDEX_NONE,
		.detail = detail,
	};

	card_expect_event(&card->channel, "halt", &event);
}

/* ---- in the engine ---- */

static const struct {
	uint32_t header;
	uint32_t type;
	enum pb_error error;
	uint32_t detail;
} failures[] = {
	{PACKET(FAULT), PB_EVENT_ENGINE_FAULT, PB_ERROR_ENGINE_FAULT, PB_ENGINE_FAULT_ASKED},
	{PACKET(HANG), PB_EVENT_ENGINE_HANG, PB_ERROR_ENGINE_HANG, 0},
};

/**
 * Behind the bad one stand, in the same queue: one fed, one prepared, and two
 * that have not been read. The first two go down with it, the others wait.
 */
static void work_behind_goes_down_or_waits(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(failures); i++) {
		struct card card;
		struct pb_descriptor descriptor;
		struct pb_fence fence;

		card_start(&card);
		descriptor = page_packet(&card, 0, PACKET(BUSY), 1000, 0x10);
		card_submit(&card, 0, &descriptor);
		descriptor = page_slowly(&card, 1, failures[i].header, 0x11);
		card_submit(&card, 0, &descriptor);
		for (uint32_t n = 2; n < 6; n++) {
			descriptor = card_mark(&card, n, 0x10 + n);
			card_submit(&card, 0, &descriptor);
		}
		card_run(&card, 200000);
		assert_int_equal(pb_queue_fence(&card.queues[0], &fence), PB_ERROR_OK);
		assert_int_equal(fence.completed, 4);
		assert_int_equal(fence.status, PB_ERROR_HALTED);
		assert_int_equal(fence.fence_id, 0x13);
		assert_int_equal(fence.errors, 3);
		assert_int_equal(fence.error, failures[i].error);
		assert_int_equal(fence.error_fence_id, 0x11);
		expect_event(&card, failures[i].type, 0x11, failures[i].error, failures[i].detail);
		expect_event(&card, PB_EVENT_HALTED, 0x11, failures[i].error, 0);
		expect_event(&card, PB_EVENT_SUBMISSION_FAILED, 0x12, PB_ERROR_HALTED, 0);
		expect_event(&card, PB_EVENT_SUBMISSION_FAILED, 0x13, PB_ERROR_HALTED, 0);
		card_expect_no_event(&card.channel, "no context is lost");
		assert_int_equal(command(&card.channel, PB_COMMAND_RESET, 0, 0), PB_ERROR_OK);
		assert_int_equal(card_wait(&card, 0, 6).status, PB_ERROR_OK);
		for (uint32_t n = 2; n < 6; n++)
			assert_int_equal(card_word(&card, 1, 4 * n), n < 4 ? 0 : 0x10 + n);
		card_stop(&card);
	}
}

/** A second paging buffer behind the bad one completes as halted; it halts nothing itself. */
static void paging_behind_halts_nothing(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	for (uint32_t n = 0; n < 3; n++) {
		descriptor = page_slowly(&card, n, PACKET(FAULT), n);
		card_submit(&card, 0, &descriptor);
	}
	card_wait(&card, 0, 3);
	expect_event(&card, PB_EVENT_ENGINE_FAULT, 0, PB_ERROR_ENGINE_FAULT, PB_ENGINE_FAULT_ASKED);
	expect_event(&card, PB_EVENT_HALTED, 0, PB_ERROR_ENGINE_FAULT, 0);
	expect_event(&card, PB_EVENT_SUBMISSION_FAILED, 1, PB_ERROR_HALTED, 0);
	expect_event(&card, PB_EVENT_SUBMISSION_FAILED, 2, PB_ERROR_HALTED, 0);
	card_expect_no_event(&card.channel, "halted once");
	assert_int_equal(command(&card.channel, PB_COMMAND_RESET, 0, 0), PB_ERROR_OK);
	descriptor = card_mark(&card, 4, 4);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	card_stop(&card);
}

/** Neither the neighbour's work behind it, nor what comes later, nor the other node takes harm. */
static void others_do_not_notice(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(failures); i++) {
		struct card card;
		struct card_client other;
		struct pb_descriptor descriptor;

		card_start(&card);
		card_join_client(&card, &other, 2);
		descriptor = page_packet(&card, 0, failures[i].header, 0, 0x11);
		card_submit(&card, 0, &descriptor);
		submit_as(&other, 0x21);
		descriptor = card_mark(&card, 1, 0x12);
		card_submit(&card, 0, &descriptor);
		assert_int_equal(card_execute(&card, 1, &descriptor).status, PB_ERROR_OK);
		assert_int_equal(card_wait_queue(&card, &other.queue, 1).status, PB_ERROR_OK);
		assert_int_equal(*(uint32_t *)(void *)memory_of(&other, 1), 0x21);
		for (uint32_t n = 0; n < 7; n++)
			submit_as(&other, 0x30 + n);
		assert_int_equal(card_wait_queue(&card, &other.queue, 8).status, PB_ERROR_OK);
		card_expect_no_event(&other.channel, "neighbour");
		card_leave(&other.channel);
		card_stop(&card);
	}
}

/* ---- halted, and then gone ---- */

static void halted_channel_can_be_taken_apart(void **state)
{
	struct card card;
	struct pb_channel admin;
	struct pb_descriptor descriptor;

	(void)state;
	for (uint32_t way = 0; way < 3; way++) {
		card_start(&card);
		descriptor = page_packet(&card, 0, PACKET(FAULT), 0, 1);
		card_execute(&card, 0, &descriptor);
		descriptor = card_mark(&card, 1, 2);
		card_submit(&card, 0, &descriptor);
		card_run(&card, 1000);
		if (way == 0) {
			assert_int_equal(pb_queue_destroy(&card.queues[0]), PB_ERROR_OK);
			assert_int_equal(
				pb_queue_create(&card.queues[0], &card.channel, &card.segments[0], 0, 4),
				PB_ERROR_OK);
			card_submit(&card, 0, &descriptor);
			card_run(&card, 20000);
			assert_int_equal(card_word(&card, 1, 4), 0);
			assert_int_equal(command(&card.channel, PB_COMMAND_RESET, 0, 0), PB_ERROR_OK);
			assert_int_equal(card_wait(&card, 0, 1).status, PB_ERROR_OK);
			card_stop(&card);
			continue;
		}
		if (way == 1) {
			card_join(&card, &admin, PB_CHANNEL_ADMIN);
			assert_int_equal(command(&admin, PB_COMMAND_CHANNEL_CLOSE, 1, 0), PB_ERROR_OK);
			card_leave(&admin);
		}
		/* The next one there is not halted. */
		assert_int_equal(pb_channel_attach(&card.channel, card.link, 1000000), PB_ERROR_OK);
		card_make_segments(&card.channel, card.segments);
		assert_int_equal(pb_context_create(&card.channel, &card.context), PB_ERROR_OK);
		assert_int_equal(pb_queue_create(&card.queues[0], &card.channel, &card.segments[0], 0, 4),
				 PB_ERROR_OK);
		descriptor.context = card.context;
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
		card_stop(&card);
	}
}

/** The queue may go before its bad work does: the channel is told of the halt all the same. */
static void halt_of_a_destroyed_queue_is_told(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	for (uint32_t fed = 0; fed < 2; fed++) {
		struct pb_queue queue;
		struct pb_event event = {.type = PB_EVENT_HALTED, .fence_id = 9, .index = PB_INDEX_NONE};
		uint32_t completed;

		assert_int_equal(pb_queue_create(&queue, &card.channel, &card.segments[0], 0, 4),
				 PB_ERROR_OK);
		/* Behind one, it is fed; behind two, it is refused as the node prepares it. */
		for (uint32_t n = fed; n < 2; n++) {
			descriptor = page_packet(&card, n, PACKET(BUSY), 20000, n);
			card_submit(&card, 0, &descriptor);
		}
		completed = card.queues[0].put;
		descriptor = page_packet(&card, 2, PACKET(FAULT), 0, 9);
		descriptor.options = fed == 0 ? 2 : 0;
		card_run(&card, 1000);
		assert_int_equal(pb_queue_submit(&queue, &descriptor), PB_ERROR_OK);
		card_run(&card, 1000);
		event.queue = queue.handle;
		event.error = fed == 0 ? PB_ERROR_BAD_OPTIONS : PB_ERROR_ENGINE_FAULT;
		assert_int_equal(pb_queue_destroy(&queue), PB_ERROR_OK);
		card_wait(&card, 0, completed);
		card_run(&card, 1000);
		card_expect_event(&card.channel, "queue gone", &event);
		card_expect_no_event(&card.channel, "queue gone");
		descriptor = card_mark(&card, 4, 4);
		card_submit(&card, 0, &descriptor);
		card_run(&card, 20000);
		assert_int_equal(card_word(&card, 1, 16), 0);
		assert_int_equal(command(&card.channel, PB_COMMAND_RESET, 0, 0), PB_ERROR_OK);
		card_wait(&card, 0, completed + 1);
		*(uint32_t *)(void *)card_bytes(&card, 1, 16) = 0;
	}
	card_stop(&card);
}

/* ---- privileges ---- */

static const struct {
	const char *name;
	uint32_t channel;
	uint32_t privileges;
	uint32_t weight;
	uint32_t priority;
	enum pb_error error;
} grants[] = {
	{"none", 1, 0, 1, PB_PRIORITY_IDLE, PB_ERROR_OK},
	{"all there are", 8, PB_PRIVILEGE_PAGING | PB_PRIVILEGE_QUERY, 64, PB_PRIORITY_REALTIME, PB_ERROR_OK},
	{"the admin", 0, PB_PRIVILEGE_PAGING, 1, 2, PB_ERROR_BAD_ARGUMENT},
	{"channel 9", 9, PB_PRIVILEGE_PAGING, 1, 2, PB_ERROR_BAD_ARGUMENT},
	{"channel 32", 32, 0, 1, 2, PB_ERROR_BAD_ARGUMENT},
	{"channel of all ones", -1u, 0, 1, 2, PB_ERROR_BAD_ARGUMENT},
	{"privilege 2", 1, 4, 1, 2, PB_ERROR_BAD_ARGUMENT},
	{"privilege 31 too", 1, 0x80000001, 1, 2, PB_ERROR_BAD_ARGUMENT},
	{"weight 0", 1, 0, 0, 2, PB_ERROR_BAD_ARGUMENT},
	{"weight 65", 1, 0, 65, 2, PB_ERROR_BAD_ARGUMENT},
	{"weight of all ones", 1, 0, -1u, 2, PB_ERROR_BAD_ARGUMENT},
	{"priority 5", 1, 0, 1, 5, PB_ERROR_BAD_ARGUMENT},
	{"priority of all ones", 1, 0, 1, -1u, PB_ERROR_BAD_ARGUMENT},
};

static void every_grant(void **state)
{
	struct card card;
	struct pb_channel admin;

	(void)state;
	card_start(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	for (uint32_t i = 0; i < COUNT(grants); i++)
		card_equal(grants[i].name,
			   grant(&admin, grants[i].channel, grants[i].privileges, grants[i].weight,
				 grants[i].priority),
			   grants[i].error);
	card_leave(&admin);
	card_stop(&card);
}

/** Pages, and resets the node if that was refused. */
static enum pb_error try_to_page(struct card *card)
{
	const struct pb_descriptor descriptor = page_packet(card, 0, PB_PACKET(PB_PACKET_NOP, 1), 0, 1);
	struct pb_event event;
	enum pb_error error;

	error = card_execute(card, 0, &descriptor).status;
	if (error != PB_ERROR_OK)
		assert_int_equal(command(&card->channel, PB_COMMAND_RESET, 0, 0), PB_ERROR_OK);
	while (pb_channel_event(&card->channel, &event))
		continue;
	return error;
}

static void attach_again(struct card *card)
{
	assert_int_equal(pb_channel_attach(&card->channel, card->link, 1000000), PB_ERROR_OK);
	card_make_segments(&card->channel, card->segments);
	assert_int_equal(pb_context_create(&card->channel, &card->context), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&card->queues[0], &card->channel, &card->segments[0], 0, 8),
			 PB_ERROR_OK);
}

/** Privileges stay over attach and detach, and end with CHANNEL_CLOSE, also of a channel that nobody has open. */
static void privileges_last_until_close(void **state)
{
	struct card card;
	struct pb_channel admin;

	(void)state;
	card_start(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	assert_int_equal(try_to_page(&card), PB_ERROR_OK);
	attach_again(&card);
	assert_int_equal(try_to_page(&card), PB_ERROR_OK);
	assert_int_equal(grant(&admin, 1, 0, 1, PB_PRIORITY_NORMAL), PB_ERROR_OK);
	assert_int_equal(try_to_page(&card), PB_ERROR_NO_PERMISSION);
	attach_again(&card);
	assert_int_equal(try_to_page(&card), PB_ERROR_NO_PERMISSION);
	assert_int_equal(grant(&admin, 1, PB_PRIVILEGE_PAGING, 1, PB_PRIORITY_NORMAL), PB_ERROR_OK);
	assert_int_equal(try_to_page(&card), PB_ERROR_OK);
	assert_int_equal(command(&admin, PB_COMMAND_CHANNEL_CLOSE, 1, 0), PB_ERROR_OK);
	attach_again(&card);
	assert_int_equal(try_to_page(&card), PB_ERROR_NO_PERMISSION);
	assert_int_equal(grant(&admin, 1, PB_PRIVILEGE_PAGING, 1, PB_PRIORITY_NORMAL), PB_ERROR_OK);
	assert_int_equal(pb_channel_detach(&card.channel), PB_ERROR_OK);
	assert_int_equal(command(&admin, PB_COMMAND_CHANNEL_CLOSE, 1, 0), PB_ERROR_OK);
	attach_again(&card);
	assert_int_equal(try_to_page(&card), PB_ERROR_NO_PERMISSION);
	card_leave(&admin);
	card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_behind_goes_down_or_waits),
		cmocka_unit_test(paging_behind_halts_nothing),
		cmocka_unit_test(others_do_not_notice),
		cmocka_unit_test(halted_channel_can_be_taken_apart),
		cmocka_unit_test(halt_of_a_destroyed_queue_is_told),
		cmocka_unit_test(every_grant),
		cmocka_unit_test(privileges_last_until_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
