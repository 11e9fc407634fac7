/* SPDX-License-Identifier: MIT */
#include "firmware/memory/wipe.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"

/** Clears a slice of card memory. */
static void clear(uint32_t *words)
{
	const uint32_t *const end = words + PB_SLICE_CLEAR / sizeof(uint32_t);

	for (; words != end; words += 4) {
		pb_shared_write_four(words, 0, 0, 0, 0);
		PB_CORE_KEEP(words); /* no call of a memset that goes byte by byte */
	}
}

uint32_t pb_core_wipe(struct pb_firmware *firmware, uint32_t slot, uint32_t at)
{
	const struct pb_core_piece *piece = &firmware->pool.pieces[slot];
	uint32_t slices = 0;

	while (at != piece->bytes) {
		clear((uint32_t *)pb_core_at(firmware, piece->offset + at));
		at += PB_SLICE_CLEAR;
		if (++slices == PB_PASS_CLEARS || firmware->marks.nodes != 0 ||
		    pb_lines_waiting(firmware->lines->pending))
			break;
	}
	return at;
}
