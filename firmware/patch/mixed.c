/* SPDX-License-Identifier: MIT */
/*
 * The loop over a list of 24-byte entries that chooses for each entry which
 * format's checks it takes. Common formats are constants here; the descriptors of
 * the others are read with each entry, so that a change of format costs no more.
 * In a file of its own, as it is compiled for speed: the loops of one format are
 * as quick when they are small.
 */
#include "firmware/instance.h"
#include "firmware/patch/run_list.h"

/** Slices that the mixed loop goes through between two searches for a run. */
#define MIXED_SLICES 4u

PB_STATIC_ASSERT(PB_FORMAT_WRITE == 1u, "a format's limit is found by its flags");

/**
 * Where the mixed loop stops: behind its second entry, to see whether that and
 * the first are of a kind, and at slices' ends, some of which are followed by
 * such a search too. Two of a fast format may be a run, which has a loop of its own.
 * @param next the entry behind the one at which it stopped
 * @return the entry behind which to stop again; NULL: here
 */
static PB_CORE_STEP const uint32_t *stop_mixed(struct pb_core_cursor *cursor, const uint32_t *next,
					       uint32_t driver_id)
{
	const bool two_of_a_kind =
		cursor->mixed_slices == 0 && driver_id == cursor->format_id && pb_core_is_fast(driver_id);

	cursor->format_id = driver_id;
	cursor->words = next;
	if (two_of_a_kind)
		return NULL;
	if (cursor->mixed_slices != 0 || next >= cursor->slice) {
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

/*@
  predicate is_sound_format(struct pb_patch_format *format) = \valid_read(format) && format->shift_right <= 63;
*/

/** The one word of a shifted address. @param high_only whether it is shifted by 32 bits or more @return false: bits are lost */
/*@
  requires is_sound_format(format) && \valid(value) && \separated(value, format);
  requires high_only ? 32 <= format->shift_right : format->shift_right < 32;
  assigns *value;
*/
static PB_CORE_INLINE bool shift(const struct pb_patch_format *format, uint32_t low, uint32_t high,
				 bool high_only, uint32_t *value)
{
	uint32_t right = format->shift_right;

	low |= format->pre_or_low;
	high |= format->pre_or_high;
	if (high_only) {
		low = high;
		high = 0;
		right -= 32u;
	}
	low = low >> right | high << 1 << (31u - right);
	if ((format->flags & PB_FORMAT_FITS) != 0 && ((low & ~format->mask) | high >> right) != 0)
		return false;
	*value = ((low | format->or_value[0]) & format->mask) | format->background;
	return true;
}

/** Writes the two words of an address, of which bits stay. @return false: bits are lost; nothing was written */
/*@
  requires \valid_read(format) && \valid_read(slot);
  requires range: pb_range_at + pb_range_bytes <= 0x100000000;
  requires in_range: pb_in_range((uint32_t)at, 8);
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures nothing: !\result ==> pb_stores == \old(pb_stores);
  ensures place: \result ==> pb_earlier_at == (uint32_t)at;
*/
static PB_CORE_INLINE bool split(const struct pb_patch_format *format, const struct pb_core_slot *slot,
				 uint32_t offset, uint32_t *at)
{
	const uint32_t low = slot->low + offset;
	const uint32_t high = slot->high + (low < offset);
	uint32_t old_low, old_high;

	if ((format->flags & PB_FORMAT_FITS) != 0 &&
	    ((low & ~format->mask) | (high & ~format->high_mask)) != 0)
		return false;
	pb_shared_read_both(at, &old_low, &old_high);
	pb_shared_write_pair(at, (old_low & ~format->mask) | (low & format->mask),
			     (old_high & ~format->high_mask) | (high & format->high_mask));
	return true;
}

/** What an allocation chooses of a format's values. */
/*@
  requires \valid_read(job) && \valid_read(format) && index < PB_LIMIT_ALLOCATIONS;
  assigns \nothing;
*/
static PB_CORE_INLINE uint32_t choice(const struct pb_core_job *job, const struct pb_patch_format *format,
				      uint32_t index)
{
	if (format->or_by == PB_FORMAT_OR_SEGMENT)
		return format->or_value[PB_CORE_TAG_KIND(job->tags[index])];
	return format
		->or_value[format->or_by == PB_FORMAT_OR_FIRST ? 0 : PB_CORE_TAG_ATTRIBUTE(job->tags[index])];
}

/** Carries out an entry of a shape of one word. @return false: it is not ordinary; nothing was written */
/*@
  requires \valid_read(cursor) && \valid_read(cursor->job) && is_sound_format(format) && \valid_read(slot);
  requires index < PB_LIMIT_ALLOCATIONS;
  requires high: shape == PB_CORE_SHAPE_HIGH || shape == PB_CORE_SHAPE_HIGH_INSIDE ==> 32 <= format->shift_right;
  requires shift: shape == PB_CORE_SHAPE_SHIFT || shape == PB_CORE_SHAPE_SHIFT_INSIDE ==> format->shift_right < 32;
  requires shapes: shape == PB_CORE_SHAPE_SPLIT || PB_CORE_SHAPE_WORDS <= shape <= PB_CORE_SHAPE_CONSTANT;
  requires range: pb_range_at + pb_range_bytes <= 0x100000000;
  requires in_range: pb_in_range((uint32_t)at, shape == PB_CORE_SHAPE_SPLIT ? 8 : 4);
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures nothing: !\result ==> pb_stores == \old(pb_stores);
  ensures place: \result ==> (shape == PB_CORE_SHAPE_SPLIT ? pb_earlier_at : pb_last_at) == (uint32_t)at;
  ensures bound: \result ==> 0 < slot->limit[format->flags % 2] &&
    (format->bound == PB_FORMAT_INSIDE ==> offset < slot->limit[format->flags % 2]);
*/
static PB_CORE_INLINE bool apply_shape(const struct pb_core_cursor *cursor,
				       const struct pb_patch_format *format, uint32_t shape,
				       const struct pb_core_slot *slot, uint32_t index, uint32_t offset,
				       uint32_t *at)
{
	const uint32_t limit = slot->limit[format->flags % 2u]; /* PB_FORMAT_WRITE: the second */
	uint32_t low = offset;
	uint32_t high;

	if (limit == 0 || (format->bound == PB_FORMAT_INSIDE && offset >= limit))
		return false;
	if (shape == PB_CORE_SHAPE_SPLIT)
		return split(format, slot, offset, at);
	if (shape < PB_CORE_SHAPE_CHOICE) {
		low += slot->low;
		high = slot->high + (low < offset);
		if (!shift(format, low, high, shape < PB_CORE_SHAPE_SHIFT, &low))
			return false;
		pb_shared_write32(at, low);
		return true;
	}
	if (shape < PB_CORE_SHAPE_ID)
		low += slot->low;
	else if (shape == PB_CORE_SHAPE_ID)
		low += cursor->job->ids[index];
	low |= format->pre_or_low | choice(cursor->job, format, index);
	low = (low & format->mask) | format->background;
	if ((format->flags & PB_FORMAT_KEEP) != 0)
		low |= pb_shared_read32(at) & ~format->mask;
	pb_shared_write32(at, low);
	return true;
}

/* Built-in formats that are constants here, and have no loops of their own: X(NAME, class, shape). */
#define OTHER_FORMATS(X)                                                                                     \
	X(NOUVEAU_DMA, ANY, CONSTANT)                                                                        \
	X(NOUVEAU_OR, ANY, CONSTANT)                                                                         \
	X(NOUVEAU_LOW_OR, ANY, CHOICE)                                                                       \
	X(SHIFT1, ANY, SHIFT)                                                                                \
	X(SHIFT8_SECTOR, ANY, SHIFT)                                                                         \
	X(SPLIT40, ANY_WIDE, SPLIT)                                                                          \
	X(TILING, ANY, CONSTANT)                                                                             \
	X(ID32, ANY, ID)                                                                                     \
	X(FIELD28, ANY, SHIFT_INSIDE)

/**
 * Applies ordinary entries whose formats are constants here, the irregular one first.
 * @param stop where to stop
 * @return NULL: the loop ends. Else the irregular entry is next, and where to stop
 */
static PB_CORE_STEP const uint32_t *run_mixed(struct pb_core_cursor *cursor, const uint32_t *stop)
{
	const struct pb_core_slot *const slots = cursor->slots;
	const uintptr_t origin = cursor->origin;
	const uint32_t start = cursor->start;
	const uint32_t *words = cursor->words; /* behind the entry at hand */
	struct pb_core_entry entry = cursor->irregular;
	const struct pb_core_slot *slot;
	uint32_t reserved;

	for (;;) {
		reserved = entry.slot >> PB_PATCH_RESERVED_SHIFT;
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
				   PB_CORE_FAST(name, class, __VA_ARGS__), false))                           \
			goto irregular;                                                                      \
		break;
			PB_CORE_FAST_FORMATS(MIXED)
#define OTHER(name, class, shape)                                                                            \
	case PB_PATCH_FORMAT_##name:                                                                         \
		if (pb_core_rotate_right_2(entry.patch_offset - start) >=                                    \
			    cursor->places[PB_CORE_CLASS_##class] ||                                         \
		    !apply_shape(cursor, &pb_core_format_built_in[PB_PATCH_FORMAT_##name],                   \
				 PB_CORE_SHAPE_##shape, slot, entry.allocation_index,                        \
				 entry.allocation_offset, (uint32_t *)(origin + entry.patch_offset)))        \
			goto irregular;                                                                      \
		stop -= PB_CORE_ENTRY_WORDS / 2u; /* it counts for one and a half */                         \
		break;
			OTHER_FORMATS(OTHER)
		default:
			goto irregular;
		}
		if (words >= stop) {
			stop = stop_mixed(cursor, words, entry.driver_id);
			if (stop == NULL)
				return NULL;
			words = cursor->words; /* or it is not in the register that a read wants it in */
		}
		words = pb_core_read_entry(words, &entry);
	}
irregular:
	cursor->words = words;
	cursor->irregular = entry;
	return stop;
}

/**
 * Applies the irregular entry by its format's descriptor, and those behind it that are of its format.
 * @param stop where to stop
 * @return NULL: the loop ends. Else the irregular entry is next, and where to stop
 */
static PB_CORE_STEP const uint32_t *run_general(struct pb_core_cursor *cursor, const uint32_t *stop)
{
	const uint32_t id = cursor->irregular.driver_id;
	const struct pb_core_format found =
		pb_core_format_find(&cursor->firmware->formats, &cursor->job->channel->formats, id);
	const uint32_t places = cursor->places[found.shape == PB_CORE_SHAPE_SPLIT ? PB_CORE_CLASS_ANY_WIDE
										  : PB_CORE_CLASS_ANY];
	const uint32_t *words = cursor->words;
	struct pb_core_entry entry = cursor->irregular;

	while (found.shape != PB_CORE_SHAPE_SLOW && entry.driver_id == id &&
	       (entry.slot >> PB_PATCH_RESERVED_SHIFT | entry.allocation_index >> PB_CORE_INDEX_BITS) == 0 &&
	       pb_core_rotate_right_2(entry.patch_offset - cursor->start) < places &&
	       apply_shape(cursor, found.format, found.shape, &cursor->slots[entry.allocation_index],
			   entry.allocation_index, entry.allocation_offset,
			   (uint32_t *)(cursor->origin + entry.patch_offset))) {
		stop -= PB_COST_GENERAL * PB_CORE_ENTRY_WORDS;
		if (words >= stop) {
			stop = stop_mixed(cursor, words, id);
			if (stop == NULL)
				return NULL;
		}
		words = pb_core_read_entry(words, &entry);
	}
	cursor->words = words;
	cursor->irregular = entry;
	return stop;
}

/** Applies the irregular entry check by check. @param stop where to stop; set to where to stop now, or NULL */
static enum pb_error run_slow(struct pb_core_cursor *cursor, const uint32_t **stop)
{
	const uint32_t cost = cursor->job->aperture == NULL ? PB_COST_SLOW : PB_COST_PAGES;
	const enum pb_error error = pb_core_slow_path(cursor, &cursor->irregular);

	if (error != PB_ERROR_OK)
		return error;
	*stop -= cost * PB_CORE_ENTRY_WORDS;
	if (cursor->words >= *stop)
		*stop = stop_mixed(cursor, cursor->words, cursor->irregular.driver_id);
	if (*stop != NULL)
		cursor->words = pb_core_read_entry(cursor->words, &cursor->irregular);
	return PB_ERROR_OK;
}

enum pb_error pb_core_list_mixed(struct pb_core_cursor *cursor, bool search)
{
	/* What another loop left of its slice is more than fits this one's, whose entries cost more. */
	const uint32_t *stop =
		pb_core_list_slice(cursor->words, cursor->slice, PB_SLICE_MIXED * PB_CORE_ENTRY_WORDS);

	cursor->slice = stop;
	if (search && cursor->words != stop)
		stop = cursor->words + PB_CORE_ENTRY_WORDS;
	cursor->format_id = cursor->irregular.driver_id;
	cursor->mixed_slices = search ? 0 : MIXED_SLICES;
	while ((stop = run_mixed(cursor, stop)) != NULL) {
		const uint32_t *const at = cursor->words;
		enum pb_error error;

		if (cursor->mixed_slices == 0) {
			cursor->mixed_slices = MIXED_SLICES;
			stop = cursor->slice;
		}
		stop = run_general(cursor, stop);
		if (stop == NULL)
			return PB_ERROR_OK;
		if (cursor->words != at)
			continue;
		error = run_slow(cursor, &stop);
		if (error != PB_ERROR_OK || stop == NULL)
			return error;
	}
	return PB_ERROR_OK;
}
