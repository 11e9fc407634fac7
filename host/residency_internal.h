/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the four parts of the manager share: room in segments (host/residency_room.c), allocations and paging
 * (host/residency.c), what patches presume (host/residency_presume.c), submission (host/residency_submit.c). Each part
 * calls only those named before it.
 */
#ifndef PB_HOST_RESIDENCY_INTERNAL_H
#define PB_HOST_RESIDENCY_INTERNAL_H

#include "patchbay/residency.h"

/* host/residency_room.c: no function blocks. n: allocations in the segment. */

static inline bool pb_residency_is_aperture(const struct pb_residency_segment *segment)
{
	return segment->kind == PB_SEGMENT_APERTURE;
}

/** Returns the bytes that an allocation occupies in a segment: whole pages in an aperture. */
static inline uint64_t pb_residency_extent(const struct pb_residency_segment *segment,
					   const struct pb_residency_request *request)
{
	const uint64_t page = pb_residency_is_aperture(segment) ? PB_PAGE_BYTES : 1;

	return (request->bytes + page - 1) & ~(page - 1);
}

/** Returns whether an allocation must stay resident, because this part has used it. */
static inline bool pb_residency_is_held(const struct pb_residency *manager,
					const struct pb_residency_allocation *allocation)
{
	return allocation->used > manager->held;
}

/**
 * Finds the first range with room for an allocation. O(log n), and as much again for each gap that is large enough but
 * not at the alignment.
 * @param held_only treat allocations that may be evicted as free room
 * @return false: there is no such range
 */
bool pb_residency_room_find(const struct pb_residency *manager, const struct pb_residency_segment *segment,
			    const struct pb_residency_request *request, bool held_only, uint64_t *offset);
/** Places an allocation at allocation->offset, as the one used most recently. O(log n). Pre: the range is free. */
void pb_residency_room_place(struct pb_residency *manager, struct pb_residency_allocation *allocation,
			     const struct pb_residency_segment *segment);
/** Removes an allocation from its segment. O(log n). Pre: it is resident. */
void pb_residency_room_remove(struct pb_residency *manager, struct pb_residency_allocation *allocation);
/** Records a use of an allocation, and holds it until pb_residency_release(). O(log n). Pre: it is resident. */
void pb_residency_room_hold(struct pb_residency *manager, struct pb_residency_allocation *allocation);
/** Returns the allocation in a segment that was used least recently; NULL: the segment is empty. */
struct pb_residency_allocation *pb_residency_room_oldest(const struct pb_residency *manager,
							 const struct pb_residency_segment *segment);
/** Begins a new part: no allocation is held any more. */
void pb_residency_release(struct pb_residency *manager);

/* host/residency.c */

/** Returns the allocation of a handle; NULL: there is none. */
struct pb_residency_allocation *pb_residency_at(const struct pb_residency *manager, uint32_t handle);
/**
 * Makes an allocation resident and holds it there until pb_residency_release(). Transfers may still stand in the paging
 * buffer. Blocks while memory has to be freed.
 * @retval PB_ERROR_NO_SPACE the allocations held leave no room
 */
enum pb_error pb_residency_hold(struct pb_residency *manager, struct pb_residency_allocation *allocation);
/** Evicts all allocations, for a command that needs contiguous room. Blocks. */
enum pb_error pb_residency_empty(struct pb_residency *manager);
/** Submits the paging buffer, if it holds packets, and waits for its fence. Returns its status. */
enum pb_error pb_residency_flush(struct pb_residency *manager);
/** Waits until a queue's timeline has reached a value. @param queue index in setup.queues */
enum pb_error pb_residency_await(struct pb_residency *manager, uint32_t queue, uint64_t timeline);

/* host/residency_presume.c. Pre: submission->patched is not NULL, and has room for the allocation list. */

/**
 * Finds out what of the buffer's patches was carried out before, and begins a submission. May wait some microseconds for
 * a fence record.
 * @param number index in setup.queues of the queue to submit to
 */
void pb_residency_presume_begin(const struct pb_residency *manager, uint32_t number,
				const struct pb_residency_submission *submission);
/**
 * Writes what the patches presume of an entry of the next part's allocation list, and notes what that part patches.
 * @param i index in the allocation list
 * @param words of the entry as the part lists it: unbound if the part names no such allocation
 * @param id handle of the allocation
 * @return true: nothing is patched through the entry
 */
bool pb_residency_presume(const struct pb_residency_submission *submission, uint32_t i,
			  const struct pb_presumed *words, uint32_t id);
/**
 * Names the patch list in groups in a descriptor, if that costs the firmware less than the list that it names.
 * @param number index in setup.queues
 * @param descriptor of all of the buffer, of which something is presumed
 */
void pb_residency_presume_group(const struct pb_residency *manager, uint32_t number,
				const struct pb_residency_submission *submission,
				struct pb_descriptor *descriptor);
/** Ends a submission. @param timeline value of its last part @param good all parts were submitted */
void pb_residency_presume_end(const struct pb_residency_submission *submission, uint64_t timeline, bool good);

#endif
