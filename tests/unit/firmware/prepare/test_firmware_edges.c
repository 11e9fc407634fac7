/* SPDX-License-Identifier: MIT */
/* Descriptors at the edge of what is legal: all of them complete without an error. */
#include <string.h>

#include "tests/unit/card_fixture.h"

#define SYSTEM_END ((uint32_t)CARD_SYSTEM_OS + CARD_SYSTEM_BYTES)

enum effect {
	NOTHING, /* neither patched nor run */
	PATCHED, /* patched, not run */
	RUN,     /* patched and run */
};

struct row {
	const char *name;
	enum effect effect;
	struct card_edit edits[CARD_EDITS];
};

static const struct row rows[] = {
	{"as it is", RUN, {{0}}},
	{"flags that WDDM does not name", RUN, {CARD_SET(flags, 0xffffff00)}},
	{"present", RUN, {CARD_SET(flags, PB_FLAG_PRESENT)}},
	{"redirected present", RUN, {CARD_SET(flags, PB_FLAG_REDIRECTED_PRESENT)}},
	{"flip", RUN, {CARD_SET(flags, PB_FLAG_FLIP | PB_FLAG_FLIP_WITH_NO_WAIT)}},
	{"context switch", RUN, {CARD_SET(flags, PB_FLAG_CONTEXT_SWITCH)}},
	{"resubmission", RUN, {CARD_SET(flags, PB_FLAG_RESUBMISSION)}},
	{"null rendering", PATCHED, {CARD_SET(flags, PB_FLAG_NULL_RENDERING)}},
	{"null rendering among others", PATCHED, {CARD_SET(flags, 0xfffffffe)}},
	{"an engine ordinal", RUN, {CARD_SET(engine_ordinal, 77)}},
	{"an address of no waits",
	 RUN,
	 {CARD_SET(wait_address_low, 0xffffffff), CARD_SET(wait_address_high, 0xffffffff)}},

	{"empty at its start", NOTHING, {CARD_SET(dma_end, 0), CARD_SET(patch_length, 0)}},
	{"empty in its middle",
	 NOTHING,
	 {CARD_SET(dma_start, 20), CARD_SET(dma_end, 20), CARD_SET(patch_length, 0)}},
	{"empty at its end",
	 NOTHING,
	 {CARD_SET(dma_start, 4096), CARD_SET(dma_end, 4096), CARD_SET(patch_length, 0)}},
	{"empty without a buffer",
	 NOTHING,
	 {CARD_SET(dma_address_low, 0), CARD_SET(dma_size, 0), CARD_SET(dma_end, 0),
	  CARD_SET(patch_length, 0)}},
	{"empty with an address of no memory",
	 NOTHING,
	 {CARD_SET(dma_address_low, 0x123), CARD_SET(dma_address_high, 0x456), CARD_SET(dma_end, 0),
	  CARD_SET(patch_length, 0)}},
	{"empty in no segment",
	 NOTHING,
	 {CARD_SET(dma_segment, 99), CARD_SET(dma_end, 0), CARD_SET(patch_length, 0)}},

	{"buffer that ends where it is submitted", RUN, {CARD_SET(dma_size, 20)}},
	{"buffer of all the segment's rest",
	 RUN,
	 {CARD_SET(dma_size, CARD_SYSTEM_BYTES - CARD_DMA - 0x1000)}},

	{"private data address without private data",
	 RUN,
	 {CARD_SET(private_address_low, 0xffffffff), CARD_SET(private_address_high, 0xffffffff)}},
	{"first byte of private data",
	 RUN,
	 {CARD_SET(private_address_low, CARD_SYSTEM_OS), CARD_SET(private_size, 1),
	  CARD_SET(private_end, 1)}},
	{"last byte of private data, misaligned",
	 RUN,
	 {CARD_SET(private_address_low, SYSTEM_END - 1), CARD_SET(private_size, 1),
	  CARD_SET(private_end, 1)}},
	{"private data to its end",
	 RUN,
	 {CARD_SET(private_address_low, SYSTEM_END - 7), CARD_SET(private_size, 7),
	  CARD_SET(private_start, 7), CARD_SET(private_end, 7)}},
	{"part of private data",
	 RUN,
	 {CARD_SET(private_address_low, CARD_SYSTEM_OS), CARD_SET(private_size, 0x400000),
	  CARD_SET(private_start, 5), CARD_SET(private_end, 9)}},
};

static void accept(const struct row *row)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	card_start(&card);
	descriptor = card_mark(&card, 1, 0xf00d);
	card_edit(&descriptor, row->edits);
	fence = card_execute(&card, 0, &descriptor);
	card_equal(row->name, fence.status, PB_ERROR_OK);
	card_equal(row->name, fence.valid, true);
	card_equal(row->name, fence.fence_id, 0xf00d);
	card_equal(row->name, fence.timeline, 1);
	card_equal(row->name, fence.errors, 0);
	card_equal(row->name, fence.patches, row->effect == NOTHING ? 0 : 1);
	card_equal(row->name, card_dma(&card, 1)[1], row->effect == NOTHING ? 0 : 0x80000004);
	card_equal(row->name, card_dma(&card, 1)[2], row->effect == NOTHING ? 0 : 1);
	card_equal(row->name, card_word(&card, 1, 4), row->effect == RUN ? 0xf00d : 0);
	card_expect_no_event(&card.channel, row->name);
	card_stop(&card);
}

static void every_legal_edge(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		accept(&rows[i]);
}

/** A buffer that the host has patched runs as it is; the words about the lists mean nothing then. */
static void prepatched_buffer_runs_as_it_is(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	descriptor = card_descriptor(&card, 0, 20, 0, 0);
	card_fill(card_dma(&card, 0), CARD_VIDEO_GPU + 64, 8, 0x5eed);
	descriptor.allocation_address_low = 0xfffffffd;
	descriptor.allocation_address_high = 0xffffffff;
	descriptor.patch_address_low = 0xfffffffd;
	descriptor.patch_address_high = 0xffffffff;
	descriptor.patch_count = 3;
	descriptor.patch_start = 3;
	fence = card_execute(&card, 0, &descriptor);
	assert_int_equal(fence.status, PB_ERROR_OK);
	assert_int_equal(fence.patches, 0);
	assert_int_equal(card_word(&card, 1, 60), 0);
	assert_int_equal(card_word(&card, 1, 64), 0x5eed);
	assert_int_equal(card_word(&card, 1, 68), 0x5eed);
	assert_int_equal(card_word(&card, 1, 72), 0);
	card_stop(&card);
}

static void only_the_range_runs(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	uint32_t *words;

	(void)state;
	card_start(&card);
	words = card_dma(&card, 0);
	for (uint32_t i = 0; i < 4; i++)
		words = card_fill(words, CARD_VIDEO_GPU + 4 * i, 4, 0xa0 + i);
	descriptor = card_descriptor(&card, 0, 80, 0, 0);
	descriptor.dma_start = 20;
	descriptor.dma_end = 60;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 0), 0);
	assert_int_equal(card_word(&card, 1, 4), 0xa1);
	assert_int_equal(card_word(&card, 1, 8), 0xa2);
	assert_int_equal(card_word(&card, 1, 12), 0);
	card_stop(&card);
}

/** Buffers run wherever memory is: at the last page, above 4 GiB, across 4 GiB of the engine's addresses. */
static void buffer_in_any_backed_place(void **state)
{
	static const struct {
		const char *name;
		uint32_t segment;
		uint64_t base;
		uint32_t offset;
		uint32_t size;
	} places[] = {
		{"last page of system memory", 0, CARD_SYSTEM_OS, CARD_SYSTEM_BYTES - 0x1000, 0x1000},
		{"video memory", 1, CARD_VIDEO_OS, 0x1000, 0x1000},
		{"last backed page of video memory", 1, CARD_VIDEO_OS, CARD_VIDEO_BACKED - 0x1000, 0x1000},
		{"below 4 GiB", 2, CARD_EDGE_OS, 0xf000, 0x2000},
		{"at 4 GiB", 2, CARD_EDGE_OS, 0x10000, 0x10000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const uint64_t address = places[i].base + places[i].offset;
		struct card card;
		struct pb_descriptor descriptor;
		uint32_t *words;

		card_start(&card);
		/* The last packet ends at the buffer's end. */
		words = (uint32_t *)(void *)card_bytes(&card, places[i].segment,
						       places[i].offset + places[i].size - 20u);
		card_fill(words, CARD_VIDEO_GPU, 4, 0xbeef);
		descriptor = card_descriptor(&card, 0, 0, 0, 0);
		descriptor.dma_segment = places[i].segment;
		descriptor.dma_address_low = (uint32_t)address;
		descriptor.dma_address_high = (uint32_t)(address >> 32);
		descriptor.dma_size = places[i].size;
		descriptor.dma_start = places[i].size - 20u;
		descriptor.dma_end = places[i].size;
		card_equal(places[i].name, card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
		card_equal(places[i].name, card_word(&card, 1, 0), 0xbeef);
		card_stop(&card);
	}
}

/** Both lists end with the last byte of system memory, one after the other. */
static void lists_at_the_end_of_memory(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	descriptor = card_mark(&card, 1, 1);
	memcpy(card_bytes(&card, 0, CARD_SYSTEM_BYTES - 24), card_bytes(&card, 0, CARD_ALLOCATIONS), 24);
	descriptor.allocation_address_low = SYSTEM_END - 24;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 4), 1);

	descriptor = card_mark(&card, 2, 2);
	memcpy(card_bytes(&card, 0, CARD_SYSTEM_BYTES - 24), card_bytes(&card, 0, CARD_PATCHES + 2 * 24), 24);
	descriptor.patch_address_low = SYSTEM_END - 24;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 8), 2);

	/* 4-byte alignment is enough for a patch list. */
	descriptor = card_mark(&card, 3, 3);
	memcpy(card_bytes(&card, 0, CARD_SYSTEM_BYTES - 28), card_bytes(&card, 0, CARD_PATCHES + 3 * 24), 24);
	descriptor.patch_address_low = SYSTEM_END - 28;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 12), 3);
	card_stop(&card);
}

/** Any number is a fence id, and says nothing about order. */
static void any_fence_id(void **state)
{
	static const uint32_t ids[] = {0, 0, 7, 7, 3, 0xffffffff, 0, 0x80000000, 0x7fffffff, 1};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct pb_descriptor descriptor = card_mark(&card, i, ids[i]);
		struct pb_fence fence;

		card_equal("before", card_word(&card, 1, i * 4), 0);
		fence = card_execute(&card, 0, &descriptor);
		assert_true(fence.valid);
		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_int_equal(fence.fence_id, ids[i]);
		assert_int_equal(fence.timeline, i + 1);
		assert_int_equal(card_word(&card, 1, i * 4), ids[i]);
	}
	card_stop(&card);
}

static void record_before_any_work(void **state)
{
	struct card card;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	fence = card_wait(&card, 0, 0);
	assert_false(fence.valid);
	assert_int_equal(fence.timeline, 0);
	assert_int_equal(fence.error, PB_ERROR_OK);
	assert_int_equal(fence.error_index, PB_INDEX_NONE);
	assert_int_equal(fence.errors, 0);
	card_stop(&card);
}

#define MOST_ALLOCATIONS 1024u
#define MOST_PATCHES     65536u

/** The largest lists that the capability table promises. */
static void longest_lists(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	assert_int_equal(card.channel.card.capabilities[PB_CAPABILITY_ALLOCATIONS_MAX], MOST_ALLOCATIONS);
	assert_int_equal(card.channel.card.capabilities[PB_CAPABILITY_PATCHES_MAX], MOST_PATCHES);
	for (uint32_t i = 0; i < MOST_ALLOCATIONS; i++)
		card_allocation(&card, i, UINT64_C(0x1000) * i, 0x1000, CARD_SEGMENT(3));
	for (uint32_t i = 0; i < MOST_PATCHES; i++)
		card_patch(&card, i,
			   &(struct pb_patch_location){
				   .allocation_index = i % MOST_ALLOCATIONS,
				   .allocation_offset = i % 0x1000u,
				   .patch_offset = (MOST_PATCHES - 1u - i) * 4u,
			   });
	descriptor = card_descriptor(&card, 0, MOST_PATCHES * 4u, MOST_ALLOCATIONS, MOST_PATCHES);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	fence = card_execute(&card, 0, &descriptor);
	assert_int_equal(fence.status, PB_ERROR_OK);
	assert_int_equal(fence.patches, MOST_PATCHES);
	for (uint32_t i = 0; i < MOST_PATCHES; i++)
		assert_int_equal(card_dma(&card, 0)[MOST_PATCHES - 1u - i],
				 i % MOST_ALLOCATIONS * 0x1000u + i % 0x1000u);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_edges)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_legal_edge),
		cmocka_unit_test(prepatched_buffer_runs_as_it_is),
		cmocka_unit_test(only_the_range_runs),
		cmocka_unit_test(buffer_in_any_backed_place),
		cmocka_unit_test(lists_at_the_end_of_memory),
		cmocka_unit_test(any_fence_id),
		cmocka_unit_test(record_before_any_work),
		cmocka_unit_test(longest_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
