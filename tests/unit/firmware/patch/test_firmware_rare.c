/* SPDX-License-Identifier: MIT */
/* Limits that a list has in one submission and not in the one before; allocations at multiples of 4 GiB. */
#include "tests/unit/card_fixture.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- what an earlier list has left behind ---- */

/* An index that only the longer list before had is none, of a format that writes and of one that does not. */
static void index_of_a_longer_list(void **state)
{
	static const uint32_t formats[] = {PB_PATCH_FORMAT_ADDRESS64, PB_PATCH_FORMAT_ADDRESS64_WRITE};
	struct pb_descriptor descriptor;
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(formats); i++) {
		for (uint32_t long_list = 1; long_list < 2; long_list--) {
			const struct pb_patch_location patch = {
				.allocation_index = 2, .driver_id = formats[i], .patch_offset = 4};

			for (uint32_t a = 0; a < 3; a++)
				card_allocation(&card, a, CARD_VIDEO_OS, 0x1000,
						CARD_SEGMENT(1) | PB_ALLOCATION_WRITE);
			card_patch(&card, 0, &patch);
			card_dma(&card, 0)[0] = PB_PACKET(PB_PACKET_NOP, 3);
			descriptor = card_descriptor(&card, 0, 12, long_list ? 3 : 1, 1);
			assert_int_equal(card_execute(&card, 0, &descriptor).status,
					 long_list ? PB_ERROR_OK : PB_ERROR_PATCH_INDEX);
		}
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

/* What a loop knows of a format holds for one submission: the next one has a range of its own. */
static void range_of_a_longer_submission(void **state)
{
	struct pb_descriptor descriptor;
	struct card card;

	(void)state;
	card_start(&card);
	card_allocation(&card, 0, CARD_VIDEO_OS, 0x1000, CARD_SEGMENT(1));
	for (uint32_t bytes = 0x1000; bytes != 0; bytes = bytes == 0x1000 ? 64 : 0) {
		for (uint32_t i = 0; i < 4; i++) {
			const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_SHIFT1,
								.patch_offset = i < 3 ? 4u * i : 128u};

			card_patch(&card, i, &patch);
		}
		descriptor = card_descriptor(&card, 0, bytes, 1, 4);
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		assert_int_equal(card_execute(&card, 0, &descriptor).status,
				 bytes == 64 ? PB_ERROR_PATCH_RANGE : PB_ERROR_OK);
	}
	card_stop(&card);
}

/* An only allocation just above 4 GiB does not fit 32 bits any more than others do. */
static void one_above_4_gib(void **state)
{
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS32};
	struct pb_descriptor descriptor;
	struct card card;

	(void)state;
	card_start(&card);
	card_allocation(&card, 0, CARD_VIDEO_OS, 0x1000, CARD_SEGMENT(1));
	for (uint32_t i = 0; i < 4; i++)
		card_patch(&card, i, &patch);
	descriptor = card_descriptor(&card, 0, 64, 1, 4);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_PATCH_VALUE);
	card_stop(&card);
}

/* ---- a segment at the edge ---- */

/* Its OS addresses cross 4 GiB: they are resolved one by one, and right. */
static void os_addresses_across_4_gib(void **state)
{
	const struct pb_segment_request request = {
		.id = 5, .os_base = UINT64_C(0x3ffffe000), .gpu_base = UINT64_C(0x700000000), .size = 0x4000};
	static const uint64_t offsets[] = {0, 0x1fff, 0x2000, 0x2001, 0x3000};
	struct pb_segment segment;
	struct card card;

	(void)state;
	card_start(&card);
	assert_int_equal(pb_segment_create(&segment, &card.channel, &request), PB_ERROR_OK);
	for (uint32_t i = 0; i < COUNT(offsets); i++) {
		const struct pb_patch_location patch = {.allocation_index = i,
							.driver_id = PB_PATCH_FORMAT_ADDRESS64,
							.patch_offset = 4u + 8u * i};

		card_allocation(&card, i, request.os_base + offsets[i], 1, CARD_SEGMENT(5));
		card_patch(&card, i, &patch);
	}
	card_dma(&card, 0)[0] = PB_PACKET(PB_PACKET_NOP, 1u + 2u * COUNT(offsets));
	{
		const struct pb_descriptor descriptor =
			card_descriptor(&card, 0, 4u + 8u * COUNT(offsets), COUNT(offsets), COUNT(offsets));

		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	}
	for (uint32_t i = 0; i < COUNT(offsets); i++) {
		assert_int_equal(card_dma(&card, 0)[1u + 2u * i], offsets[i]);
		assert_int_equal(card_dma(&card, 0)[2u + 2u * i], 7);
	}
	card_stop(&card);
}

UNIT_SUITE(test_firmware_rare)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(index_of_a_longer_list),
		cmocka_unit_test(range_of_a_longer_submission),
		cmocka_unit_test(one_above_4_gib),
		cmocka_unit_test(os_addresses_across_4_gib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
