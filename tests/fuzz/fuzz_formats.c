/* SPDX-License-Identifier: MIT */
/*
 * Format tables set by commands: each is taken or refused for the reason that
 * the oracle gives, and writes what the oracle writes.
 *
 * Aims at: firmware/patch/format.c firmware/patch/mixed.c firmware/patch/slow.c
 */
#include "tests/fuzz/lists.h"

static struct fuzz_lists lists;

void fuzz_one(struct fuzz_input *input)
{
	uint32_t count = 0;

	fuzz_card_reset();
	fuzz_lists_init(&lists);
	fuzz_lists_fill();
	for (uint32_t formats = fuzz_below(input, 4) + 1u; formats != 0; formats--)
		fuzz_lists_format(input, &lists);
	fuzz_lists_allocations(input, &lists, fuzz_below(input, 8));
	fuzz_lists_range(input, &lists);
	while (fuzz_more(input) && count < FUZZ_PATCH_MAX)
		lists.patches[count++] = fuzz_lists_patch(input, &lists);
	fuzz_lists_part(&lists, 0, count);
	(void)fuzz_lists_check(&lists);
	fuzz_witness_check();
}
