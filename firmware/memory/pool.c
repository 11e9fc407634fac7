/* SPDX-License-Identifier: MIT */
#include "firmware/memory/pool.h"

#include "firmware/assert.h"

/*@
  // What is kept of the pool: pieces in the order of their offsets, none reaching into the next.
  predicate in_order(struct pb_core_pool *pool) =
    pool->piece_count <= PB_LIMIT_SEGMENTS_TOTAL &&
    (\forall integer i; 0 <= i < pool->piece_count ==>
      pool->order[i] < PB_CORE_SEGMENT_SLOTS &&
      pool->pieces[pool->order[i]].offset + pool->pieces[pool->order[i]].bytes <= UINT32_MAX &&
      0 < pool->pieces[pool->order[i]].bytes) &&
    (\forall integer i, j; 0 <= i < j < pool->piece_count ==>
      pool->pieces[pool->order[i]].offset + pool->pieces[pool->order[i]].bytes <=
      pool->pieces[pool->order[j]].offset);
*/

/** How many pieces begin before an offset. */
/*@
  requires \valid_read(pool) && in_order(pool);
  assigns \nothing;
  ensures \result <= pool->piece_count;
  ensures \forall integer i; 0 <= i < \result ==> pool->pieces[pool->order[i]].offset < offset;
  ensures \forall integer i; \result <= i < pool->piece_count ==>
    pool->pieces[pool->order[i]].offset >= offset;
*/
static uint32_t count_before(const struct pb_core_pool *pool, uint32_t offset)
{
	uint32_t low = 0;
	uint32_t high = pool->piece_count;

	/*@
	  loop invariant 0 <= low <= high <= pool->piece_count;
	  loop invariant \forall integer i; 0 <= i < low ==> pool->pieces[pool->order[i]].offset < offset;
	  loop invariant \forall integer i; high <= i < pool->piece_count ==>
	    pool->pieces[pool->order[i]].offset >= offset;
	  loop assigns low, high;
	  loop variant high - low;
	*/
	while (low < high) {
		const uint32_t middle = (low + high) / 2u;

		if (pool->pieces[pool->order[middle]].offset < offset)
			low = middle + 1u;
		else
			high = middle;
	}
	return low;
}

/*@
  requires \valid_read(pool) && in_order(pool) && at < pool->piece_count;
  assigns \nothing;
  ensures \result ==
    pool->pieces[pool->order[at]].offset + pool->pieces[pool->order[at]].bytes;
*/
static uint32_t end_of(const struct pb_core_pool *pool, uint32_t at)
{
	const struct pb_core_piece *piece = &pool->pieces[pool->order[at]];

	return piece->offset + piece->bytes;
}

enum pb_core_search pb_core_pool_search(const struct pb_core_pool *pool, uint32_t end, uint32_t *start,
					uint32_t bytes)
{
	uint32_t at = count_before(pool, *start);

	/* What was free behind this point when the last slice ended may have been claimed since. */
	if (at != 0 && end_of(pool, at - 1u) > *start)
		*start = end_of(pool, at - 1u);
	for (uint32_t i = 0; i < PB_SLICE_PIECES; i++, at++) {
		if (at == pool->piece_count || pool->pieces[pool->order[at]].offset >= end)
			return end - *start >= bytes ? PB_CORE_SEARCH_FOUND : PB_CORE_SEARCH_NONE;
		if (pool->pieces[pool->order[at]].offset - *start >= bytes)
			return PB_CORE_SEARCH_FOUND;
		*start = end_of(pool, at);
	}
	return PB_CORE_SEARCH_MORE;
}

void pb_core_pool_claim(struct pb_core_pool *pool, uint32_t slot, uint32_t offset, uint32_t bytes)
{
	const uint32_t at = count_before(pool, offset);
	uint8_t *order = pool->order;

	PB_ASSERT(pool->piece_count < sizeof(pool->order) && pool->pieces[slot].bytes == 0);
	for (uint32_t i = pool->piece_count++; i > at; i--)
		order[i] = order[i - 1u];
	order[at] = (uint8_t)slot;
	pool->pieces[slot] = (struct pb_core_piece){.offset = offset, .bytes = bytes};
}

void pb_core_pool_free(struct pb_core_pool *pool, uint32_t slot)
{
	struct pb_core_piece *piece = &pool->pieces[slot];
	const uint32_t at = count_before(pool, piece->offset);
	uint8_t *order = pool->order;

	if (piece->bytes == 0)
		return;
	PB_ASSERT(at < pool->piece_count && order[at] == slot);
	pool->piece_count--;
	for (uint32_t i = at; i < pool->piece_count; i++)
		order[i] = order[i + 1u];
	*piece = (struct pb_core_piece){0};
}

/*@
  requires \valid_read(pool) && in_order(pool);
  assigns \nothing;
  ensures slot: \result < PB_CORE_SEGMENT_SLOTS;
  ensures owner: \result != 0 ==>
    pool->pieces[\result].offset <= offset < pool->pieces[\result].offset + pool->pieces[\result].bytes;
  ensures none: \result == 0 ==> (\forall integer i; 0 <= i < pool->piece_count && pool->order[i] != 0 ==>
    !(pool->pieces[pool->order[i]].offset <= offset <
      pool->pieces[pool->order[i]].offset + pool->pieces[pool->order[i]].bytes));
*/
uint32_t pb_core_pool_owner(const struct pb_core_pool *pool, uint32_t offset)
{
	const uint32_t at = count_before(pool, offset);

	if (at < pool->piece_count && pool->pieces[pool->order[at]].offset == offset)
		return pool->order[at];
	return at != 0 && end_of(pool, at - 1u) > offset ? pool->order[at - 1u] : 0;
}
