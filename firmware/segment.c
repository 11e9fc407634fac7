/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "firmware/core.h"
#include "hal/bits.h"

/*@
  assigns \nothing;
  ensures \result <==> value % PB_PAGE_BYTES == 0;
*/
static bool whole_pages(uint64_t value)
{
	return value % PB_PAGE_BYTES == 0;
}

/** Whether [base, base + size) does not wrap; the end itself may be 2^64 - 1 at most. */
/*@
  assigns \nothing;
  ensures \result <==> base + size <= UINT64_MAX;
*/
static bool fits_64(uint64_t base, uint64_t size)
{
	return base <= UINT64_MAX - size;
}

/** Bytes that the engine sees: what is backed, all of an aperture. */
/*@
  requires \valid_read(segment) && (segment->kind == PB_SEGMENT_APERTURE ==> segment->size <= UINT32_MAX);
  assigns \nothing;
  ensures \result == pb_core_bytes_seen(segment);
*/
static uint32_t engine_bytes(const struct pb_core_segment *segment)
{
	return segment->kind == PB_SEGMENT_APERTURE ? (uint32_t)segment->size : segment->memory_bytes;
}

/** Bytes of the pool: what is backed, or an aperture's page table. */
/*@
  requires \valid_read(segment) && pb_core_is_sound(segment);
  assigns \nothing;
  ensures \result % PB_PAGE_BYTES == 0;
  ensures segment->kind != PB_SEGMENT_APERTURE ==> \result == segment->memory_bytes;
  ensures segment->kind == PB_SEGMENT_APERTURE ==>
    4 * (segment->size / PB_PAGE_BYTES) <= \result < 4 * (segment->size / PB_PAGE_BYTES) + PB_PAGE_BYTES;
*/
static uint32_t pool_bytes(const struct pb_core_segment *segment)
{
	const uint32_t table = PB_ENGINE_TABLE_BYTES((uint32_t)segment->size);

	if (segment->kind == PB_SEGMENT_APERTURE)
		return (table + PB_PAGE_BYTES - 1u) / PB_PAGE_BYTES * PB_PAGE_BYTES;
	return segment->memory_bytes;
}

/** What the engine sees of two segments must not overlap: its ranges would be ambiguous. */
/*@
  requires \valid_read(one) && pb_core_is_sound(one) && pb_core_bytes_seen(one) != 0;
  requires \valid_read(other) && pb_core_is_segment(other);
  assigns \nothing;
  ensures one_has_where_the_other_begins: \result ==> pb_core_bytes_seen(other) != 0 &&
    (one->gpu_base <= other->gpu_base < one->gpu_base + pb_core_bytes_seen(one) ||
     other->gpu_base <= one->gpu_base < other->gpu_base + pb_core_bytes_seen(other));
  ensures none_has_both: !\result ==> (\forall integer at;
    one->gpu_base <= at < one->gpu_base + pb_core_bytes_seen(one) ==>
    !(other->gpu_base <= at < other->gpu_base + pb_core_bytes_seen(other)));
*/
static bool overlap(const struct pb_core_segment *one, const struct pb_core_segment *other)
{
	const uint32_t bytes = engine_bytes(other);

	return bytes != 0 && one->gpu_base < other->gpu_base + bytes &&
	       other->gpu_base < one->gpu_base + engine_bytes(one);
}

static void set_range(struct pb_firmware *firmware, uint32_t channel, uint32_t index,
		      const struct pb_engine_range *range)
{
	const struct pb_engine *engine = &firmware->config->engines[0];

	engine->ops->set_range(engine->context, channel, index, range);
}

void pb_core_segment_init(struct pb_firmware *firmware)
{
	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++) {
		for (uint32_t index = 0; index < PB_ENGINE_RANGES; index++)
			set_range(firmware, channel, index, &(struct pb_engine_range){.bytes = 0});
	}
}

/*@
  requires \valid_read(segment);
  assigns \nothing;
  ensures \result == PB_ERROR_OK || \result == PB_ERROR_BAD_ARGUMENT;
  ensures \result == PB_ERROR_OK <==> pb_core_is_sound(segment);
*/
static enum pb_error check(const struct pb_core_segment *segment)
{
	if (segment->size == 0 || !whole_pages(segment->size) || !whole_pages(segment->os_base) ||
	    !whole_pages(segment->gpu_base) || !whole_pages(segment->memory_bytes))
		return PB_ERROR_BAD_ARGUMENT;
	if (!fits_64(segment->os_base, segment->size) || !fits_64(segment->gpu_base, segment->size) ||
	    segment->memory_bytes > segment->size)
		return PB_ERROR_BAD_ARGUMENT;
	if (segment->kind == PB_SEGMENT_APERTURE &&
	    (segment->memory_bytes != 0 || segment->size > PB_LIMIT_APERTURE_PAGES * PB_PAGE_BYTES))
		return PB_ERROR_BAD_ARGUMENT;
	return PB_ERROR_OK;
}

/** @return a free place, or 0 */
static uint32_t take_place(struct pb_firmware *firmware)
{
	for (uint32_t word = 0; word < PB_LIMIT_SEGMENTS_TOTAL / 32u; word++) {
		const uint32_t taken = firmware->places_taken[word];

		if (taken != UINT32_MAX) {
			firmware->places_taken[word] = taken | (taken + 1u);
			return 32u * word + pb_bits_lowest(~taken) + 1u;
		}
	}
	return 0;
}

/** Place and memory are free for others. */
static void give_place(struct pb_firmware *firmware, uint32_t place)
{
	pb_core_memory_give(firmware, place);
	firmware->places_taken[(place - 1u) / 32u] &= ~(1u << (place - 1u) % 32u);
}

enum pb_error pb_core_segment_create(struct pb_firmware *firmware, uint32_t channel, uint32_t tag,
				     const uint32_t *arguments)
{
	struct pb_core_channel *owner = &firmware->channels[channel];
	const struct pb_core_segment segment = {
		.os_base = pb_core_wide(arguments[2], arguments[3]),
		.gpu_base = pb_core_wide(arguments[4], arguments[5]),
		.size = pb_core_wide(arguments[6], arguments[7]),
		.memory_bytes = arguments[8],
		.kind = (uint8_t)arguments[1],
		.channel = (uint8_t)channel,
	};
	enum pb_error error;

	if (arguments[0] >= PB_LIMIT_SEGMENTS)
		return PB_ERROR_BAD_ARGUMENT;
	if (arguments[1] != PB_SEGMENT_LINEAR && arguments[1] != PB_SEGMENT_APERTURE)
		return PB_ERROR_UNSUPPORTED;
	if (owner->segment_of[arguments[0]] != 0 || pb_core_segment_being_made(owner, arguments[0]))
		return PB_ERROR_BUSY;
	error = check(&segment);
	if (error != PB_ERROR_OK)
		return error;
	owner->make = (struct pb_core_make){
		.segment = segment,
		.step = PB_CORE_MAKE_CHECK,
		.id = arguments[0],
		.tag = tag,
		.at = engine_bytes(&segment) != 0 ? 0 : PB_LIMIT_SEGMENTS,
	};
	firmware->chores |= 1u << channel;
	return PB_ERROR_OK;
}

static void finish(struct pb_firmware *firmware, uint32_t channel, enum pb_error error)
{
	struct pb_core_make *make = &firmware->channels[channel].make;
	const struct pb_core_outcome outcome = {{error == PB_ERROR_OK ? make->segment.memory_offset : 0}};

	make->step = PB_CORE_MAKE_NONE;
	firmware->chores &= ~(1u << channel);
	if (error != PB_ERROR_OK && make->place != 0)
		give_place(firmware, make->place);
	pb_core_control_reply(firmware, channel, PB_COMMAND_SEGMENT_CREATE, make->tag, error, &outcome);
}

/** From here on the segment is there. */
static void show(struct pb_firmware *firmware, uint32_t channel)
{
	const struct pb_core_make *make = &firmware->channels[channel].make;
	const struct pb_core_segment *segment = &make->segment;
	const bool paged = segment->kind == PB_SEGMENT_APERTURE;

	if (engine_bytes(segment) != 0)
		set_range(firmware, channel, make->id,
			  &(struct pb_engine_range){.gpu_base = segment->gpu_base,
						    .bytes = engine_bytes(segment),
						    .memory_offset = paged ? segment->table_offset
									   : segment->memory_offset,
						    .paged = paged});
	firmware->segments[make->place] = *segment;
	firmware->channels[channel].segment_of[make->id] = (uint8_t)make->place;
	finish(firmware, channel, PB_ERROR_OK);
}

static void compare(struct pb_firmware *firmware, uint32_t channel)
{
	const struct pb_core_channel *owner = &firmware->channels[channel];
	struct pb_core_make *make = &firmware->channels[channel].make;

	for (uint32_t i = 0; i < PB_SLICE_SEGMENTS && make->at < PB_LIMIT_SEGMENTS; i++, make->at++) {
		if (overlap(&make->segment, pb_core_segment_of(firmware, owner, make->at))) {
			finish(firmware, channel, PB_ERROR_BAD_ARGUMENT);
			return;
		}
	}
	if (make->at < PB_LIMIT_SEGMENTS)
		return;
	make->place = take_place(firmware);
	if (make->place == 0) {
		finish(firmware, channel, PB_ERROR_NO_SPACE);
		return;
	}
	make->step = PB_CORE_MAKE_PLACE;
	make->at = firmware->config->pool_offset;
}

static void look_for_memory(struct pb_firmware *firmware, uint32_t channel)
{
	struct pb_core_make *make = &firmware->channels[channel].make;
	const uint32_t bytes = pool_bytes(&make->segment);
	enum pb_core_search search;

	if (bytes == 0) {
		show(firmware, channel);
		return;
	}
	search = pb_core_memory_search(firmware, &make->at, bytes);
	if (search == PB_CORE_SEARCH_NONE)
		finish(firmware, channel, PB_ERROR_NO_SPACE);
	if (search != PB_CORE_SEARCH_FOUND)
		return;
	pb_core_memory_take(firmware, make->place, make->at, bytes);
	if (make->segment.kind == PB_SEGMENT_APERTURE) {
		make->segment.table_offset = make->at;
		make->step = PB_CORE_MAKE_CLEAR;
		make->at = 0;
	} else {
		make->segment.memory_offset = make->at;
		show(firmware, channel);
	}
}

void pb_core_segment_step(struct pb_firmware *firmware, uint32_t channel)
{
	struct pb_core_make *make = &firmware->channels[channel].make;

	if (make->step == PB_CORE_MAKE_CHECK) {
		compare(firmware, channel);
	} else if (make->step == PB_CORE_MAKE_PLACE) {
		look_for_memory(firmware, channel);
	} else {
		make->at = pb_core_aperture_clear(firmware, &make->segment, make->at);
		if (make->at == make->segment.size / PB_PAGE_BYTES)
			show(firmware, channel);
	}
}

void pb_core_segment_abandon(struct pb_firmware *firmware, uint32_t channel)
{
	struct pb_core_make *make = &firmware->channels[channel].make;

	if (make->step != PB_CORE_MAKE_NONE && make->place != 0)
		give_place(firmware, make->place);
	make->step = PB_CORE_MAKE_NONE;
}

void pb_core_segment_free(struct pb_firmware *firmware, uint32_t channel, uint32_t segment)
{
	struct pb_core_channel *owner = &firmware->channels[channel];
	const uint32_t place = owner->segment_of[segment];
	struct pb_core_segment *gone = &firmware->segments[place];

	if (engine_bytes(gone) != 0)
		set_range(firmware, channel, segment, &(struct pb_engine_range){.bytes = 0});
	give_place(firmware, place);
	memset(gone, 0, sizeof(*gone));
	owner->segment_of[segment] = 0;
}

/** Segment 0 holds the pages and rings of the channel's queues. */
static bool holds_queues(const struct pb_firmware *firmware, uint32_t channel, uint32_t segment)
{
	return segment == PB_SEGMENT_SYSTEM && firmware->channels[channel].queues != 0;
}

enum pb_error pb_core_segment_destroy(struct pb_firmware *firmware, uint32_t channel, uint32_t segment)
{
	const struct pb_core_channel *owner = &firmware->channels[channel];

	if (pb_core_segment_being_made(owner, segment))
		return PB_ERROR_BUSY;
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
