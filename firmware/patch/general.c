/* SPDX-License-Identifier: MIT */
/*
 * Step 3 for runs of a general format: loops over what general_plan.c has worked
 * out of its descriptor. Entries that are out of the ordinary take the slow path.
 */
#include "firmware/patch/run_list.h"

/*@
  // Bytes from the first that a format writes to behind the last; is_general() has seen to the step.
  logic integer width(struct pb_patch_format *format) = (format->flags & PB_FORMAT_WIDE) != 0 ? 8 : 4;

  predicate is_sound_format(struct pb_patch_format *format) =
    \valid_read(format) && format->shift_right <= 63 && format->shift_left <= 31;
  // What a loop stands on beside slots: every place that it may find is in the submission's range.
  predicate is_sound(struct pb_core_general *general) =
    general->column < 2 && general->right < 32 && general->places <= 0x40000000 &&
    (general->places != 0 ==> 4 * (general->places - 1) + width(general->format) <= pb_range_bytes);
  // And the cursor: the range is the submission, and every index has a slot.
  predicate is_grounded(struct pb_core_cursor *cursor) =
    pb_range_at == (uint32_t)(cursor->origin + cursor->start) && pb_range_at + pb_range_bytes <= 0x100000000 &&
    \valid_read(cursor->slots + (0 .. PB_LIMIT_ALLOCATIONS - 1));
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
  requires tags: \valid_read(cursor->job);
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

/** What a loop finds out of its format when it starts, and where it finds what an allocation has, by its index. */
struct choices {
	const uint32_t *ids;
	const uint8_t *tags;
	const uint32_t *ors;
	uint32_t source;    /**< enum pb_format_source */
	uint32_t tag_shift; /**< of a tag, to the number in `ors`; 8: it is 0 */
	uint32_t keep;      /**< bits of the first word that stay */
	uint32_t high_mask; /**< bits of the second word that the value fills */
	bool needs_high;    /**< a sum beyond 32 bits is irregular */
};

/*@
  predicate is_choice(struct choices choices) = \valid_read(choices.ids + (0 .. PB_LIMIT_ALLOCATIONS - 1)) &&
    \valid_read(choices.tags + (0 .. PB_LIMIT_ALLOCATIONS - 1)) && \valid_read(choices.ors + (0 .. 3)) &&
    choices.tag_shift <= 8;
*/

/*@
  requires \valid_read(job) && \valid_read(job->general.format);
  assigns \nothing;
  ensures is_choice(\result);
*/
static PB_CORE_INLINE struct choices choices_of(const struct pb_core_job *job)
{
	const struct pb_patch_format *format = job->general.format;
	const uint32_t *ids = job->ids;
	const uint8_t *tags = job->tags;
	const uint32_t *ors = job->general.ors;
	uint32_t tag_shift = 8;

	/* Computed once, not with every entry. */
	PB_CORE_KEEP(ids);
	PB_CORE_KEEP(tags);
	PB_CORE_KEEP(ors);
	if (format->or_by == PB_FORMAT_OR_SEGMENT)
		tag_shift = 4;
	else if (format->or_by == PB_FORMAT_OR_ATTRIBUTE)
		tag_shift = 0;
	return (struct choices){
		.ids = ids,
		.tags = tags,
		.ors = ors,
		.source = format->source,
		.tag_shift = tag_shift,
		.keep = (format->flags & PB_FORMAT_KEEP) != 0 ? ~format->mask : 0,
		.high_mask = format->high_mask,
		.needs_high = pb_core_needs_high(format),
	};
}

/** Writes one word of an address that fits one, shifted right. */
/*@
  requires \valid_read(general) && general->right < 32 && \valid_read(slot);
  requires in_range: pb_in_range((uint32_t)at, 4);
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures nothing: !\result ==> pb_stores == \old(pb_stores);
  ensures place: \result ==> pb_last_at == (uint32_t)at;
*/
static PB_CORE_INLINE bool apply_word(const struct pb_core_general *general, bool needs_high,
				      const struct pb_core_slot *slot, uint32_t offset, uint32_t *at)
{
	uint32_t low = slot->low + offset;

	if (low < offset && needs_high)
		return false;
	low >>= general->right;
	if ((low & general->lost_low) != 0)
		return false;
	pb_shared_write32(at, (low & general->mask) | general->ors[0]);
	return true;
}

/*@
  assigns \nothing;
  ensures \result < 4;
*/
static PB_CORE_INLINE uint32_t two_bits(uint32_t value)
{
	return value & 3u;
}

/** Writes the low word of an address, an id or nothing, each with the offset; what is ORed in depends on the allocation. */
/*@
  requires \valid_read(cursor) && \valid_read(general) && \valid_read(slot) && \valid_read(entry);
  requires choices: is_choice(choices);
  requires index: entry->allocation_index < PB_LIMIT_ALLOCATIONS;
  requires in_range: pb_in_range((uint32_t)(cursor->origin + entry->patch_offset), 4);
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures pb_last_at == (uint32_t)(cursor->origin + entry->patch_offset);
*/
static PB_CORE_INLINE void apply_choice(const struct pb_core_cursor *cursor,
					const struct pb_core_general *general, struct choices choices,
					const struct pb_core_slot *slot, const struct pb_core_entry *entry)
{
	uint32_t *const at = (uint32_t *)(cursor->origin + entry->patch_offset);
	const uint32_t index = entry->allocation_index;
	const uint32_t k = two_bits((uint32_t)choices.tags[index] >> choices.tag_shift);
	uint32_t low = entry->allocation_offset;

	if (choices.source == PB_FORMAT_ADDRESS)
		low += slot->low;
	else if (choices.source == PB_FORMAT_ID)
		low += choices.ids[index];
	low = (low & general->mask) | choices.ors[k];
	if (choices.keep != 0)
		low |= pb_shared_read32(at) & choices.keep;
	pb_shared_write32(at, low);
}

/** Writes the two words of an address, of which bits stay. Nothing is ORed in. */
/*@
  requires \valid_read(cursor) && \valid_read(general) && \valid_read(slot) && \valid_read(entry);
  requires range: pb_range_at + pb_range_bytes <= 0x100000000;
  requires in_range: pb_in_range((uint32_t)(cursor->origin + entry->patch_offset), 8);
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures nothing: !\result ==> pb_stores == \old(pb_stores);
  ensures place: \result ==> pb_earlier_at == (uint32_t)(cursor->origin + entry->patch_offset);
*/
static PB_CORE_INLINE bool apply_split(const struct pb_core_cursor *cursor,
				       const struct pb_core_general *general, uint32_t high_mask,
				       const struct pb_core_slot *slot, const struct pb_core_entry *entry)
{
	uint32_t *const at = (uint32_t *)(cursor->origin + entry->patch_offset);
	uint32_t low = slot->low;
	uint32_t high = slot->high;
	uint32_t old_low, old_high;

	PB_CORE_PAIR(low, high);
	low += entry->allocation_offset;
	high += low < entry->allocation_offset;
	if (((low & general->lost_low) | (high & general->lost_high)) != 0)
		return false;
	pb_shared_read_both(at, &old_low, &old_high);
	pb_shared_write_pair(at, (old_low & ~general->mask) | (low & general->mask),
			     (old_high & ~high_mask) | (high & high_mask));
	return true;
}

enum shape {
	PLAIN,
	PLAIN_HIGH, /**< shifted right by 32 or more */
	RICH,
	WORD,
	CHOICE,
	SPLIT,
};

/** Writes an ordinary entry. Its place has been checked. @return false: it is not ordinary; nothing was written */
/*@
  requires \valid_read(cursor) && \valid_read(general) && \valid_read(slot) && \valid_read(entry);
  requires tags: \valid_read(cursor->job);
  requires format: is_sound_format(general->format) && general->format == cursor->job->general.format;
  requires right: general->right < 32;
  requires range: pb_range_at + pb_range_bytes <= 0x100000000;
  requires index: entry->allocation_index < PB_LIMIT_ALLOCATIONS;
  requires choices: is_choice(choices);
  requires split: shape == SPLIT ==> width(general->format) == 8;
  requires in_range: pb_in_range((uint32_t)(cursor->origin + entry->patch_offset), width(general->format));
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures nothing: !\result ==> pb_stores == \old(pb_stores);
  ensures place: \result ==>
    (shape == SPLIT || (shape == RICH && width(general->format) == 8) ? pb_earlier_at : pb_last_at) ==
    (uint32_t)(cursor->origin + entry->patch_offset);
*/
static PB_CORE_INLINE bool carry_out(const struct pb_core_cursor *cursor,
				     const struct pb_core_general *general, struct choices choices,
				     const struct pb_core_slot *slot, const struct pb_core_entry *entry,
				     enum shape shape)
{
	if (shape == RICH)
		return apply_rich(cursor, &cursor->job->general, slot, entry);
	if (shape == WORD)
		return apply_word(general, choices.needs_high, slot, entry->allocation_offset,
				  (uint32_t *)(cursor->origin + entry->patch_offset));
	if (shape == CHOICE) {
		apply_choice(cursor, general, choices, slot, entry);
		return true;
	}
	if (shape == SPLIT)
		return apply_split(cursor, general, choices.high_mask, slot, entry);
	return apply_plain(cursor, general, slot, entry, shape == PLAIN_HIGH);
}

/** About what an entry costs, in instructions. */
/*@
  assigns \nothing;
  ensures PB_COST_WORD <= \result <= PB_COST_RICH;
*/
static PB_CORE_INLINE uint32_t cost_of(enum shape shape)
{
	if (shape == WORD)
		return PB_COST_WORD;
	return shape == RICH ? PB_COST_RICH : PB_COST_PLAIN;
}

/** Runs ordinary entries of one general format, slice after slice. */
/*@
  requires \valid(cursor) && is_grounded(cursor) && \valid_read(cursor->job);
  requires is_sound(&cursor->job->general) && is_sound_format(cursor->job->general.format);
  requires split: shape == SPLIT ==> width(cursor->job->general.format) == 8;
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
	const uint32_t cost = cost_of(shape);
	const uint32_t start = cursor->start;
	const struct choices choices = choices_of(cursor->job);
	const uint32_t *words = cursor->words;
	uint32_t budget = cursor->budget;
	uint32_t entries = budget / cost + 1u; /* of a slice */
	struct pb_core_entry entry;
	/*@ ghost uint32_t done = 0; */
	/*@ ghost uint32_t stop = 0; */

	general = cursor->job->general; /* not as its first value: WP would not follow that */
	/*@ assert copied: is_sound(&general) && general.format == cursor->job->general.format; */
	/*@
	  loop invariant at: words == \at(cursor->words, Pre) + 6 * done && done <= pb_list_entries;
	  loop invariant slice: budget <= PB_SLICE_INSTRUCTIONS && 1 <= entries <= PB_SLICE_GENERAL + 1;
	  loop invariant sound: is_sound(&general) && general.format == cursor->job->general.format;
	  loop assigns words, budget, entries, entry, done, stop;
	  loop assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
	  loop variant pb_list_entries - done;
	*/
	do {
		const uint32_t *const slice =
			pb_core_list_slice(words, cursor->end, entries * PB_CORE_ENTRY_WORDS);

		/*@ ghost stop = pb_list_entries - done > entries ? done + entries : pb_list_entries; */
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
			if (pb_core_rotate_right_2(entry.patch_offset - start) >= general.places)
				goto regular_format;
			/*@ assert inside: (uint32_t)(entry.patch_offset - start) + width(general.format) <= pb_range_bytes; */
			/*@ assert there: (uint32_t)(cursor->origin + entry.patch_offset) ==
			      pb_range_at + (uint32_t)(entry.patch_offset - start); */
			slot = &cursor->slots[entry.allocation_index];
			PB_CORE_KEEP(slot);
			if ((entry.allocation_offset & general.bounded) >=
			    slot->limit[shape < WORD ? general.column : 0])
				goto regular_format;
			if (!carry_out(cursor, &general, choices, slot, &entry, shape))
				goto regular_format;
		}
		budget = PB_SLICE_INSTRUCTIONS;
		entries = PB_SLICE_GENERAL / cost + 1u;
	} while (words < cursor->pass && !pb_lines_waiting(cursor->pending));
	/*@ assert within: words <= cursor->end && \at(cursor->words, Pre) <= words; */
	cursor->words = words;
	return PB_CORE_DONE;
regular_format:
	/* Known, which frees two registers in the loop. */
	entry.driver_id = general.id;
	entry.slot = 0;
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

static PB_CORE_STEP enum pb_core_run run_word(struct pb_core_cursor *cursor)
{
	return run(cursor, WORD);
}

static PB_CORE_STEP enum pb_core_run run_choice(struct pb_core_cursor *cursor)
{
	return run(cursor, CHOICE);
}

static PB_CORE_STEP enum pb_core_run run_split(struct pb_core_cursor *cursor)
{
	return run(cursor, SPLIT);
}

enum pb_core_run pb_core_general_run(struct pb_core_cursor *cursor)
{
	if (cursor->job->general.kind == PB_CORE_GENERAL_WORD)
		return run_word(cursor);
	if (cursor->job->general.kind == PB_CORE_GENERAL_CHOICE)
		return run_choice(cursor);
	if (cursor->job->general.kind == PB_CORE_GENERAL_SPLIT)
		return run_split(cursor);
	if (cursor->job->general.kind == PB_CORE_GENERAL_RICH)
		return run_rich(cursor);
	return cursor->job->general.format->shift_right < 32u ? run_plain(cursor) : run_plain_high(cursor);
}
