/* SPDX-License-Identifier: MIT */
#include "firmware/memory/segment.h"

#include <string.h>

#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "firmware/memory/wipe.h"
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

/** Bytes that the engine sees: what is backed, all of an aperture and of outer memory. */
/*@
  requires \valid_read(segment) && (segment->kind == PB_SEGMENT_APERTURE || segment->kind == PB_SEGMENT_OUTER ==>
    segment->size <= UINT32_MAX);
  assigns \nothing;
  ensures \result == pb_core_bytes_seen(segment);
*/
static PB_CORE_STEP uint32_t engine_bytes(const struct pb_core_segment *segment)
{
	return segment->kind == PB_SEGMENT_APERTURE || segment->kind == PB_SEGMENT_OUTER
		       ? (uint32_t)segment->size
		       : segment->memory_bytes;
}

/** Bytes of the pool: what is backed, or an aperture's page table; host memory is no part of the pool. */
/*@
  requires \valid_read(segment) && pb_core_is_sound(segment) && segment->kind <= PB_SEGMENT_OUTER;
  assigns \nothing;
  ensures \result % PB_PAGE_BYTES == 0;
  ensures segment->kind == PB_SEGMENT_LINEAR ==> \result == segment->memory_bytes;
  ensures segment->kind == PB_SEGMENT_HOST ==> \result == 0;
  ensures segment->kind == PB_SEGMENT_OUTER ==> \result == segment->size;
  ensures segment->kind == PB_SEGMENT_APERTURE ==>
    4 * (segment->size / PB_PAGE_BYTES) <= \result < 4 * (segment->size / PB_PAGE_BYTES) + PB_PAGE_BYTES;
*/
static uint32_t pool_bytes(const struct pb_core_segment *segment)
{
	const uint32_t table = PB_ENGINE_TABLE_BYTES((uint32_t)segment->size);

	if (segment->kind == PB_SEGMENT_APERTURE)
		return (table + PB_PAGE_BYTES - 1u) / PB_PAGE_BYTES * PB_PAGE_BYTES;
	return segment->kind == PB_SEGMENT_HOST ? 0 : engine_bytes(segment);
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

/** Where the part of the pool begins that is kept for a channel: those of all channels lie at the pool's end. */
static PB_CORE_COLD uint32_t home_of(const struct pb_firmware *firmware, uint32_t channel)
{
	return firmware->config->memory_bytes -
	       (PB_LIMIT_CHANNELS - channel) * firmware->quotas.minimum[PB_RESOURCE_POOL_BYTES];
}

static void set_range(struct pb_firmware *firmware, uint32_t channel, uint32_t index,
		      const struct pb_engine_range *range)
{
	const struct pb_engine_memory *memory = firmware->config->engine_memory;

	memory->ops->set_range(memory->context, channel, index, range);
}

void pb_core_segment_init(struct pb_firmware *firmware)
{
	firmware->segments.clean = firmware->config->pool_offset;
	pb_core_segment_forget(&firmware->segment_memo, &firmware->segments);
	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++) {
		firmware->channels[channel].memory.create.clean = home_of(firmware, channel);
		for (uint32_t index = 0; index < PB_ENGINE_RANGES; index++)
			set_range(firmware, channel, index, &(struct pb_engine_range){.bytes = 0});
	}
}

/*@
  requires \valid_read(segment);
  requires segment->kind == PB_SEGMENT_OUTER ==> segment->memory_bytes == 0 && segment->size <= UINT32_MAX;
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

/** Claims a free slot. Pre: the quota was claimed, so that there is one. */
static uint32_t claim_slot(struct pb_core_segments *segments)
{
	uint32_t word = 0;
	uint32_t taken;

	while (segments->taken[word] == UINT32_MAX)
		word++;
	taken = segments->taken[word];
	segments->taken[word] = taken | (taken + 1u);
	return 32u * word + pb_bits_lowest(~taken) + 1u;
}

/** Frees a slot, what it has of the pool, and the quota that was claimed for its segment. */
static void free_slot(struct pb_firmware *firmware, uint32_t slot, const struct pb_core_segment *segment)
{
	pb_core_quota_release(firmware, segment->channel, PB_RESOURCE_SEGMENTS, 1);
	pb_core_quota_release(firmware, segment->channel, PB_RESOURCE_POOL_BYTES, pool_bytes(segment));
	pb_core_pool_free(&firmware->pool, slot);
	firmware->segments.taken[(slot - 1u) / 32u] &= ~(1u << (slot - 1u) % 32u);
}

/** Claims the quota for a segment. */
static enum pb_error claim_quota(struct pb_firmware *firmware, uint32_t channel,
				 const struct pb_core_segment *segment)
{
	enum pb_error error =
		pb_core_quota_claim(firmware, channel, PB_RESOURCE_POOL_BYTES, pool_bytes(segment));

	if (error != PB_ERROR_OK)
		return error;
	error = pb_core_quota_claim(firmware, channel, PB_RESOURCE_SEGMENTS, 1);
	if (error != PB_ERROR_OK)
		pb_core_quota_release(firmware, channel, PB_RESOURCE_POOL_BYTES, pool_bytes(segment));
	return error;
}

/** Finds the host pages that a segment is to have. Any other segment has none. */
static enum pb_error find_host(const struct pb_firmware *firmware, struct pb_core_segment *segment,
			       const uint32_t *arguments)
{
	if (segment->kind != PB_SEGMENT_HOST)
		return PB_ERROR_OK;
	if (pb_core_host_window_bytes(firmware) == 0)
		return PB_ERROR_UNSUPPORTED;
	if (segment->memory_bytes == 0 || arguments[9] % PB_PAGE_BYTES != 0)
		return PB_ERROR_BAD_ARGUMENT;
	segment->memory_offset = pb_core_host_find(&firmware->host, segment->channel, &arguments[8]);
	return segment->memory_offset != 0 ? PB_ERROR_OK : PB_ERROR_NO_PERMISSION;
}

/** Gives all of a segment to the engines, and nothing of it to the MCU, which does not see outer memory. */
static enum pb_error give_outer(const struct pb_firmware *firmware, struct pb_core_segment *segment)
{
	if (pb_core_outer_bytes(firmware) == 0)
		return PB_ERROR_UNSUPPORTED;
	if (segment->size != segment->memory_bytes)
		return PB_ERROR_BAD_ARGUMENT;
	segment->memory_bytes = 0;
	return PB_ERROR_OK;
}

enum pb_error pb_core_segment_create(struct pb_firmware *firmware, uint32_t channel, uint32_t tag,
				     const uint32_t *arguments)
{
	struct pb_core_channel_memory *memory = &firmware->channels[channel].memory;
	struct pb_core_segment segment = {
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
	if (arguments[1] > PB_SEGMENT_OUTER)
		return PB_ERROR_UNSUPPORTED;
	if (memory->segment_of[arguments[0]] != 0 || pb_core_segment_is_creating_id(memory, arguments[0]))
		return PB_ERROR_BUSY;
	error = segment.kind == PB_SEGMENT_OUTER ? give_outer(firmware, &segment) : PB_ERROR_OK;
	if (error == PB_ERROR_OK)
		error = check(&segment);
	if (error == PB_ERROR_OK)
		error = find_host(firmware, &segment, arguments);
	if (error != PB_ERROR_OK)
		return error;
	memory->create = (struct pb_core_create){
		.segment = segment,
		.step = PB_CORE_CREATE_CHECK,
		.id = (uint8_t)arguments[0],
		.tag = tag,
		.clean = memory->create.clean,
		.at = engine_bytes(&segment) != 0 ? 0 : PB_LIMIT_SEGMENTS,
	};
	pb_core_mark_deferred(&firmware->marks, channel);
	return PB_ERROR_OK;
}

/** Ends the creation of a segment with its reply. */
static void finish(struct pb_firmware *firmware, uint32_t channel, enum pb_error error)
{
	struct pb_core_create *create = &firmware->channels[channel].memory.create;
	const struct pb_core_outcome outcome = {{error == PB_ERROR_OK         ? create->segment.memory_offset
						 : error == PB_ERROR_NO_QUOTA ? firmware->quotas.refused
									      : 0}};

	create->step = PB_CORE_CREATE_NONE;
	pb_core_unmark_deferred(&firmware->marks, channel);
	if (error != PB_ERROR_OK && create->slot != 0)
		free_slot(firmware, create->slot, &create->segment);
	pb_core_reply_deferred(firmware, channel, PB_COMMAND_SEGMENT_CREATE, create->tag, error, &outcome);
}

/** Publishes the segment: from here on submissions may name it. */
static void publish(struct pb_firmware *firmware, uint32_t channel)
{
	struct pb_core_channel_memory *memory = &firmware->channels[channel].memory;
	const struct pb_core_create *create = &memory->create;
	const struct pb_core_segment *segment = &create->segment;
	const bool paged = segment->kind == PB_SEGMENT_APERTURE;

	/* The admin may have revoked its pages since the command. */
	if (segment->kind == PB_SEGMENT_HOST &&
	    !pb_core_host_holds(&firmware->host, channel, segment->memory_offset, segment->memory_bytes)) {
		finish(firmware, channel, PB_ERROR_NO_PERMISSION);
		return;
	}
	if (engine_bytes(segment) != 0)
		set_range(firmware, channel, create->id,
			  &(struct pb_engine_range){.gpu_base = segment->gpu_base,
						    .bytes = engine_bytes(segment),
						    .memory_offset = paged ? segment->table_offset
									   : segment->memory_offset,
						    .paged = paged});
	firmware->segments.at[create->slot] = *segment;
	memory->segment_of[create->id] = (uint8_t)create->slot;
	pb_core_segment_forget(&firmware->segment_memo, &firmware->segments);
	finish(firmware, channel, PB_ERROR_OK);
}

/** Compares the segment with a slice of the channel's others, and claims a slot when all have been compared. */
static void compare(struct pb_firmware *firmware, uint32_t channel)
{
	const struct pb_core_channel_memory *memory = &firmware->channels[channel].memory;
	struct pb_core_create *create = &firmware->channels[channel].memory.create;
	enum pb_error error;

	for (uint32_t i = 0; i < PB_SLICE_SEGMENTS && create->at < PB_LIMIT_SEGMENTS; i++, create->at++) {
		if (overlap(&create->segment, pb_core_segment_of(&firmware->segments, memory, create->at))) {
			finish(firmware, channel, PB_ERROR_BAD_ARGUMENT);
			return;
		}
	}
	if (create->at < PB_LIMIT_SEGMENTS)
		return;
	error = claim_quota(firmware, channel, &create->segment);
	if (error != PB_ERROR_OK) {
		finish(firmware, channel, error);
		return;
	}
	create->slot = (uint8_t)claim_slot(&firmware->segments);
	create->step = PB_CORE_CREATE_BACK;
	create->at = create->segment.kind == PB_SEGMENT_OUTER ? firmware->config->outer->offset
							      : firmware->config->pool_offset;
}

/** Clears a part of what a segment has of the pool. @return whether all is clear */
static bool wipe_some(struct pb_firmware *firmware, struct pb_core_create *create)
{
	if (create->segment.kind == PB_SEGMENT_OUTER)
		return pb_core_outer_clear(firmware, create->slot, create->step == PB_CORE_CREATE_WIPE);
	create->at = pb_core_wipe(firmware, create->slot, create->at);
	return create->at == firmware->pool.pieces[create->slot].bytes;
}

/** Searches a slice of the part that all channels share, of what is kept for this channel, or of outer memory. */
static enum pb_core_search search_some(struct pb_firmware *firmware, uint32_t channel, uint32_t bytes)
{
	struct pb_core_create *create = &firmware->channels[channel].memory.create;
	const bool outer = create->segment.kind == PB_SEGMENT_OUTER;
	const uint32_t end =
		outer ? firmware->config->outer->offset + firmware->config->outer->bytes
		      : home_of(firmware, create->step == PB_CORE_CREATE_BACK ? 0 : channel + 1u);
	const enum pb_core_search search = pb_core_pool_search(&firmware->pool, end, &create->at, bytes);

	if (search != PB_CORE_SEARCH_NONE || create->step != PB_CORE_CREATE_BACK || outer)
		return search;
	create->step = PB_CORE_CREATE_HOME;
	create->at = home_of(firmware, channel);
	return PB_CORE_SEARCH_MORE;
}

/** Whether the piece just found is to be cleared: in outer memory always, else where an earlier boot may have used it. */
static bool was_used(struct pb_firmware *firmware, struct pb_core_create *create, uint32_t end)
{
	uint32_t *clean = create->step == PB_CORE_CREATE_BACK ? &firmware->segments.clean : &create->clean;

	if (create->segment.kind == PB_SEGMENT_OUTER)
		return true;
	if (end <= *clean)
		return false;
	*clean = end;
	return true;
}

/** Searches a slice of the pool for the segment's backing, or for its page table. */
static void find_memory(struct pb_firmware *firmware, uint32_t channel)
{
	struct pb_core_create *create = &firmware->channels[channel].memory.create;
	const uint32_t bytes = pool_bytes(&create->segment);
	enum pb_core_search search;
	bool dirty;

	if (bytes == 0) {
		publish(firmware, channel);
		return;
	}
	search = search_some(firmware, channel, bytes);
	if (search == PB_CORE_SEARCH_NONE)
		finish(firmware, channel, PB_ERROR_NO_SPACE);
	if (search != PB_CORE_SEARCH_FOUND)
		return;
	pb_core_pool_claim(&firmware->pool, create->slot, create->at, bytes);
	dirty = was_used(firmware, create, create->at + bytes);
	if (create->segment.kind == PB_SEGMENT_APERTURE) {
		create->segment.table_offset = create->at;
		create->step = PB_CORE_CREATE_CLEAR;
	} else {
		create->segment.memory_offset = create->at;
		create->step = PB_CORE_CREATE_SCRUB;
	}
	create->at = 0;
	if (create->step == PB_CORE_CREATE_SCRUB && !dirty)
		publish(firmware, channel);
}

/** The piece of a segment that is gone is clear: it is free, and so are the slot and the quota. */
static void end_wipe(struct pb_firmware *firmware, uint32_t channel)
{
	struct pb_core_create *create = &firmware->channels[channel].memory.create;

	free_slot(firmware, create->slot, &create->segment);
	create->step = PB_CORE_CREATE_NONE;
	if (create->reply)
		pb_core_reply_deferred(firmware, channel, PB_COMMAND_SEGMENT_DESTROY, create->tag,
				       PB_ERROR_OK, NULL);
}

void pb_core_segment_step(struct pb_firmware *firmware, uint32_t channel)
{
	struct pb_core_create *create = &firmware->channels[channel].memory.create;

	if (create->step == PB_CORE_CREATE_CHECK) {
		compare(firmware, channel);
	} else if (create->step <= PB_CORE_CREATE_HOME) {
		find_memory(firmware, channel);
	} else if (create->step == PB_CORE_CREATE_SCRUB) {
		if (wipe_some(firmware, create))
			publish(firmware, channel);
	} else if (create->step == PB_CORE_CREATE_WIPE) {
		if (!wipe_some(firmware, create))
			return;
		pb_core_unmark_deferred(&firmware->marks, channel);
		end_wipe(firmware, channel);
	} else {
		create->at = pb_core_aperture_clear(firmware, &create->segment, create->at);
		if (create->at == create->segment.size / PB_PAGE_BYTES)
			publish(firmware, channel);
	}
}

void pb_core_segment_cancel(struct pb_firmware *firmware, uint32_t channel)
{
	struct pb_core_create *create = &firmware->channels[channel].memory.create;

	create->reply = false;
	if (create->step != PB_CORE_CREATE_NONE && create->slot != 0) {
		create->step = PB_CORE_CREATE_WIPE;
		create->at = 0;
	} else {
		create->step = PB_CORE_CREATE_NONE;
	}
}

/** Takes a segment away from hosts and engines. What it has of the pool is to be cleared. Pre: nothing uses it. */
static void remove_segment(struct pb_firmware *firmware, uint32_t channel, uint32_t id)
{
	struct pb_core_channel_memory *memory = &firmware->channels[channel].memory;
	const uint8_t slot = memory->segment_of[id];
	struct pb_core_segment *segment = &firmware->segments.at[slot];

	if (engine_bytes(segment) != 0)
		set_range(firmware, channel, id, &(struct pb_engine_range){.bytes = 0});
	memory->create.segment = *segment;
	memory->create.step = PB_CORE_CREATE_WIPE;
	memory->create.slot = slot;
	memory->create.at = 0;
	memory->create.reply = false;
	memset(segment, 0, sizeof(*segment));
	memory->segment_of[id] = 0;
}

PB_CORE_COLD bool pb_core_segment_revoke(struct pb_firmware *firmware, uint32_t channel)
{
	const struct pb_core_channel_memory *memory = &firmware->channels[channel].memory;
	bool system = false;

	for (uint32_t id = 0; id < PB_LIMIT_SEGMENTS; id++) {
		struct pb_core_segment *segment = pb_core_segment_of(&firmware->segments, memory, id);

		if (segment->kind != PB_SEGMENT_HOST || segment->memory_bytes == 0 ||
		    pb_core_host_holds(&firmware->host, channel, segment->memory_offset,
				       segment->memory_bytes))
			continue;
		set_range(firmware, channel, id, &(struct pb_engine_range){.bytes = 0});
		segment->memory_bytes = 0;
		system = system || id == PB_SEGMENT_SYSTEM;
	}
	return system;
}

bool pb_core_segment_free_next(struct pb_firmware *firmware, uint32_t channel, uint16_t *id)
{
	struct pb_core_channel_memory *memory = &firmware->channels[channel].memory;

	if (memory->create.step == PB_CORE_CREATE_WIPE) {
		if (wipe_some(firmware, &memory->create))
			end_wipe(firmware, channel);
		return true;
	}
	while (*id < PB_LIMIT_SEGMENTS && memory->segment_of[*id] == 0)
		(*id)++;
	if (*id == PB_LIMIT_SEGMENTS)
		return false;
	remove_segment(firmware, channel, *id);
	return true;
}

enum pb_error pb_core_segment_destroy(struct pb_firmware *firmware, uint32_t channel, uint32_t tag,
				      uint32_t segment)
{
	struct pb_core_channel *owner = &firmware->channels[channel];

	if (pb_core_segment_is_creating_id(&owner->memory, segment))
		return PB_ERROR_BUSY;
	if (segment >= PB_LIMIT_SEGMENTS || owner->memory.segment_of[segment] == 0)
		return PB_ERROR_BAD_ARGUMENT;
	/* Segment 0 holds the pages and rings of the channel's queues. */
	if (owner->usage.in_flight != 0 ||
	    (segment == PB_SEGMENT_SYSTEM && owner->quota.used[PB_RESOURCE_QUEUES] != 0))
		return PB_ERROR_BUSY;
	remove_segment(firmware, channel, segment);
	owner->memory.create.reply = true;
	owner->memory.create.tag = tag;
	pb_core_mark_deferred(&firmware->marks, channel);
	return PB_ERROR_OK;
}

PB_CORE_STEP uint32_t pb_core_segment_memory(const struct pb_core_segment *segment, uint64_t os_address,
					     uint64_t bytes)
{
	uint64_t offset = os_address - segment->os_base; /* wraps to a large one below the base */

	if (offset > segment->memory_bytes || bytes > segment->memory_bytes - offset)
		return 0;
	return segment->memory_offset + (uint32_t)offset;
}
