/* SPDX-License-Identifier: MIT */
/* Paging buffers: what one may be, who may send it, and what a bad one stops. */
#include <string.h>

#include "hal/engine/registers.h"
#include "tests/unit/card_fixture.h"

#define COUNT(array)      ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define FILL_BYTES        (PB_PACKET_FILL_WORDS * 4u)
#define SYSTEM_END        ((uint32_t)CARD_SYSTEM_OS + CARD_SYSTEM_BYTES)
#define TICK_MICROSECONDS 5000u

/** A paging buffer of the packets in a DMA buffer. */
static struct pb_descriptor paging(const struct card *card, uint32_t slot, uint32_t bytes, uint32_t fence_id)
{
	struct pb_descriptor descriptor = card_descriptor(card, slot, bytes, 0, 0);

	descriptor.flags = PB_FLAG_PAGING;
	descriptor.context = 0;
	descriptor.fence_id = fence_id;
	return descriptor;
}

/** One that stores its fence id into word `slot` of video memory. */
static struct pb_descriptor page_mark(const struct card *card, uint32_t slot, uint32_t fence_id)
{
	card_fill(card_dma(card, slot), CARD_VIDEO_GPU + 4 * slot, 4, fence_id);
	return paging(card, slot, FILL_BYTES, fence_id);
}

#define PACKET(name) PB_PACKET(PB_PACKET_##name, PB_PACKET_##name##_WORDS)

static enum pb_error command(struct pb_channel *channel, uint32_t code, uint32_t argument, uint32_t second)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {argument, second};

	return pb_channel_command(channel, code, arguments, NULL);
}

static void expect_failed(struct card *card, const char *row, uint32_t type, uint32_t node, uint32_t fence_id,
			  enum pb_error error, uint32_t detail)
{
	const struct pb_event event = {
		.type = type,
		.queue = card->queues[node].handle,
		.fence_id = fence_id,
		.error = error,
		.index = PB_INDEX_NONE,
		.detail = detail,
	};

	card_expect_event(&card->channel, row, &event);
}

/** The events of a bad paging buffer, and no other. */
static void expect_halt(struct card *card, const char *row, uint32_t node, uint32_t fence_id,
			enum pb_error error)
{
	expect_failed(card, row, PB_EVENT_SUBMISSION_FAILED, node, fence_id, error, 0);
	expect_failed(card, row, PB_EVENT_HALTED, node, fence_id, error, node);
	card_expect_no_event(&card->channel, row);
}

/** Nothing more of the queue is completed, however long one waits. */
static void expect_stopped(struct card *card, const char *row, uint32_t node, uint32_t completed)
{
	struct pb_fence fence;

	card_run(card, 20000);
	assert_int_equal(pb_queue_fence(&card->queues[node], &fence), PB_ERROR_OK);
	card_equal(row, fence.completed, completed);
}

/* ---- good ones ---- */

static const struct {
	const char *name;
	struct card_edit edits[CARD_EDITS];
	bool runs;
} good[] = {
	{"as it should be", {{0}}, true},
	{"addresses of lists that are not there",
	 {CARD_SET(allocation_address_low, 1), CARD_SET(allocation_address_high, -1),
	  CARD_SET(patch_address_low, 3), CARD_SET(patch_address_high, -1)},
	 true},
	{"all flags but null rendering", {CARD_SET(flags, ~PB_FLAG_NULL_RENDERING)}, true},
	{"a later block of private data",
	 {CARD_SET(private_address_low, CARD_SYSTEM_OS), CARD_SET(private_size, 72),
	  CARD_SET(private_start, 36), CARD_SET(private_end, 72)},
	 true},
	{"null rendering", {CARD_SET(flags, PB_FLAG_PAGING | PB_FLAG_NULL_RENDERING)}, false},
	{"empty", {CARD_SET(dma_end, 0)}, false},
	{"empty without a buffer",
	 {CARD_SET(dma_end, 0), CARD_SET(dma_size, 0), CARD_SET(dma_segment, -1),
	  CARD_SET(dma_address_low, -1)},
	 false},
	{"empty context switch",
	 {CARD_SET(flags, PB_FLAG_PAGING | PB_FLAG_CONTEXT_SWITCH), CARD_SET(dma_end, 0)},
	 false},
};

static void good_paging_buffers(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(good); i++) {
		struct card card;
		struct pb_descriptor descriptor;
		struct pb_fence fence;

		card_start(&card);
		descriptor = page_mark(&card, 0, 0x77);
		card_edit(&descriptor, good[i].edits);
		fence = card_execute(&card, i % 2, &descriptor);
		card_equal(good[i].name, fence.status, PB_ERROR_OK);
		card_equal(good[i].name, fence.fence_id, 0x77);
		card_equal(good[i].name, card_word(&card, 1, 0), good[i].runs ? 0x77 : 0);
		card_expect_no_event(&card.channel, good[i].name);
		card_stop(&card);
	}
}

/** After a preemption the OS replays paging buffers with the ids they had. */
static void fence_ids_come_again(void **state)
{
	static const uint32_t ids[] = {5, 5, 4, 5, 0, 0xffffffff, 5};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(ids); i++) {
		const struct pb_descriptor descriptor = page_mark(&card, 1, ids[i]);
		const struct pb_fence fence = card_execute(&card, 0, &descriptor);

		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_int_equal(fence.fence_id, ids[i]);
		assert_int_equal(card_word(&card, 1, 4), ids[i]);
	}
	card_stop(&card);
}

/** A paging buffer runs whether or not a context of its channel is lost. */
static void lost_contexts_do_not_matter(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	descriptor = card_mark(&card, 0, 1);
	descriptor.dma_segment = 31;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_BAD_SEGMENT);
	descriptor = page_mark(&card, 1, 2);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	descriptor = card_mark(&card, 0, 3);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_CONTEXT_LOST);
	card_stop(&card);
}

/** Packets that page are for paging buffers, and for no other work of the same channel. */
static void only_paging_buffers_page(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	uint32_t *words;

	(void)state;
	card_start(&card);
	words = card_dma(&card, 0);
	words[0] = PACKET(DISCARD);
	words[1] = (uint32_t)CARD_VIDEO_GPU;
	words[2] = (uint32_t)(CARD_VIDEO_GPU >> 32);
	words[3] = 4;
	descriptor = paging(&card, 0, PB_PACKET_DISCARD_WORDS * 4u, 1);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 0), PB_ENGINE_POISON);
	words[1] += 4;
	descriptor.flags = 0;
	descriptor.context = card.context;
	descriptor.fence_id = 2;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_ENGINE_FAULT);
	assert_int_equal(card_word(&card, 1, 4), 0);
	expect_failed(&card, "not paging", PB_EVENT_ENGINE_FAULT, 0, 2, PB_ERROR_ENGINE_FAULT,
		      PB_ENGINE_FAULT_PRIVILEGE);
	card_stop(&card);
}

/* ---- bad ones ---- */

static const struct {
	const char *name;
	enum pb_error error;
	struct card_edit edits[CARD_EDITS];
} bad[] = {
	{"a context", PB_ERROR_BAD_PAGING, {CARD_SET(context, CARD_CONTEXT)}},
	{"a context that there is not", PB_ERROR_BAD_PAGING, {CARD_SET(context, 0x80000000)}},
	{"an allocation", PB_ERROR_BAD_PAGING, {CARD_SET(allocation_count, 1)}},
	{"a patch that is not submitted", PB_ERROR_BAD_PAGING, {CARD_SET(patch_count, 1)}},
	{"a patch of an empty list", PB_ERROR_BAD_PAGING, {CARD_SET(patch_length, 1)}},
	{"both lists",
	 PB_ERROR_BAD_PAGING,
	 {CARD_SET(allocation_count, 1), CARD_SET(patch_count, 1), CARD_SET(patch_length, 1)}},
	{"an option", PB_ERROR_BAD_OPTIONS, {CARD_SET(options, 2)}},
	{"a wait without a list", PB_ERROR_BAD_WAIT, {CARD_SET(wait_count, 1)}},
	{"range misaligned", PB_ERROR_BAD_RANGE, {CARD_SET(dma_end, 18)}},
	{"segment 31", PB_ERROR_BAD_SEGMENT, {CARD_SET(dma_segment, 31)}},
	{"buffer misaligned", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_address_low, CARD_SYSTEM_OS + 64)}},
	{"buffer at the segment's end", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_address_low, SYSTEM_END)}},
	{"private data at 0", PB_ERROR_BAD_PRIVATE_DATA, {CARD_SET(private_size, 4)}},
	{"private end behind size", PB_ERROR_BAD_PRIVATE_DATA, {CARD_SET(private_end, 1)}},
	{"flags of all ones, with a list",
	 PB_ERROR_BAD_PAGING,
	 {CARD_SET(flags, -1), CARD_SET(patch_count, 1)}},
};

/** The halted node reads no more descriptors of the channel; RESET of that node, and of no other, changes that. */
static void expect_resumes(struct card *card, const char *row, uint32_t completed)
{
	struct pb_descriptor descriptor = card_mark(card, 2, 0x22);

	card_submit(card, 0, &descriptor);
	descriptor = page_mark(card, 3, 0x33);
	card_submit(card, 0, &descriptor);
	expect_stopped(card, row, 0, completed);
	descriptor = page_mark(card, 4, 0x44);
	card_equal(row, card_execute(card, 1, &descriptor).status, PB_ERROR_OK);
	card_equal(row, command(&card->channel, PB_COMMAND_RESET, 1, 0), PB_ERROR_OK);
	expect_stopped(card, row, 0, completed);
	card_equal(row, command(&card->channel, PB_COMMAND_RESET, 0, 0), PB_ERROR_OK);
	card_equal(row, card_wait(card, 0, completed + 2).status, PB_ERROR_OK);
	card_equal(row, card_word(card, 1, 8), 0x22);
	card_equal(row, card_word(card, 1, 12), 0x33);
	card_expect_no_event(&card->channel, row);
}

static void bad_paging_buffers_halt(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(bad); i++) {
		struct card card;
		struct pb_descriptor descriptor;
		struct pb_fence fence;

		card_start(&card);
		/* What is ahead of it is not touched. */
		descriptor = card_mark(&card, 1, 0x11);
		card_submit(&card, 0, &descriptor);
		descriptor = page_mark(&card, 0, 0x99);
		card_edit(&descriptor, bad[i].edits);
		fence = card_execute(&card, 0, &descriptor);
		card_equal(bad[i].name, fence.status, bad[i].error);
		card_equal(bad[i].name, fence.fence_id, 0x99);
		card_equal(bad[i].name, card_word(&card, 1, 4), 0x11);
		card_equal(bad[i].name, card_word(&card, 1, 0), 0);
		expect_halt(&card, bad[i].name, 0, 0x99, bad[i].error);
		expect_resumes(&card, bad[i].name, 2);
		card_stop(&card);
	}
}

static void bad_timeline_halts(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	descriptor = page_mark(&card, 0, 0x11);
	descriptor.timeline_low = 7;
	card_submit_exactly(&card, 0, &descriptor);
	card_wait(&card, 0, 1);
	descriptor.fence_id = 0x12;
	card_submit_exactly(&card, 0, &descriptor);
	fence = card_wait(&card, 0, 2);
	assert_int_equal(fence.status, PB_ERROR_BAD_TIMELINE);
	assert_int_equal(fence.timeline, 7);
	expect_halt(&card, "timeline", 0, 0x12, PB_ERROR_BAD_TIMELINE);
	card_stop(&card);
}

/** A halted channel sleeps: with work in its ring and its doorbell rung, the card goes idle all the same. */
static void halted_channel_does_not_keep_the_card_awake(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	const uint32_t *heartbeat;
	uint32_t before;

	(void)state;
	card_start(&card);
	heartbeat = &((const struct pb_boot_block *)(const void *)(card.link->memory + PB_BOOT_OFFSET))
			     ->heartbeat;
	descriptor = page_mark(&card, 0, 1);
	descriptor.options = 2;
	card_execute(&card, 0, &descriptor);
	for (uint32_t i = 0; i < 5; i++) {
		descriptor = card_mark(&card, 1, i);
		card_submit(&card, 0, &descriptor);
		card_run(&card, 1000);
	}
	before = *heartbeat;
	card_run(&card, 20 * TICK_MICROSECONDS);
	/* A tick has every channel polled, two in a pass. */
	assert_in_range(*heartbeat - before, 10, 200);
	assert_int_equal(command(&card.channel, PB_COMMAND_RESET, 0, 0), PB_ERROR_OK);
	assert_int_equal(card_wait(&card, 0, 6).status, PB_ERROR_OK);
	card_stop(&card);
}

/** RESET finds each of the channel's queues again without a doorbell. */
static void reset_finds_every_queue(void **state)
{
	static struct pb_queue queues[20];
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(queues); i++)
		assert_int_equal(pb_queue_create(&queues[i], &card.channel, &card.segments[0], 0, 4),
				 PB_ERROR_OK);
	descriptor = page_mark(&card, 0, 1);
	descriptor.options = 2;
	card_execute(&card, 0, &descriptor);
	for (uint32_t i = 0; i < COUNT(queues); i++) {
		descriptor = page_mark(&card, 1 + i, 0x100 + i);
		for (uint32_t n = 0; n <= i % 3; n++)
			assert_int_equal(pb_queue_submit(&queues[i], &descriptor), PB_ERROR_OK);
	}
	card_run(&card, 20000);
	for (uint32_t i = 0; i < COUNT(queues); i++)
		assert_int_equal(card_word(&card, 1, 4 * (1 + i)), 0);
	assert_int_equal(command(&card.channel, PB_COMMAND_RESET, 0, 0), PB_ERROR_OK);
	for (uint32_t i = 0; i < COUNT(queues); i++) {
		assert_int_equal(card_wait_queue(&card, &queues[i], 1 + i % 3).status, PB_ERROR_OK);
		assert_int_equal(card_word(&card, 1, 4 * (1 + i)), 0x100 + i);
	}
	card_stop(&card);
}

/** A host that halts itself again and again, and one that resets what is not halted. */
static void halt_and_reset_many_times(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < 10; i++) {
		descriptor = page_mark(&card, 0, i);
		descriptor.options = i % 2 * 2;
		card_equal("status", card_execute(&card, 0, &descriptor).status,
			   i % 2 != 0 ? PB_ERROR_BAD_OPTIONS : PB_ERROR_OK);
		if (i % 2 != 0)
			expect_halt(&card, "again", 0, i, PB_ERROR_BAD_OPTIONS);
		assert_int_equal(command(&card.channel, PB_COMMAND_RESET, 0, 0), PB_ERROR_OK);
	}
	card_stop(&card);
}

UNIT_SUITE(test_firmware_paging)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_paging_buffers),
		cmocka_unit_test(fence_ids_come_again),
		cmocka_unit_test(lost_contexts_do_not_matter),
		cmocka_unit_test(only_paging_buffers_page),
		cmocka_unit_test(bad_paging_buffers_halt),
		cmocka_unit_test(bad_timeline_halts),
		cmocka_unit_test(halted_channel_does_not_keep_the_card_awake),
		cmocka_unit_test(reset_finds_every_queue),
		cmocka_unit_test(halt_and_reset_many_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
