/* SPDX-License-Identifier: MIT */
/* A board with small tables says so, and holds its hosts to them: up to each limit all is well, one more is an error. */
#include <string.h>

#include "patchbay/abi/format.h"
#include "tests/unit/card_fixture.h"
#include "tests/unit/firmware/small_limits.h"

/* ---- what it says ---- */

static const struct {
	uint32_t key;
	uint32_t value;
} capabilities[] = {
	{PB_CAPABILITY_NODES, 4},
	{PB_CAPABILITY_CLIENTS, 2},
	{PB_CAPABILITY_QUEUES, 16},
	{PB_CAPABILITY_CONTEXTS, 16},
	{PB_CAPABILITY_SEGMENTS, 32},
	{PB_CAPABILITY_SEGMENTS_TOTAL, 32},
	{PB_CAPABILITY_ALLOCATIONS_MAX, 256},
	{PB_CAPABILITY_PATCHES_MAX, 8192},
	{PB_CAPABILITY_RING_ENTRIES_MIN, 4},
	{PB_CAPABILITY_RING_ENTRIES_MAX, 64},
	{PB_CAPABILITY_IN_FLIGHT, 3},
	{PB_CAPABILITY_FORMATS_OWN, 8},
	{PB_CAPABILITY_APERTURE_PAGES, 1024},
	{PB_CAPABILITY_QUEUES_MIN, 2},
	{PB_CAPABILITY_CONTEXTS_MIN, 2},
	{PB_CAPABILITY_SEGMENTS_MIN, 5},
	{PB_CAPABILITY_FORMATS_MIN, 1},
	{PB_CAPABILITY_STOPS_MIN, 1},
	{PB_CAPABILITY_WAKES_MIN, 1},
};

static void capabilities_are_the_limits(void **state)
{
	struct card card;

	(void)state;
	card_attach(&card);
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
		card_equal("capability", card.channel.card.capabilities[capabilities[i].key],
			   capabilities[i].value);
	assert_int_equal(card.channel.card.channel_count, 3);
	assert_int_equal(card.channel.control_entries, 8);
	assert_int_equal(card.channel.kick_entries, 32);
	assert_int_equal(card.channel.event_entries, 16);
	card_stop(&card);
}

/* ---- lists ---- */

#define OLD 0xddddddddu

static void write_allocations(const struct card *card)
{
	for (uint32_t i = 0; i <= PB_LIMIT_ALLOCATIONS; i++)
		card_allocation(card, i, UINT64_C(0x1000) * i, 0x1000, CARD_SEGMENT(3) | PB_ALLOCATION_WRITE);
}

static struct pb_fence execute_lists(struct card *card, uint32_t allocations, uint32_t patches)
{
	struct pb_descriptor descriptor =
		card_descriptor(card, 0, 4u * (PB_LIMIT_PATCHES + 1u), allocations, patches);

	descriptor.flags = PB_FLAG_NULL_RENDERING;
	return card_execute(card, 0, &descriptor);
}

static void longest_lists(void **state)
{
	static const struct {
		uint32_t allocations;
		uint32_t patches;
		uint32_t error;
	} lengths[] = {
		{256, 8192, PB_ERROR_OK},
		{257, 8192, PB_ERROR_TOO_MANY_ALLOCATIONS},
		{256, 8193, PB_ERROR_TOO_MANY_PATCHES},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct card card;

		card_start(&card);
		write_allocations(&card);
		for (uint32_t p = 0; p < lengths[i].patches; p++)
			card_patch(&card, p,
				   &(struct pb_patch_location){.allocation_index = p % 256u,
							       .patch_offset = 4u * p});
		card_equal("lengths", execute_lists(&card, lengths[i].allocations, lengths[i].patches).status,
			   lengths[i].error);
		card_equal("last place", card_dma(&card, 0)[8191],
			   lengths[i].error == PB_ERROR_OK ? 255u * 0x1000u : 0);
		card_stop(&card);
	}
}

/* ---- indices that have no slot ---- */

/* All that have loops of their own, one that the general loops take, one that they do not. */
static const uint32_t formats[] = {
	PB_PATCH_FORMAT_ADDRESS32,       PB_PATCH_FORMAT_ADDRESS64, PB_PATCH_FORMAT_ADDRESS32_WRITE,
	PB_PATCH_FORMAT_ADDRESS64_WRITE, PB_PATCH_FORMAT_SUM32,     PB_PATCH_FORMAT_SUM64_SIGNED,
	PB_PATCH_FORMAT_SUM64_CANONICAL, PB_PATCH_FORMAT_HIGH32,    PB_PATCH_FORMAT_SHIFT8,
};
static const uint32_t indices[] = {256, 257, 511, 1023};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The first entry is good, and leads into the format's loop; the second is bad, and at a place of its own. */
static void check_list(uint32_t format, uint32_t index)
{
	struct pb_patch_location patch = {.allocation_index = 255, .driver_id = format};
	struct pb_fence fence;
	struct card card;

	card_start(&card);
	write_allocations(&card);
	memset(card_dma(&card, 0), 0xdd, 64);
	card_patch(&card, 0, &patch);
	patch.allocation_index = index;
	patch.patch_offset = 32;
	card_patch(&card, 1, &patch);
	fence = execute_lists(&card, 256, 2);
	card_equal("list", fence.status, PB_ERROR_PATCH_INDEX);
	card_equal("list", fence.error_index, 1);
	card_equal("list", card_dma(&card, 0)[8], OLD);
	card_equal("list", card_dma(&card, 0)[0] != OLD, true);
	card_stop(&card);
}

static void check_compact(uint32_t format, uint32_t index)
{
	const uint32_t words[] = {
		PB_COMPACT_ESCAPE | format << PB_COMPACT_FORMAT_SHIFT | 255u,
		0,
		0,
		2u << PB_COMPACT_PLACE_SHIFT | 255u,
		0,
		8u << PB_COMPACT_PLACE_SHIFT | index,
		0,
	};
	struct pb_descriptor descriptor;
	struct pb_fence fence;
	struct card card;

	card_start(&card);
	write_allocations(&card);
	memset(card_dma(&card, 0), 0xdd, 64);
	memcpy(card_bytes(&card, 0, CARD_PATCHES), words, sizeof(words));
	descriptor = card_descriptor(&card, 0, 4096, 256, COUNT(words));
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	descriptor.patch_encoding = PB_PATCH_ENCODING_COMPACT;
	fence = card_execute(&card, 0, &descriptor);
	card_equal("compact", fence.status, PB_ERROR_PATCH_INDEX);
	card_equal("compact", fence.error_index, 5);
	card_equal("compact", card_dma(&card, 0)[8], OLD);
	card_equal("compact", card_dma(&card, 0)[2] != OLD, true);
	card_stop(&card);
}

static void no_slot_is_no_index(void **state)
{
	(void)state;
	for (size_t f = 0; f < COUNT(formats); f++) {
		for (size_t i = 0; i < COUNT(indices); i++) {
			check_list(formats[f], indices[i]);
			check_compact(formats[f], indices[i]);
		}
	}
}

/* ---- other tables ---- */

static void as_many_as_there_are(void **state)
{
	const struct pb_segment_request page = {
		.id = 31, .os_base = 1u << 30, .gpu_base = 1u << 30, .size = 0x1000, .backing_bytes = 0x1000};
	struct pb_segment segment;
	uint32_t context;
	struct card card;

	(void)state;
	card_attach(&card);
	/* Two of 16 contexts and five of 32 segments are each neighbour's. */
	for (uint32_t i = 0; i < 12u; i++)
		assert_int_equal(pb_context_create(&card.channel, &context), PB_ERROR_OK);
	assert_int_equal(pb_context_create(&card.channel, &context), PB_ERROR_NO_SPACE);
	for (uint32_t i = 0; i < 22u; i++) {
		struct pb_segment_request request = page;

		request.id = i;
		request.os_base = request.gpu_base = UINT64_C(0x10000) * i;
		assert_int_equal(pb_segment_create(&segment, &card.channel, &request), PB_ERROR_OK);
	}
	assert_int_equal(pb_segment_create(&segment, &card.channel, &page), PB_ERROR_NO_SPACE);
	card_stop(&card);
}

UNIT_SUITE(test_limits)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities_are_the_limits),
		cmocka_unit_test(longest_lists),
		cmocka_unit_test(no_slot_is_no_index),
		cmocka_unit_test(as_many_as_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
