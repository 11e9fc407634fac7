/* SPDX-License-Identifier: MIT */
/*
 * Any entry, check by check in the order of the error list. The formats are
 * data here (include/patchbay/abi/format.h says what they mean).
 */
#include "firmware/instance.h"
#include "firmware/patch/loops.h"

/** Bytes from the first that a format writes to behind the last. */
/*@
  requires \valid_read(format) && format->step <= 4;
  assigns \nothing;
  ensures \result == 4 * (1 + format->step);
*/
static uint32_t extent(const struct pb_patch_format *format)
{
	return 4u * (1u + format->step);
}

/*@
  requires \valid_read(format);
  assigns \nothing;
  ensures \result <==> format->source == PB_FORMAT_ADDRESS || format->source == PB_FORMAT_ID ||
    format->or_by != PB_FORMAT_OR_FIRST;
*/
static bool uses_allocation(const struct pb_patch_format *format)
{
	return format->source == PB_FORMAT_ADDRESS || format->source == PB_FORMAT_ID ||
	       format->or_by != PB_FORMAT_OR_FIRST;
}

/** The DMA buffer as if it were an allocation. */
static struct pb_core_slot self_slot(const struct pb_core_job *job)
{
	const struct pb_engine_submission *engine = &job->submission->engine;
	const uint64_t address = pb_core_wide(engine->address_low, engine->address_high) - job->start;

	return (struct pb_core_slot){
		.low = (uint32_t)address,
		.high = (uint32_t)(address >> 32),
		.limit = {job->dma_bytes},
	};
}

/*@
  requires bound < PB_FORMAT_BOUNDS;
  assigns \nothing;
  ensures inside: bound == PB_FORMAT_INSIDE ==> (!\result <==> offset < limit);
  ensures end: bound == PB_FORMAT_END ==> (!\result <==> offset <= limit);
  ensures page: bound == PB_FORMAT_PAGE ==> (!\result <==> offset - offset % PB_PAGE_BYTES < limit);
  ensures none: bound == PB_FORMAT_NONE ==> !\result;
*/
static bool offset_is_bad(uint32_t bound, uint32_t offset, uint32_t limit)
{
	if (bound == PB_FORMAT_INSIDE)
		return offset >= limit;
	if (bound == PB_FORMAT_END)
		return offset > limit;
	return bound == PB_FORMAT_PAGE && (offset & ~(PB_PAGE_BYTES - 1u)) >= limit;
}

/*@
  // AllocationOffset as SIGNED formats take it, added modulo 2^64.
  logic integer extended(integer offset) = offset < 0x80000000 ? offset : offset + 0xffffffff00000000;
  logic integer joined(struct pb_patch_format *format, integer base, integer offset) =
    (uint64_t)(base + ((format->flags & PB_FORMAT_SIGNED) != 0 ? extended(offset) : offset)) |
    (format->pre_or_low + 0x100000000 * format->pre_or_high);
  // Bit 47 repeated above it.
  logic integer canonical(integer value) = value % 0x1000000000000 < 0x800000000000
    ? value % 0x1000000000000 : value % 0x1000000000000 + 0xffff000000000000;
*/

/*@
  assigns \nothing;
  ensures \result == canonical(value);
*/
static uint64_t repeat_bit_47(uint64_t value)
{
	const uint32_t high = (uint32_t)(value >> 32);

	/*@ assert high: high == value / 0x100000000; */
	/*@ assert parts: value % 0x1000000000000 == value % 0x100000000 + 0x100000000 * (high % 0x10000); */
	/*@ assert repeated: (uint32_t)(int16_t)high ==
	      (high % 0x10000 < 0x8000 ? high % 0x10000 : high % 0x10000 + 0xffff0000); */
	return pb_core_wide((uint32_t)value, (uint32_t)(int16_t)high);
}

/**
 * The value that a format makes of an address, before anything is ORed in.
 * @return false: bits of it would be lost that the format must not lose
 */
/*@
  requires \valid_read(format) && \valid(value) && \separated(format, value);
  requires format->shift_right <= 63 && format->shift_left <= 31;
  assigns *value;
  ensures carry: format->bound != PB_FORMAT_NONE && (format->flags & PB_FORMAT_SIGNED) == 0 && \result ==>
    base + offset <= UINT64_MAX;
  ensures plain: (format->flags & PB_FORMAT_CANONICAL) == 0 && \result ==>
    *value == (uint64_t)((joined(format, base, offset) >> format->shift_right) << format->shift_left);
  ensures canonical: (format->flags & PB_FORMAT_CANONICAL) != 0 && \result ==>
    *value == (uint64_t)((canonical(joined(format, base, offset)) >> format->shift_right) << format->shift_left);
  ensures fits: (format->flags & PB_FORMAT_FITS) != 0 && \result ==>
    (*value & (uint64_t)~(format->mask + 0x100000000 * format->high_mask)) == 0;
*/
static bool make_value(const struct pb_patch_format *format, uint64_t base, uint32_t offset, uint64_t *value)
{
	const bool negative = (format->flags & PB_FORMAT_SIGNED) != 0 && (int32_t)offset < 0;
	uint64_t sum = base + (negative ? pb_core_wide(offset, UINT32_MAX) : offset);

	/*@ assert negative: negative <==> (format->flags & PB_FORMAT_SIGNED) != 0 && offset >= 0x80000000; */
	/*@ assert sum: sum == (uint64_t)(base + (negative ? extended(offset) : offset)); */
	if (format->bound != PB_FORMAT_NONE && sum < base)
		return false;
	sum |= pb_core_wide(format->pre_or_low, format->pre_or_high);
	/*@ assert joined: sum == joined(format, base, offset); */
	if ((format->flags & PB_FORMAT_CANONICAL) != 0)
		sum = repeat_bit_47(sum);
	*value = sum >> format->shift_right << format->shift_left;
	return (format->flags & PB_FORMAT_FITS) == 0 ||
	       (*value & ~pb_core_wide(format->mask, format->high_mask)) == 0;
}

/*@
  requires \valid_read(format) && tag < 0x20;
  assigns \nothing;
  ensures format->or_by == PB_FORMAT_OR_SEGMENT ==> \result == format->or_value[tag / 16];
  ensures format->or_by == PB_FORMAT_OR_ATTRIBUTE ==> \result == format->or_value[tag % 4];
  ensures format->or_by == PB_FORMAT_OR_FIRST ==> \result == format->or_value[0];
*/
static uint32_t or_value(const struct pb_patch_format *format, uint32_t tag)
{
	if (format->or_by == PB_FORMAT_OR_SEGMENT)
		return format->or_value[PB_CORE_TAG_KIND(tag)];
	return format->or_value[format->or_by == PB_FORMAT_OR_ATTRIBUTE ? PB_CORE_TAG_ATTRIBUTE(tag) : 0];
}

/** Where a byte of the DMA buffer is. @return NULL: in an aperture page that is not mapped */
static uint8_t *byte_at(const struct pb_core_cursor *cursor, uint32_t offset)
{
	const struct pb_core_job *job = cursor->job;
	uint32_t *word;

	if (job->aperture == NULL)
		return (uint8_t *)(cursor->origin + offset);
	offset += job->aperture_offset;
	word = pb_core_aperture_word(cursor->firmware, job->submission->queue->channel, job->aperture,
				     offset & ~3u);
	return word == NULL ? NULL : (uint8_t *)word + offset % 4u;
}

/** A word at any byte, as formats of alignment 1 have it: byte by byte, as it may lie in two pages. */
static bool store_bytes(const struct pb_core_cursor *cursor, uint32_t offset, uint32_t value, uint32_t mask,
			bool keep)
{
	for (uint32_t i = 0; i < 4u; i++, value >>= 8, mask >>= 8) {
		uint8_t *at = byte_at(cursor, offset + i);

		if (at == NULL)
			return false;
		if (keep)
			value = (value & ~0xffu) | (value & mask & 0xffu) |
				(pb_shared_read8(at) & ~mask & 0xffu);
		pb_shared_write8(at, (uint8_t)value);
	}
	return true;
}

/**
 * Stores the bits under a mask; the others stay, or are those given.
 * @return false: the place is not mapped
 */
static bool store_word(const struct pb_core_cursor *cursor, uint32_t offset, uint32_t value, uint32_t mask,
		       bool keep, uint32_t background)
{
	uint32_t *at;

	value = (value & mask) | background;
	if (offset % 4u != 0)
		return store_bytes(cursor, offset, value, mask, keep);
	at = (uint32_t *)(void *)byte_at(cursor, offset);
	if (at == NULL)
		return false;
	if (keep)
		value |= pb_shared_read32(at) & ~mask;
	pb_shared_write32(at, value);
	return true;
}

static bool store(const struct pb_core_cursor *cursor, const struct pb_patch_format *format, uint32_t place,
		  uint64_t value)
{
	const bool keep = (format->flags & PB_FORMAT_KEEP) != 0;

	return store_word(cursor, place, (uint32_t)value, format->mask, keep, format->background) &&
	       ((format->flags & PB_FORMAT_WIDE) == 0 ||
		store_word(cursor, place + 4u * format->step, (uint32_t)(value >> 32), format->high_mask,
			   keep, 0));
}

/** Whether all that a format writes is in the submission. */
static bool is_in_range(const struct pb_core_cursor *cursor, const struct pb_patch_format *format,
			uint32_t patch_offset)
{
	const uint32_t bytes = cursor->job->bytes;

	return bytes >= extent(format) && patch_offset - cursor->start <= bytes - extent(format);
}

/** What a format starts from that is no allocation's. */
static struct pb_core_slot source_slot(struct pb_core_cursor *cursor, const struct pb_patch_format *format)
{
	if (format->source == PB_FORMAT_SELF)
		return self_slot(cursor->job);
	if (format->source != PB_FORMAT_FENCE)
		return (struct pb_core_slot){0};
	cursor->fenced = true;
	return (struct pb_core_slot){.low = cursor->job->submission->fence_id};
}

enum pb_error pb_core_slow_path(struct pb_core_cursor *cursor, const struct pb_core_entry *entry)
{
	const struct pb_core_job *job = cursor->job;
	const struct pb_patch_format *format =
		pb_core_format_find(&cursor->firmware->formats, &job->channel->formats, entry->driver_id)
			.format;
	const uint32_t index = entry->allocation_index;
	struct pb_core_slot slot;
	uint64_t value;
	uint32_t tag = 0;

	if ((entry->slot & PB_PATCH_RESERVED_MASK) != 0)
		return PB_ERROR_PATCH_RESERVED;
	if (format == NULL)
		return PB_ERROR_PATCH_FORMAT;
	if (uses_allocation(format) && index >= job->allocation_count)
		return PB_ERROR_PATCH_INDEX;
	if ((entry->patch_offset & (format->align - 1u)) != 0)
		return PB_ERROR_PATCH_ALIGNMENT;
	if (!is_in_range(cursor, format, entry->patch_offset))
		return PB_ERROR_PATCH_RANGE;
	slot = source_slot(cursor, format);
	value = pb_core_wide(slot.low, slot.high);
	if (uses_allocation(format)) {
		const struct pb_core_slot *named = &cursor->slots[index];

		if (named->limit[0] == 0)
			return PB_ERROR_OK; /* unbound: legal, and writes nothing */
		if ((format->flags & PB_FORMAT_WRITE) != 0 && named->limit[1] == 0)
			return PB_ERROR_PATCH_WRITE;
		tag = job->tags[index];
		if (format->source == PB_FORMAT_ADDRESS) {
			slot.limit[0] = named->limit[0];
			value = pb_core_wide(named->low, named->high);
		} else if (format->source == PB_FORMAT_ID) {
			value = job->ids[index];
		}
	}
	if (offset_is_bad(format->bound, entry->allocation_offset, slot.limit[0]))
		return PB_ERROR_PATCH_OFFSET;
	if (!make_value(format, value, entry->allocation_offset, &value))
		return PB_ERROR_PATCH_VALUE;
	return store(cursor, format, entry->patch_offset, value | or_value(format, tag))
		       ? PB_ERROR_OK
		       : PB_ERROR_PATCH_PAGE;
}
