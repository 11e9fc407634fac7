/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "firmware/core.h"

static bool whole_pages(uint64_t value)
{
	return value % PB_PAGE_BYTES == 0;
}

/** Whether [base, base + size) does not wrap; the end itself may be 2^64 - 1 at most. */
static bool fits_64(uint64_t base, uint64_t size)
{
	return base <= UINT64_MAX - size;
}

/** Backed parts must not overlap as the engine sees them: its ranges would be ambiguous. */
static bool overlaps(struct pb_firmware *firmware, const struct pb_core_channel *channel, uint64_t gpu_base,
		     uint32_t bytes)
{
	for (uint32_t s = 0; s < PB_LIMIT_SEGMENTS; s++) {
		const struct pb_core_segment *other = pb_core_segment_of(firmware, channel, s);

		if (other->memory_bytes != 0 && bytes != 0 &&
		    gpu_base < other->gpu_base + other->memory_bytes && other->gpu_base < gpu_base + bytes)
			return true;
	}
	return false;
}

static void set_range(struct pb_firmware *firmware, uint32_t channel, uint32_t index,
		      const struct pb_engine_range *range)
{
	const struct pb_engine *engine = &firmware->config->engines[0];

	engine->ops->set_range(engine->context, channel, index, range);
}

static enum pb_error check(struct pb_firmware *firmware, const struct pb_core_channel *channel,
			   const struct pb_core_segment *segment)
{
	if (segment->size == 0 || !whole_pages(segment->size) || !whole_pages(segment->os_base) ||
	    !whole_pages(segment->gpu_base) || !whole_pages(segment->memory_bytes))
		return PB_ERROR_BAD_ARGUMENT;
	if (!fits_64(segment->os_base, segment->size) || !fits_64(segment->gpu_base, segment->size) ||
	    segment->memory_bytes > segment->size)
		return PB_ERROR_BAD_ARGUMENT;
	return overlaps(firmware, channel, segment->gpu_base, segment->memory_bytes) ? PB_ERROR_BAD_ARGUMENT
										     : PB_ERROR_OK;
}

/** @return a free place, or 0 */
static uint8_t find_place(const struct pb_firmware *firmware)
{
	for (uint32_t place = 1; place <= PB_LIMIT_SEGMENTS_TOTAL; place++) {
		if (firmware->segments[place].size == 0)
			return (uint8_t)place;
	}
	return 0;
}

enum pb_error pb_core_segment_create(struct pb_firmware *firmware, uint32_t channel,
				     const uint32_t *arguments, uint32_t *results)
{
	struct pb_core_channel *owner = &firmware->channels[channel];
	struct pb_core_segment segment = {
		.os_base = pb_core_wide(arguments[2], arguments[3]),
		.gpu_base = pb_core_wide(arguments[4], arguments[5]),
		.size = pb_core_wide(arguments[6], arguments[7]),
		.memory_bytes = arguments[8],
	};
	const uint8_t place = find_place(firmware);
	enum pb_error error;

	if (arguments[0] >= PB_LIMIT_SEGMENTS)
		return PB_ERROR_BAD_ARGUMENT;
	if (arguments[1] != PB_SEGMENT_LINEAR)
		return PB_ERROR_UNSUPPORTED;
	if (owner->segment_of[arguments[0]] != 0)
		return PB_ERROR_BUSY;
	error = check(firmware, owner, &segment);
	if (error != PB_ERROR_OK)
		return error;
	if (place == 0)
		return PB_ERROR_NO_SPACE;
	if (segment.memory_bytes != 0) {
		segment.memory_offset = pb_core_memory_take(firmware, segment.memory_bytes);
		if (segment.memory_offset == 0)
			return PB_ERROR_NO_SPACE;
		set_range(firmware, channel, arguments[0],
			  &(struct pb_engine_range){.gpu_base = segment.gpu_base,
						    .bytes = segment.memory_bytes,
						    .memory_offset = segment.memory_offset});
	}
	firmware->segments[place] = segment;
	owner->segment_of[arguments[0]] = place;
	results[0] = segment.memory_offset;
	return PB_ERROR_OK;
}

void pb_core_segment_free(struct pb_firmware *firmware, uint32_t channel, uint32_t segment)
{
	struct pb_core_channel *owner = &firmware->channels[channel];
	struct pb_core_segment *gone = pb_core_segment_of(firmware, owner, segment);

	if (gone->memory_bytes != 0) {
		set_range(firmware, channel, segment, &(struct pb_engine_range){.bytes = 0});
		pb_core_memory_give(firmware, gone->memory_offset);
	}
	memset(gone, 0, sizeof(*gone));
	owner->segment_of[segment] = 0;
}

/** Segment 0 holds the pages and rings of the channel's queues. */
static bool holds_queues(const struct pb_firmware *firmware, uint32_t channel, uint32_t segment)
{
	if (segment != PB_SEGMENT_SYSTEM)
		return false;
	for (uint32_t q = 0; q < PB_LIMIT_QUEUES; q++) {
		if (firmware->queues[q].state != PB_CORE_QUEUE_FREE && firmware->queues[q].channel == channel)
			return true;
	}
	return false;
}

enum pb_error pb_core_segment_destroy(struct pb_firmware *firmware, uint32_t channel, uint32_t segment)
{
	const struct pb_core_channel *owner = &firmware->channels[channel];

	if (segment >= PB_LIMIT_SEGMENTS || owner->segment_of[segment] == 0)
		return PB_ERROR_BAD_ARGUMENT;
	if (owner->busy != 0 || holds_queues(firmware, channel, segment))
		return PB_ERROR_BUSY;
	pb_core_segment_free(firmware, channel, segment);
	return PB_ERROR_OK;
}

uint32_t pb_core_segment_memory(const struct pb_core_segment *segment, uint64_t os_address, uint64_t bytes)
{
	uint64_t offset = os_address - segment->os_base; /* wraps to a large one below the base */

	if (offset > segment->memory_bytes || bytes > segment->memory_bytes - offset)
		return 0;
	return segment->memory_offset + (uint32_t)offset;
}
