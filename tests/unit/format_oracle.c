/* SPDX-License-Identifier: MIT */
#include "tests/unit/format_oracle.h"

#include <string.h>

#define ROW(name, number, text, from, bounded, flag_bits, alignment, right, left, steps, chosen_by, low,     \
	    high, around, or_low, or_high, ...)                                                              \
	[number] = {.source = PB_FORMAT_##from,                                                              \
		    .bound = PB_FORMAT_##bounded,                                                            \
		    .flags = (flag_bits),                                                                    \
		    .align = (alignment),                                                                    \
		    .shift_right = (right),                                                                  \
		    .shift_left = (left),                                                                    \
		    .step = (steps),                                                                         \
		    .or_by = PB_FORMAT_OR_##chosen_by,                                                       \
		    .mask = (low),                                                                           \
		    .high_mask = (high),                                                                     \
		    .background = (around),                                                                  \
		    .pre_or_low = (or_low),                                                                  \
		    .pre_or_high = (or_high),                                                                \
		    .or_value = {__VA_ARGS__}},
const struct pb_patch_format format_built_in[PB_PATCH_FORMAT_COUNT] = {PB_PATCH_FORMATS(ROW)};

static bool has(const struct pb_patch_format *format, uint32_t flag)
{
	return (format->flags & flag) != 0;
}

static bool bit_of(uint64_t number, uint32_t bit)
{
	return (number >> bit & 1u) != 0;
}

bool format_uses_allocation(const struct pb_patch_format *format)
{
	return format->source == PB_FORMAT_ADDRESS || format->source == PB_FORMAT_ID ||
	       format->or_by != PB_FORMAT_OR_FIRST;
}

uint32_t format_width(const struct pb_patch_format *format)
{
	return has(format, PB_FORMAT_WIDE) ? 4u + 4u * format->step : 4u;
}

static uint64_t source_of(const struct pb_patch_format *format, const struct format_target *target)
{
	switch ((enum pb_format_source)format->source) {
	case PB_FORMAT_ADDRESS:
		return target->address;
	case PB_FORMAT_ID:
		return target->id;
	case PB_FORMAT_FENCE:
		return target->fence_id;
	case PB_FORMAT_SELF:
		return target->self;
	case PB_FORMAT_CONSTANT:
	case PB_FORMAT_SOURCES:
		break;
	}
	return 0;
}

/** An offset reaches the first 4 GiB - 1 of anything larger. */
static bool in_bounds(const struct pb_patch_format *format, const struct format_target *target,
		      uint64_t offset)
{
	uint64_t limit = format->source == PB_FORMAT_SELF ? target->self_bytes : target->size;

	if (limit > 0xffffffff)
		limit = 0xffffffff;
	switch ((enum pb_format_bound)format->bound) {
	case PB_FORMAT_INSIDE:
		return offset < limit;
	case PB_FORMAT_END:
		return offset <= limit;
	case PB_FORMAT_PAGE:
		return offset / 4096 * 4096 < limit;
	case PB_FORMAT_NONE:
	case PB_FORMAT_BOUNDS:
		break;
	}
	return true;
}

/** Bit b of the value comes from bit b - left + right. */
static void shift(const struct format_bits *bits, uint32_t right, uint32_t left, struct format_bits *result)
{
	const uint32_t kept = 64 - (left > right ? left : right);

	memset(result, 0, sizeof(*result));
	memcpy(&result->bit[left], &bits->bit[right], kept * sizeof(bits->bit[0]));
}

static bool owns(const struct pb_patch_format *format, uint32_t bit)
{
	return bit < 32 ? bit_of(format->mask, bit) : bit_of(format->high_mask, bit - 32);
}

static uint32_t chosen_or(const struct pb_patch_format *format, const struct format_target *target)
{
	if (format->or_by == PB_FORMAT_OR_SEGMENT)
		return format->or_value[target->kind];
	if (format->or_by == PB_FORMAT_OR_ATTRIBUTE)
		return format->or_value[target->attribute];
	return format->or_value[0];
}

enum pb_error format_value(const struct pb_patch_format *format, const struct format_target *target,
			   uint32_t allocation_offset, struct format_bits *value)
{
	const uint32_t or_value = chosen_or(format, target);
	struct format_bits bits;
	const uint64_t source = source_of(format, target);
	const bool negative = has(format, PB_FORMAT_SIGNED) && allocation_offset >= 0x80000000;
	/* Added as on paper, in digits of 32 bits with room for what is carried. */
	const uint64_t low = (source & 0xffffffff) + allocation_offset;
	const uint64_t high = (source >> 32) + (negative ? 0xffffffff : 0) + (low >> 32);

	if (has(format, PB_FORMAT_WRITE) && !target->writable)
		return PB_ERROR_PATCH_WRITE;
	if (!in_bounds(format, target, allocation_offset))
		return PB_ERROR_PATCH_OFFSET;
	if (format->bound != PB_FORMAT_NONE && high > 0xffffffff)
		return PB_ERROR_PATCH_VALUE;
	for (uint32_t b = 0; b < 32; b++) {
		bits.bit[b] = bit_of(low | format->pre_or_low, b);
		bits.bit[32 + b] = bit_of(high | format->pre_or_high, b);
	}
	for (uint32_t b = 48; b < 64 && has(format, PB_FORMAT_CANONICAL); b++)
		bits.bit[b] = bits.bit[47];
	shift(&bits, format->shift_right, format->shift_left, value);
	for (uint32_t b = 0; b < 64 && has(format, PB_FORMAT_FITS); b++) {
		if (value->bit[b] && !owns(format, b))
			return PB_ERROR_PATCH_VALUE;
	}
	for (uint32_t b = 0; b < 32 && or_value != 0; b++)
		value->bit[b] = value->bit[b] || bit_of(or_value, b);
	return PB_ERROR_OK;
}

/** Eight bits at once, from bit `first` up. */
static void store_byte(const struct pb_patch_format *format, const struct format_bits *value, uint32_t first,
		       uint8_t *byte)
{
	uint32_t bits = 0;

	for (uint32_t b = 0; b < 8; b++) {
		bool bit = first < 32 && bit_of(format->background, first + b);

		if (owns(format, first + b))
			bit = value->bit[first + b];
		else if (has(format, PB_FORMAT_KEEP))
			bit = bit_of(*byte, b);
		bits |= (uint32_t)bit << b;
	}
	*byte = (uint8_t)bits;
}

/** Bits 32 and up go to the second word. */
void format_store(const struct pb_patch_format *format, const struct format_bits *value, uint8_t *place)
{
	for (uint32_t byte = 0; byte < 4; byte++) {
		store_byte(format, value, 8 * byte, &place[byte]);
		if (has(format, PB_FORMAT_WIDE))
			store_byte(format, value, 32 + 8 * byte, &place[4u * format->step + byte]);
	}
}

static bool or_values_good(const struct pb_patch_format *format)
{
	static const uint32_t choices[PB_FORMAT_ORS] = {1, 2, 4};

	if (format->or_by >= PB_FORMAT_ORS)
		return false;
	for (uint32_t i = choices[format->or_by]; i < 4; i++) {
		if (format->or_value[i] != 0)
			return false;
	}
	return true;
}

enum pb_format_reason format_reason(const struct pb_patch_format *format)
{
	const bool wide_format = has(format, PB_FORMAT_WIDE);
	const bool addresses = format->source == PB_FORMAT_ADDRESS || format->source == PB_FORMAT_SELF;

	if (format->source >= PB_FORMAT_SOURCES)
		return PB_FORMAT_REASON_SOURCE;
	if (format->bound >= PB_FORMAT_BOUNDS || (!addresses && format->bound != PB_FORMAT_NONE))
		return PB_FORMAT_REASON_BOUND;
	if (format->flags > 0x3f || (has(format, PB_FORMAT_WRITE) && format->source != PB_FORMAT_ADDRESS))
		return PB_FORMAT_REASON_FLAGS;
	if (format->align != 1 && format->align != 4 && format->align != 8)
		return PB_FORMAT_REASON_ALIGN;
	if (format->shift_right > 63 || format->shift_left > 31)
		return PB_FORMAT_REASON_SHIFT;
	if (wide_format ? format->step == 0 || format->step > 4 : format->step != 0)
		return PB_FORMAT_REASON_STEP;
	if (!or_values_good(format))
		return PB_FORMAT_REASON_OR;
	if (format->mask == 0 || wide_format != (format->high_mask != 0))
		return PB_FORMAT_REASON_MASK;
	if ((format->background & format->mask) != 0 ||
	    (has(format, PB_FORMAT_KEEP) && format->background != 0))
		return PB_FORMAT_REASON_BACKGROUND;
	return format->reserved != 0 ? PB_FORMAT_REASON_RESERVED : PB_FORMAT_REASON_NONE;
}
