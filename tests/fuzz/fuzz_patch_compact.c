/* SPDX-License-Identifier: MIT */
/*
 * Patch lists of words, in groups or not: entries of two or three of them, cut off anywhere, and words that are no entry.
 *
 * Aims at: firmware/patch/patch.c firmware/patch/compact.c firmware/patch/kept.c firmware/patch/slow.c firmware/patch/run_compact.h
 */
#include "tests/fuzz/lists.h"

static struct fuzz_lists lists;

/** Words of an entry, most often of one that is good. @return how many */
static uint32_t entry(struct fuzz_input *input, uint32_t *words)
{
	const uint32_t kind = fuzz_byte(input);
	const uint32_t index = fuzz_below(input, lists.list.allocation_count + 1u);

	if (kind >= 0xf0) {
		words[0] = fuzz_word(input);
		return 1;
	}
	if (kind >= 0xc0 && lists.list.encoding == PB_PATCH_ENCODING_GROUPED) {
		words[0] = fuzz_byte(input) % 32u << PB_GROUP_FORMAT_SHIFT | index;
		if (kind >= 0xe8)
			words[0] |= fuzz_number(input);
		words[1] = kind < 0xe0 ? kind % 16u * PB_COMPACT_SHORT_WORDS : fuzz_number(input);
		return PB_GROUP_HEAD_WORDS;
	}
	if (kind < 0x90) {
		words[0] = (lists.list.dma_start / 4u + fuzz_byte(input)) << PB_COMPACT_PLACE_SHIFT | index;
		words[1] = fuzz_number(input);
		return PB_COMPACT_SHORT_WORDS;
	}
	words[0] = PB_COMPACT_ESCAPE | fuzz_byte(input) % 32u << PB_COMPACT_FORMAT_SHIFT | index;
	if (kind >= 0xe0)
		words[0] |= fuzz_number(input);
	words[1] = kind < 0xd0 ? lists.list.dma_start + fuzz_byte(input) * 4u : fuzz_number(input);
	words[2] = fuzz_number(input);
	return PB_COMPACT_ESCAPE_WORDS;
}

void fuzz_one(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);
	uint32_t count = 0;

	fuzz_card_reset();
	fuzz_lists_init(&lists);
	fuzz_lists_fill();
	lists.list.encoding = PB_PATCH_ENCODING_COMPACT;
	fuzz_lists_allocations(input, &lists, fuzz_below(input, FUZZ_ALLOCATION_MAX + 1u));
	if ((kind & 1u) != 0)
		lists.list.encoding = PB_PATCH_ENCODING_GROUPED;
	if ((kind & 3u) == 3u)
		fuzz_lists_presume(input, &lists);
	fuzz_lists_range(input, &lists);
	for (uint32_t formats = fuzz_below(input, 3); formats != 0; formats--)
		fuzz_lists_format(input, &lists);
	while (fuzz_more(input) && count + PB_COMPACT_ESCAPE_WORDS <= FUZZ_WORD_MAX)
		count += entry(input, &lists.words[count]);
	fuzz_lists_part(&lists, kind, count);
	(void)fuzz_lists_check(&lists);
	fuzz_witness_check();
}
