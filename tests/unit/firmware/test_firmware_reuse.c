/* SPDX-License-Identifier: MIT */
/*
 * A queue is destroyed as it has begun to wait, and another one of another node
 * gets its slot. A line waits at any time, so that a pass runs one node only,
 * and nothing of the first queue may be left for the second.
 */
#include <string.h>

#include "tests/unit/card_queues.h"
#include "tests/unit/stepped.h"

static struct card card;
static bool ringing;

uint32_t pb_stepped_read32(const uint32_t *address)
{
	const uint8_t *at = (const uint8_t *)address;

	/* Everything that is shared is in card memory, but for the word that says whether a line waits. */
	if (ringing && (at < card.link->memory || at >= card.link->memory + pb_sim_memory_bytes(card.sim)))
		pb_sim_doorbell(card.sim, 1);
	return *address;
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	*address = value;
}

uint8_t pb_stepped_read8(const uint8_t *address)
{
	return *address;
}

void pb_stepped_write8(uint8_t *address, uint8_t value)
{
	*address = value;
}

static void make(struct pb_queue *queue, uint32_t place, uint32_t node, uint32_t priority)
{
	card_queue_make(queue, &card,
			&(struct card_queue_request){.place = place, .node = node, .level = priority});
}

static void submit_waiting(struct pb_queue *queue, uint32_t list, const struct pb_queue *target,
			   uint64_t value)
{
	const struct pb_descriptor descriptor = card_waiting_for(&card, list, target, value);

	card_queue_submit(queue, &descriptor);
}

static void begin(uint32_t code, const uint32_t arguments[PB_COMMAND_ARGUMENTS], uint32_t *tag)
{
	assert_int_equal(pb_channel_begin(&card.channel, code, arguments, tag), PB_ERROR_OK);
}

static void submit_nothing(struct pb_queue *queue)
{
	const struct pb_descriptor descriptor = card_nothing(&card, 0);

	card_queue_submit(queue, &descriptor);
}

/** Enough for a node to prepare throughout. */
#define PATCHES 40000u

static void pass(uint32_t passes)
{
	for (uint32_t i = 0; i < passes; i++)
		pb_sim_step(card.sim);
}

/** Destroys a queue of node 1, makes one of node 0 at its place, and meanwhile has `closing` wait for that. @return whether the new one has got the slot of the old one */
static bool replace(struct pb_queue *queue, struct pb_queue *closing, uint32_t passes)
{
	const uint32_t destroyed[PB_COMMAND_ARGUMENTS] = {queue->handle};
	const uint32_t made[PB_COMMAND_ARGUMENTS] = {
		0, CARD_QUEUE_ENTRIES, (uint32_t)queue->memory.os_address,
		(uint32_t)(queue->memory.os_address >> 32), PB_PRIORITY_NORMAL};
	uint32_t results[PB_REPLY_RESULTS] = {0};
	uint32_t tag_destroyed, tag_made;

	begin(PB_COMMAND_QUEUE_DESTROY, destroyed, &tag_destroyed);
	begin(PB_COMMAND_QUEUE_CREATE, made, &tag_made);
	memset(queue->memory.bytes_host, 0, sizeof(struct pb_queue_page));
	queue->handle += 0x10000u;
	queue->node = 0;
	queue->put = queue->completed = 0;
	queue->timeline = 0;
	for (uint32_t i = 0; i < 20; i++) {
		if (i == passes)
			submit_waiting(closing, 2, queue, 100);
		pass(1);
		if (pb_channel_finish(&card.channel, tag_made, results) == PB_ERROR_OK)
			break;
	}
	return results[0] == queue->handle;
}

struct reuse_row {
	uint32_t before, between, behind, commands;
};

/**
 * Something patches on node 2, so that node 1, whose queue begins to wait, runs in few of the passes. Its engine is busy
 * for long: what it is fed besides completes late.
 */
static void begin_reuse(struct pb_queue *reused, const struct reuse_row *row)
{
	static const uint32_t none[PB_COMMAND_ARGUMENTS];
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_SUM32, .patch_offset = 4};
	static struct pb_queue urgent, outer, inner, patching;
	struct pb_descriptor descriptor;
	uint32_t tag;

	make(&urgent, 0, 1, PB_PRIORITY_REALTIME);
	make(&outer, 1, 3, PB_PRIORITY_NORMAL);
	make(&inner, 2, 3, PB_PRIORITY_NORMAL);
	make(&patching, 5, 2, PB_PRIORITY_NORMAL);
	card_allocation(&card, 0, CARD_VIDEO_OS, 0x1000, CARD_SEGMENT(1));
	for (uint32_t i = 0; i < PATCHES; i++)
		card_patch(&card, i, &patch);
	card_dma(&card, 1)[0] = PB_PACKET(PB_PACKET_NOP, 2);
	descriptor = card_busy(&card, 0, 300000);
	card_queue_submit(&urgent, &descriptor);
	submit_waiting(&outer, 0, &inner, 1000);
	card_run(&card, 1000);
	descriptor = card_descriptor(&card, 1, 8, 1, PATCHES);
	card_queue_submit(&patching, &descriptor);
	ringing = true;
	pass(2);
	for (uint32_t i = 0; i < row->commands; i++)
		begin(PB_COMMAND_PING, none, &tag);
	pass(4 * row->commands);
	submit_waiting(reused, 1, &outer, 50);
	pass(row->before);
}

/** Expects the two submissions of a queue to complete in order, if the first one does. @return whether it has */
static bool completes_in_order(struct pb_queue *queue)
{
	struct pb_fence fence = {0};

	for (uint32_t i = 0; i < 4000 && fence.completed < 2; i++) {
		const uint32_t completed = fence.completed;

		pass(1);
		assert_int_equal(pb_queue_fence(queue, &fence), PB_ERROR_OK);
		assert_in_range(fence.completed, completed, 2);
		assert_int_equal(fence.timeline, fence.completed);
		if (fence.completed != 0)
			assert_int_equal(fence.error, PB_ERROR_DEADLOCK);
	}
	return fence.completed == 2;
}

/**
 * A queue begins to wait, and is destroyed. The next one in its slot, of another node, closes a cycle with its first
 * submission: that one fails, and the second one completes behind it, in order and on its own node.
 */
static void a_search_ends_with_its_queue(void **state)
{
	uint32_t closed = 0;

	(void)state;
	for (uint32_t i = 0; i < 10 * 5 * 4 * 2; i++) {
		const struct reuse_row row = {i % 10, i / 10 % 5, i / 50 % 4, i / 200};
		static struct pb_queue reused, closing;

		card_start(&card);
		make(&closing, 3, 3, PB_PRIORITY_NORMAL);
		make(&reused, 4, 1, PB_PRIORITY_NORMAL);
		begin_reuse(&reused, &row);
		if (replace(&reused, &closing, row.between)) {
			pass(row.behind);
			submit_waiting(&reused, 3, &closing, 50);
			submit_nothing(&reused);
			closed += completes_in_order(&reused);
		}
		ringing = false;
		card_stop(&card);
	}
	assert_true(closed > 0);
}

UNIT_SUITE(test_firmware_reuse)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_search_ends_with_its_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
