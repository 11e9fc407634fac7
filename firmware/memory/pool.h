/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The pool: which pieces of card memory back segments, sorted by offset. First
 * fit; a search goes in slices, between which others may claim and give back.
 * The owner of struct pb_core_pool; main loop only.
 */
#ifndef PB_FIRMWARE_MEMORY_POOL_H
#define PB_FIRMWARE_MEMORY_POOL_H

#include <stdint.h>

#include "firmware/limits.h"

/** Slots for segments, all channels together; the first is never given out. */
#define PB_CORE_SEGMENT_SLOTS (PB_LIMIT_SEGMENTS_TOTAL + 1u)

/** What a segment slot has of the pool. bytes 0: nothing. */
struct pb_core_piece {
	uint32_t offset; /**< in card memory */
	uint32_t bytes;  /**< a multiple of the page */
};

/** The state of this module. */
struct pb_core_pool {
	struct pb_core_piece pieces[PB_CORE_SEGMENT_SLOTS]; /**< by slot */
	uint8_t order[PB_LIMIT_SEGMENTS_TOTAL]; /**< slots that have a piece, sorted by its offset */
	uint32_t piece_count;                   /**< of them */
};

/** What a slice of the search for a free piece found. */
enum pb_core_search {
	PB_CORE_SEARCH_MORE = 0,  /**< the search goes on */
	PB_CORE_SEARCH_FOUND = 1, /**< a piece is free */
	PB_CORE_SEARCH_NONE = 2,  /**< no piece is large enough */
};

/**
 * Searches a part of the pool for a free piece, one slice. Pre: no piece reaches across the part's ends.
 * @param end of the part @param start where to go on; at first the start of the part. FOUND: where the piece is
 */
enum pb_core_search pb_core_pool_search(const struct pb_core_pool *pool, uint32_t end, uint32_t *start,
					uint32_t bytes);
/** Claims what the search has just found, for a slot that has nothing. */
void pb_core_pool_claim(struct pb_core_pool *pool, uint32_t slot, uint32_t offset, uint32_t bytes);
/** Gives back what a slot has of the pool, if anything. */
void pb_core_pool_free(struct pb_core_pool *pool, uint32_t slot);
/** Finds the owner of a byte of card memory. @return its slot, or 0 */
uint32_t pb_core_pool_owner(const struct pb_core_pool *pool, uint32_t offset);

#endif
