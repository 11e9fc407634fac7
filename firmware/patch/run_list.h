/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The loop over a run of ordinary entries of one format in the 24-byte list.
 * Whoever includes it makes functions of it, with the format as a constant.
 */
#ifndef PB_FIRMWARE_RUN_LIST_H
#define PB_FIRMWARE_RUN_LIST_H

#include "firmware/patch/loops.h"
#include "hal/shifts.h"

#define PB_CORE_SLICE_WORDS (PB_SLICE_PATCHES * PB_CORE_ENTRY_WORDS)
/** Entries between two checks for the end of the slice. */
#define PB_CORE_LIST_UNROLL 2u

PB_STATIC_ASSERT(PB_SLICE_PATCHES % PB_CORE_LIST_UNROLL == 0, "only the last slice of a list has a rest");

/** What an entry's place is checked and found by; in registers all through a loop. */
struct pb_core_list_ground {
	const struct pb_core_slot *slots;
	uintptr_t origin;
	uint32_t start;
	uint32_t places;
	uint32_t id;
	uint32_t last_slot;  /**< without Reserved bits */
	uint32_t last_index; /**< that has a slot */
};

/*@
  // What loops stand on: every index has a slot, and every place is in the submission's range.
  predicate pb_core_sound(struct pb_core_slot *slots, uint32_t origin, uint32_t start, uint32_t places,
      struct pb_core_fast fast) =
    \valid_read(slots + (0 .. PB_LIMIT_ALLOCATIONS - 1)) &&
    (\forall integer i; 0 <= i < PB_LIMIT_ALLOCATIONS ==> pb_core_no_carry(slots + i, fast)) &&
    pb_range_at == (uint32_t)(origin + start) && pb_range_at + pb_range_bytes <= 0x100000000 &&
    places <= 0x40000000 && (places != 0 ==> 4 * (places - 1) + pb_core_width(fast) <= pb_range_bytes);
  predicate pb_core_grounded(struct pb_core_list_ground *ground, struct pb_core_fast fast) =
    ground->last_index == PB_LIMIT_ALLOCATIONS - 1 &&
    pb_core_sound(ground->slots, ground->origin, ground->start, ground->places, fast);
*/

/** Whether a place, counted from the submission's start, is none of its words. */
/*@
  requires places <= 0x40000000;
  assigns \nothing;
  ensures !\result <==> offset % 4 == 0 && offset / 4 < places;
*/
static PB_CORE_INLINE bool pb_core_list_misplaced(uint32_t offset, uint32_t places)
{
	/* One compare for range, width and alignment: low bits that are set rotate to the top. */
	if (PB_SHIFTS_ARE_FREE)
		return pb_core_rotate_right_2(offset) >= places;
	return offset % 4u != 0 || offset >= 4u * places;
}

/** Whether an entry is of another format, has Reserved bits, or an index that no slot has. */
/*@
  requires \valid_read(entry);
  assigns \nothing;
  ensures !\result ==> entry->allocation_index < PB_LIMIT_ALLOCATIONS;
*/
static PB_CORE_INLINE bool pb_core_list_unlike(const struct pb_core_entry *entry, uint32_t format_id)
{
	uint32_t irregular_bits = (entry->driver_id ^ format_id) | entry->slot >> PB_PATCH_RESERVED_SHIFT;

	PB_CORE_KEEP(irregular_bits); /* in this order each shift is part of an OR */
	return (irregular_bits | entry->allocation_index >> PB_CORE_INDEX_BITS) != 0;
}

/**
 * Carries out an entry that has been read, if it is an ordinary one of the given format.
 * @return false: it is not; nothing was written
 */
/*@
  requires \valid_read(ground) && \valid(entry);
  requires fast.column < 2 && fast.value <= PB_CORE_VALUE_SHIFT8 && pb_core_grounded(ground, fast);
  requires \separated(entry, ground, ground->slots + (0 .. PB_LIMIT_ALLOCATIONS - 1));
  assigns *entry, pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures nothing: !\result ==> pb_stores == \old(pb_stores);
  ensures index: \result ==> entry->allocation_index < PB_LIMIT_ALLOCATIONS;
  ensures place: \result ==>
    pb_core_stored_at(pb_range_at + (uint32_t)(entry->patch_offset - ground->start), fast);
  ensures low: \result && fast.value == PB_CORE_VALUE_LOW ==>
    pb_core_stored_low(ground->slots + entry->allocation_index, entry->allocation_offset);
  ensures wide: \result && fast.value == PB_CORE_VALUE_WIDE && fast.bounded ==>
    pb_core_stored_wide(ground->slots + entry->allocation_index, entry->allocation_offset);
  ensures signed: \result && fast.value == PB_CORE_VALUE_WIDE && !fast.bounded ==>
    pb_core_stored_signed(ground->slots + entry->allocation_index, entry->allocation_offset);
  ensures canonical: \result && fast.value == PB_CORE_VALUE_CANONICAL && !fast.bounded ==>
    pb_core_stored_canonical(ground->slots + entry->allocation_index, entry->allocation_offset);
  ensures high: \result && fast.value == PB_CORE_VALUE_HIGH && !fast.bounded ==>
    pb_core_stored_high(ground->slots + entry->allocation_index, entry->allocation_offset);
  ensures shift8: \result && fast.value == PB_CORE_VALUE_SHIFT8 && fast.bounded ==>
    pb_core_stored_shift8(ground->slots + entry->allocation_index, entry->allocation_offset);
  ensures bound: \result ==> (fast.bounded
    ? entry->allocation_offset < ground->slots[entry->allocation_index].limit[fast.column]
    : ground->slots[entry->allocation_index].limit[fast.column] != 0);
*/
static PB_CORE_INLINE bool pb_core_list_apply(const struct pb_core_list_ground *ground,
					      struct pb_core_entry *entry, struct pb_core_fast fast)
{
	const struct pb_core_slot *slot;

	if (PB_SHIFTS_ARE_FREE) {
		if (pb_core_list_unlike(entry, fast.id))
			return false;
	} else if (entry->driver_id != ground->id || entry->slot > ground->last_slot ||
		   entry->allocation_index > ground->last_index) {
		return false;
	}
	/*@ assert listed: entry->allocation_index < PB_LIMIT_ALLOCATIONS; */
	/* Known, or of no use, from here on, which frees their registers. */
	entry->driver_id = fast.id;
	entry->slot = 0;
	if (pb_core_list_misplaced(entry->patch_offset - ground->start, ground->places))
		return false;
	/*@ assert inside: (uint32_t)(entry->patch_offset - ground->start) + pb_core_width(fast) <= pb_range_bytes; */
	/*@ assert there: (uint32_t)(ground->origin + entry->patch_offset) ==
	      pb_range_at + (uint32_t)(entry->patch_offset - ground->start); */
	slot = &ground->slots[entry->allocation_index];
	PB_CORE_KEEP(slot); /* computed once, not anew for each field */
	return pb_core_store(slot, entry->allocation_offset,
			     (uint32_t *)(ground->origin + entry->patch_offset), fast, true);
}

/*@
  requires \base_addr(words) == \base_addr(end) && 0 <= end - words <= 0x1000000;
  assigns \result \from words, end, slice_words;
  ensures \result == words + (end - words > slice_words ? slice_words : end - words);
*/
static PB_CORE_INLINE const uint32_t *pb_core_list_slice(const uint32_t *words, const uint32_t *end,
							 uint32_t slice_words)
{
	return (uint32_t)(end - words) > slice_words ? words + slice_words : end;
}

/*@
  requires \valid_read(cursor) && fast.places < PB_CORE_CLASSES;
  assigns \nothing;
  ensures \result.slots == cursor->slots && \result.origin == cursor->origin && \result.start == cursor->start;
  ensures \result.places == cursor->places[fast.places] && \result.last_index == PB_LIMIT_ALLOCATIONS - 1;
*/
static PB_CORE_INLINE struct pb_core_list_ground pb_core_list_ground_of(const struct pb_core_cursor *cursor,
									struct pb_core_fast fast)
{
	uint32_t id = fast.id;
	uint32_t last_slot = UINT32_MAX >> (32u - PB_PATCH_RESERVED_SHIFT);
	uint32_t last_index = PB_LIMIT_ALLOCATIONS - 1u;

	/* Constants would be loaded for each entry. */
	PB_CORE_KEEP(id);
	PB_CORE_KEEP(last_slot);
	PB_CORE_KEEP(last_index);
	return (struct pb_core_list_ground){
		.slots = cursor->slots,
		.origin = cursor->origin,
		.start = cursor->start,
		.places = cursor->places[fast.places],
		.id = id,
		.last_slot = last_slot,
		.last_index = last_index,
	};
}

/** Runs ordinary entries of one format, slice after slice. */
/*@
  requires \valid(cursor);
  requires fast.column < 2 && fast.value <= PB_CORE_VALUE_SHIFT8 && fast.places < PB_CORE_CLASSES;
  requires list: pb_list_entries <= 0x20000 && cursor->end == cursor->words + 6 * pb_list_entries &&
    \valid_read(cursor->words + (0 .. 6 * pb_list_entries - 1));
  requires pass: \base_addr(cursor->pass) == \base_addr(cursor->words) && cursor->pass <= cursor->end;
  requires pending: \valid_read(cursor->pending);
  requires sound: pb_core_sound(cursor->slots, cursor->origin, cursor->start, cursor->places[fast.places], fast);
  assigns cursor->words \from cursor->words;
  assigns cursor->slice \from cursor->words, cursor->end;
  assigns cursor->irregular, pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures inside: \old(cursor->words) <= cursor->words <= cursor->end;
  ensures irregular: \result == PB_CORE_IRREGULAR ==>
    \old(cursor->words) < cursor->words <= cursor->slice <= cursor->end;
*/
static PB_CORE_INLINE enum pb_core_run pb_core_list_loop(struct pb_core_cursor *cursor,
							 struct pb_core_fast fast)
{
	const struct pb_core_list_ground ground = pb_core_list_ground_of(cursor, fast);
	const uint32_t *words = cursor->words;
	const uint32_t *
		unrolled; /* no further than this an unrolled iteration may start; the slice's end is behind it */
	struct pb_core_entry entry;
	/*@ ghost uint32_t done = 0; */
	/*@ ghost uint32_t stop = 0; */

	/*@
	  loop invariant at: words == \at(cursor->words, Pre) + 6 * done && done <= pb_list_entries;
	  loop invariant sound: pb_core_grounded(&ground, fast);
	  loop assigns words, unrolled, entry, done, stop;
	  loop assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
	  loop variant pb_list_entries - done;
	*/
	do {
		unrolled = pb_core_list_slice(words, cursor->end, PB_CORE_SLICE_WORDS) -
			   PB_CORE_LIST_UNROLL * PB_CORE_ENTRY_WORDS;
		PB_CORE_KEEP(unrolled); /* or the slice's end keeps a register of its own */
		/*@ ghost stop = pb_list_entries - done > PB_SLICE_PATCHES ? done + PB_SLICE_PATCHES : pb_list_entries; */
		/*@ assert slice: unrolled == \at(cursor->words, Pre) + (6 * stop - 12); */
		/*@
		  loop invariant at: words == \at(cursor->words, Pre) + 6 * done && done <= stop;
		  loop invariant sound: pb_core_grounded(&ground, fast);
		  loop assigns words, entry, done;
		  loop assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
		  loop variant stop - done;
		*/
		while (fast.unroll_list && words <= unrolled) {
			words = pb_core_read_entry(words, &entry);
			/*@ ghost done++; */
			if (!pb_core_list_apply(&ground, &entry, fast)) {
				PB_CORE_KEEP(words);
				goto irregular;
			}
			words = pb_core_read_entry(words, &entry);
			/*@ ghost done++; */
			if (!pb_core_list_apply(&ground, &entry, fast)) {
				PB_CORE_KEEP(words);
				goto irregular;
			}
		}
		/*@
		  loop invariant at: words == \at(cursor->words, Pre) + 6 * done && done <= stop;
		  loop invariant sound: pb_core_grounded(&ground, fast);
		  loop assigns words, entry, done;
		  loop assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
		  loop variant stop - done;
		*/
		while (words != unrolled + PB_CORE_LIST_UNROLL * PB_CORE_ENTRY_WORDS) {
			words = pb_core_read_entry(words, &entry);
			/*@ ghost done++; */
			if (!pb_core_list_apply(&ground, &entry, fast))
				goto irregular;
		}
	} while (words < cursor->pass && !pb_lines_waiting(cursor->pending));
	cursor->words = words;
	return PB_CORE_DONE;
irregular:
	cursor->slice = unrolled + PB_CORE_LIST_UNROLL * PB_CORE_ENTRY_WORDS;
	cursor->irregular = entry;
	cursor->words = words;
	return PB_CORE_IRREGULAR;
}

#endif
