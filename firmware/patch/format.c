/* SPDX-License-Identifier: MIT */
#include "firmware/patch/format.h"

#include <stdbool.h>

#include "firmware/compiler.h"

const struct pb_patch_format pb_core_format_built_in[PB_PATCH_FORMAT_COUNT] = {
	PB_PATCH_FORMATS(PB_PATCH_FORMAT_ROW)};

/* What pb_core_format_shape() finds of each; the others are SLOW. */
const uint8_t pb_core_format_shapes[PB_PATCH_FORMAT_COUNT] = {
	[PB_PATCH_FORMAT_ADDRESS32] = PB_CORE_SHAPE_SHIFT_INSIDE,
	[PB_PATCH_FORMAT_ADDRESS32_WRITE] = PB_CORE_SHAPE_SHIFT_INSIDE,
	[PB_PATCH_FORMAT_SUM32] = PB_CORE_SHAPE_SHIFT,
	[PB_PATCH_FORMAT_HIGH32] = PB_CORE_SHAPE_HIGH,
	[PB_PATCH_FORMAT_NOUVEAU_DMA] = PB_CORE_SHAPE_CONSTANT,
	[PB_PATCH_FORMAT_NOUVEAU_OR] = PB_CORE_SHAPE_CONSTANT,
	[PB_PATCH_FORMAT_NOUVEAU_LOW_OR] = PB_CORE_SHAPE_CHOICE,
	[PB_PATCH_FORMAT_SHIFT1] = PB_CORE_SHAPE_SHIFT,
	[PB_PATCH_FORMAT_SHIFT8] = PB_CORE_SHAPE_SHIFT_INSIDE,
	[PB_PATCH_FORMAT_SHIFT8_SECTOR] = PB_CORE_SHAPE_SHIFT,
	[PB_PATCH_FORMAT_SPLIT40] = PB_CORE_SHAPE_SPLIT,
	[PB_PATCH_FORMAT_TILING] = PB_CORE_SHAPE_CONSTANT,
	[PB_PATCH_FORMAT_ID32] = PB_CORE_SHAPE_ID,
	[PB_PATCH_FORMAT_FIELD28] = PB_CORE_SHAPE_SHIFT_INSIDE,
	[PB_PATCH_FORMAT_LOW24] = PB_CORE_SHAPE_CHOICE,
};

/** The format that twelve words describe. */
/*@
  requires \valid_read(words + (0 .. 11));
  assigns \nothing;
  ensures \result.source == words[0] % 0x100 && \result.bound == words[0] / 0x100 % 0x100;
  ensures \result.flags == words[0] / 0x10000 % 0x100 && \result.align == words[0] / 0x1000000;
  ensures \result.shift_right == words[1] % 0x100 && \result.shift_left == words[1] / 0x100 % 0x100;
  ensures \result.step == words[1] / 0x10000 % 0x100 && \result.or_by == words[1] / 0x1000000;
  ensures \result.mask == words[2] && \result.high_mask == words[3] && \result.background == words[4];
  ensures \result.pre_or_low == words[5] && \result.pre_or_high == words[6] && \result.reserved == words[11];
  ensures \forall integer i; 0 <= i < 4 ==> \result.or_value[i] == words[7 + i];
*/
static PB_CORE_STEP struct pb_patch_format format_of_words(const uint32_t *words)
{
	return (struct pb_patch_format){
		.source = (uint8_t)words[0],
		.bound = (uint8_t)(words[0] >> 8),
		.flags = (uint8_t)(words[0] >> 16),
		.align = (uint8_t)(words[0] >> 24),
		.shift_right = (uint8_t)words[1],
		.shift_left = (uint8_t)(words[1] >> 8),
		.step = (uint8_t)(words[1] >> 16),
		.or_by = (uint8_t)(words[1] >> 24),
		.mask = words[2],
		.high_mask = words[3],
		.background = words[4],
		.pre_or_low = words[5],
		.pre_or_high = words[6],
		.or_value = {words[7], words[8], words[9], words[10]},
		.reserved = words[11],
	};
}

/*@
  logic integer or_choices(integer by) =
    by == PB_FORMAT_OR_FIRST ? 1 : (by == PB_FORMAT_OR_SEGMENT ? 2 : (by == PB_FORMAT_OR_ATTRIBUTE ? 4 : 0));

  predicate or_is_legal(struct pb_patch_format *format) = format->or_by < PB_FORMAT_ORS &&
    (\forall integer i; or_choices(format->or_by) <= i < 4 ==> format->or_value[i] == 0);
*/

/** Whether or_value has anything that or_by cannot choose. */
/*@
  requires \valid_read(format);
  assigns \nothing;
  ensures \result <==> !or_is_legal(format);
*/
static bool or_is_bad(const struct pb_patch_format *format)
{
	static const uint8_t choices[PB_FORMAT_ORS] = {
		[PB_FORMAT_OR_FIRST] = 1, [PB_FORMAT_OR_SEGMENT] = 2, [PB_FORMAT_OR_ATTRIBUTE] = 4};

	if (format->or_by >= PB_FORMAT_ORS)
		return true;
	/*@
	  loop invariant or_choices(format->or_by) <= i <= 4;
	  loop invariant \forall integer j; or_choices(format->or_by) <= j < i ==> format->or_value[j] == 0;
	  loop assigns i;
	  loop variant 4 - i;
	*/
	for (uint32_t i = choices[format->or_by]; i < 4u; i++) {
		if (format->or_value[i] != 0)
			return true;
	}
	return false;
}

/*@
  // The rules of FORMAT_SET, in the order in which reasons are given.
  predicate source_is_legal(struct pb_patch_format *format) = format->source < PB_FORMAT_SOURCES;
  predicate bound_is_legal(struct pb_patch_format *format) = format->bound < PB_FORMAT_BOUNDS &&
    (format->bound == PB_FORMAT_NONE || format->source == PB_FORMAT_ADDRESS || format->source == PB_FORMAT_SELF);
  predicate flags_are_legal(struct pb_patch_format *format) = (format->flags & (uint32_t)~PB_FORMAT_FLAGS) == 0 &&
    ((format->flags & PB_FORMAT_WRITE) == 0 || format->source == PB_FORMAT_ADDRESS);
  predicate align_is_legal(struct pb_patch_format *format) =
    format->align == 1 || format->align == 4 || format->align == 8;
  predicate shift_is_legal(struct pb_patch_format *format) =
    format->shift_right <= 63 && format->shift_left <= 31;
  predicate step_is_legal(struct pb_patch_format *format) =
    (format->flags & PB_FORMAT_WIDE) != 0 ? 1 <= format->step <= 4 : format->step == 0;
  predicate mask_is_legal(struct pb_patch_format *format) = format->mask != 0 &&
    ((format->flags & PB_FORMAT_WIDE) != 0 <==> format->high_mask != 0);
  predicate background_is_legal(struct pb_patch_format *format) = (format->background & format->mask) == 0 &&
    ((format->flags & PB_FORMAT_KEEP) == 0 || format->background == 0);
  predicate ends_legal(struct pb_patch_format *format) = or_is_legal(format) && mask_is_legal(format) &&
    background_is_legal(format) && format->reserved == 0;
*/

/** What is wrong with its masks and constants, if anything. */
/*@
  requires \valid_read(format);
  assigns \nothing;
  ensures \result == PB_FORMAT_REASON_OR || \result == PB_FORMAT_REASON_MASK ||
    \result == PB_FORMAT_REASON_BACKGROUND || \result == PB_FORMAT_REASON_RESERVED || \result == PB_FORMAT_REASON_NONE;
  ensures or: \result == PB_FORMAT_REASON_OR <==> !or_is_legal(format);
  ensures mask: \result == PB_FORMAT_REASON_MASK <==> or_is_legal(format) && !mask_is_legal(format);
  ensures background: \result == PB_FORMAT_REASON_BACKGROUND <==>
    or_is_legal(format) && mask_is_legal(format) && !background_is_legal(format);
  ensures reserved: \result == PB_FORMAT_REASON_RESERVED <==> or_is_legal(format) && mask_is_legal(format) &&
    background_is_legal(format) && format->reserved != 0;
  ensures none: \result == PB_FORMAT_REASON_NONE <==> ends_legal(format);
*/
static enum pb_format_reason check_words(const struct pb_patch_format *format)
{
	const bool wide = (format->flags & PB_FORMAT_WIDE) != 0;

	if (or_is_bad(format))
		return PB_FORMAT_REASON_OR;
	if (format->mask == 0 || wide != (format->high_mask != 0))
		return PB_FORMAT_REASON_MASK;
	if ((format->background & format->mask) != 0 ||
	    ((format->flags & PB_FORMAT_KEEP) != 0 && format->background != 0))
		return PB_FORMAT_REASON_BACKGROUND;
	return format->reserved != 0 ? PB_FORMAT_REASON_RESERVED : PB_FORMAT_REASON_NONE;
}

/** What is wrong with where it goes and how it is shifted, or with what is checked after that. */
/*@
  requires \valid_read(format);
  assigns \nothing;
  ensures \result != PB_FORMAT_REASON_SOURCE && \result != PB_FORMAT_REASON_BOUND &&
    \result != PB_FORMAT_REASON_FLAGS;
  ensures align: \result == PB_FORMAT_REASON_ALIGN <==> !align_is_legal(format);
  ensures shift: \result == PB_FORMAT_REASON_SHIFT <==> align_is_legal(format) && !shift_is_legal(format);
  ensures step: \result == PB_FORMAT_REASON_STEP <==>
    align_is_legal(format) && shift_is_legal(format) && !step_is_legal(format);
  ensures none: \result == PB_FORMAT_REASON_NONE <==>
    align_is_legal(format) && shift_is_legal(format) && step_is_legal(format) && ends_legal(format);
*/
static enum pb_format_reason check_place(const struct pb_patch_format *format)
{
	const bool wide = (format->flags & PB_FORMAT_WIDE) != 0;

	if (format->align != 1u && format->align != 4u && format->align != 8u)
		return PB_FORMAT_REASON_ALIGN;
	if (format->shift_right > 63u || format->shift_left > 31u)
		return PB_FORMAT_REASON_SHIFT;
	if (wide ? format->step < 1u || format->step > 4u : format->step != 0)
		return PB_FORMAT_REASON_STEP;
	return check_words(format);
}

/** What is wrong with a format, if anything: the first of its rules that it breaks. */
/*@
  requires \valid_read(format);
  assigns \nothing;
  ensures source: \result == PB_FORMAT_REASON_SOURCE <==> !source_is_legal(format);
  ensures bound: \result == PB_FORMAT_REASON_BOUND <==> source_is_legal(format) && !bound_is_legal(format);
  ensures flags: \result == PB_FORMAT_REASON_FLAGS <==>
    source_is_legal(format) && bound_is_legal(format) && !flags_are_legal(format);
  ensures none: \result == PB_FORMAT_REASON_NONE <==> source_is_legal(format) && bound_is_legal(format) &&
    flags_are_legal(format) && align_is_legal(format) && shift_is_legal(format) && step_is_legal(format) &&
    ends_legal(format);
*/
static enum pb_format_reason check(const struct pb_patch_format *format)
{
	if (format->source >= PB_FORMAT_SOURCES)
		return PB_FORMAT_REASON_SOURCE;
	if (format->bound >= PB_FORMAT_BOUNDS ||
	    (format->bound != PB_FORMAT_NONE && format->source != PB_FORMAT_ADDRESS &&
	     format->source != PB_FORMAT_SELF))
		return PB_FORMAT_REASON_BOUND;
	if ((format->flags & ~PB_FORMAT_FLAGS) != 0 ||
	    ((format->flags & PB_FORMAT_WRITE) != 0 && format->source != PB_FORMAT_ADDRESS))
		return PB_FORMAT_REASON_FLAGS;
	return check_place(format);
}

enum pb_format_reason pb_core_format_check(const uint32_t *arguments)
{
	const struct pb_patch_format format = format_of_words(&arguments[1]);

	return arguments[0] - PB_FORMAT_OWN < PB_LIMIT_FORMATS_OWN ? check(&format) : PB_FORMAT_REASON_NUMBER;
}

/** The shape of a format that is shifted nowhere. @param inside 1: its offset is bounded; 0: it is not */
static uint32_t unshifted_shape(const struct pb_patch_format *format, uint32_t inside)
{
	const bool first = format->or_by == PB_FORMAT_OR_FIRST;

	if ((format->flags & ~(uint32_t)PB_FORMAT_KEEP) == 0) {
		if (format->source == PB_FORMAT_ADDRESS)
			return PB_CORE_SHAPE_CHOICE + inside;
		if (format->source == PB_FORMAT_ID)
			return PB_CORE_SHAPE_ID;
		/* A constant that no allocation chooses has no need of one. */
		return format->source == PB_FORMAT_CONSTANT && !first ? PB_CORE_SHAPE_CONSTANT
								      : PB_CORE_SHAPE_SLOW;
	}
	if (format->source == PB_FORMAT_ADDRESS && first && format->step == 1u &&
	    (format->flags & ~(uint32_t)PB_FORMAT_FITS) == (PB_FORMAT_WIDE | PB_FORMAT_KEEP) &&
	    (format->pre_or_low | format->pre_or_high | format->or_value[0]) == 0)
		return PB_CORE_SHAPE_SPLIT;
	return PB_CORE_SHAPE_SLOW;
}

uint32_t pb_core_format_shape(const struct pb_patch_format *format)
{
	const uint32_t inside = format->bound == PB_FORMAT_INSIDE ? 1u : 0;

	if (format->align != 4u || format->shift_left != 0 ||
	    (inside == 0 && format->bound != PB_FORMAT_NONE))
		return PB_CORE_SHAPE_SLOW;
	if (format->source == PB_FORMAT_ADDRESS && format->or_by == PB_FORMAT_OR_FIRST &&
	    (format->flags & ~(uint32_t)(PB_FORMAT_FITS | PB_FORMAT_WRITE)) == 0)
		return (format->shift_right < 32u ? PB_CORE_SHAPE_SHIFT : PB_CORE_SHAPE_HIGH) + inside;
	return format->shift_right == 0 ? unshifted_shape(format, inside) : PB_CORE_SHAPE_SLOW;
}

void pb_core_format_set(struct pb_core_formats *formats, struct pb_core_channel_formats *own,
			const uint32_t *arguments)
{
	uint8_t *slot = &own->slot_of[arguments[0] - PB_FORMAT_OWN];

	if (*slot == 0) {
		while (formats->at[*slot].mask != 0)
			(*slot)++;
		(*slot)++;
	}
	formats->at[*slot - 1u] = format_of_words(&arguments[1]);
	formats->shape[*slot - 1u] = (uint8_t)pb_core_format_shape(&formats->at[*slot - 1u]);
	own->version++;
}

void pb_core_format_forget(struct pb_core_formats *formats, struct pb_core_channel_formats *own)
{
	for (uint32_t number = 0; number < PB_LIMIT_FORMATS_OWN; number++) {
		const uint32_t slot = own->slot_of[number];

		if (slot != 0)
			formats->at[slot - 1u].mask = 0;
		own->slot_of[number] = 0;
	}
	own->version++;
}
