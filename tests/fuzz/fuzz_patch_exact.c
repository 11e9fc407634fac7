/* SPDX-License-Identifier: MIT */
/*
 * Patch lists of 24-byte entries: the firmware and the oracle come to the same
 * bytes, and so do both with the compact form of the same list, if it has one.
 * With a cookie the buffer comes again, its allocations placed anew.
 *
 * Aims at: firmware/patch/patch.c firmware/patch/list.c firmware/patch/mixed.c firmware/patch/slow.c firmware/patch/run_list.h
 * Aims at: firmware/prepare/compare.c
 */
#include <string.h>

#include "tests/fuzz/lists.h"

static struct fuzz_lists lists;

static bool has_compact_form(const struct pb_patch_location *patch)
{
	const struct pb_patch_format *format = oracle_format(&lists.list, patch->driver_id);

	return patch->slot >> PB_PATCH_RESERVED_SHIFT == 0 && patch->driver_id < 256u &&
	       (patch->allocation_index <= PB_COMPACT_INDEX_MASK ||
		(format != NULL && !format_uses_allocation(format)));
}

static bool have_compact_form(void)
{
	bool all = lists.list.patch_start == 0 && lists.list.patch_length == lists.list.patch_count;

	for (uint32_t i = 0; i < lists.list.patch_count; i++)
		all = all && has_compact_form(&lists.patches[i]);
	return all;
}

/** The same in words, on a card that has not seen it yet. */
static void check_compact(enum pb_error expected, uint32_t loose)
{
	static uint8_t pages[3u * PB_PAGE_BYTES];
	const uint8_t *now;

	memcpy(pages, fuzz_guest_bytes(FUZZ_PAGES), sizeof(pages));
	fuzz_card_reset();
	fuzz_lists_fill();
	lists.list.encoding = PB_PATCH_ENCODING_COMPACT;
	lists.list.patch_count = oracle_compact(lists.patches, lists.list.patch_count, loose, lists.words);
	lists.list.patch_length = lists.list.patch_count;
	FUZZ_CHECK(fuzz_lists_check(&lists).error == expected);
	now = fuzz_guest_bytes(FUZZ_PAGES);
	FUZZ_CHECK(memcmp(pages, now, sizeof(pages)) == 0);
}

void fuzz_one(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);
	uint32_t count = 0;
	struct oracle_result result;

	fuzz_card_reset();
	fuzz_lists_init(&lists);
	fuzz_lists_fill();
	fuzz_lists_allocations(input, &lists, fuzz_below(input, FUZZ_ALLOCATION_MAX + 1u));
	fuzz_lists_range(input, &lists);
	lists.cookie = kind % 2u * 0xc00c1eu;
	if ((kind & 4u) != 0)
		fuzz_lists_presume(input, &lists);
	while (fuzz_more(input) && count < FUZZ_PATCH_MAX)
		lists.patches[count++] = fuzz_lists_patch(input, &lists);
	fuzz_lists_part(&lists, kind, count);
	result = fuzz_lists_check(&lists);
	if (result.error == PB_ERROR_OK && lists.cookie != 0) {
		struct pb_allocation *first = &lists.allocations[0];

		if ((kind & 2u) != 0 && lists.list.allocation_count != 0)
			*first = oracle_allocation(CARD_VIDEO_OS + 0x1000u, 0x1000,
						   1u << PB_ALLOCATION_SEGMENT_SHIFT | PB_ALLOCATION_WRITE);
		(void)fuzz_lists_check(&lists);
	} else if (lists.list.presumed == NULL && have_compact_form()) {
		check_compact(result.error, kind * 0x01010101u);
	}
	fuzz_witness_check();
}
