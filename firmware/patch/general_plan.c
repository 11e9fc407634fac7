/* SPDX-License-Identifier: MIT */
/*
 * What the loops of general.c need of a format: its descriptor, worked out once,
 * and which of the loops does it. Formats that are out of the ordinary take the
 * slow path.
 */
#include "firmware/patch/loops.h"

static bool is_plain(const struct pb_patch_format *format)
{
	return format->source == PB_FORMAT_ADDRESS && format->or_by == PB_FORMAT_OR_FIRST &&
	       format->shift_left == 0 &&
	       (format->flags & (PB_FORMAT_WIDE | PB_FORMAT_KEEP | PB_FORMAT_SIGNED)) == 0;
}

/** The narrowest loop that does a format; is_general() has accepted it. */
static enum pb_core_general_kind kind_of(const struct pb_core_job *job, const struct pb_patch_format *format)
{
	const uint32_t flags = format->flags & ~(uint32_t)PB_FORMAT_FITS;
	const bool address = format->source == PB_FORMAT_ADDRESS && format->or_by == PB_FORMAT_OR_FIRST;

	if (format->shift_left != 0)
		return PB_CORE_GENERAL_RICH;
	if (address && flags == 0 && format->shift_right < 32u && !(job->high && pb_core_needs_high(format)))
		return PB_CORE_GENERAL_WORD;
	if ((format->flags & ~(uint32_t)PB_FORMAT_KEEP) == 0 && format->shift_right == 0)
		return PB_CORE_GENERAL_CHOICE;
	if (address && flags == (PB_FORMAT_WIDE | PB_FORMAT_KEEP) && format->shift_right == 0 &&
	    (format->pre_or_low | format->pre_or_high | format->or_value[0]) == 0)
		return PB_CORE_GENERAL_SPLIT;
	return is_plain(format) ? PB_CORE_GENERAL_PLAIN : PB_CORE_GENERAL_RICH;
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
		general->kind = kind_of(cursor->job, format);
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
