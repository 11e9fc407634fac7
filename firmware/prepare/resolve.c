/* SPDX-License-Identifier: MIT */
/*
 * Step 2: the allocation list, once a submission. Everything that depends on
 * the allocation alone is decided here, so that a patch costs one compare.
 *
 * Neighbours in a list mostly lie in the same segment. What is known of it
 * stands in a window; an allocation that is not an ordinary one of that window
 * goes, by value, to the slow path, which also opens the next window.
 */
#include "firmware/prepare/resolve.h"

#include <string.h>

/** Opens a window on the segment of an allocation, if all of it is ordinary. */
/*@
  requires \valid(window) && \valid_read(segment) && \separated(window, segment) && pb_core_is_sound(segment);
  requires flags != PB_CORE_WINDOW_CLOSED;
  assigns *window;
  ensures open: window->flags != PB_CORE_WINDOW_CLOSED ==> window->flags == flags && window->tag == tag &&
    pb_core_window_whole(window) && pb_core_window_low(window) == segment->gpu_base % 0x100000000 &&
    window->gpu_high == segment->gpu_base / 0x100000000 && window->bytes == segment->size;
  ensures closed: window->flags == PB_CORE_WINDOW_CLOSED ==> window->bytes == 0;
*/
static void open_window(struct pb_core_window *window, const struct pb_core_segment *segment, uint32_t flags,
			uint8_t tag)
{
	const uint32_t bytes = (uint32_t)segment->size;
	const uint32_t os_low = (uint32_t)segment->os_base;
	const uint32_t gpu_low = (uint32_t)segment->gpu_base;

	*window = (struct pb_core_window){
		.flags = flags,
		.os_high = (uint32_t)(segment->os_base >> 32),
		.os_end = os_low + bytes,
		.bytes = bytes,
		.gpu_delta = gpu_low - os_low,
		.gpu_high = (uint32_t)(segment->gpu_base >> 32),
		.writable = (flags & PB_ALLOCATION_WRITE) != 0 ? UINT32_MAX : 0,
		.tag = tag,
	};
	if (segment->size != bytes || os_low + (bytes - 1u) < os_low || gpu_low + (bytes - 1u) < gpu_low)
		*window = (struct pb_core_window){.flags = PB_CORE_WINDOW_CLOSED};
}

/** Fills a slot, and notes what the fast loops cannot do. */
/*@
  requires \valid(job) && i < PB_LIMIT_ALLOCATIONS && limit != 0;
  assigns job->slots[i], job->high, job->crossing;
  ensures job->slots[i].low + 0x100000000 * job->slots[i].high == gpu_address;
  ensures job->slots[i].limit[0] == limit;
  ensures job->slots[i].limit[1] == ((flags & PB_ALLOCATION_WRITE) != 0 ? limit : 0);
  ensures high: gpu_address > UINT32_MAX ==> job->high;
  ensures crossing: job->slots[i].low + limit > 0x100000000 ==> job->crossing;
*/
static void set_slot(struct pb_core_job *job, uint32_t i, uint64_t gpu_address, uint32_t limit,
		     uint32_t flags)
{
	const uint32_t low = (uint32_t)gpu_address;
	const uint32_t high = (uint32_t)(gpu_address >> 32);

	job->slots[i] = (struct pb_core_slot){
		.low = low,
		.high = high,
		.limit = {limit, (flags & PB_ALLOCATION_WRITE) != 0 ? limit : 0},
	};
	if (high != 0)
		job->high = true;
	if (low + (limit - 1u) < low)
		job->crossing = true;
}

/** The slow path: checks one by one, in the order of the error list. @param window opened for what follows; NULL: nothing does */
static PB_CORE_STEP enum pb_error resolve_slow(struct pb_firmware *firmware, struct pb_core_job *job,
					       uint32_t i, const struct pb_core_listed *listed,
					       struct pb_core_window *window)
{
	const uint64_t size = pb_core_wide(listed->size_low, listed->size_high);
	const uint64_t address = pb_core_wide(listed->address_low, listed->address_high);
	const uint32_t id = (listed->flags & PB_ALLOCATION_SEGMENT_MASK) >> PB_ALLOCATION_SEGMENT_SHIFT;
	const struct pb_core_segment *segment =
		pb_core_segment_of(&firmware->segments, &job->channel->memory, id);
	uint64_t offset;

	if ((listed->flags & PB_ALLOCATION_RESERVED) != 0)
		return PB_ERROR_BAD_ALLOCATION;
	if ((listed->flags & PB_ALLOCATION_UNBIND) != 0) {
		job->slots[i] = (struct pb_core_slot){0};
		job->tags[i] = 0; /* an earlier list may have kept the allocation with this index */
		return id == 0 ? PB_ERROR_OK : PB_ERROR_BAD_ALLOCATION;
	}
	if (id == 0)
		return PB_ERROR_NOT_RESIDENT;
	if (segment->size == 0)
		return PB_ERROR_ALLOCATION_SEGMENT;
	if (size == 0)
		return PB_ERROR_BAD_ALLOCATION;
	offset = address - segment->os_base; /* wraps to a large one below the base */
	if (offset > segment->size || size > segment->size - offset)
		return PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT;
	set_slot(job, i, segment->gpu_base + offset, listed->size_high != 0 ? UINT32_MAX : listed->size_low,
		 listed->flags);
	job->ids[i] = listed->id;
	job->tags[i] = PB_CORE_TAG(
		(uint32_t)segment->kind - PB_SEGMENT_APERTURE <= PB_SEGMENT_HOST - PB_SEGMENT_APERTURE,
		(listed->flags & PB_ALLOCATION_ATTRIBUTE_MASK) >> PB_ALLOCATION_ATTRIBUTE_SHIFT);
	if (window != NULL)
		open_window(window, segment, listed->flags, job->tags[i]);
	return PB_ERROR_OK;
}

/** Clears slots that an earlier, longer list has left behind. @return true: it is done */
static bool clear_left_over(struct pb_core_job *job, const uint32_t *pending)
{
	while (job->slots_used > job->allocation_count) {
		uint32_t slice = job->slots_used - job->allocation_count;

		if (slice > PB_SLICE_SLOTS)
			slice = PB_SLICE_SLOTS;
		while (slice-- != 0) {
			struct pb_core_slot *slot = &job->slots[--job->slots_used];

			slot->limit[0] = 0;
			slot->limit[1] = 0;
			job->tags[job->slots_used] = 0;
		}
		if (pb_lines_waiting(pending))
			return false;
	}
	return true;
}

/**
 * pb_core_run_resolve, and the tags, of which a window has one. A closed window has no ordinary allocation: the first one
 * is read at once. Pre: there is one.
 */
static bool run_window(struct pb_core_job *job, const struct pb_core_window *window, uint32_t end,
		       const uint32_t *pending, struct pb_core_listed *irregular)
{
	const uint32_t first = job->resolved;
	bool is_irregular;

	if (window->flags == PB_CORE_WINDOW_CLOSED) {
		(void)pb_core_read_listed(&job->allocations[first].address_low, irregular);
		return true;
	}
	is_irregular = pb_core_run_resolve(job, window, end, pending, irregular);
	memset(&job->tags[first], window->tag, job->resolved - first);
	return is_irregular;
}

/** @return what is wrong with the allocation at job->resolved */
static enum pb_error resolve_slices(struct pb_firmware *firmware, struct pb_core_job *job,
				    const uint32_t *pending)
{
	const uint32_t pass = job->resolved + PB_PASS_SLICES * PB_SLICE_ALLOCATIONS;
	const uint32_t end = pass < job->allocation_count ? pass : job->allocation_count;
	struct pb_core_window window; /* nothing of a closed one is read */
	struct pb_core_listed irregular;

	window.flags = PB_CORE_WINDOW_CLOSED;
	while (job->resolved != end) {
		uint32_t stop = end;
		enum pb_error error;

		if (job->presumed != NULL) {
			if (!pb_core_run_kept(job, end, pending))
				break;
			stop = job->resolved + 1u;
		}
		if (run_window(job, &window, stop, pending, &irregular)) {
			error = resolve_slow(firmware, job, job->resolved, &irregular,
					     end - job->resolved == 1u ? NULL : &window);
			if (error != PB_ERROR_OK)
				return error;
			job->resolved++;
		}
		if (pb_lines_waiting(pending))
			break;
	}
	return PB_ERROR_OK;
}

/** Moves the job on: its whole list is resolved. */
static void finish(struct pb_firmware *firmware, struct pb_core_job *job)
{
	if (firmware->patched.end != 0)
		pb_core_compare_forget(&firmware->patched, job);
	job->state = PB_CORE_JOB_PATCH;
}

enum pb_error pb_core_resolve(struct pb_firmware *firmware, struct pb_core_job *job)
{
	const uint32_t *pending = firmware->lines->pending;
	enum pb_error error;

	if (job->resolved == 0 && !clear_left_over(job, pending))
		return PB_ERROR_OK;
	error = resolve_slices(firmware, job, pending);
	if (job->slots_used < job->resolved)
		job->slots_used = job->resolved;
	if (error == PB_ERROR_OK && job->resolved == job->allocation_count)
		finish(firmware, job);
	return error;
}
