/* SPDX-License-Identifier: MIT */
/*
 * The firmware remembers the context and the segment of the last ordinary submission. Between two submissions of one
 * queue what they name changes, or becomes another channel's: the second one is judged by what is there then.
 */
#include <string.h>

#include "tests/unit/card_fixture.h"

#define OTHER  2u      /* the other client's channel */
#define BUFFER 0x2000u /* in segment 1 */

static struct card card;
static struct card_client other;

/** A submission without lists, of a buffer in segment 1 that stores a word behind itself. */
static struct pb_descriptor ordinary(const struct pb_segment *segments, uint32_t context)
{
	uint32_t *words = (uint32_t *)(void *)(card.link->memory + segments[1].memory_offset + BUFFER);
	const uint32_t *end = card_fill(words, CARD_VIDEO_GPU + BUFFER + 0x800u, 4, 7);
	const uint32_t bytes = (uint32_t)(end - words) * 4u;

	return (struct pb_descriptor){
		.context = context,
		.fence_id = 1,
		.dma_segment = 1,
		.dma_address_low = (uint32_t)CARD_VIDEO_OS + BUFFER,
		.dma_address_high = (uint32_t)(CARD_VIDEO_OS >> 32),
		.dma_size = 0x1000,
		.dma_end = bytes,
	};
}

/** Executes it in the other client's queue. @return its status */
static uint32_t execute_other(const struct pb_descriptor *descriptor)
{
	struct pb_fence fence;

	assert_int_equal(pb_queue_submit(&other.queue, descriptor), PB_ERROR_OK);
	fence = card_wait_queue(&card, &other.queue, other.queue.put);
	return fence.status;
}

static uint32_t execute(const struct pb_descriptor *descriptor)
{
	return card_execute(&card, 0, descriptor).status;
}

static struct pb_descriptor begin(void)
{
	struct pb_descriptor descriptor;

	card_start(&card);
	descriptor = ordinary(card.segments, card.context);
	assert_int_equal(execute(&descriptor), PB_ERROR_OK);
	assert_int_equal(execute(&descriptor), PB_ERROR_OK);
	return descriptor;
}

static void a_context_that_was_destroyed_is_none(void **state)
{
	const struct pb_descriptor descriptor = begin();

	(void)state;
	assert_int_equal(pb_context_destroy(&card.channel, card.context), PB_ERROR_OK);
	assert_int_equal(execute(&descriptor), PB_ERROR_BAD_CONTEXT);
	card_stop(&card);
}

static void a_context_that_was_lost_executes_nothing_until_it_is_cleared(void **state)
{
	const struct pb_descriptor descriptor = begin();
	struct pb_descriptor bad = descriptor;

	(void)state;
	bad.dma_start = bad.dma_end + 4u;
	assert_int_equal(execute(&bad), PB_ERROR_BAD_RANGE);
	assert_int_equal(execute(&descriptor), PB_ERROR_CONTEXT_LOST);
	assert_int_equal(execute(&descriptor), PB_ERROR_CONTEXT_LOST);
	assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	assert_int_equal(execute(&descriptor), PB_ERROR_OK);
	card_stop(&card);
}

static void a_context_is_of_its_channel_only(void **state)
{
	const struct pb_descriptor descriptor = begin();

	(void)state;
	card_join_client(&card, &other, OTHER);
	assert_int_equal(execute(&descriptor), PB_ERROR_OK);
	assert_int_equal(execute_other(&descriptor), PB_ERROR_BAD_CONTEXT);
	card_leave(&other.channel);
	card_stop(&card);
}

static void a_context_ends_with_its_client(void **state)
{
	struct pb_descriptor descriptor = begin();
	uint32_t old;

	(void)state;
	card_join_client(&card, &other, OTHER);
	old = other.context;
	descriptor = ordinary(other.segments, old);
	assert_int_equal(execute_other(&descriptor), PB_ERROR_OK);
	card_leave(&other.channel);
	card_run(&card, 1000000);
	card_join_client(&card, &other, OTHER);
	assert_int_not_equal(other.context, old);
	descriptor = ordinary(other.segments, old);
	assert_int_equal(execute_other(&descriptor), PB_ERROR_BAD_CONTEXT);
	card_leave(&other.channel);
	card_stop(&card);
}

static void a_segment_that_was_destroyed_is_none_although_another_client_has_its_slot(void **state)
{
	const struct pb_descriptor descriptor = begin();
	struct pb_segment again;
	const struct pb_segment_request request = {.id = 9,
						   .os_base = CARD_VIDEO_OS,
						   .gpu_base = CARD_VIDEO_GPU,
						   .size = CARD_VIDEO_BYTES,
						   .backing_bytes = CARD_VIDEO_BACKED};

	(void)state;
	card_join_client(&card, &other, OTHER);
	assert_int_equal(execute(&descriptor), PB_ERROR_OK);
	assert_int_equal(pb_segment_destroy(&card.segments[1]), PB_ERROR_OK);
	assert_int_equal(pb_segment_destroy(&other.segments[1]), PB_ERROR_OK);
	for (uint32_t id = 9; id < 11; id++) {
		struct pb_segment_request made = request;

		made.id = id;
		made.os_base += (id - 9u) * 2u * CARD_VIDEO_BYTES;
		made.gpu_base += (id - 9u) * 2u * CARD_VIDEO_BYTES;
		assert_int_equal(pb_segment_create(&again, &other.channel, &made), PB_ERROR_OK);
	}
	assert_int_equal(execute(&descriptor), PB_ERROR_BAD_SEGMENT);
	card_leave(&other.channel);
	card_stop(&card);
}

static void a_segment_is_of_its_channel_only(void **state)
{
	const struct pb_descriptor descriptor = begin();
	struct pb_descriptor theirs = descriptor;

	(void)state;
	card_join_client(&card, &other, OTHER);
	theirs.context = other.context;
	assert_int_equal(pb_segment_destroy(&other.segments[1]), PB_ERROR_OK);
	assert_int_equal(execute(&descriptor), PB_ERROR_OK);
	assert_int_equal(execute_other(&theirs), PB_ERROR_BAD_SEGMENT);
	card_leave(&other.channel);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_known)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_context_that_was_destroyed_is_none),
		cmocka_unit_test(a_context_that_was_lost_executes_nothing_until_it_is_cleared),
		cmocka_unit_test(a_context_is_of_its_channel_only),
		cmocka_unit_test(a_context_ends_with_its_client),
		cmocka_unit_test(a_segment_that_was_destroyed_is_none_although_another_client_has_its_slot),
		cmocka_unit_test(a_segment_is_of_its_channel_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
