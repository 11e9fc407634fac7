/* SPDX-License-Identifier: MIT */
/*
 * The pool: which pieces of it segments have, sorted by offset. First fit; a
 * search goes in slices, between which others may take and give.
 */
#include <string.h>

#include "firmware/core.h"

/*@
  // What is kept of the pool: pieces in the order of their offsets, none reaching into the next.
  predicate in_order(struct pb_firmware *firmware) =
    firmware->piece_count <= PB_LIMIT_SEGMENTS_TOTAL &&
    (\forall integer i; 0 <= i < firmware->piece_count ==>
      firmware->order[i] < PB_CORE_PLACES &&
      firmware->pieces[firmware->order[i]].offset + firmware->pieces[firmware->order[i]].bytes <= UINT32_MAX &&
      0 < firmware->pieces[firmware->order[i]].bytes) &&
    (\forall integer i, j; 0 <= i < j < firmware->piece_count ==>
      firmware->pieces[firmware->order[i]].offset + firmware->pieces[firmware->order[i]].bytes <=
      firmware->pieces[firmware->order[j]].offset);
*/

/** How many pieces begin before an offset. */
/*@
  requires \valid_read(firmware) && in_order(firmware);
  assigns \nothing;
  ensures \result <= firmware->piece_count;
  ensures \forall integer i; 0 <= i < \result ==> firmware->pieces[firmware->order[i]].offset < offset;
  ensures \forall integer i; \result <= i < firmware->piece_count ==>
    firmware->pieces[firmware->order[i]].offset >= offset;
*/
static uint32_t count_before(const struct pb_firmware *firmware, uint32_t offset)
{
	uint32_t low = 0;
	uint32_t high = firmware->piece_count;

	/*@
	  loop invariant 0 <= low <= high <= firmware->piece_count;
	  loop invariant \forall integer i; 0 <= i < low ==> firmware->pieces[firmware->order[i]].offset < offset;
	  loop invariant \forall integer i; high <= i < firmware->piece_count ==>
	    firmware->pieces[firmware->order[i]].offset >= offset;
	  loop assigns low, high;
	  loop variant high - low;
	*/
	while (low < high) {
		const uint32_t middle = (low + high) / 2u;

		if (firmware->pieces[firmware->order[middle]].offset < offset)
			low = middle + 1u;
		else
			high = middle;
	}
	return low;
}

/*@
  requires \valid_read(firmware) && in_order(firmware) && at < firmware->piece_count;
  assigns \nothing;
  ensures \result ==
    firmware->pieces[firmware->order[at]].offset + firmware->pieces[firmware->order[at]].bytes;
*/
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

/*@
  requires \valid_read(firmware) && in_order(firmware);
  assigns \nothing;
  ensures nobody_else: \result < PB_CORE_PLACES;
  ensures has_it: \result != 0 ==>
    firmware->pieces[\result].offset <= offset < firmware->pieces[\result].offset + firmware->pieces[\result].bytes;
  ensures nobody: \result == 0 ==> (\forall integer i; 0 <= i < firmware->piece_count && firmware->order[i] != 0 ==>
    !(firmware->pieces[firmware->order[i]].offset <= offset <
      firmware->pieces[firmware->order[i]].offset + firmware->pieces[firmware->order[i]].bytes));
*/
uint32_t pb_core_memory_owner(const struct pb_firmware *firmware, uint32_t offset)
{
	const uint32_t at = count_before(firmware, offset);

	if (at < firmware->piece_count && firmware->pieces[firmware->order[at]].offset == offset)
		return firmware->order[at];
	return at != 0 && end_of(firmware, at - 1u) > offset ? firmware->order[at - 1u] : 0;
}
