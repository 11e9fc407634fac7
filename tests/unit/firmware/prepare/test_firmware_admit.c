/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that the firmware must refuse: each one's error is published, its
 * fence still comes in order, and what it would have done has not happened.
 */
#include "tests/unit/card_fixture.h"

struct row {
	const char *name;
	enum pb_error error;
	struct card_edit edits[CARD_EDITS];
};

#define SYSTEM_END ((uint32_t)CARD_SYSTEM_OS + CARD_SYSTEM_BYTES)

static const struct row rows[] = {
	{"option 1", PB_ERROR_BAD_OPTIONS, {CARD_SET(options, 2)}},
	{"option 31", PB_ERROR_BAD_OPTIONS, {CARD_SET(options, 0x80000000)}},

	{"a wait without a list", PB_ERROR_BAD_WAIT, {CARD_SET(wait_count, 1)}},
	{"encoding 3", PB_ERROR_UNSUPPORTED, {CARD_SET(patch_encoding, 3)}},
	{"encoding of all ones", PB_ERROR_UNSUPPORTED, {CARD_SET(patch_encoding, 0xffffffff)}},

	{"start behind end", PB_ERROR_BAD_RANGE, {CARD_SET(dma_start, 24)}},
	{"end behind the buffer", PB_ERROR_BAD_RANGE, {CARD_SET(dma_end, 4100)}},
	{"end of all ones", PB_ERROR_BAD_RANGE, {CARD_SET(dma_end, 0xffffffff)}},
	{"end 1 before a word's", PB_ERROR_BAD_RANGE, {CARD_SET(dma_end, 19)}},
	{"end 2 before a word's", PB_ERROR_BAD_RANGE, {CARD_SET(dma_end, 18)}},
	{"end 3 before a word's", PB_ERROR_BAD_RANGE, {CARD_SET(dma_end, 17)}},
	{"size 0", PB_ERROR_BAD_RANGE, {CARD_SET(dma_size, 0)}},
	{"start 1", PB_ERROR_BAD_RANGE, {CARD_SET(dma_start, 1)}},
	{"start 2", PB_ERROR_BAD_RANGE, {CARD_SET(dma_start, 2)}},
	{"start odd in an empty range", PB_ERROR_BAD_RANGE, {CARD_SET(dma_start, 2), CARD_SET(dma_end, 2)}},
	{"empty range behind the buffer",
	 PB_ERROR_BAD_RANGE,
	 {CARD_SET(dma_start, 4100), CARD_SET(dma_end, 4100)}},

	{"segment 4", PB_ERROR_BAD_SEGMENT, {CARD_SET(dma_segment, 4)}},
	{"segment 32", PB_ERROR_BAD_SEGMENT, {CARD_SET(dma_segment, 32)}},
	{"segment 256", PB_ERROR_BAD_SEGMENT, {CARD_SET(dma_segment, 256)}},
	{"segment of all ones", PB_ERROR_BAD_SEGMENT, {CARD_SET(dma_segment, 0xffffffff)}},

	{"buffer at a 64-byte line",
	 PB_ERROR_BAD_BUFFER,
	 {CARD_SET(dma_address_low, CARD_SYSTEM_OS + 0x100040)}},
	{"buffer at 2 KiB", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_address_low, CARD_SYSTEM_OS + 0x100800)}},
	{"buffer before the segment",
	 PB_ERROR_BAD_BUFFER,
	 {CARD_SET(dma_address_low, CARD_SYSTEM_OS - 0x1000)}},
	{"buffer at 0", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_address_low, 0)}},
	{"buffer at the segment's end", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_address_low, SYSTEM_END)}},
	{"buffer past the segment's end",
	 PB_ERROR_BAD_BUFFER,
	 {CARD_SET(dma_address_low, SYSTEM_END - 0x1000), CARD_SET(dma_size, 0x1001)}},
	{"buffer 4 GiB up", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_address_high, 1)}},
	{"buffer of 4 GiB", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_size, 0xffffffff)}},
	{"buffer that wraps 2^64",
	 PB_ERROR_BAD_BUFFER,
	 {CARD_SET(dma_address_low, 0xfffff000), CARD_SET(dma_address_high, 0xffffffff),
	  CARD_SET(dma_size, 0x2000)}},
	{"buffer by its GPU address",
	 PB_ERROR_BAD_BUFFER,
	 {CARD_SET(dma_address_low, CARD_SYSTEM_GPU + CARD_DMA)}},
	{"buffer in an unbacked segment", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_segment, 3)}},
	{"buffer behind the backed part",
	 PB_ERROR_BAD_BUFFER,
	 {CARD_SET(dma_segment, 1), CARD_SET(dma_address_low, CARD_VIDEO_BACKED),
	  CARD_SET(dma_address_high, 8)}},
	{"buffer half behind the backed part",
	 PB_ERROR_BAD_BUFFER,
	 {CARD_SET(dma_segment, 1), CARD_SET(dma_address_low, CARD_VIDEO_BACKED - 0x1000),
	  CARD_SET(dma_address_high, 8), CARD_SET(dma_size, 0x1004)}},

	{"private start behind end", PB_ERROR_BAD_PRIVATE_DATA, {CARD_SET(private_start, 1)}},
	{"private end behind size 0", PB_ERROR_BAD_PRIVATE_DATA, {CARD_SET(private_end, 1)}},
	{"private end behind size",
	 PB_ERROR_BAD_PRIVATE_DATA,
	 {CARD_SET(private_address_low, CARD_SYSTEM_OS), CARD_SET(private_size, 4),
	  CARD_SET(private_end, 5)}},
	{"private start behind end inside",
	 PB_ERROR_BAD_PRIVATE_DATA,
	 {CARD_SET(private_address_low, CARD_SYSTEM_OS), CARD_SET(private_size, 4),
	  CARD_SET(private_start, 3), CARD_SET(private_end, 2)}},
	{"private data before the segment",
	 PB_ERROR_BAD_PRIVATE_DATA,
	 {CARD_SET(private_address_low, CARD_SYSTEM_OS - 1), CARD_SET(private_size, 1)}},
	{"private data at address 0", PB_ERROR_BAD_PRIVATE_DATA, {CARD_SET(private_size, 1)}},
	{"private data past the end",
	 PB_ERROR_BAD_PRIVATE_DATA,
	 {CARD_SET(private_address_low, SYSTEM_END - 3), CARD_SET(private_size, 4)}},
	{"private data of 4 GiB",
	 PB_ERROR_BAD_PRIVATE_DATA,
	 {CARD_SET(private_address_low, CARD_SYSTEM_OS), CARD_SET(private_size, 0xffffffff)}},
	{"private data 4 GiB up",
	 PB_ERROR_BAD_PRIVATE_DATA,
	 {CARD_SET(private_address_low, CARD_SYSTEM_OS), CARD_SET(private_address_high, 1),
	  CARD_SET(private_size, 4)}},

	{"1025 allocations", PB_ERROR_TOO_MANY_ALLOCATIONS, {CARD_SET(allocation_count, 1025)}},
	{"2^32 - 1 allocations", PB_ERROR_TOO_MANY_ALLOCATIONS, {CARD_SET(allocation_count, 0xffffffff)}},
	{"allocation list off by 4",
	 PB_ERROR_BAD_ALLOCATION_LIST,
	 {CARD_SET(allocation_address_low, CARD_SYSTEM_OS + CARD_ALLOCATIONS + 4)}},
	{"allocation list off by 1",
	 PB_ERROR_BAD_ALLOCATION_LIST,
	 {CARD_SET(allocation_address_low, CARD_SYSTEM_OS + CARD_ALLOCATIONS + 1)}},
	{"allocation list at 0", PB_ERROR_BAD_ALLOCATION_LIST, {CARD_SET(allocation_address_low, 0)}},
	{"allocation list 4 GiB up", PB_ERROR_BAD_ALLOCATION_LIST, {CARD_SET(allocation_address_high, 1)}},
	{"allocation list in video memory",
	 PB_ERROR_BAD_ALLOCATION_LIST,
	 {CARD_SET(allocation_address_low, 0), CARD_SET(allocation_address_high, 8)}},
	{"allocation list 8 bytes past the end",
	 PB_ERROR_BAD_ALLOCATION_LIST,
	 {CARD_SET(allocation_address_low, SYSTEM_END - 1024 * 24 + 8), CARD_SET(allocation_count, 1024)}},
	{"allocation list that wraps 2^64",
	 PB_ERROR_BAD_ALLOCATION_LIST,
	 {CARD_SET(allocation_address_low, 0xfffffff8), CARD_SET(allocation_address_high, 0xffffffff)}},

	{"65537 patches",
	 PB_ERROR_TOO_MANY_PATCHES,
	 {CARD_SET(patch_count, 65537), CARD_SET(patch_length, 65537)}},
	{"2^32 - 1 patches",
	 PB_ERROR_TOO_MANY_PATCHES,
	 {CARD_SET(patch_count, -1), CARD_SET(patch_length, -1)}},
	{"more patches than the list has", PB_ERROR_BAD_PATCH_LIST, {CARD_SET(patch_length, 2)}},
	{"patches behind the list", PB_ERROR_BAD_PATCH_LIST, {CARD_SET(patch_start, 1)}},
	{"no patches behind the list",
	 PB_ERROR_BAD_PATCH_LIST,
	 {CARD_SET(patch_start, 2), CARD_SET(patch_length, 0)}},
	{"patch start + length wraps",
	 PB_ERROR_BAD_PATCH_LIST,
	 {CARD_SET(patch_start, 1), CARD_SET(patch_length, -1)}},
	{"patch start wraps",
	 PB_ERROR_BAD_PATCH_LIST,
	 {CARD_SET(patch_start, -1), CARD_SET(patch_length, 2)}},
	{"patch list off by 2",
	 PB_ERROR_BAD_PATCH_LIST,
	 {CARD_SET(patch_address_low, CARD_SYSTEM_OS + CARD_PATCHES + 2)}},
	{"patch list off by 1",
	 PB_ERROR_BAD_PATCH_LIST,
	 {CARD_SET(patch_address_low, CARD_SYSTEM_OS + CARD_PATCHES + 1)}},
	{"patch list at 0", PB_ERROR_BAD_PATCH_LIST, {CARD_SET(patch_address_low, 0)}},
	{"patch list 4 GiB up", PB_ERROR_BAD_PATCH_LIST, {CARD_SET(patch_address_high, 1)}},
	{"patch list 4 bytes past the end",
	 PB_ERROR_BAD_PATCH_LIST,
	 {CARD_SET(patch_address_low, SYSTEM_END - 24 + 4)}},
	{"patch list whose bytes wrap 2^32", PB_ERROR_BAD_PATCH_LIST, {CARD_SET(patch_count, 0x0aaaaaab)}},
	{"patch list that lies past its used part",
	 PB_ERROR_BAD_PATCH_LIST,
	 {CARD_SET(patch_address_low, SYSTEM_END - 24), CARD_SET(patch_count, 2)}},
};

static void expect_failure(struct card *card, const char *row, uint32_t fence_id, enum pb_error error,
			   uint32_t lost)
{
	struct pb_event event = {
		.type = PB_EVENT_SUBMISSION_FAILED,
		.queue = card->queues[0].handle,
		.fence_id = fence_id,
		.error = error,
		.index = PB_INDEX_NONE,
	};

	card_expect_event(&card->channel, row, &event);
	if (lost == PB_HANDLE_NONE)
		return;
	event.type = PB_EVENT_CONTEXT_LOST;
	event.detail = lost;
	card_expect_event(&card->channel, row, &event);
}

static void expect_fence(const char *row, const struct pb_fence *fence, uint64_t timeline, uint32_t fence_id,
			 enum pb_error status)
{
	card_equal(row, fence->valid, true);
	card_equal(row, fence->timeline, timeline);
	card_equal(row, fence->fence_id, fence_id);
	card_equal(row, fence->status, status);
}

static void expect_first_error(const char *row, const struct pb_fence *fence, enum pb_error error,
			       uint32_t fence_id, uint32_t errors)
{
	card_equal(row, fence->error, error);
	card_equal(row, fence->error_fence_id, fence_id);
	card_equal(row, fence->error_index, PB_INDEX_NONE);
	card_equal(row, fence->errors, errors);
}

/** What the card does with a context's work and with others' after one of its submissions failed. */
static void follow(struct card *card, const char *row, enum pb_error error, uint32_t other)
{
	struct pb_descriptor descriptor = card_mark(card, 2, 202);
	struct pb_fence fence;

	/* Cancelled, whatever queue it comes in. */
	fence = card_execute(card, 0, &descriptor);
	expect_fence(row, &fence, 3, 202, PB_ERROR_CONTEXT_LOST);
	expect_failure(card, row, 202, PB_ERROR_CONTEXT_LOST, PB_HANDLE_NONE);
	fence = card_execute(card, 1, &descriptor);
	expect_fence(row, &fence, 1, 202, PB_ERROR_CONTEXT_LOST);
	card_equal(row, fence.error, PB_ERROR_CONTEXT_LOST);
	card_expect_event(&card->channel, row,
			  &(struct pb_event){.type = PB_EVENT_SUBMISSION_FAILED,
					     .queue = card->queues[1].handle,
					     .fence_id = 202,
					     .error = PB_ERROR_CONTEXT_LOST,
					     .index = PB_INDEX_NONE});
	card_equal(row, card_word(card, 1, 8), 0);

	descriptor = card_mark(card, 3, 203);
	descriptor.context = other;
	fence = card_execute(card, 0, &descriptor);
	expect_fence(row, &fence, 4, 203, PB_ERROR_OK);
	expect_first_error(row, &fence, error, 201, 2);
	card_equal(row, card_word(card, 1, 12), 203);

	assert_int_equal(pb_context_clear(&card->channel, card->context), PB_ERROR_OK);
	assert_int_equal(pb_queue_clear(&card->queues[0]), PB_ERROR_OK);
	descriptor = card_mark(card, 4, 204);
	fence = card_execute(card, 0, &descriptor);
	expect_fence(row, &fence, 5, 204, PB_ERROR_OK);
	expect_first_error(row, &fence, PB_ERROR_OK, 0, 2);
	card_equal(row, card_word(card, 1, 16), 204);
}

static void refuse(const struct row *row)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;
	uint32_t other;

	card_start(&card);
	assert_int_equal(pb_context_create(&card.channel, &other), PB_ERROR_OK);
	descriptor = card_mark(&card, 0, 200);
	card_submit(&card, 0, &descriptor);
	descriptor = card_mark(&card, 1, 201);
	card_edit(&descriptor, row->edits);
	card_submit(&card, 0, &descriptor);
	fence = card_wait(&card, 0, 2);
	expect_fence(row->name, &fence, 2, 201, row->error);
	expect_first_error(row->name, &fence, row->error, 201, 1);
	card_equal(row->name, fence.patches, 1);
	expect_failure(&card, row->name, 201, row->error, card.context);
	/* The one before it has run, this one has not, be it through the patched address or otherwise. */
	card_equal(row->name, card_word(&card, 1, 0), 200);
	card_equal(row->name, card_word(&card, 1, 4), 0);
	card_equal(row->name, card_dma(&card, 1)[1], 0);

	follow(&card, row->name, row->error, other);
	card_expect_no_event(&card.channel, row->name);
	card_stop(&card);
}

static void every_bad_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refuse(&rows[i]);
}

/* ---- contexts ---- */

static void bad_contexts(void **state)
{
	static const struct {
		const char *name;
		uint32_t handle;
	} contexts[] = {
		{"no handle", PB_HANDLE_NONE},      {"generation 0", 0x00000001},
		{"another generation", 0x00020000}, {"never made", 0x00010002},
		{"index out of range", 0x00010040}, {"all ones", 0xffffffff},
		{"of another channel", 0x00010001},
	};
	struct card card;
	struct pb_channel neighbour;
	struct pb_descriptor descriptor;
	struct pb_fence fence;
	uint32_t theirs, n = 0;

	(void)state;
	card_start(&card);
	card_join(&card, &neighbour, 2);
	assert_int_equal(pb_context_create(&neighbour, &theirs), PB_ERROR_OK);
	assert_int_equal(theirs, 0x00010001);
	for (; n < sizeof(contexts) / sizeof(contexts[0]); n++) {
		descriptor = card_mark(&card, n, 300 + n);
		descriptor.context = contexts[n].handle;
		fence = card_execute(&card, 0, &descriptor);
		expect_fence(contexts[n].name, &fence, n + 1, 300 + n, PB_ERROR_BAD_CONTEXT);
		expect_first_error(contexts[n].name, &fence, PB_ERROR_BAD_CONTEXT, 300, n + 1);
		expect_failure(&card, contexts[n].name, 300 + n, PB_ERROR_BAD_CONTEXT, PB_HANDLE_NONE);
		card_equal(contexts[n].name, card_word(&card, 1, n * 4), 0);
	}
	/* No context was lost by it. */
	descriptor = card_mark(&card, n, 400);
	fence = card_execute(&card, 0, &descriptor);
	expect_fence("after all", &fence, n + 1, 400, PB_ERROR_OK);
	card_equal("after all", card_word(&card, 1, n * 4), 400);
	card_expect_no_event(&card.channel, "after all");
	card_leave(&neighbour);
	card_stop(&card);
}

static void destroyed_context_is_bad(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	uint32_t next;

	(void)state;
	card_start(&card);
	assert_int_equal(pb_context_destroy(&card.channel, card.context), PB_ERROR_OK);
	descriptor = card_mark(&card, 0, 1);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_BAD_CONTEXT);
	/* Nor does the next object in its slot answer to the old name. */
	assert_int_equal(pb_context_create(&card.channel, &next), PB_ERROR_OK);
	assert_int_equal(next, PB_HANDLE(0, 2));
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_BAD_CONTEXT);
	assert_int_equal(card_word(&card, 1, 0), 0);
	descriptor.context = next;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 0), 1);
	card_stop(&card);
}

/* ---- segments that are gone ---- */

static void destroyed_segment_is_bad(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	assert_int_equal(pb_segment_destroy(&card.segments[2]), PB_ERROR_OK);
	descriptor = card_mark(&card, 0, 7);
	descriptor.dma_segment = 2;
	descriptor.dma_address_low = (uint32_t)CARD_EDGE_OS;
	fence = card_execute(&card, 0, &descriptor);
	expect_first_error("segment 2 is gone", &fence, PB_ERROR_BAD_SEGMENT, 7, 1);
	card_stop(&card);
}

/* ---- timelines ---- */

static void timeline_must_grow(void **state)
{
	static const struct {
		const char *name;
		uint64_t timeline;
		enum pb_error error;
		uint64_t shown;
	} steps[] = {
		{"0 at first", 0, PB_ERROR_BAD_TIMELINE, 0},
		{"5", 5, PB_ERROR_OK, 5},
		{"5 again", 5, PB_ERROR_BAD_TIMELINE, 5},
		{"4", 4, PB_ERROR_BAD_TIMELINE, 5},
		{"0", 0, PB_ERROR_BAD_TIMELINE, 5},
		{"2^32 - 1", 0xffffffff, PB_ERROR_OK, 0xffffffff},
		{"2^32", UINT64_C(0x100000000), PB_ERROR_OK, UINT64_C(0x100000000)},
		{"a larger low word under a smaller high word", 0xfffffffe, PB_ERROR_BAD_TIMELINE,
		 UINT64_C(0x100000000)},
		{"2^63", UINT64_C(0x8000000000000000), PB_ERROR_OK, UINT64_C(0x8000000000000000)},
		{"2^64 - 2", UINT64_MAX - 1, PB_ERROR_OK, UINT64_MAX - 1},
		{"2^64 - 1", UINT64_MAX, PB_ERROR_OK, UINT64_MAX},
		{"wrapped to 0", 0, PB_ERROR_BAD_TIMELINE, UINT64_MAX},
		{"wrapped to 1", 1, PB_ERROR_BAD_TIMELINE, UINT64_MAX},
	};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct pb_descriptor descriptor = card_mark(&card, i, 500 + i);
		struct pb_fence fence;

		descriptor.timeline_low = (uint32_t)steps[i].timeline;
		descriptor.timeline_high = (uint32_t)(steps[i].timeline >> 32);
		card_submit_exactly(&card, 0, &descriptor);
		fence = card_wait(&card, 0, i + 1);
		expect_fence(steps[i].name, &fence, steps[i].shown, 500 + i, steps[i].error);
		card_equal(steps[i].name, card_word(&card, 1, i * 4),
			   steps[i].error == PB_ERROR_OK ? 500 + i : 0);
		if (steps[i].error != PB_ERROR_OK)
			assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

/** What failed has used its timeline value up: it cannot come again. */
static void failed_work_advances_the_timeline(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	descriptor = card_mark(&card, 0, 1);
	descriptor.options = 2;
	descriptor.timeline_low = 9;
	fence = card_execute(&card, 0, &descriptor);
	expect_fence("failed", &fence, 9, 1, PB_ERROR_BAD_OPTIONS);
	descriptor.options = 0;
	descriptor.timeline_low = 10;
	fence = card_execute(&card, 0, &descriptor);
	expect_fence("cancelled", &fence, 10, 1, PB_ERROR_CONTEXT_LOST);
	assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	fence = card_execute(&card, 0, &descriptor);
	expect_fence("again", &fence, 10, 1, PB_ERROR_BAD_TIMELINE);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_admit)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bad_field),
		cmocka_unit_test(bad_contexts),
		cmocka_unit_test(destroyed_context_is_bad),
		cmocka_unit_test(destroyed_segment_is_bad),
		cmocka_unit_test(timeline_must_grow),
		cmocka_unit_test(failed_work_advances_the_timeline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
