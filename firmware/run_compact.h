/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The loop over a run of short and ordinary entries of one format in the
 * compact list, like firmware/run_list.h.
 */
#ifndef PB_FIRMWARE_RUN_COMPACT_H
#define PB_FIRMWARE_RUN_COMPACT_H

#include "firmware/patch.h"

#define PB_CORE_SHORT_SLICE_WORDS (PB_SLICE_PATCHES * PB_COMPACT_SHORT_WORDS)
#define PB_CORE_SHORT_UNROLL      4u

PB_STATIC_ASSERT(PB_LIMIT_ALLOCATIONS - 1u <= PB_COMPACT_INDEX_MASK, "every allocation has its index");

/** What an entry's place is checked and found by; places stand where a short entry has them. */
struct pb_core_short_ground {
	const struct pb_core_slot *slots;
	uintptr_t target; /**< address of the submission's byte 0 */
	uint32_t start;
	uint32_t places;
};

/** The number of places that a short entry may name, as it names them. */
static inline uint32_t pb_core_short_places(const struct pb_core_cursor *cursor, enum pb_core_class class)
{
	const uint32_t end = cursor->start < PB_COMPACT_PLACE_END ? PB_COMPACT_PLACE_END - cursor->start : 0;
	const uint32_t count = cursor->places[class];

	return (count < end / 4u ? count : end / 4u) << PB_COMPACT_PLACE_SHIFT;
}

/** Carries out the entry at `words` if it is a short and ordinary one of the format. */
/*@
  requires \valid_read(ground) && \valid_read(words + (0 .. 1)) && \valid(entry);
  requires fast.column < 2 && fast.value <= PB_CORE_VALUE_SHIFT8;
  requires \valid_read(ground->slots + (0 .. PB_LIMIT_ALLOCATIONS - 1));
  requires \separated(entry, ground, ground->slots + (0 .. PB_LIMIT_ALLOCATIONS - 1));
  requires \forall integer i; 0 <= i < PB_LIMIT_ALLOCATIONS ==> pb_core_no_carry(ground->slots + i, fast);
  requires pb_range_at == ground->target && pb_range_at + pb_range_bytes <= 0x100000000;
  requires ground->places != 0 ==> 4 * ((ground->places - 1) / 0x400) + pb_core_width(fast) <= pb_range_bytes;
  assigns *entry, pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
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
static inline __attribute__((always_inline)) bool
pb_core_short_apply(const struct pb_core_short_ground *ground, const uint32_t *words,
		    struct pb_core_entry *entry, struct pb_core_fast fast)
{
	const uint32_t word = entry->slot = pb_shared_read32(&words[0]);
	const uint32_t offset = entry->allocation_offset = pb_shared_read32(&words[1]);
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
	return pb_core_store(slot, offset,
			     (uint32_t *)(ground->target + (place >> PB_COMPACT_PLACE_SHIFT) * 4u), fast);
}

static inline __attribute__((always_inline)) enum pb_core_run
pb_core_short_loop(struct pb_core_cursor *cursor, struct pb_core_fast fast)
{
	const struct pb_core_short_ground ground = {cursor->slots, cursor->origin + cursor->start,
						    cursor->start << (PB_COMPACT_PLACE_SHIFT - 2u),
						    pb_core_short_places(cursor, fast.places)};
	const uint32_t *words = cursor->words;
	const uint32_t *slice;
	struct pb_core_entry entry;

	do {
		const uint32_t left = (uint32_t)(cursor->end - words);
		const uint32_t *rest;

		slice = left > PB_CORE_SHORT_SLICE_WORDS ? words + PB_CORE_SHORT_SLICE_WORDS : cursor->end;
		rest = left > PB_CORE_SHORT_SLICE_WORDS
			       ? slice
			       : words + left / (PB_CORE_SHORT_UNROLL * PB_COMPACT_SHORT_WORDS) *
						 (PB_CORE_SHORT_UNROLL * PB_COMPACT_SHORT_WORDS);
		while (words != rest) {
			if (!pb_core_short_apply(&ground, words, &entry, fast))
				goto tripped_0;
			if (!pb_core_short_apply(&ground, words + PB_COMPACT_SHORT_WORDS, &entry, fast))
				goto tripped_1;
			if (!pb_core_short_apply(&ground, words + 2u * PB_COMPACT_SHORT_WORDS, &entry, fast))
				goto tripped_2;
			if (!pb_core_short_apply(&ground, words + 3u * PB_COMPACT_SHORT_WORDS, &entry, fast))
				goto tripped_3;
			words += PB_CORE_SHORT_UNROLL * PB_COMPACT_SHORT_WORDS;
		}
		for (; (uint32_t)(slice - words) >= PB_COMPACT_SHORT_WORDS; words += PB_COMPACT_SHORT_WORDS) {
			if (!pb_core_short_apply(&ground, words, &entry, fast))
				goto tripped_0;
		}
	} while (words < cursor->pass && words + 1 < cursor->end && !pb_lines_waiting(cursor->pending));
	cursor->words = words;
	return PB_CORE_DONE;
tripped_3:
	PB_CORE_KEEP(words);
	words += PB_COMPACT_SHORT_WORDS;
tripped_2:
	PB_CORE_KEEP(words);
	words += PB_COMPACT_SHORT_WORDS;
tripped_1:
	PB_CORE_KEEP(words);
	words += PB_COMPACT_SHORT_WORDS;
tripped_0:
	cursor->tripped = entry;
	cursor->words = words;
	return PB_CORE_TRIPPED;
}

#endif
