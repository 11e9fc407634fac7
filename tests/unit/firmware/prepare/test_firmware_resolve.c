/* SPDX-License-Identifier: MIT */
/* The allocation list: what an entry resolves to, and which one is blamed. */
#include <string.h>

#include "tests/unit/card_fixture.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define WRITE        PB_ALLOCATION_WRITE
#define UNBIND       PB_ALLOCATION_UNBIND
#define PRIOR        0x11111111u

struct row {
	const char *name;
	uint64_t address;
	uint64_t size;
	uint32_t flags;
	enum pb_error error;
	uint64_t gpu_address; /* of its first byte, if there is no error */
};

#define VIDEO_END (CARD_VIDEO_OS + CARD_VIDEO_BYTES)
#define EDGE_END  (CARD_EDGE_OS + CARD_EDGE_BYTES)

static const struct row rows[] = {
	{"first byte of a segment", CARD_VIDEO_OS, 1, CARD_SEGMENT(1), PB_ERROR_OK, CARD_VIDEO_GPU},
	{"whole segment, backed or not", CARD_VIDEO_OS, CARD_VIDEO_BYTES, CARD_SEGMENT(1), PB_ERROR_OK,
	 CARD_VIDEO_GPU},
	{"last byte of a segment", VIDEO_END - 1, 1, CARD_SEGMENT(1), PB_ERROR_OK,
	 CARD_VIDEO_GPU + CARD_VIDEO_BYTES - 1},
	{"up to the end", VIDEO_END - 100, 100, CARD_SEGMENT(1) | WRITE, PB_ERROR_OK,
	 CARD_VIDEO_GPU + CARD_VIDEO_BYTES - 100},
	{"across 4 GiB", CARD_EDGE_OS + 0xff00, 0x200, CARD_SEGMENT(2), PB_ERROR_OK, 0xffffff00},
	{"address 0", 0, 1, CARD_SEGMENT(3), PB_ERROR_OK, 0},
	{"4 GiB - 1 bytes", 0, 0xffffffff, CARD_SEGMENT(3), PB_ERROR_OK, 0},
	{"4 GiB", 0x1000, UINT64_C(0x100000000), CARD_SEGMENT(3), PB_ERROR_OK, 0x1000},
	{"all of a terabyte", 0, CARD_WIDE_BYTES, CARD_SEGMENT(3), PB_ERROR_OK, 0},
	{"last byte of a terabyte", CARD_WIDE_BYTES - 1, 1, CARD_SEGMENT(3), PB_ERROR_OK,
	 CARD_WIDE_BYTES - 1},

	{"one byte before", CARD_VIDEO_OS - 1, 2, CARD_SEGMENT(1), PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"one byte too long", CARD_VIDEO_OS, CARD_VIDEO_BYTES + 1, CARD_SEGMENT(1),
	 PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"end one byte past", VIDEO_END - 99, 100, CARD_SEGMENT(1), PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"at the end", VIDEO_END, 1, CARD_SEGMENT(1), PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"behind the end, far above", VIDEO_END + 0x1000, 1, CARD_SEGMENT(1),
	 PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"behind the end", EDGE_END + 0x1000, 1, CARD_SEGMENT(2), PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"address 0 where the segment starts higher", 0, 1, CARD_SEGMENT(2),
	 PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"offset instead of address", 0x1000, 1, CARD_SEGMENT(1), PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"GPU address instead of OS address", CARD_VIDEO_GPU, 1, CARD_SEGMENT(1),
	 PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"another segment's address", CARD_VIDEO_OS, 1, CARD_SEGMENT(2), PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT,
	 0},
	{"a terabyte and one byte", 0, CARD_WIDE_BYTES + 1, CARD_SEGMENT(3),
	 PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"size whose low word fits", CARD_EDGE_OS, UINT64_C(0x100000001), CARD_SEGMENT(2),
	 PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"address whose low word fits", UINT64_C(0x100000000) + CARD_EDGE_OS, 1, CARD_SEGMENT(2),
	 PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"end wraps 2^64 to 0", UINT64_MAX - 0xfff, 0x1000, CARD_SEGMENT(3),
	 PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"end wraps 2^64 into the segment", UINT64_MAX - 0xfff, 0x2000, CARD_SEGMENT(3),
	 PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},
	{"size of 2^64 - 1", CARD_VIDEO_OS, UINT64_MAX, CARD_SEGMENT(1), PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT,
	 0},
	{"size wraps to before the start", CARD_VIDEO_OS + 2, UINT64_MAX, CARD_SEGMENT(1),
	 PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0},

	{"size 0", CARD_VIDEO_OS, 0, CARD_SEGMENT(1), PB_ERROR_BAD_ALLOCATION, 0},
	{"segment 4", 0, 1, CARD_SEGMENT(4), PB_ERROR_ALLOCATION_SEGMENT, 0},
	{"segment 8", 0, 1, CARD_SEGMENT(8), PB_ERROR_ALLOCATION_SEGMENT, 0},
	{"segment 31", 0, 1, CARD_SEGMENT(31) | WRITE, PB_ERROR_ALLOCATION_SEGMENT, 0},
	{"segment 0", CARD_SYSTEM_OS, 4096, CARD_SEGMENT(0), PB_ERROR_NOT_RESIDENT, 0},
	{"segment 0, written", CARD_SYSTEM_OS, 4096, WRITE, PB_ERROR_NOT_RESIDENT, 0},
	{"unbind in a segment", CARD_VIDEO_OS, 4096, CARD_SEGMENT(1) | UNBIND, PB_ERROR_BAD_ALLOCATION, 0},
	{"unbind in segment 16", 0, 0, CARD_SEGMENT(16) | UNBIND, PB_ERROR_BAD_ALLOCATION, 0},
};

/** Length of the list around the entry under test: several slices. */
#define LIST 100u

static void good_list(struct card *card)
{
	for (uint32_t i = 0; i < LIST; i++)
		card_allocation(card, i, 0x1000 * i, 0x1000, CARD_SEGMENT(3));
}

/** All in video memory, with the flags of the entry under test if it is there: neighbours have a way of their own. */
static void list_of_neighbours(struct card *card, uint32_t flags)
{
	if ((flags & PB_ALLOCATION_SEGMENT_MASK) != CARD_SEGMENT(1) || (flags & UNBIND) != 0)
		flags = CARD_SEGMENT(1);
	for (uint32_t i = 0; i < LIST; i++)
		card_allocation(card, i, CARD_VIDEO_OS + 0x100 * i, 0x100, flags);
}

/** Patches two words through one allocation, and only that. */
static struct pb_fence resolve(struct card *card, uint32_t count, uint32_t index)
{
	struct pb_descriptor descriptor = card_descriptor(card, 0, 64, count, 1);
	const struct pb_patch_location patch = {
		.allocation_index = index, .driver_id = PB_PATCH_FORMAT_ADDRESS64, .patch_offset = 8};

	for (uint32_t w = 0; w < 16; w++)
		card_dma(card, 0)[w] = PRIOR;
	card_patch(card, 0, &patch);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	descriptor.fence_id = 0xab;
	return card_execute(card, 0, &descriptor);
}

static void expect_words(const struct card *card, const char *row, uint64_t value)
{
	for (uint32_t w = 0; w < 16; w++)
		card_equal(row, card_dma(card, 0)[w],
			   w == 2   ? (uint32_t)value
			   : w == 3 ? (uint32_t)(value >> 32)
				    : PRIOR);
}

#define UNTOUCHED ((uint64_t)PRIOR << 32 | PRIOR)

static void expect_error(struct card *card, const char *row, const struct pb_fence *fence,
			 enum pb_error error, uint32_t index)
{
	struct pb_event event = {
		.type = PB_EVENT_SUBMISSION_FAILED,
		.queue = card->queues[0].handle,
		.fence_id = 0xab,
		.error = error,
		.index = index,
	};

	card_equal(row, fence->status, error);
	card_equal(row, fence->error, error);
	card_equal(row, fence->error_index, index);
	card_equal(row, fence->patches, 0);
	expect_words(card, row, UNTOUCHED);
	card_expect_event(&card->channel, row, &event);
	event.type = PB_EVENT_CONTEXT_LOST;
	event.detail = card->context;
	card_expect_event(&card->channel, row, &event);
	assert_int_equal(pb_context_clear(&card->channel, card->context), PB_ERROR_OK);
	assert_int_equal(pb_queue_clear(&card->queues[0]), PB_ERROR_OK);
}

static void every_entry_at_every_place(void **state)
{
	static const uint32_t places[] = {0, 1, 31, 32, 63, 64, 98, 99};

	(void)state;
	for (uint32_t r = 0; r < COUNT(rows); r++) {
		const struct row *row = &rows[r];
		struct card card;

		card_start(&card);
		for (uint32_t p = 0; p < COUNT(places) * 2; p++) {
			const uint32_t place = places[p / 2];
			struct pb_fence fence;

			if (p % 2 == 0)
				good_list(&card);
			else
				list_of_neighbours(&card, row->flags);
			card_allocation(&card, place, row->address, row->size, row->flags);
			fence = resolve(&card, LIST, place);
			if (row->error != PB_ERROR_OK) {
				expect_error(&card, row->name, &fence, row->error, place);
			} else {
				card_equal(row->name, fence.status, PB_ERROR_OK);
				expect_words(&card, row->name, row->gpu_address);
			}
			card_expect_no_event(&card.channel, row->name);
		}
		card_stop(&card);
	}
}

/** A bad entry fails the submission although no patch names it; of two the first is blamed. */
static void entries_that_no_patch_names(void **state)
{
	struct card card;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	good_list(&card);
	card_allocation(&card, 70, 0, 0, CARD_SEGMENT(3));
	card_allocation(&card, 40, 0, 1, CARD_SEGMENT(5));
	fence = resolve(&card, LIST, 0);
	expect_error(&card, "two bad ones", &fence, PB_ERROR_ALLOCATION_SEGMENT, 40);
	fence = resolve(&card, 40, 0);
	assert_int_equal(fence.status, PB_ERROR_OK);
	card_stop(&card);
}

static void reserved_bits(void **state)
{
	struct card card;
	char name[] = "reserved bit  ";

	(void)state;
	card_start(&card);
	for (uint32_t bit = 0; bit < 32; bit++) {
		struct pb_fence fence;

		if (bit < 6 || (bit >= 8 && bit <= 10))
			continue;
		name[13] = (char)('@' + bit);
		card_allocation(&card, 0, CARD_VIDEO_OS, 4096, CARD_SEGMENT(1) | 1u << bit);
		fence = resolve(&card, 1, 0);
		expect_error(&card, name, &fence, PB_ERROR_BAD_ALLOCATION, 0);
		card_allocation(&card, 0, 0, 0, UNBIND | 1u << bit);
		fence = resolve(&card, 1, 0);
		expect_error(&card, name, &fence, PB_ERROR_BAD_ALLOCATION, 0);
	}
	card_stop(&card);
}

/** An unbind entry has no address to be wrong; patches through it are carried out and write nothing. */
static void unbind_entries(void **state)
{
	static const struct {
		const char *name;
		uint64_t address;
		uint64_t size;
		uint32_t flags;
	} entries[] = {
		{"all 0", 0, 0, UNBIND},
		{"written", 0, 0, UNBIND | WRITE},
		{"with an address", UINT64_MAX, UINT64_MAX, UNBIND},
	};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(entries); i++) {
		struct pb_fence fence;

		card_allocation(&card, 0, entries[i].address, entries[i].size, entries[i].flags);
		fence = resolve(&card, 1, 0);
		card_equal(entries[i].name, fence.status, PB_ERROR_OK);
		card_equal(entries[i].name, fence.patches, i + 1);
		expect_words(&card, entries[i].name, UNTOUCHED);
	}
	card_expect_no_event(&card.channel, "unbind");
	card_stop(&card);
}

/** What was unbound in one submission is bound in the next: nothing is remembered. */
static void lists_are_read_anew(void **state)
{
	struct card card;

	(void)state;
	card_start(&card);
	card_allocation(&card, 0, 0, 0, UNBIND);
	assert_int_equal(resolve(&card, 1, 0).status, PB_ERROR_OK);
	expect_words(&card, "unbound", UNTOUCHED);
	card_allocation(&card, 0, CARD_VIDEO_OS + 0x40, 16, CARD_SEGMENT(1));
	assert_int_equal(resolve(&card, 1, 0).status, PB_ERROR_OK);
	expect_words(&card, "bound", CARD_VIDEO_GPU + 0x40);
	card_allocation(&card, 0, CARD_VIDEO_OS + 0x80, 16, CARD_SEGMENT(1));
	assert_int_equal(resolve(&card, 1, 0).status, PB_ERROR_OK);
	expect_words(&card, "moved", CARD_VIDEO_GPU + 0x80);
	card_stop(&card);
}

static void destroyed_segment(void **state)
{
	struct card card;
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	assert_int_equal(pb_segment_destroy(&card.segments[1]), PB_ERROR_OK);
	card_allocation(&card, 0, CARD_VIDEO_OS, 16, CARD_SEGMENT(1));
	fence = resolve(&card, 1, 0);
	expect_error(&card, "segment 1 is gone", &fence, PB_ERROR_ALLOCATION_SEGMENT, 0);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_resolve)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_entry_at_every_place),
		cmocka_unit_test(entries_that_no_patch_names),
		cmocka_unit_test(reserved_bits),
		cmocka_unit_test(unbind_entries),
		cmocka_unit_test(lists_are_read_anew),
		cmocka_unit_test(destroyed_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
