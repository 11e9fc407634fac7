/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The loop over a run of short and ordinary entries of one format in the
 * compact list, like firmware/patch/run_list.h.
 */
#ifndef PB_FIRMWARE_RUN_COMPACT_H
#define PB_FIRMWARE_RUN_COMPACT_H

#include "firmware/patch/loops.h"

#define PB_CORE_SHORT_SLICE_WORDS (PB_SLICE_SHORT * PB_COMPACT_SHORT_WORDS)
#define PB_CORE_SHORT_UNROLL      2u

PB_STATIC_ASSERT(PB_LIMIT_ALLOCATIONS - 1u <= PB_COMPACT_INDEX_MASK, "every allocation has its index");

/** What an entry's place is checked and found by; places stand where a short entry has them. */
struct pb_core_short_ground {
	const struct pb_core_slot *slots;
	uintptr_t target; /**< address of the submission's byte 0 */
	uint32_t start;
	uint32_t places;
};

/*@
  // What loops stand on, as in firmware/patch/run_list.h.
  predicate pb_core_short_grounded(struct pb_core_short_ground *ground, struct pb_core_fast fast) =
    \valid_read(ground->slots + (0 .. PB_LIMIT_ALLOCATIONS - 1)) &&
    (\forall integer i; 0 <= i < PB_LIMIT_ALLOCATIONS ==> pb_core_no_carry(ground->slots + i, fast)) &&
    pb_range_at == ground->target && pb_range_at + pb_range_bytes <= 0x100000000 &&
    (ground->places != 0 ==> 4 * ((ground->places - 1) / 0x400) + pb_core_width(fast) <= pb_range_bytes);
*/

/** The number of places that a short entry may name, as it names them. */
/*@
  requires \valid_read(cursor) && class < PB_CORE_CLASSES;
  assigns \nothing;
  ensures \result % 0x400 == 0 && \result / 0x400 <= cursor->places[class];
  ensures escapes: cursor->start + \result / 0x400 * 4 <= PB_COMPACT_PLACE_END || \result == 0;
  ensures last: \result != 0 ==> (\result - 1) / 0x400 < cursor->places[class];
*/
static inline uint32_t pb_core_short_places(const struct pb_core_cursor *cursor, enum pb_core_class class)
{
	const uint32_t end = cursor->start < PB_COMPACT_PLACE_END ? PB_COMPACT_PLACE_END - cursor->start : 0;
	const uint32_t count = cursor->places[class];

	return (count < end / 4u ? count : end / 4u) << PB_COMPACT_PLACE_SHIFT;
}

/** Reads the first two words of the entry at `words`. @return the address behind them */
/*@
  requires \valid(entry) && \valid_read(words + (0 .. 1));
  assigns \result \from words;
  assigns entry->slot, entry->allocation_offset;
  ensures \result == words + 2;
*/
static PB_CORE_INLINE const uint32_t *pb_core_short_read(const uint32_t *words, struct pb_core_entry *entry)
{
	uint32_t two[2];

	words = pb_shared_read_two(words, two);
	entry->slot = two[0];
	entry->allocation_offset = two[1];
	return words;
}

/** Carries out an entry whose first two words have been read, if it is a short and ordinary one of the format. */
/*@
  requires \valid_read(ground) && \valid_read(entry);
  requires fast.column < 2 && fast.value <= PB_CORE_VALUE_SHIFT8 && pb_core_short_grounded(ground, fast);
  requires \separated(entry, ground, ground->slots + (0 .. PB_LIMIT_ALLOCATIONS - 1));
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures nothing: !\result ==> pb_stores == \old(pb_stores);
  ensures place: \result ==>
    pb_core_stored_at(pb_range_at + (uint32_t)(entry->slot - ground->start) / 0x400 * 4, fast);
  ensures low: \result && fast.value == PB_CORE_VALUE_LOW ==> pb_core_stored_low(ground->slots + entry->slot % 0x400, entry->allocation_offset);
  ensures wide: \result && fast.value == PB_CORE_VALUE_WIDE && fast.bounded ==>
    pb_core_stored_wide(ground->slots + entry->slot % 0x400, entry->allocation_offset);
  ensures signed: \result && fast.value == PB_CORE_VALUE_WIDE && !fast.bounded ==>
    pb_core_stored_signed(ground->slots + entry->slot % 0x400, entry->allocation_offset);
  ensures canonical: \result && fast.value == PB_CORE_VALUE_CANONICAL && !fast.bounded ==>
    pb_core_stored_canonical(ground->slots + entry->slot % 0x400, entry->allocation_offset);
  ensures high: \result && fast.value == PB_CORE_VALUE_HIGH && !fast.bounded ==>
    pb_core_stored_high(ground->slots + entry->slot % 0x400, entry->allocation_offset);
  ensures shift8: \result && fast.value == PB_CORE_VALUE_SHIFT8 && fast.bounded ==>
    pb_core_stored_shift8(ground->slots + entry->slot % 0x400, entry->allocation_offset);
*/
static PB_CORE_INLINE bool pb_core_short_apply(const struct pb_core_short_ground *ground,
					       const struct pb_core_entry *entry, struct pb_core_fast fast)
{
	const uint32_t word = entry->slot;
	const uint32_t place = word - ground->start;
	const struct pb_core_slot *slot;

	if (place >= ground->places)
		return false;
	/* A board whose lists are shorter has no slots for the rest; the others do not ask. */
	if (PB_LIMIT_ALLOCATIONS <= PB_COMPACT_INDEX_MASK &&
	    (word & PB_COMPACT_INDEX_MASK) >= PB_LIMIT_ALLOCATIONS)
		return false;
	/*@ assert inside: place / 0x400 * 4 + pb_core_width(fast) <= pb_range_bytes; */
	/*@ assert index: (word & PB_COMPACT_INDEX_MASK) == word % 0x400; */
	slot = &ground->slots[word & PB_COMPACT_INDEX_MASK];
	PB_CORE_KEEP(slot);
	return pb_core_store(slot, entry->allocation_offset,
			     (uint32_t *)(ground->target + (place >> PB_COMPACT_PLACE_SHIFT) * 4u), fast,
			     true);
}

/** Runs short entries of one format, slice after slice. */
/*@
  requires \valid(cursor);
  requires fast.column < 2 && fast.value <= PB_CORE_VALUE_SHIFT8 && fast.places < PB_CORE_CLASSES;
  requires list: pb_list_words <= 0xc0000 && cursor->end == cursor->words + pb_list_words &&
    \valid_read(cursor->words + (0 .. pb_list_words - 1));
  requires pass: \base_addr(cursor->pass) == \base_addr(cursor->words) && cursor->pass <= cursor->end;
  requires pending: \valid_read(cursor->pending);
  requires slots: \valid_read(cursor->slots + (0 .. PB_LIMIT_ALLOCATIONS - 1)) &&
    (\forall integer i; 0 <= i < PB_LIMIT_ALLOCATIONS ==> pb_core_no_carry(cursor->slots + i, fast));
  requires range: pb_range_at == (uint32_t)(cursor->origin + cursor->start) &&
    pb_range_at + pb_range_bytes <= 0x100000000 && (cursor->places[fast.places] != 0 ==>
      4 * (cursor->places[fast.places] - 1) + pb_core_width(fast) <= pb_range_bytes);
  assigns cursor->words \from cursor->words;
  assigns cursor->irregular, pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures inside: \old(cursor->words) <= cursor->words <= cursor->end;
  ensures irregular: \result == PB_CORE_IRREGULAR ==> cursor->words + 2 <= cursor->end;
*/
static PB_CORE_INLINE enum pb_core_run pb_core_short_loop(struct pb_core_cursor *cursor,
							  struct pb_core_fast fast)
{
	const struct pb_core_short_ground ground = {cursor->slots, cursor->origin + cursor->start,
						    cursor->start << (PB_COMPACT_PLACE_SHIFT - 2u),
						    pb_core_short_places(cursor, fast.places)};
	const uint32_t *words = cursor->words;
	const uint32_t *slice;
	struct pb_core_entry entry;
	/*@ ghost uint32_t done = 0; */
	/*@ ghost uint32_t stop = 0; */
	/*@ ghost uint32_t blocks = 0; */

	/*@
	  loop invariant at: words == \at(cursor->words, Pre) + done && done <= pb_list_words;
	  loop invariant sound: pb_core_short_grounded(&ground, fast);
	  loop assigns words, slice, entry, done, stop, blocks;
	  loop assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
	  loop variant pb_list_words - done;
	*/
	do {
		const uint32_t left = (uint32_t)(cursor->end - words);
		const uint32_t *rest;

		slice = left > PB_CORE_SHORT_SLICE_WORDS ? words + PB_CORE_SHORT_SLICE_WORDS : cursor->end;
		rest = left > PB_CORE_SHORT_SLICE_WORDS
			       ? slice
			       : words + left / (PB_CORE_SHORT_UNROLL * PB_COMPACT_SHORT_WORDS) *
						 (PB_CORE_SHORT_UNROLL * PB_COMPACT_SHORT_WORDS);
		/*@ ghost stop = pb_list_words - done > PB_CORE_SHORT_SLICE_WORDS ? done + PB_CORE_SHORT_SLICE_WORDS : pb_list_words; */
		/*@ ghost blocks = (stop - done) / 4; */
		/*@ assert slice: slice == \at(cursor->words, Pre) + stop; */
		/*@ assert rest: rest == \at(cursor->words, Pre) + (done + 4 * blocks); */
		/*@
		  loop invariant at: words == \at(cursor->words, Pre) + done && done + 4 * blocks <= stop;
		  loop invariant rest: rest == \at(cursor->words, Pre) + (done + 4 * blocks);
		  loop invariant sound: pb_core_short_grounded(&ground, fast);
		  loop assigns words, entry, done, blocks;
		  loop assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
		  loop variant blocks;
		*/
		while (fast.unroll_compact && words != rest) {
			words = pb_core_short_read(words, &entry);
			/*@ ghost done += 2; */
			if (!pb_core_short_apply(&ground, &entry, fast))
				goto irregular;
			words = pb_core_short_read(words, &entry);
			/*@ ghost done += 2; */
			if (!pb_core_short_apply(&ground, &entry, fast))
				goto irregular;
			/*@ ghost blocks--; */
		}
		/*@
		  loop invariant at: words == \at(cursor->words, Pre) + done && done <= stop;
		  loop invariant sound: pb_core_short_grounded(&ground, fast);
		  loop assigns words, entry, done;
		  loop assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
		  loop variant stop - done;
		*/
		while ((uint32_t)(slice - words) >= PB_COMPACT_SHORT_WORDS) {
			words = pb_core_short_read(words, &entry);
			/*@ ghost done += 2; */
			if (!pb_core_short_apply(&ground, &entry, fast))
				goto irregular;
		}
	} while (words < cursor->pass && words + 1 < cursor->end && !pb_lines_waiting(cursor->pending));
	cursor->words = words;
	return PB_CORE_DONE;
irregular:
	cursor->irregular = entry;
	cursor->words = words - PB_COMPACT_SHORT_WORDS;
	return PB_CORE_IRREGULAR;
}

#endif
