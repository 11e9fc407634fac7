/* SPDX-License-Identifier: MIT */
/*
 * Step 3 for runs of a general format: its descriptor, worked out once into
 * what a loop needs. Formats or entries that are out of the ordinary take the
 * slow path.
 */
#include "firmware/patch/run_list.h"

static bool is_plain(const struct pb_patch_format *format)
{
	return format->source == PB_FORMAT_ADDRESS && format->or_by == PB_FORMAT_OR_FIRST &&
	       format->shift_left == 0 &&
	       (format->flags & (PB_FORMAT_WIDE | PB_FORMAT_KEEP | PB_FORMAT_SIGNED)) == 0;
}

/** Whether the loops can do this format at all, given the part of pre_or that is shifted into place. */
static bool is_general(const struct pb_core_cursor *cursor, const struct pb_patch_format *format,
		       uint64_t shifted)
{
	const bool fits = (format->flags & PB_FORMAT_FITS) != 0;
	/* Inside an allocation no sum has a carry out of bit 63, unless the offset is negative. */
	const bool adds = format->bound == PB_FORMAT_NONE ||
			  (format->bound == PB_FORMAT_INSIDE && (format->flags & PB_FORMAT_SIGNED) == 0);

	return format->align == 4u && format->step <= 1u && (format->flags & PB_FORMAT_CANONICAL) == 0 &&
	       adds && format->source <= PB_FORMAT_CONSTANT && cursor->job->plan.uses_allocation &&
	       (!fits || (shifted & ~pb_core_wide(format->mask, format->high_mask)) == 0);
}

static PB_CORE_STEP void make_general(struct pb_core_cursor *cursor, const struct pb_patch_format *format)
{
	const uint64_t pre_or = pb_core_wide(format->pre_or_low, format->pre_or_high);
	/* A shifted OR is the OR of what is shifted, so that both are one constant. */
	const uint64_t shifted = pre_or >> format->shift_right << format->shift_left;
	const bool fits = (format->flags & PB_FORMAT_FITS) != 0;
	const bool wide = (format->flags & PB_FORMAT_WIDE) != 0;
	struct pb_core_general *general = &cursor->job->general;

	*general = (struct pb_core_general){
		.id = cursor->job->plan.id,
		.format = format,
		.places = cursor->places[wide ? PB_CORE_CLASS_ANY_WIDE : PB_CORE_CLASS_ANY],
		.bounded = format->bound == PB_FORMAT_INSIDE ? UINT32_MAX : 0,
		.column = (format->flags & PB_FORMAT_WRITE) != 0 ? 1u : 0,
		.right = format->shift_right % 32u,
		.lost_low = fits ? ~format->mask : 0,
		.lost_high = fits ? ~format->high_mask : 0,
		.mask = format->mask,
		.high_or = (uint32_t)(shifted >> 32) & format->high_mask,
	};
	for (uint32_t i = 0; i < 4u; i++)
		general->ors[i] =
			format->background | (((uint32_t)shifted | format->or_value[i]) & format->mask);
	if (is_general(cursor, format, shifted))
		general->kind = is_plain(format) ? PB_CORE_GENERAL_PLAIN : PB_CORE_GENERAL_RICH;
	pb_core_spend(cursor, PB_COST_PLAN);
}

bool pb_core_general_ready(struct pb_core_cursor *cursor)
{
	if (cursor->job->plan.id != cursor->format_id || cursor->job->plan.format == NULL)
		return false;
	if (cursor->job->general.id != cursor->format_id)
		make_general(cursor, cursor->job->plan.format);
	return cursor->job->general.kind != PB_CORE_GENERAL_NOT;
}

/*@
  // Bytes from the first that a format writes to behind the last; is_general() has seen to the step.
  logic integer width(struct pb_patch_format *format) = (format->flags & PB_FORMAT_WIDE) != 0 ? 8 : 4;

  predicate is_sound_format(struct pb_patch_format *format) =
    \valid_read(format) && format->shift_right <= 63 && format->shift_left <= 31;
  // What a loop stands on beside slots: every place that it may find is in the submission's range.
  predicate is_sound(struct pb_core_general *general) =
    general->column < 2 && general->right < 32 && general->places <= 0x40000000 &&
    (general->places != 0 ==> 4 * (general->places - 1) + width(general->format) <= pb_range_bytes);
  // And the cursor: the range is the submission, and every index has a slot and a tag.
  predicate is_grounded(struct pb_core_cursor *cursor) =
    pb_range_at == (uint32_t)(cursor->origin + cursor->start) && pb_range_at + pb_range_bytes <= 0x100000000 &&
    \valid_read(cursor->slots + (0 .. PB_LIMIT_ALLOCATIONS - 1));
  predicate has_tags(struct pb_core_job *job) =
    \forall integer i; 0 <= i < PB_LIMIT_ALLOCATIONS ==> job->tags[i] < 0x20;
*/

/** Stores one value of a rich format. */
/*@
  requires \valid_read(general) && \valid_read(general->format);
  requires in_range: pb_in_range(at, width(general->format)) && pb_range_at + pb_range_bytes <= 0x100000000;
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures one: width(general->format) == 4 ==> pb_last_at == at;
  ensures two: width(general->format) == 8 ==> pb_earlier_at == at && pb_last_at == at + 4;
  ensures low: width(general->format) == 4 && (general->format->flags & PB_FORMAT_KEEP) == 0 ==>
    pb_last_value == (((uint32_t)value & general->mask) | or_value);
  ensures wide: width(general->format) == 8 && (general->format->flags & PB_FORMAT_KEEP) == 0 ==>
    pb_earlier_value == (((uint32_t)value & general->mask) | or_value) &&
    pb_last_value == ((value / 0x100000000 & general->format->high_mask) | general->high_or);
*/
static PB_CORE_INLINE void store_rich(const struct pb_core_general *general, uint64_t value,
				      uint32_t or_value, uintptr_t at)
{
	const bool keep = (general->format->flags & PB_FORMAT_KEEP) != 0;
	uint32_t low = ((uint32_t)value & general->mask) | or_value;
	uint32_t high;

	if (keep)
		low |= pb_shared_read32((const uint32_t *)at) & ~general->mask;
	pb_shared_write32((uint32_t *)at, low);
	/*@ assert formatted: \valid_read(general->format); */
	if ((general->format->flags & PB_FORMAT_WIDE) == 0)
		return;
	high = ((uint32_t)(value >> 32) & general->format->high_mask) | general->high_or;
	if (keep)
		high |= pb_shared_read32((const uint32_t *)(at + 4u)) & ~general->format->high_mask;
	PB_CORE_KEEP(at); /* or its sum with 4 gets a register of its own */
	pb_shared_write32((uint32_t *)(at + 4u), high);
}

/*@
  requires \valid_read(cursor) && \valid_read(general) && \valid_read(slot) && \valid_read(entry);
  requires tags: \valid_read(cursor->job) && has_tags(cursor->job);
  requires format: is_sound_format(general->format);
  requires range: pb_range_at + pb_range_bytes <= 0x100000000;
  requires index: entry->allocation_index < PB_LIMIT_ALLOCATIONS;
  requires in_range: pb_in_range((uint32_t)(cursor->origin + entry->patch_offset), width(general->format));
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures nothing: !\result ==> pb_stores == \old(pb_stores);
  ensures place: \result ==> (width(general->format) == 8 ? pb_earlier_at : pb_last_at) ==
    (uint32_t)(cursor->origin + entry->patch_offset);
*/
static PB_CORE_INLINE bool apply_rich(const struct pb_core_cursor *cursor,
				      const struct pb_core_general *general, const struct pb_core_slot *slot,
				      const struct pb_core_entry *entry)
{
	const struct pb_patch_format *format = general->format;
	const uint32_t tag = cursor->job->tags[entry->allocation_index];
	const uint32_t offset = entry->allocation_offset;
	uint64_t value = 0;
	uint32_t k = 0;

	if (format->source == PB_FORMAT_ADDRESS)
		value = pb_core_wide(slot->low, slot->high);
	else if (format->source == PB_FORMAT_ID)
		value = cursor->job->ids[entry->allocation_index];
	value += (format->flags & PB_FORMAT_SIGNED) != 0 ? (uint64_t)(int64_t)(int32_t)offset : offset;
	value = value >> format->shift_right << format->shift_left;
	if (((uint32_t)value & general->lost_low) != 0 || ((uint32_t)(value >> 32) & general->lost_high) != 0)
		return false;
	if (format->or_by == PB_FORMAT_OR_SEGMENT)
		k = PB_CORE_TAG_KIND(tag);
	else if (format->or_by == PB_FORMAT_OR_ATTRIBUTE)
		k = PB_CORE_TAG_ATTRIBUTE(tag);
	store_rich(general, value, general->ors[k], cursor->origin + entry->patch_offset);
	return true;
}

/*@
  requires \valid_read(cursor) && \valid_read(general) && \valid_read(slot) && \valid_read(entry);
  requires general->right < 32 && pb_range_at + pb_range_bytes <= 0x100000000;
  requires in_range: pb_in_range((uint32_t)(cursor->origin + entry->patch_offset), 4);
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures nothing: !\result ==> pb_stores == \old(pb_stores);
  ensures place: \result ==> pb_last_at == (uint32_t)(cursor->origin + entry->patch_offset);
*/
static PB_CORE_INLINE bool apply_plain(const struct pb_core_cursor *cursor,
				       const struct pb_core_general *general, const struct pb_core_slot *slot,
				       const struct pb_core_entry *entry, bool high_only)
{
	uint32_t low = slot->low + entry->allocation_offset;
	uint32_t high = slot->high + (low < entry->allocation_offset);

	if (high_only) {
		low = high >> general->right;
		high = 0;
	} else {
		low = low >> general->right | high << 1 << (31u - general->right);
		high >>= general->right;
	}
	if (((low & general->lost_low) | (high & general->lost_high)) != 0)
		return false;
	pb_shared_write32((uint32_t *)(cursor->origin + entry->patch_offset),
			  (low & general->mask) | general->ors[0]);
	return true;
}

enum shape {
	PLAIN,
	PLAIN_HIGH, /**< shifted right by 32 or more */
	RICH,
};

/** Writes an ordinary entry. Its place has been checked. @return false: it is not ordinary; nothing was written */
/*@
  requires \valid_read(cursor) && \valid_read(general) && \valid_read(slot) && \valid_read(entry);
  requires tags: \valid_read(cursor->job) && has_tags(cursor->job);
  requires format: is_sound_format(general->format) && general->format == cursor->job->general.format;
  requires right: general->right < 32;
  requires range: pb_range_at + pb_range_bytes <= 0x100000000;
  requires index: entry->allocation_index < PB_LIMIT_ALLOCATIONS;
  requires in_range: pb_in_range((uint32_t)(cursor->origin + entry->patch_offset), width(general->format));
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures nothing: !\result ==> pb_stores == \old(pb_stores);
  ensures place: \result ==> (shape == RICH && width(general->format) == 8 ? pb_earlier_at : pb_last_at) ==
    (uint32_t)(cursor->origin + entry->patch_offset);
*/
static PB_CORE_INLINE bool carry_out(const struct pb_core_cursor *cursor,
				     const struct pb_core_general *general, const struct pb_core_slot *slot,
				     const struct pb_core_entry *entry, enum shape shape)
{
	if (shape == RICH)
		return apply_rich(cursor, &cursor->job->general, slot, entry);
	return apply_plain(cursor, general, slot, entry, shape == PLAIN_HIGH);
}

/** Runs ordinary entries of one general format, slice after slice. */
/*@
  requires \valid(cursor) && is_grounded(cursor) && \valid_read(cursor->job) && has_tags(cursor->job);
  requires is_sound(&cursor->job->general) && is_sound_format(cursor->job->general.format);
  requires list: pb_list_entries <= 0x20000 && cursor->end == cursor->words + 6 * pb_list_entries &&
    \valid_read(cursor->words + (0 .. 6 * pb_list_entries - 1));
  requires pass: \base_addr(cursor->pass) == \base_addr(cursor->words) && cursor->pass <= cursor->end;
  requires pending: \valid_read(cursor->pending);
  requires slice: cursor->budget <= PB_SLICE_INSTRUCTIONS;
  requires \separated(cursor, cursor->job) && \separated(cursor, cursor->slots + (0 .. PB_LIMIT_ALLOCATIONS - 1));
  assigns cursor->words \from cursor->words;
  assigns cursor->irregular, cursor->budget, pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures inside: \old(cursor->words) <= cursor->words <= cursor->end;
  ensures irregular: \result == PB_CORE_IRREGULAR ==> \old(cursor->words) < cursor->words;
  ensures slice: cursor->budget <= PB_SLICE_INSTRUCTIONS;
*/
static PB_CORE_INLINE enum pb_core_run run(struct pb_core_cursor *cursor, enum shape shape)
{
	struct pb_core_general general;
	const uint32_t cost = shape == RICH ? PB_COST_RICH : PB_COST_PLAIN;
	const uint32_t start = cursor->start;
	const uint32_t *words = cursor->words;
	uint32_t budget = cursor->budget;
	struct pb_core_entry entry;
	/*@ ghost uint32_t done = 0; */
	/*@ ghost uint32_t stop = 0; */

	general = cursor->job->general; /* not as its first value: WP would not follow that */
	/*@ assert copied: is_sound(&general) && general.format == cursor->job->general.format; */
	/*@
	  loop invariant at: words == \at(cursor->words, Pre) + 6 * done && done <= pb_list_entries;
	  loop invariant slice: budget <= PB_SLICE_INSTRUCTIONS;
	  loop invariant sound: is_sound(&general) && general.format == cursor->job->general.format;
	  loop assigns words, budget, entry, done, stop;
	  loop assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
	  loop variant pb_list_entries - done;
	*/
	do {
		const uint32_t slice_words = (budget / cost + 1u) * PB_CORE_ENTRY_WORDS;
		const uint32_t *const slice = pb_core_list_slice(words, cursor->end, slice_words);

		/*@ ghost stop = pb_list_entries - done > budget / cost + 1 ? done + (budget / cost + 1) : pb_list_entries; */
		/*@ assert slice: slice == \at(cursor->words, Pre) + 6 * stop; */
		/*@
		  loop invariant at: words == \at(cursor->words, Pre) + 6 * done && done <= stop;
		  loop invariant sound: is_sound(&general) && general.format == cursor->job->general.format;
		  loop assigns words, entry, done;
		  loop assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
		  loop variant stop - done;
		*/
		while (words != slice) {
			const struct pb_core_slot *slot;

			words = pb_core_read_entry(words, &entry);
			/*@ ghost done++; */
			if (pb_core_list_unlike(&entry, general.id))
				goto irregular;
			/*@ assert listed: entry.allocation_index < PB_LIMIT_ALLOCATIONS; */
			entry.driver_id = general.id;
			entry.slot = 0;
			if (pb_core_rotate_right_2(entry.patch_offset - start) >= general.places)
				goto irregular;
			/*@ assert inside: (uint32_t)(entry.patch_offset - start) + width(general.format) <= pb_range_bytes; */
			/*@ assert there: (uint32_t)(cursor->origin + entry.patch_offset) ==
			      pb_range_at + (uint32_t)(entry.patch_offset - start); */
			slot = &cursor->slots[entry.allocation_index];
			PB_CORE_KEEP(slot);
			if ((entry.allocation_offset & general.bounded) >= slot->limit[general.column])
				goto irregular;
			if (!carry_out(cursor, &general, slot, &entry, shape))
				goto irregular;
		}
		budget = PB_SLICE_INSTRUCTIONS;
	} while (words < cursor->pass && !pb_lines_waiting(cursor->pending));
	/*@ assert within: words <= cursor->end && \at(cursor->words, Pre) <= words; */
	cursor->words = words;
	return PB_CORE_DONE;
irregular:
	/*@ assert read: words == \at(cursor->words, Pre) + 6 * done && 0 < done <= pb_list_entries; */
	/*@ assert within: words <= cursor->end && \at(cursor->words, Pre) < words; */
	cursor->irregular = entry;
	cursor->words = words;
	/* Of this slice a half is left, on average. */
	cursor->budget = budget / 2u;
	return PB_CORE_IRREGULAR;
}

static PB_CORE_STEP enum pb_core_run run_plain(struct pb_core_cursor *cursor)
{
	return run(cursor, PLAIN);
}

static PB_CORE_STEP enum pb_core_run run_plain_high(struct pb_core_cursor *cursor)
{
	return run(cursor, PLAIN_HIGH);
}

static PB_CORE_STEP enum pb_core_run run_rich(struct pb_core_cursor *cursor)
{
	return run(cursor, RICH);
}

enum pb_core_run pb_core_general_run(struct pb_core_cursor *cursor)
{
	if (cursor->job->general.kind == PB_CORE_GENERAL_RICH)
		return run_rich(cursor);
	return cursor->job->general.format->shift_right < 32u ? run_plain(cursor) : run_plain_high(cursor);
}
