/* SPDX-License-Identifier: MIT */
/* What an earlier submission leaves in the node's private tables has no say in a later one. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/patch_oracle.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define MOST         1024u
#define GOOD         12u /* entries before the bad one */

static struct pb_allocation allocations[MOST];
static struct pb_patch_location patches[GOOD + 1u];

/** Writable ones below 4 GiB, or one beyond, so that some formats lose their fast loop. */
static void make_allocations(bool far)
{
	for (uint32_t i = 0; i < MOST; i++) {
		allocations[i] = oracle_allocation(0x10000u * i, 0x1000,
						   CARD_SEGMENT(3) | PB_ALLOCATION_WRITE |
							   i % 4u << PB_ALLOCATION_ATTRIBUTE_SHIFT);
		allocations[i].id = 0x1d00000u + i;
	}
	if (far)
		allocations[0] = oracle_allocation(UINT64_C(0xfffff800), 0x1000, CARD_SEGMENT(3));
}

/** Every way through the patch step: entry i has format i % 2. */
static const struct {
	const char *name;
	uint32_t format[2];
	bool far; /* an allocation crosses 4 GiB */
} ways[] = {
	{"fast", {PB_PATCH_FORMAT_ADDRESS32, PB_PATCH_FORMAT_ADDRESS32}, false},
	{"fast, 64 bits", {PB_PATCH_FORMAT_ADDRESS64, PB_PATCH_FORMAT_ADDRESS64}, false},
	{"fast, write", {PB_PATCH_FORMAT_ADDRESS64_WRITE, PB_PATCH_FORMAT_ADDRESS64_WRITE}, false},
	{"fast, not bounded", {PB_PATCH_FORMAT_SUM32, PB_PATCH_FORMAT_SUM32}, false},
	{"fast, signed", {PB_PATCH_FORMAT_SUM64_SIGNED, PB_PATCH_FORMAT_SUM64_SIGNED}, false},
	{"fast, canonical", {PB_PATCH_FORMAT_SUM64_CANONICAL, PB_PATCH_FORMAT_SUM64_CANONICAL}, false},
	{"fast, high", {PB_PATCH_FORMAT_HIGH32, PB_PATCH_FORMAT_HIGH32}, false},
	{"fast, shifted", {PB_PATCH_FORMAT_SHIFT8, PB_PATCH_FORMAT_SHIFT8}, false},
	{"mixed", {PB_PATCH_FORMAT_ADDRESS32, PB_PATCH_FORMAT_ADDRESS64}, false},
	{"mixed, not bounded", {PB_PATCH_FORMAT_SUM32, PB_PATCH_FORMAT_HIGH32}, false},
	{"mixed with general", {PB_PATCH_FORMAT_SUM32, PB_PATCH_FORMAT_SHIFT1}, false},
	{"plain", {PB_PATCH_FORMAT_SHIFT1, PB_PATCH_FORMAT_SHIFT1}, false},
	{"plain, bounded", {PB_PATCH_FORMAT_FIELD28, PB_PATCH_FORMAT_FIELD28}, false},
	{"rich", {PB_PATCH_FORMAT_LOW24, PB_PATCH_FORMAT_LOW24}, false},
	{"rich, id", {PB_PATCH_FORMAT_ID32, PB_PATCH_FORMAT_ID32}, false},
	{"rich, attribute", {PB_PATCH_FORMAT_TILING, PB_PATCH_FORMAT_TILING}, false},
	{"rich, kind", {PB_PATCH_FORMAT_NOUVEAU_DMA, PB_PATCH_FORMAT_NOUVEAU_DMA}, false},
	{"two general", {PB_PATCH_FORMAT_ID32, PB_PATCH_FORMAT_SHIFT1}, false},
	{"exact", {PB_PATCH_FORMAT_UNALIGNED32, PB_PATCH_FORMAT_UNALIGNED32}, false},
	{"fast one that must be general", {PB_PATCH_FORMAT_ADDRESS64, PB_PATCH_FORMAT_ADDRESS64}, true},
	{"the same, mixed", {PB_PATCH_FORMAT_ADDRESS64_WRITE, PB_PATCH_FORMAT_ADDRESS64}, true},
};

static void make_patches(uint32_t way, uint32_t allocation_count, uint32_t bad_index)
{
	for (uint32_t i = 0; i <= GOOD; i++)
		patches[i] = (struct pb_patch_location){
			/* No format that claims a write meets the far allocation, which allows none. */
			.allocation_index = 1u + i % (allocation_count - 1u),
			.driver_id = ways[way].format[i % 2u],
			.allocation_offset = 0x10u * i,
			.patch_offset = 8u * i,
		};
	patches[GOOD].allocation_index = bad_index;
}

static struct oracle_list list_of(uint32_t allocation_count, uint32_t patch_count)
{
	return (struct oracle_list){
		.allocations = allocations,
		.patches = patches,
		.allocation_count = allocation_count,
		.patch_count = patch_count,
		.patch_length = patch_count,
		.dma_end = ORACLE_BUFFER_BYTES,
	};
}

/** Entries up to the bad one are carried out, that one is not. */
static void expect_index(struct card *card, uint32_t way, uint32_t allocation_count, uint32_t bad_index)
{
	struct oracle_list list;
	char row[80];

	snprintf(row, sizeof(row), "%s, %u of %u", ways[way].name, bad_index, allocation_count);
	make_allocations(ways[way].far);
	make_patches(way, allocation_count, bad_index);
	list = list_of(allocation_count, GOOD + 1u);
	card_equal(row, oracle_check_both(card, row, &list, 1u + bad_index), PB_ERROR_PATCH_INDEX);
	/* The last that is there is good. */
	patches[GOOD].allocation_index = allocation_count - 1u;
	card_equal(row, oracle_check_both(card, row, &list, 2u + bad_index), PB_ERROR_OK);
}

/** A list that fills slots up to `count`. */
static void fill_slots(struct card *card, uint32_t count)
{
	const struct oracle_list list = list_of(count, 1);

	make_allocations(false);
	make_patches(0, count, 1);
	card_equal("fill", oracle_check(card, "fill", &list, 7).error, PB_ERROR_OK);
}

static void indices_between_two_lists(void **state)
{
	static const uint32_t counts[] = {1024, 3, 700, 699, 2, 25, 1023, 24, 48, 47};
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t way = 0; way < COUNT(ways); way++) {
		for (uint32_t i = 1; i < COUNT(counts); i++) {
			const uint32_t before = counts[i - 1u];
			const uint32_t count = counts[i];
			const uint32_t most = before > count ? before : MOST;

			fill_slots(&card, before);
			expect_index(&card, way, count, count);
			fill_slots(&card, before);
			expect_index(&card, way, count, (count + most) / 2u);
			fill_slots(&card, before);
			expect_index(&card, way, count, most - 1u);
		}
	}
	card_stop(&card);
}

/** Submits an allocation list whose entry `bad` is not resident. */
static void fail_resolve(struct card *card, uint32_t count, uint32_t bad)
{
	const struct oracle_list list = list_of(count, 1);
	struct pb_fence fence;
	struct pb_event event;

	make_allocations(false);
	make_patches(0, count, 0);
	allocations[bad].flags = 0;
	fence = oracle_submit(card, &list);
	card_equal("resolve", fence.status, PB_ERROR_NOT_RESIDENT);
	card_equal("resolve", fence.error_index, bad);
	while (pb_channel_event(&card->channel, &event))
		;
	assert_int_equal(pb_context_clear(&card->channel, card->context), PB_ERROR_OK);
	assert_int_equal(pb_queue_clear(&card->queues[0]), PB_ERROR_OK);
}

/** A list that failed in its middle has left slots, and so have those before it. */
static void failed_lists_leave_nothing(void **state)
{
	static const struct {
		uint32_t before; /* a longer list; 0: none */
		uint32_t count;
		uint32_t bad;
		uint32_t index; /* named by a list of 3 */
	} rows[] = {
		{0, 1024, 600, 5},     {0, 1024, 600, 599},   {0, 1024, 600, 600},    {1024, 700, 600, 599},
		{1024, 700, 600, 600}, {1024, 700, 600, 699}, {1024, 700, 600, 1023}, {100, 700, 0, 99},
		{100, 700, 50, 99},    {100, 700, 101, 100},  {0, 1024, 1023, 1022},
	};

	(void)state;
	for (uint32_t way = 0; way < COUNT(ways); way++) {
		struct card card;

		oracle_start(&card);
		for (uint32_t i = 0; i < COUNT(rows); i++) {
			if (rows[i].before != 0)
				fill_slots(&card, rows[i].before);
			fail_resolve(&card, rows[i].count, rows[i].bad);
			expect_index(&card, way, 3, rows[i].index);
		}
		card_stop(&card);
	}
}

/**
 * A DriverId of all ones names no format, whatever was carried out before:
 * nothing that a node knows of a format goes by that number.
 */
static void no_format_is_no_format(void **state)
{
	static const uint32_t numbers[] = {0xffffffff, 0xfffffffe, 0x80000000, 26, 127};
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < COUNT(numbers) * COUNT(ways); i++) {
		const uint32_t way = i / COUNT(numbers);
		struct oracle_list list = list_of(MOST, GOOD);

		make_allocations(ways[way].far);
		make_patches(way, MOST, 1);
		card_equal(ways[way].name, oracle_check(&card, ways[way].name, &list, 1 + i).error,
			   PB_ERROR_OK);
		/* Its place is out of a later and smaller range, and inside the one before. */
		patches[0].driver_id = numbers[i % COUNT(numbers)];
		patches[0].patch_offset = 64;
		list = list_of(MOST, 1);
		list.dma_end = 16;
		card_equal(ways[way].name, oracle_check(&card, ways[way].name, &list, 1 + i).error,
			   PB_ERROR_PATCH_FORMAT);
	}
	card_stop(&card);
}

/** Reserved bits are seen whatever the allocation before has left, where they are all that is wrong as well. */
static void no_flags_are_no_flags(void **state)
{
	static const struct {
		const char *name;
		uint32_t segment; /* of the allocation before; 0: there is none */
		uint64_t before;
		uint64_t address;
		uint32_t flags;
	} rows[] = {
		{"first", 0, 0, 0, 0xffffffff},
		{"in a segment that crosses 4 GiB", 2, CARD_EDGE_OS, CARD_EDGE_OS + 0x1000, 0xffffffff},
		{"on its other side", 2, CARD_EDGE_OS, CARD_EDGE_OS + 0x18000, 0xffffffff},
		{"at its start", 2, CARD_EDGE_OS, CARD_EDGE_OS, 0xffffffff},
		{"in a large segment", 3, 0x1000, 0x2000, 0xffffffff},
		{"in an ordinary one", 1, CARD_VIDEO_OS, CARD_VIDEO_OS + 0x1000, 0xffffffff},
		{"in an ordinary one, one bit", 1, CARD_VIDEO_OS, CARD_VIDEO_OS + 0x1000,
		 CARD_SEGMENT(1) | 0x800},
		{"that one, bit 31", 1, CARD_VIDEO_OS, CARD_VIDEO_OS + 0x1000, CARD_SEGMENT(1) | 0x80000000},
	};
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_SUM64_SIGNED};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const uint32_t last = rows[i].segment != 0 ? 1 : 0;
		const struct pb_descriptor descriptor = card_descriptor(&card, 1, 64, last + 1u, 1);
		struct pb_fence fence;

		card_allocation(&card, 0, rows[i].before, 0x1000, CARD_SEGMENT(rows[i].segment));
		card_allocation(&card, last, rows[i].address, 0x1000, rows[i].flags);
		card_patch(&card, 0, &patch);
		fence = card_execute(&card, 0, &descriptor);
		card_equal(rows[i].name, fence.status, PB_ERROR_BAD_ALLOCATION);
		card_equal(rows[i].name, fence.error_index, last);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
		assert_int_equal(pb_queue_clear(&card.queues[0]), PB_ERROR_OK);
	}
	card_stop(&card);
}

/* ---- both nodes ---- */

#define NODE_PATCHES 3000u
#define NODE_STRIDE  0x40000u /* of lists in segment 0 */

/** A list for a node: entry i stores the address of allocation i % count at its own word; the last names `bad`. */
static struct pb_descriptor node_list(const struct card *card, uint32_t node, uint32_t count, uint32_t bad)
{
	struct pb_descriptor descriptor =
		card_descriptor(card, 1u + node * 4u, NODE_PATCHES * 4u, count, NODE_PATCHES);
	const uint32_t base = CARD_PATCHES + (1u + node) * NODE_STRIDE;

	memcpy(card_bytes(card, 0, CARD_ALLOCATIONS + node * 0x8000u), allocations,
	       count * sizeof(*allocations));
	for (uint32_t i = 0; i < NODE_PATCHES; i++) {
		const struct pb_patch_location patch = {
			.allocation_index = i == NODE_PATCHES - 1u && bad != 0 ? bad : i % count,
			.driver_id = i % 50u < 25u ? PB_PATCH_FORMAT_ADDRESS32 : PB_PATCH_FORMAT_SHIFT1,
			.allocation_offset = i % 0x1000u,
			.patch_offset = 4u * i,
		};

		memcpy(card_bytes(card, 0, base + i * (uint32_t)sizeof(patch)), &patch, sizeof(patch));
	}
	descriptor.allocation_address_low += node * 0x8000u;
	descriptor.patch_address_low = (uint32_t)CARD_SYSTEM_OS + base;
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	return descriptor;
}

static void expect_words(const struct card *card, uint32_t node, uint32_t count, uint32_t words)
{
	const uint32_t *dma = card_dma(card, 1u + node * 4u);

	for (uint32_t i = 0; i < words; i++) {
		const uint32_t value = 0x10000u * (i % count) + i % 0x1000u;

		card_equal("word", dma[i], i % 50u < 25u ? value : value / 2u);
	}
}

/** A long list on one node while the other has short ones, and short ones while the other has a long one. */
static void nodes_have_tables_of_their_own(void **state)
{
	struct card card;
	uint32_t other;

	(void)state;
	card_start(&card);
	make_allocations(false);
	assert_int_equal(pb_context_create(&card.channel, &other), PB_ERROR_OK);
	for (uint32_t round = 0; round < 8; round++) {
		const uint32_t is_long = round % 2u, is_short = 1u - is_long;
		struct pb_descriptor descriptors[2];
		struct pb_fence fence;

		descriptors[is_long] = node_list(&card, is_long, MOST, 0);
		descriptors[is_short] =
			node_list(&card, is_short, 3u + round, round < 4 ? 20u + round : 1023u);
		descriptors[1].context = other;
		memset(card_dma(&card, 1), 0xdd, 8u * CARD_DMA_STRIDE);
		card_submit(&card, 0, &descriptors[0]);
		card_submit(&card, 1, &descriptors[1]);
		fence = card_wait(&card, is_long, round + 1u);
		card_equal("long list", fence.status, PB_ERROR_OK);
		fence = card_wait(&card, is_short, round + 1u);
		card_equal("short list", fence.status, PB_ERROR_PATCH_INDEX);
		card_equal("short list", fence.error_index, NODE_PATCHES - 1u);
		expect_words(&card, is_long, MOST, NODE_PATCHES);
		expect_words(&card, is_short, 3u + round, NODE_PATCHES - 1u);
		card_equal("bad word", card_dma(&card, 1u + is_short * 4u)[NODE_PATCHES - 1u], 0xdddddddd);
		assert_int_equal(pb_context_clear(&card.channel, descriptors[is_short].context), PB_ERROR_OK);
		assert_int_equal(pb_queue_clear(&card.queues[is_short]), PB_ERROR_OK);
	}
	card_stop(&card);
}

UNIT_SUITE(test_firmware_leftovers)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indices_between_two_lists),
		cmocka_unit_test(failed_lists_leave_nothing),
		cmocka_unit_test(no_format_is_no_format),
		cmocka_unit_test(no_flags_are_no_flags),
		cmocka_unit_test(nodes_have_tables_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
