/* SPDX-License-Identifier: MIT */
/* Rules of the WDDM 1.x contract about the two lists: docs/wddm.md has the table of rules and tests. */
#include <string.h>

#include "tests/unit/card_fixture.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define WRITE        PB_ALLOCATION_WRITE
#define FILL_BYTES   (PB_PACKET_FILL_WORDS * 4u)
#define PRIOR        0x5a5a5a5au

/** SlotId and SplitOffset are for the memory manager; no value of them makes a difference. */
static void slot_and_split_offset_are_the_hosts(void **state)
{
	static const uint32_t numbers[] = {0, 1, 0x80, 0xffff, 0x00800000, 0x00ffffff, 0x00aaaaaa, 0};
	struct card card;

	(void)state;
	card_start(&card);
	card_allocation(&card, 0, CARD_VIDEO_OS, 64, CARD_SEGMENT(1));
	for (uint32_t i = 0; i < COUNT(numbers); i++) {
		struct pb_descriptor descriptor = card_descriptor(&card, 0, 32, 1, 4);

		for (uint32_t p = 0; p < 4; p++) {
			card_dma(&card, 0)[2 * p] = card_dma(&card, 0)[2 * p + 1] = PRIOR;
			card_patch(&card, p,
				   &(struct pb_patch_location){
					   .slot = numbers[i] ^ (p == 2 ? 1u : 0u),
					   .driver_id = PB_PATCH_FORMAT_ADDRESS64,
					   .allocation_offset = p * 16,
					   .patch_offset = p * 8,
					   .split_offset =
						   p % 2 != 0 ? numbers[i] : ~numbers[i], /* up and down */
				   });
		}
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
		for (uint32_t p = 0; p < 4; p++) {
			card_equal("low", card_dma(&card, 0)[2 * p], (uint32_t)CARD_VIDEO_GPU + p * 16);
			card_equal("high", card_dma(&card, 0)[2 * p + 1], (uint32_t)(CARD_VIDEO_GPU >> 32));
		}
	}
	card_stop(&card);
}

/** Segments 4 to 31: one page of the same OS addresses, each with engine addresses of its own. */
#define MANY_OS UINT64_C(0x70000000)
static uint64_t many_gpu(uint32_t id)
{
	return UINT64_C(0x300000000) + id * UINT64_C(0x101000);
}

/**
 * SegmentId is five bits, 0x3e. Under the misprinted mask 0x2e the ids 8 to 15
 * would pass for 0 to 7, and 24 to 31 for 16 to 23.
 */
static void segment_ids_are_five_bits(void **state)
{
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64};
	struct card card;

	(void)state;
	card_start(&card);
	assert_int_equal(card.channel.card.capabilities[PB_CAPABILITY_SEGMENTS], 32);
	card_patch(&card, 0, &patch);
	for (uint32_t i = 0; i < 2 * (32 - 4); i++) {
		const uint32_t id = 4 + i / 2;
		const bool there = i % 2 != 0;
		const struct pb_segment_request request = {id, MANY_OS, many_gpu(id), 4096, 0, 0};
		struct pb_descriptor descriptor = card_descriptor(&card, 0, 8, 1, 1);
		struct pb_segment segment;
		struct pb_fence fence;

		if (there)
			assert_int_equal(pb_segment_create(&segment, &card.channel, &request), PB_ERROR_OK);
		card_allocation(&card, 0, MANY_OS, 4096, CARD_SEGMENT(id) | WRITE);
		card_dma(&card, 0)[0] = card_dma(&card, 0)[1] = PRIOR;
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		fence = card_execute(&card, 0, &descriptor);
		card_equal("status", fence.status, there ? PB_ERROR_OK : PB_ERROR_ALLOCATION_SEGMENT);
		card_equal("low", card_dma(&card, 0)[0], there ? (uint32_t)many_gpu(id) : PRIOR);
		card_equal("high", card_dma(&card, 0)[1], there ? (uint32_t)(many_gpu(id) >> 32) : PRIOR);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

/** 0 is an address like any other: of a DMA buffer, of an allocation, of what the engine writes. */
static void address_0_is_an_address(void **state)
{
	const struct pb_segment_request request = {3, 0, 0, 0x10000, 0x10000, 0};
	const struct pb_patch_location patches[] = {
		{.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE, .patch_offset = 4},
		{.driver_id = PB_PATCH_FORMAT_ADDRESS32_WRITE,
		 .allocation_offset = 64,
		 .patch_offset = FILL_BYTES + 4},
	};
	struct card card;
	struct pb_descriptor descriptor;
	uint32_t *words;

	(void)state;
	card_start(&card);
	assert_int_equal(pb_segment_destroy(&card.segments[3]), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&card.segments[3], &card.channel, &request), PB_ERROR_OK);
	/* The buffer is its own allocation: its first packet writes over its own head. */
	words = (uint32_t *)(void *)card_bytes(&card, 3, 0);
	words = card_fill(words, UINT64_MAX, 4, 0x0aa0);
	card_fill(words, 0xffffffff, 4, 0x0bb0);
	card_allocation(&card, 0, 0, 4096, CARD_SEGMENT(3) | WRITE);
	card_patch(&card, 0, &patches[0]);
	card_patch(&card, 1, &patches[1]);
	descriptor = card_descriptor(&card, 0, 2 * FILL_BYTES, 1, 2);
	descriptor.dma_segment = 3;
	descriptor.dma_address_low = 0;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 3, 4), 0);
	assert_int_equal(card_word(&card, 3, 8), 0);
	assert_int_equal(card_word(&card, 3, 0), 0x0aa0);
	assert_int_equal(card_word(&card, 3, FILL_BYTES + 4), 64);
	assert_int_equal(card_word(&card, 3, 64), 0x0bb0);
	card_stop(&card);
}

/** A list may name an allocation twice, with different rights, and others that no patch uses. */
static void allocation_may_come_twice(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_patch_location patch = {
		.allocation_index = 2, .driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE, .patch_offset = 4};

	(void)state;
	card_start(&card);
	card_fill(card_dma(&card, 0), 0, 4, 0x77);
	card_allocation(&card, 0, CARD_VIDEO_OS + 0x40, 64, CARD_SEGMENT(1));
	card_allocation(&card, 1, 0, 0, PB_ALLOCATION_UNBIND);
	card_allocation(&card, 2, CARD_VIDEO_OS + 0x40, 64, CARD_SEGMENT(1) | WRITE);
	card_allocation(&card, 3, CARD_EDGE_OS, 4096, CARD_SEGMENT(2));
	card_patch(&card, 0, &patch);
	descriptor = card_descriptor(&card, 0, FILL_BYTES, 4, 1);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 0x40), 0x77);
	patch.allocation_index = 0;
	card_patch(&card, 0, &patch);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_PATCH_WRITE);
	card_stop(&card);
}

/** Without a patch there is nothing to resolve: what the allocation list says is not looked at. */
static void list_without_patches_is_not_looked_at(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	card_fill(card_dma(&card, 0), CARD_VIDEO_GPU, 4, 0x77);
	memset(card_bytes(&card, 0, CARD_ALLOCATIONS), 0xff, 1024 * sizeof(struct pb_allocation));
	descriptor = card_descriptor(&card, 0, FILL_BYTES, 1024, 0);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 0), 0x77);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_lists)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slot_and_split_offset_are_the_hosts),
		cmocka_unit_test(segment_ids_are_five_bits),
		cmocka_unit_test(address_0_is_an_address),
		cmocka_unit_test(allocation_may_come_twice),
		cmocka_unit_test(list_without_patches_is_not_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
