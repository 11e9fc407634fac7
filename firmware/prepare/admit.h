/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Admission of a queue's next descriptor: prepare/admit.c checks the
 * descriptor, prepare/lists.c its lists. This module has no state; main loop
 * only.
 */
#ifndef PB_FIRMWARE_PREPARE_ADMIT_H
#define PB_FIRMWARE_PREPARE_ADMIT_H

#include "firmware/instance.h"

/*@
  // What admission stands on: each of the channel's segments is one of the firmware's, or none; its backing is in card memory.
  predicate pb_core_has_segments(struct pb_firmware *firmware, struct pb_core_channel *channel) =
    (\forall integer id; 0 <= id < PB_LIMIT_SEGMENTS ==> channel->memory.segment_of[id] < PB_CORE_SEGMENT_SLOTS) &&
    (\forall integer slot; 0 <= slot < PB_CORE_SEGMENT_SLOTS ==> pb_core_is_segment(firmware->segments.at + slot) &&
      firmware->segments.at[slot].memory_offset + firmware->segments.at[slot].memory_bytes <= UINT32_MAX);
*/

/** Where the DMA buffer of a submission is, and what range of it is submitted. */
struct pb_core_range {
	uint32_t start;
	uint32_t end;
	uint32_t size;                         /**< of the whole buffer */
	const struct pb_core_segment *segment; /**< where it is; NULL: nowhere, as the range is empty */
	uint32_t offset;                       /**< of the buffer's byte 0 in it */
	bool paged;                            /**< it lies page by page, as the segment is an aperture */
};

/** The patch list of a submission, and the allocation list that goes with it. */
struct pb_core_lists {
	const struct pb_allocation *allocations; /**< shared */
	uint32_t allocation_count;
	uint32_t count; /**< of the patch list, as are start and length */
	uint32_t start;
	uint32_t length;
};

/** What has become of a descriptor. */
enum pb_core_admitted {
	PB_CORE_ADMITTED_NOT = 0,     /**< it needs a job, and none is free; the node is marked when one is */
	PB_CORE_ADMITTED_STAGED = 1,  /**< the node has staged it, or its queue waits for another queue */
	PB_CORE_ADMITTED_AT_ONCE = 2, /**< it is ready, has no patches and has not begun; nothing is staged */
};

/**
 * Admits the queue's next descriptor, each word of it read once. One that is ready AT_ONCE is in the slot of the node's
 * next submission: the caller feeds it, or stages it by pb_core_staged_ready_at_once(). Each submission comes by here.
 */
enum pb_core_admitted pb_core_admit(struct pb_firmware *firmware, struct pb_core_node *node,
				    struct pb_core_queue *queue);
/**
 * Checks the lists of a submission that has any. If there is something to patch, a job is filled, of which one is free.
 * @param lists all but the size of the patch list, and where the allocation list is: those are filled in
 * @param job set to the job, which is not claimed yet, if one was filled; NULL: the submission is patched, as it was recalled
 */
enum pb_error pb_core_admit_lists(struct pb_firmware *firmware, const struct pb_core_channel *channel,
				  const struct pb_descriptor *descriptor, const struct pb_core_range *range,
				  struct pb_core_lists *lists, struct pb_core_job **job);

#endif
