/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What admit.c, the descriptor, and admit_lists.c, its lists, share.
 */
#ifndef PB_FIRMWARE_ADMIT_H
#define PB_FIRMWARE_ADMIT_H

#include "firmware/core.h"

/*@
  // What admission stands on: each of the channel's segments is one of the firmware's, or none; its backing is in card memory.
  predicate pb_core_has_segments(struct pb_firmware *firmware, struct pb_core_channel *channel) =
    (\forall integer id; 0 <= id < PB_LIMIT_SEGMENTS ==> channel->segment_of[id] < PB_CORE_PLACES) &&
    (\forall integer place; 0 <= place < PB_CORE_PLACES ==> pb_core_is_segment(firmware->segments + place) &&
      firmware->segments[place].memory_offset + firmware->segments[place].memory_bytes <= UINT32_MAX);
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

/**
 * Checks the lists of a submission that has any. If there is something to patch, the node takes a job for it, of which
 * one is free; else its next work is prepared.
 * @param lists all but the size of the patch list, and where the allocation list is: that is filled in
 */
enum pb_error pb_core_admit_lists(struct pb_firmware *firmware, struct pb_core_node *node,
				  const struct pb_core_channel *channel,
				  const struct pb_descriptor *descriptor, const struct pb_core_range *range,
				  struct pb_core_lists *lists);

#endif
