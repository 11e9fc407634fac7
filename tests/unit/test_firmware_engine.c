/* SPDX-License-Identifier: MIT */
/* Work that faults or hangs in the engine, and what becomes of the work around it. */
#include <string.h>

#include "hal/engine/registers.h"
#include "tests/unit/card_fixture.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
/** Engine time without progress that a node is given (docs: 100 ms), and the ticks around it. */
#define HANG_MICROSECONDS 100000u
#define TICK_MICROSECONDS 5000u

#define ONE(opcode) PB_PACKET(opcode, 1)

/** Another context of the same channel. */
static uint32_t other_context(struct card *card)
{
	uint32_t context;

	assert_int_equal(pb_context_create(&card->channel, &context), PB_ERROR_OK);
	return context;
}

/** A submission of the words given; fence id 0x100 + slot. */
static struct pb_descriptor packets(const struct card *card, uint32_t slot, const uint32_t *words,
				    uint32_t count)
{
	struct pb_descriptor descriptor = card_descriptor(card, slot, count * 4u, 0, 0);

	memcpy(card_dma(card, slot), words, count * sizeof(*words));
	descriptor.fence_id = 0x100 + slot;
	return descriptor;
}

static struct pb_descriptor busy(const struct card *card, uint32_t slot, uint32_t microseconds)
{
	const uint32_t words[] = {PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), microseconds};

	return packets(card, slot, words, 2);
}

static struct pb_descriptor hang(const struct card *card, uint32_t slot)
{
	const uint32_t words[] = {ONE(PB_PACKET_HANG)};

	return packets(card, slot, words, 1);
}

static void expect_lost(struct pb_channel *channel, const char *row, struct pb_event event, uint32_t context)
{
	event.index = PB_INDEX_NONE;
	card_expect_event(channel, row, &event);
	event.type = PB_EVENT_CONTEXT_LOST;
	event.detail = context;
	card_expect_event(channel, row, &event);
}

/* ---- faults ---- */

#define LOW(address)  ((uint32_t)(address))
#define HIGH(address) ((uint32_t)((uint64_t)(address) >> 32))

static const struct {
	const char *name;
	uint32_t code;
	uint32_t count;
	uint32_t words[6];
} faults[] = {
	{"asked for", PB_ENGINE_FAULT_ASKED, 1, {ONE(PB_PACKET_FAULT)}},
	{"unknown packet", PB_ENGINE_FAULT_PACKET, 1, {0xff000001}},
	{"cut off", PB_ENGINE_FAULT_PACKET, 2, {PB_PACKET(PB_PACKET_FILL, 5), 0}},
	{"fence in a buffer", PB_ENGINE_FAULT_PACKET, 2, {PB_PACKET(PB_PACKET_FENCE, 2), 9}},
	{"address 0, which has no memory",
	 PB_ENGINE_FAULT_ADDRESS,
	 5,
	 {PB_PACKET(PB_PACKET_FILL, 5), 0, 0, 4}},
	{"OS address",
	 PB_ENGINE_FAULT_ADDRESS,
	 5,
	 {PB_PACKET(PB_PACKET_FILL, 5), LOW(CARD_VIDEO_OS), HIGH(CARD_VIDEO_OS), 4}},
	{"behind the backed part",
	 PB_ENGINE_FAULT_ADDRESS,
	 5,
	 {PB_PACKET(PB_PACKET_FILL, 5), LOW(CARD_VIDEO_GPU + CARD_VIDEO_BACKED), HIGH(CARD_VIDEO_GPU), 4}},
	{"across the end of the backed part",
	 PB_ENGINE_FAULT_ADDRESS,
	 5,
	 {PB_PACKET(PB_PACKET_FILL, 5), LOW(CARD_VIDEO_GPU + CARD_VIDEO_BACKED - 4), HIGH(CARD_VIDEO_GPU),
	  8}},
	{"an offset in card memory",
	 PB_ENGINE_FAULT_ADDRESS,
	 5,
	 {PB_PACKET(PB_PACKET_FILL, 5), 0x20000, 0, 4}},
};

static void every_fault(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(faults) * 2; i++) {
		const char *row = faults[i / 2].name;
		const uint32_t node = i % 2;
		struct card card;
		struct pb_descriptor descriptor;
		struct pb_fence fence;

		card_start(&card);
		descriptor = packets(&card, 0, faults[i / 2].words, faults[i / 2].count);
		fence = card_execute(&card, node, &descriptor);
		card_equal(row, fence.status, PB_ERROR_ENGINE_FAULT);
		card_equal(row, fence.fence_id, 0x100);
		card_equal(row, fence.timeline, 1);
		card_equal(row, fence.error, PB_ERROR_ENGINE_FAULT);
		card_equal(row, fence.error_fence_id, 0x100);
		card_equal(row, fence.error_index, PB_INDEX_NONE);
		card_equal(row, fence.errors, 1);
		card_expect_event(&card.channel, row,
				  &(struct pb_event){.type = PB_EVENT_ENGINE_FAULT,
						     .queue = card.queues[node].handle,
						     .fence_id = 0x100,
						     .error = PB_ERROR_ENGINE_FAULT,
						     .index = PB_INDEX_NONE,
						     .detail = faults[i / 2].code});
		card_expect_event(&card.channel, row,
				  &(struct pb_event){.type = PB_EVENT_CONTEXT_LOST,
						     .queue = card.queues[node].handle,
						     .fence_id = 0x100,
						     .error = PB_ERROR_ENGINE_FAULT,
						     .index = PB_INDEX_NONE,
						     .detail = card.context});
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
		descriptor = card_mark(&card, 1, 1);
		card_equal(row, card_execute(&card, node, &descriptor).status, PB_ERROR_OK);
		card_equal(row, card_word(&card, 1, 4), 1);
		card_expect_no_event(&card.channel, row);
		card_stop(&card);
	}
}

/** What is behind the guilty work in the engine's ring, or ready to be fed, and whose it is. */
static void work_behind_a_fault(void **state)
{
	const uint32_t words[] = {PB_PACKET(PB_PACKET_BUSY, 2), 2000, ONE(PB_PACKET_FAULT)};
	struct card card;
	struct pb_queue second;
	struct pb_descriptor descriptor;
	struct pb_fence fence;
	uint32_t other;

	(void)state;
	card_start(&card);
	other = other_context(&card);
	assert_int_equal(pb_queue_create(&second, &card.channel, &card.segments[0], 0, 8), PB_ERROR_OK);
	descriptor = packets(&card, 0, words, 3);
	card_submit(&card, 0, &descriptor);
	/* Of the guilty context, one fed, one prepared, one unread ... */
	for (uint32_t i = 1; i <= 3; i++) {
		descriptor = card_mark(&card, i, i);
		card_submit(&card, 0, &descriptor);
	}
	/* ... and two of another one between them. */
	for (uint32_t i = 4; i <= 5; i++) {
		descriptor = card_mark(&card, i, i);
		descriptor.context = other;
		assert_int_equal(pb_queue_submit(&second, &descriptor), PB_ERROR_OK);
	}
	fence = card_wait(&card, 0, 4);
	assert_int_equal(fence.status, PB_ERROR_CONTEXT_LOST);
	assert_int_equal(fence.error, PB_ERROR_ENGINE_FAULT);
	assert_int_equal(fence.error_fence_id, 0x100);
	assert_int_equal(fence.errors, 4);
	fence = card_wait_queue(&card, &second, 2);
	assert_int_equal(fence.status, PB_ERROR_OK);
	assert_int_equal(fence.errors, 0);
	for (uint32_t i = 1; i <= 5; i++)
		card_equal("word", card_word(&card, 1, i * 4), i <= 3 ? 0 : i);
	card_stop(&card);
}

/** The same with nobody else's work between: fed, prepared and unread work of the lost context. */
static void later_work_of_the_context_is_cancelled(void **state)
{
	const uint32_t words[] = {PB_PACKET(PB_PACKET_BUSY, 2), 2000, ONE(PB_PACKET_FAULT)};
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	descriptor = packets(&card, 0, words, 3);
	card_submit(&card, 0, &descriptor);
	for (uint32_t i = 1; i <= 5; i++) {
		descriptor = card_mark(&card, i, i);
		card_submit(&card, 0, &descriptor);
	}
	fence = card_wait(&card, 0, 6);
	for (uint32_t i = 1; i <= 5; i++)
		card_equal("word", card_word(&card, 1, i * 4), 0);
	assert_int_equal(fence.status, PB_ERROR_CONTEXT_LOST);
	assert_int_equal(fence.errors, 6);
	card_stop(&card);
}

/** Work of the context prepared for the other node when it is lost is not fed there. */
static void other_node_is_told(void **state)
{
	const uint32_t words[] = {PB_PACKET(PB_PACKET_BUSY, 2), 2000, ONE(PB_PACKET_FAULT)};
	struct card card;
	struct pb_descriptor descriptor;
	uint32_t other;

	(void)state;
	card_start(&card);
	other = other_context(&card);
	for (uint32_t i = 0; i < 2; i++) {
		descriptor = busy(&card, i, 10000);
		descriptor.context = other;
		card_submit(&card, 1, &descriptor);
	}
	/* Prepared at once, to be fed in 10 ms. */
	descriptor = card_mark(&card, 2, 2);
	card_submit(&card, 1, &descriptor);
	descriptor = packets(&card, 3, words, 3);
	card_submit(&card, 0, &descriptor);
	assert_int_equal(card_wait(&card, 0, 1).status, PB_ERROR_ENGINE_FAULT);
	assert_int_equal(card_wait(&card, 1, 3).status, PB_ERROR_CONTEXT_LOST);
	assert_int_equal(card_word(&card, 1, 8), 0);
	card_stop(&card);
}

/** Work that was before the guilty one has completed, and is not done twice. */
static void work_before_a_fault_is_done_once(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;
	const uint32_t words[] = {ONE(PB_PACKET_FAULT)};

	(void)state;
	card_start(&card);
	descriptor = card_mark(&card, 0, 7);
	card_submit(&card, 0, &descriptor);
	descriptor = packets(&card, 1, words, 1);
	card_submit(&card, 0, &descriptor);
	while (card_word(&card, 1, 0) == 0)
		pb_sim_step(card.sim);
	memset(card_bytes(&card, 1, 0), 0, 4);
	fence = card_wait(&card, 0, 2);
	assert_int_equal(fence.status, PB_ERROR_ENGINE_FAULT);
	assert_int_equal(fence.errors, 1);
	assert_int_equal(fence.error_fence_id, 0x101);
	assert_int_equal(card_word(&card, 1, 0), 0);
	card_stop(&card);
}

/* ---- hangs ---- */

static void hang_is_ended(void **state)
{
	struct card card;
	struct pb_queue second;
	struct pb_descriptor descriptor;
	struct pb_fence fence;
	uint64_t start, took;
	uint32_t other;

	(void)state;
	card_start(&card);
	other = other_context(&card);
	assert_int_equal(pb_queue_create(&second, &card.channel, &card.segments[0], 0, 8), PB_ERROR_OK);
	descriptor = hang(&card, 0);
	card_submit(&card, 0, &descriptor);
	descriptor = card_mark(&card, 1, 1);
	descriptor.context = other;
	assert_int_equal(pb_queue_submit(&second, &descriptor), PB_ERROR_OK);
	start = pb_sim_now(card.sim);
	fence = card_wait(&card, 0, 1);
	took = pb_sim_now(card.sim) - start;
	assert_in_range(took, HANG_MICROSECONDS, HANG_MICROSECONDS + 3 * TICK_MICROSECONDS);
	assert_int_equal(fence.status, PB_ERROR_ENGINE_HANG);
	assert_int_equal(fence.error, PB_ERROR_ENGINE_HANG);
	assert_int_equal(fence.error_fence_id, 0x100);
	assert_int_equal(fence.errors, 1);
	assert_int_equal(card_wait_queue(&card, &second, 1).status, PB_ERROR_OK);
	assert_in_range(pb_sim_now(card.sim) - start, HANG_MICROSECONDS,
			HANG_MICROSECONDS + 3 * TICK_MICROSECONDS);
	assert_int_equal(card_word(&card, 1, 4), 1);
	expect_lost(&card.channel, "hang",
		    (struct pb_event){.type = PB_EVENT_ENGINE_HANG,
				      .queue = card.queues[0].handle,
				      .fence_id = 0x100,
				      .error = PB_ERROR_ENGINE_HANG},
		    card.context);
	card_expect_no_event(&card.channel, "hang");
	card_stop(&card);
}

/** Each hang has its own time: the second is not blamed early for the first, nor what lies between. */
static void hangs_in_a_row(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	uint32_t contexts[6];

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < 6; i++) {
		contexts[i] = other_context(&card);
		descriptor = i % 2 == 0 ? hang(&card, i) : card_mark(&card, i, i);
		descriptor.context = contexts[i];
		card_submit(&card, 1, &descriptor);
	}
	for (uint32_t i = 0; i < 6; i += 2) {
		const uint64_t start = pb_sim_now(card.sim);

		assert_int_equal(card_wait(&card, 1, i + 2).status, PB_ERROR_OK);
		assert_in_range(pb_sim_now(card.sim) - start, HANG_MICROSECONDS - TICK_MICROSECONDS,
				HANG_MICROSECONDS + 3 * TICK_MICROSECONDS);
		card_equal("between", card_word(&card, 1, (i + 1) * 4), i + 1);
		expect_lost(&card.channel, "hang",
			    (struct pb_event){.type = PB_EVENT_ENGINE_HANG,
					      .queue = card.queues[1].handle,
					      .fence_id = 0x100 + i,
					      .error = PB_ERROR_ENGINE_HANG},
			    contexts[i]);
	}
	card_expect_no_event(&card.channel, "hangs");
	card_stop(&card);
}

/** A node that hangs does not hold up the other. */
static void other_node_goes_on(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	uint64_t start;

	(void)state;
	card_start(&card);
	descriptor = hang(&card, 0);
	card_submit(&card, 0, &descriptor);
	card_run(&card, 1000);
	start = pb_sim_now(card.sim);
	for (uint32_t i = 1; i < 10; i++) {
		descriptor = card_mark(&card, i, i);
		assert_int_equal(card_execute(&card, 1, &descriptor).status, PB_ERROR_OK);
	}
	assert_in_range(pb_sim_now(card.sim) - start, 0, 10000);
	assert_int_equal(card_wait(&card, 0, 1).status, PB_ERROR_ENGINE_HANG);
	card_stop(&card);
}

/** Long work that gets on is no hang, alone or in a row. */
static void long_work_is_no_hang(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < 4; i++) {
		descriptor = busy(&card, i, 90000);
		card_submit(&card, 0, &descriptor);
	}
	descriptor = busy(&card, 4, 350000);
	card_submit(&card, 0, &descriptor);
	fence = card_wait(&card, 0, 5);
	assert_int_equal(fence.status, PB_ERROR_OK);
	assert_int_equal(fence.errors, 0);
	assert_true(pb_sim_now(card.sim) >= 710000);
	card_expect_no_event(&card.channel, "busy");
	card_stop(&card);
}

/** An idle node's time does not count against the work that ends its idleness. */
static void idle_time_is_no_hang(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < 4; i++) {
		descriptor = busy(&card, i, 60000);
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
		card_run(&card, 300000);
	}
	card_expect_no_event(&card.channel, "idle");
	card_stop(&card);
}

/** Its patch list is long, so that the context is lost before it is fed: it does not run. */
static void lost_while_it_is_patched(void **state)
{
	enum { ENTRIES = 20000 };
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
						.patch_offset = 4};
	struct pb_descriptor guilty, behind;
	struct pb_fence fence;
	struct card card;

	(void)state;
	card_start(&card);
	card_dma(&card, 0)[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	card_dma(&card, 0)[1] = 50;
	card_dma(&card, 0)[2] = PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS);
	guilty = card_descriptor(&card, 0, 12, 0, 0);
	card_fill(card_dma(&card, 1), 0, 4, 7);
	for (uint32_t i = 0; i < ENTRIES; i++)
		card_patch(&card, i, &patch);
	card_allocation(&card, 0, CARD_VIDEO_OS, 4096, CARD_SEGMENT(1) | PB_ALLOCATION_WRITE);
	behind = card_descriptor(&card, 1, PB_PACKET_FILL_WORDS * 4u, 1, ENTRIES);
	card_submit(&card, 0, &guilty);
	card_submit(&card, 0, &behind);
	fence = card_wait(&card, 0, 2);
	assert_int_equal(fence.errors, 2);
	assert_int_equal(fence.error, PB_ERROR_ENGINE_FAULT);
	assert_int_equal(fence.status, PB_ERROR_CONTEXT_LOST);
	assert_int_equal(card_word(&card, 1, 0), 0);
	card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lost_while_it_is_patched),
		cmocka_unit_test(every_fault),
		cmocka_unit_test(work_behind_a_fault),
		cmocka_unit_test(later_work_of_the_context_is_cancelled),
		cmocka_unit_test(other_node_is_told),
		cmocka_unit_test(work_before_a_fault_is_done_once),
		cmocka_unit_test(hang_is_ended),
		cmocka_unit_test(hangs_in_a_row),
		cmocka_unit_test(other_node_goes_on),
		cmocka_unit_test(long_work_is_no_hang),
		cmocka_unit_test(idle_time_is_no_hang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
