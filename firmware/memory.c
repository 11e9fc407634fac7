/* SPDX-License-Identifier: MIT */
/*
 * The pool: which pieces of it segments have, sorted by offset. First fit; a
 * search goes in slices, between which others may take and give.
 */
#include <string.h>

#include "firmware/core.h"

/** How many pieces begin before an offset. */
static uint32_t count_before(const struct pb_firmware *firmware, uint32_t offset)
{
	uint32_t low = 0;
	uint32_t high = firmware->piece_count;

	while (low < high) {
		const uint32_t middle = (low + high) / 2u;

		if (firmware->pieces[firmware->order[middle]].offset < offset)
			low = middle + 1u;
		else
			high = middle;
	}
	return low;
}

static uint32_t end_of(const struct pb_firmware *firmware, uint32_t at)
{
	const struct pb_core_piece *piece = &firmware->pieces[firmware->order[at]];

	return piece->offset + piece->bytes;
}

enum pb_core_search pb_core_memory_search(const struct pb_firmware *firmware, uint32_t *start, uint32_t bytes)
{
	uint32_t at = count_before(firmware, *start);

	/* What was free behind this point when the last slice ended may have been taken since. */
	if (at != 0 && end_of(firmware, at - 1u) > *start)
		*start = end_of(firmware, at - 1u);
	for (uint32_t i = 0; i < PB_SLICE_PIECES; i++, at++) {
		if (at == firmware->piece_count)
			return firmware->config->memory_bytes - *start >= bytes ? PB_CORE_SEARCH_FOUND
										: PB_CORE_SEARCH_NONE;
		if (firmware->pieces[firmware->order[at]].offset - *start >= bytes)
			return PB_CORE_SEARCH_FOUND;
		*start = end_of(firmware, at);
	}
	return PB_CORE_SEARCH_MORE;
}

void pb_core_memory_take(struct pb_firmware *firmware, uint32_t place, uint32_t offset, uint32_t bytes)
{
	const uint32_t at = count_before(firmware, offset);
	uint8_t *order = firmware->order;

	PB_ASSERT(firmware->piece_count < sizeof(firmware->order) && firmware->pieces[place].bytes == 0);
	memmove(&order[at + 1u], &order[at], firmware->piece_count - at);
	order[at] = (uint8_t)place;
	firmware->pieces[place] = (struct pb_core_piece){.offset = offset, .bytes = bytes};
	firmware->piece_count++;
}

void pb_core_memory_give(struct pb_firmware *firmware, uint32_t place)
{
	struct pb_core_piece *piece = &firmware->pieces[place];
	const uint32_t at = count_before(firmware, piece->offset);
	uint8_t *order = firmware->order;

	if (piece->bytes == 0)
		return;
	PB_ASSERT(at < firmware->piece_count && order[at] == place);
	firmware->piece_count--;
	memmove(&order[at], &order[at + 1u], firmware->piece_count - at);
	*piece = (struct pb_core_piece){0};
}

uint32_t pb_core_memory_owner(const struct pb_firmware *firmware, uint32_t offset)
{
	const uint32_t at = count_before(firmware, offset);

	if (at < firmware->piece_count && firmware->pieces[firmware->order[at]].offset == offset)
		return firmware->order[at];
	return at != 0 && end_of(firmware, at - 1u) > offset ? firmware->order[at - 1u] : 0;
}
