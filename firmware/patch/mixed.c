/* SPDX-License-Identifier: MIT */
/*
 * The loop over a list of 24-byte entries that chooses for each entry which
 * format's checks it takes. In a file of its own, as it is compiled for speed:
 * the loops of one format are as quick when they are small.
 */
#include "firmware/patch/run_list.h"

/** Slices that the mixed loop goes through between two searches for a run. */
#define MIXED_SLICES 4u

/**
 * Where the mixed loop stops: behind its second entry, to see whether that and
 * the first are of a kind, and at slices' ends, some of which are followed by
 * such a search too. Two of a kind may be a run, which has a loop of its own.
 * @param next the entry behind the one at which it stopped
 * @return the entry behind which to stop again; NULL: here
 */
static PB_CORE_STEP const uint32_t *stop_mixed(struct pb_core_cursor *cursor, const uint32_t *next,
					       uint32_t driver_id)
{
	const bool two_of_a_kind = cursor->mixed_slices == 0 && driver_id == cursor->format_id;

	cursor->format_id = driver_id;
	cursor->words = next;
	if (two_of_a_kind)
		return NULL;
	if (next == cursor->slice) {
		if (next >= cursor->pass || pb_lines_waiting(cursor->pending))
			return NULL;
		cursor->slice = pb_core_list_slice(next, cursor->end, PB_SLICE_MIXED * PB_CORE_ENTRY_WORDS);
	}
	if (cursor->mixed_slices == 0)
		cursor->mixed_slices = MIXED_SLICES;
	else if (--cursor->mixed_slices == 0)
		return next + PB_CORE_ENTRY_WORDS;
	return cursor->slice;
}

enum pb_core_run pb_core_list_mixed(struct pb_core_cursor *cursor)
{
	const struct pb_core_slot *const slots = cursor->slots;
	const uintptr_t origin = cursor->origin;
	const uint32_t start = cursor->start;
	const uint32_t *words = cursor->words; /* behind the entry at hand */
	const uint32_t *stop = words == cursor->slice ? words : words + PB_CORE_ENTRY_WORDS;
	struct pb_core_entry entry = cursor->irregular;

	cursor->format_id = entry.driver_id;
	cursor->mixed_slices = 0;
	for (;;) {
		const struct pb_core_slot *slot;
		uint32_t reserved = entry.slot >> PB_PATCH_RESERVED_SHIFT;

		PB_CORE_KEEP(reserved);
		/* Of the slot no more than this is kept: SlotId is of no use and has no register. */
		entry.slot = reserved << PB_PATCH_RESERVED_SHIFT;
		if ((reserved | entry.allocation_index >> PB_CORE_INDEX_BITS) != 0)
			goto irregular;
		slot = &slots[entry.allocation_index];
		PB_CORE_KEEP(slot);
		switch (entry.driver_id) {
#define MIXED(name, class, ...)                                                                              \
	case PB_PATCH_FORMAT_##name:                                                                         \
		if (pb_core_rotate_right_2(entry.patch_offset - start) >=                                    \
			    cursor->places[PB_CORE_CLASS_##class] ||                                         \
		    !pb_core_store(slot, entry.allocation_offset, (uint32_t *)(origin + entry.patch_offset), \
				   PB_CORE_FAST(name, class, __VA_ARGS__)))                                  \
			goto irregular;                                                                      \
		break;
			PB_CORE_FAST_FORMATS(MIXED)
		default:
			goto irregular;
		}
		if (words == stop) {
			stop = stop_mixed(cursor, words, entry.driver_id);
			if (stop == NULL)
				return PB_CORE_DONE;
			words = cursor->words; /* or it is not in the register that a read wants it in */
		}
		words = pb_core_read_entry(words, &entry);
	}
irregular:
	cursor->words = words;
	cursor->irregular = entry;
	return PB_CORE_IRREGULAR;
}
