/* SPDX-License-Identifier: MIT */
/*
 * Rules of the WDDM 1.x contract about submissions, flags and fences: docs/wddm.md
 * has the table of rules and tests.
 */
#include <string.h>

#include "hal/engine/registers.h"
#include "tests/unit/card_fixture.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define WRITE        PB_ALLOCATION_WRITE
#define FILL_BYTES   (PB_PACKET_FILL_WORDS * 4u)
/** Of the public headers, not among our flags: bit 8 of DXGK_SUBMITCOMMANDFLAGS. */
#define FLAG_VIRTUAL_MACHINE_DATA 0x100u

static uint32_t other_context(struct card *card)
{
	uint32_t context;

	assert_int_equal(pb_context_create(&card->channel, &context), PB_ERROR_OK);
	return context;
}

/** A submission that keeps its node busy. */
static struct pb_descriptor busy(const struct card *card, uint32_t slot, uint32_t microseconds)
{
	uint32_t *words = card_dma(card, slot);

	words[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	words[1] = microseconds;
	return card_descriptor(card, slot, PB_PACKET_BUSY_WORDS * 4u, 0, 0);
}

/* ---- parts of one DMA buffer ---- */

#define PACKETS 4u

/** FILL packets for words 0 to 3 of the allocation, one after the other in DMA buffer 0, and their patches. */
static struct pb_descriptor four_packets(const struct card *card)
{
	for (uint32_t i = 0; i < PACKETS; i++) {
		card_fill(card_dma(card, 0) + i * PB_PACKET_FILL_WORDS, 0, 4, 0xa0 + i);
		card_patch(card, i,
			   &(struct pb_patch_location){
				   .driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
				   .allocation_offset = i * 4,
				   .patch_offset = i * FILL_BYTES + 4,
				   .split_offset = i * FILL_BYTES,
			   });
	}
	return card_descriptor(card, 0, PACKETS * FILL_BYTES, 1, PACKETS);
}

/** The two address words of a packet. */
static void expect_address(const struct card *card, uint32_t packet, uint64_t address)
{
	const uint32_t *words = card_dma(card, 0) + packet * PB_PACKET_FILL_WORDS;

	card_equal("low", words[1], (uint32_t)address);
	card_equal("high", words[2], (uint32_t)(address >> 32));
}

/**
 * The memory manager submits a buffer in two parts, each with its fence and its
 * part of the patch list. Between them another context runs, and the
 * allocation moves.
 */
static void parts_of_one_buffer(void **state)
{
	struct card card;
	struct pb_descriptor part, between;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	between = card_mark(&card, 8, 0xbe);
	between.context = other_context(&card);
	part = four_packets(&card);

	part.dma_end = 2 * FILL_BYTES;
	part.patch_length = 2;
	part.fence_id = 10;
	fence = card_execute(&card, 0, &part);
	assert_int_equal(fence.status, PB_ERROR_OK);
	assert_int_equal(fence.fence_id, 10);
	assert_int_equal(fence.patches, 2);
	expect_address(&card, 0, CARD_VIDEO_GPU);
	expect_address(&card, 1, CARD_VIDEO_GPU + 4);
	expect_address(&card, 2, 0);
	expect_address(&card, 3, 0);

	assert_int_equal(card_execute(&card, 0, &between).status, PB_ERROR_OK);

	card_allocation(&card, 0, CARD_VIDEO_OS + 0x100, 4096, CARD_SEGMENT(1) | WRITE);
	part.dma_start = 2 * FILL_BYTES;
	part.dma_end = 4 * FILL_BYTES;
	part.patch_start = 2;
	part.fence_id = 11;
	fence = card_execute(&card, 0, &part);
	assert_int_equal(fence.status, PB_ERROR_OK);
	assert_int_equal(fence.fence_id, 11);
	assert_int_equal(fence.patches, 2 + 1 + 2);
	expect_address(&card, 0, CARD_VIDEO_GPU);
	expect_address(&card, 1, CARD_VIDEO_GPU + 4);
	expect_address(&card, 2, CARD_VIDEO_GPU + 0x108);
	expect_address(&card, 3, CARD_VIDEO_GPU + 0x10c);
	for (uint32_t i = 0; i < PACKETS; i++) {
		card_equal("first place", card_word(&card, 1, i * 4), i < 2 ? 0xa0 + i : 0);
		card_equal("second place", card_word(&card, 1, 0x100 + i * 4), i < 2 ? 0 : 0xa0 + i);
	}
	assert_int_equal(card_word(&card, 1, 32), 0xbe);
	card_stop(&card);
}

/* ---- patching again ---- */

/** An allocation at its two places: the first reaches beyond 32 bits, the second up to 32, the third up to 28. */
struct place {
	uint64_t os_address;
	uint32_t segment;
};
#define MOVABLE 3u
static const struct place places[][MOVABLE] = {
	{{CARD_VIDEO_OS + 0x2000, 1}, {0x5000, 3}, {0x5000, 3}},
	{{0x9000, 3}, {CARD_EDGE_OS + 0x40, 2}, {0xb000, 3}},
};

#define PRIOR 0x5a5a5a5au
/** Worked out by hand, with offset 0x10, attribute 1, id 0xa110c000 and fence id 0: both words at either place. */
static const struct {
	uint32_t allocation;
	uint32_t words[2][2];
} moved[PB_PATCH_FORMAT_COUNT] = {
#define F(name) [PB_PATCH_FORMAT_##name]
	F(ADDRESS32) = {1, {{0x5010, PRIOR}, {0xffff0050, PRIOR}}},
	F(ADDRESS64) = {0, {{0x80002010, 1}, {0x9010, 0}}},
	F(ADDRESS32_WRITE) = {1, {{0x5010, PRIOR}, {0xffff0050, PRIOR}}},
	F(ADDRESS64_WRITE) = {0, {{0x80002010, 1}, {0x9010, 0}}},
	F(SUM32) = {0, {{0x80002010, PRIOR}, {0x9010, PRIOR}}},
	F(SUM64_SIGNED) = {0, {{0x80002010, 1}, {0x9010, 0}}},
	F(SUM64_CANONICAL) = {0, {{0x80002010, 1}, {0x9010, 0}}},
	F(HIGH32) = {0, {{1, PRIOR}, {0, PRIOR}}},
	F(NOUVEAU_DMA) = {0, {{0xbeef0211, PRIOR}, {0xbeef0211, PRIOR}}},
	F(NOUVEAU_OR) = {0, {{0x11, PRIOR}, {0x11, PRIOR}}},
	F(NOUVEAU_LOW_OR) = {0, {{0x80002011, PRIOR}, {0x9011, PRIOR}}},
	F(SHIFT1) = {0, {{0xc0001008, PRIOR}, {0x4808, PRIOR}}},
	F(SHIFT8) = {0, {{0x01800020, PRIOR}, {0x90, PRIOR}}},
	F(SHIFT8_SECTOR) = {0, {{0x81800020, PRIOR}, {0x80000090, PRIOR}}},
	F(SPLIT40) = {0, {{0x80002012, 0x5a5a5a01}, {0x9012, 0x5a5a5a00}}},
	F(TILING) = {0, {{0x5a5a515a, PRIOR}, {0x5a5a515a, PRIOR}}},
	F(ID32) = {0, {{0xa110c010, PRIOR}, {0xa110c010, PRIOR}}},
	F(FIELD28) = {2, {{0xa0005010, PRIOR}, {0xa000b010, PRIOR}}},
	F(UNALIGNED32) = {1, {{0x5010, PRIOR}, {0xffff0050, PRIOR}}},
	F(LOW24) = {1, {{0x5a005010, PRIOR}, {0x5aff0050, PRIOR}}},
	F(HIGH8_0) = {1, {{0x5a5a5a00, PRIOR}, {0x5a5a5aff, PRIOR}}},
	F(HIGH8_1) = {1, {{0x5a5a005a, PRIOR}, {0x5a5aff5a, PRIOR}}},
	F(HIGH8_2) = {1, {{0x5a005a5a, PRIOR}, {0x5aff5a5a, PRIOR}}},
	F(FENCE_ID) = {0, {{0x10, PRIOR}, {0x10, PRIOR}}},
	F(SELF32) = {0, {{0x40100010, PRIOR}, {0x40100010, PRIOR}}},
	F(SELF64) = {0, {{0x40100010, 0}, {0x40100010, 0}}},
};
/** Two patches of each format in a row: the first and the second go different ways through the firmware. */
#define MOVED (PB_PATCH_FORMAT_COUNT * 2u)

static void patch_at(struct card *card, uint32_t slot, uint32_t p)
{
	struct pb_descriptor descriptor = card_descriptor(card, slot, MOVED * 8u, MOVABLE, MOVED);

	for (uint32_t a = 0; a < MOVABLE; a++)
		card_allocation(card, a, places[p][a].os_address, 0x20,
				CARD_SEGMENT(places[p][a].segment) | WRITE |
					1u << PB_ALLOCATION_ATTRIBUTE_SHIFT);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	assert_int_equal(card_execute(card, 0, &descriptor).status, PB_ERROR_OK);
}

static void expect_moved(const struct card *card, uint32_t slot, uint32_t p)
{
	for (uint32_t i = 0; i < MOVED; i++) {
		const uint32_t format = i / 2;
		const uint32_t *words = moved[format].words[p];
		const bool self = format == PB_PATCH_FORMAT_SELF32 || format == PB_PATCH_FORMAT_SELF64;

		card_equal("low", card_dma(card, slot)[2 * i],
			   words[0] + (self ? slot * CARD_DMA_STRIDE : 0));
		card_equal("high", card_dma(card, slot)[2 * i + 1], words[1]);
	}
}

/** After a preemption everything may have moved: what is patched again is as if patched there at first. */
static void moved_allocations_are_patched_anew(void **state)
{
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < MOVED; i++)
		card_patch(&card, i,
			   &(struct pb_patch_location){
				   .allocation_index = moved[i / 2].allocation,
				   .driver_id = i / 2,
				   .allocation_offset = 0x10,
				   .patch_offset = i * 8,
			   });
	for (uint32_t w = 0; w < MOVED * 2u; w++)
		card_dma(&card, 0)[w] = card_dma(&card, 1)[w] = PRIOR;
	patch_at(&card, 0, 0);
	expect_moved(&card, 0, 0);
	patch_at(&card, 0, 1);
	expect_moved(&card, 0, 1);
	patch_at(&card, 1, 1);
	expect_moved(&card, 1, 1);
	patch_at(&card, 0, 0);
	expect_moved(&card, 0, 0);
	card_stop(&card);
}

/* ---- flags ---- */

/** Whatever other flags come together, the work is patched and run as without them. */
static void flags_without_effect(void **state)
{
	static const uint32_t flags[] = {
		PB_FLAG_PRESENT,           PB_FLAG_REDIRECTED_PRESENT, PB_FLAG_FLIP,
		PB_FLAG_FLIP_WITH_NO_WAIT, PB_FLAG_CONTEXT_SWITCH,     PB_FLAG_RESUBMISSION,
		FLAG_VIRTUAL_MACHINE_DATA,
	};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t set = 0; set < 1u << COUNT(flags); set++) {
		struct pb_descriptor descriptor = card_mark(&card, 1, 0x1000 + set);

		for (uint32_t i = 0; i < COUNT(flags); i++)
			descriptor.flags |= (set >> i & 1u) * flags[i];
		card_equal("status", card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
		card_equal("low", card_dma(&card, 1)[1], (uint32_t)CARD_VIDEO_GPU + 4);
		card_equal("high", card_dma(&card, 1)[2], (uint32_t)(CARD_VIDEO_GPU >> 32));
		card_equal("stored", card_word(&card, 1, 4), 0x1000 + set);
	}
	card_expect_no_event(&card.channel, "flags");
	card_stop(&card);
}

/** TARGET is a packet that only the 3D node has, so that it tells where it ran. */
static void engine_ordinal_does_not_route(void **state)
{
	static const uint32_t ordinals[] = {0, 1, 2, 0xffffffff};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(ordinals) * 2; i++) {
		const uint32_t node = i % 2;
		struct pb_descriptor descriptor =
			card_descriptor(&card, 0, PB_PACKET_TARGET_WORDS * 4u, 0, 0);
		uint32_t *words = card_dma(&card, 0);

		words[0] = PB_PACKET(PB_PACKET_TARGET, PB_PACKET_TARGET_WORDS);
		words[1] = (uint32_t)CARD_VIDEO_GPU;
		words[2] = (uint32_t)(CARD_VIDEO_GPU >> 32);
		words[3] = words[4] = 1;
		words[5] = 4;
		descriptor.engine_ordinal = ordinals[i / 2];
		card_equal("status", card_execute(&card, node, &descriptor).status,
			   node == 0 ? PB_ERROR_OK : PB_ERROR_ENGINE_FAULT);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

/* ---- the order of fences ---- */

/** Waits for `count` submissions; whenever the record moves, it must show the fence id of the one it counts. */
static void expect_order(struct card *card, uint32_t node, const uint32_t *fence_ids, uint32_t count)
{
	const uint32_t first = card->queues[node].put - count;
	uint32_t seen = first;
	struct pb_fence fence = {0};

	for (uint32_t steps = 0; seen - first < count; steps++) {
		if (steps > 100000)
			fail_msg("%u of %u completed", seen - first, count);
		pb_sim_step(card->sim);
		assert_int_equal(pb_queue_fence(&card->queues[node], &fence), PB_ERROR_OK);
		if (fence.completed == seen)
			continue;
		assert_true(fence.completed - seen <= count);
		seen = fence.completed;
		card_equal("fence id", fence.fence_id, fence_ids[seen - first - 1]);
	}
}

/** Work that needs nothing of the engine, or fails before it, does not overtake. */
static void empty_work_waits_its_turn(void **state)
{
	static const uint32_t ids[] = {50, 51, 52, 53, 54, 55, 56};
	static const struct card_edit edits[COUNT(ids) - 1][CARD_EDITS] = {
		{CARD_SET(flags, PB_FLAG_CONTEXT_SWITCH), CARD_SET(dma_end, 0), CARD_SET(patch_length, 0)},
		{CARD_SET(dma_address_low, 0), CARD_SET(dma_size, 0), CARD_SET(dma_end, 0),
		 CARD_SET(patch_length, 0)}, /* what could not be prepared */
		{CARD_SET(flags, PB_FLAG_NULL_RENDERING)},
		{CARD_SET(flags, PB_FLAG_NULL_RENDERING | PB_FLAG_CONTEXT_SWITCH), CARD_SET(dma_end, 0),
		 CARD_SET(patch_length, 0)},
		{CARD_SET(patch_start, 2)}, /* refused */
		{CARD_SET(flags, 0)},       /* cancelled */
	};
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	descriptor = busy(&card, 0, 3000);
	descriptor.context = other_context(&card);
	descriptor.fence_id = ids[0];
	card_submit(&card, 0, &descriptor);
	for (uint32_t i = 1; i < COUNT(ids); i++) {
		descriptor = card_mark(&card, i, ids[i]);
		card_edit(&descriptor, edits[i - 1]);
		card_submit(&card, 0, &descriptor);
	}
	card_run(&card, 2500);
	fence = card_wait(&card, 0, 0);
	assert_false(fence.valid);
	expect_order(&card, 0, ids, COUNT(ids));
	fence = card_wait(&card, 0, COUNT(ids));
	assert_int_equal(fence.status, PB_ERROR_CONTEXT_LOST);
	assert_int_equal(fence.error, PB_ERROR_BAD_PATCH_LIST);
	assert_int_equal(fence.error_fence_id, ids[5]);
	assert_int_equal(fence.errors, 2);
	for (uint32_t i = 1; i < COUNT(ids); i++)
		card_equal("not run", card_word(&card, 1, i * 4), 0);
	card_stop(&card);
}

/** Ids that wrap, repeat, and go back, all in the ring at once: order is the ring's. */
static void fence_ids_say_nothing_about_order(void **state)
{
	static const uint32_t ids[] = {
		0xfffffffe, 0xffffffff, 0, 1, 0xffffffff, 0xffffffff, 0x7fffffff, 0x80000001, 0, 0, 5,
	};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(ids); i++) {
		struct pb_descriptor descriptor = card_mark(&card, i, ids[i]);

		/* The value stored tells the submissions apart where the ids do not. */
		card_dma(&card, i)[4] = 0x100 + i;
		card_submit(&card, 0, &descriptor);
	}
	expect_order(&card, 0, ids, COUNT(ids));
	assert_int_equal(card_wait(&card, 0, COUNT(ids)).errors, 0);
	for (uint32_t i = 0; i < COUNT(ids); i++)
		card_equal("stored", card_word(&card, 1, i * 4), 0x100 + i);
	card_expect_no_event(&card.channel, "fence ids");
	card_stop(&card);
}

/** The same buffer once more with the same id or a lower one, after it was lost to a fault before it. */
static void resubmission(void **state)
{
	static const uint32_t ids[] = {1000, 1000, 999};
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(ids); i++) {
		card_dma(&card, 0)[0] = PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS);
		descriptor = card_descriptor(&card, 0, 4, 0, 0);
		descriptor.fence_id = 998;
		card_submit(&card, 0, &descriptor);
		descriptor = card_mark(&card, 1, 1000);
		fence = card_execute(&card, 0, &descriptor);
		assert_int_equal(fence.status, PB_ERROR_CONTEXT_LOST);
		assert_int_equal(card_word(&card, 1, 4), 0);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);

		descriptor.fence_id = ids[i];
		descriptor.flags = PB_FLAG_RESUBMISSION;
		fence = card_execute(&card, 0, &descriptor);
		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_int_equal(fence.fence_id, ids[i]);
		assert_int_equal(card_word(&card, 1, 4), 1000);
		memset(card_bytes(&card, 1, 4), 0, 4);
	}
	card_stop(&card);
}

/** The OS numbers the work of each node by itself. */
static void each_queue_has_its_own_fences(void **state)
{
	static const uint32_t ids[2][3] = {{1185, 1186, 1187}, {9228, 3, 1186}};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t node = 0; node < 2; node++) {
			struct pb_descriptor descriptor = card_mark(&card, i * 2 + node, ids[node][i]);

			card_submit(&card, node, &descriptor);
		}
	}
	for (uint32_t node = 0; node < 2; node++) {
		const struct pb_fence fence = card_wait(&card, node, 3);

		assert_int_equal(fence.fence_id, ids[node][2]);
		assert_int_equal(fence.timeline, 3);
	}
	/* Patches are counted for the whole channel. */
	for (uint32_t node = 0; node < 2; node++)
		assert_int_equal(card_wait(&card, node, 3).patches, 6);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_contract)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_one_buffer),
		cmocka_unit_test(moved_allocations_are_patched_anew),
		cmocka_unit_test(flags_without_effect),
		cmocka_unit_test(engine_ordinal_does_not_route),
		cmocka_unit_test(empty_work_waits_its_turn),
		cmocka_unit_test(fence_ids_say_nothing_about_order),
		cmocka_unit_test(resubmission),
		cmocka_unit_test(each_queue_has_its_own_fences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
