/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A job: all that it takes to prepare one submission that has patches. It is
 * handed from step to step (prepare/lists.c fills it, prepare/resolve.c and
 * compare.c advance it, patch/ carries it out), and each step writes what the
 * next ones need. There are fewer jobs than nodes: a submission that is ready
 * needs none.
 */
#ifndef PB_FIRMWARE_PATCH_JOB_H
#define PB_FIRMWARE_PATCH_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/limits.h"
#include "patchbay/abi/format.h"
#include "patchbay/abi/patch.h"

struct pb_core_channel;
struct pb_core_segment;
struct pb_core_submission;

/**
 * One allocation, resolved: what a patch needs of it. Slots at and beyond the
 * size of the list have limit 0, so that the fast loops need no index check.
 */
struct pb_core_slot {
	uint32_t low;  /**< GPU address, low word */
	uint32_t high; /**< GPU address, high word */
	uint32_t limit
		[2]; /**< AllocationOffset must be below; [0] for reads, [1] for formats that claim a write */
};

/** The bits of an allocation that formats may choose a value by. */
#define PB_CORE_TAG(kind, attribute) ((uint8_t)((uint32_t)(kind) << 4 | (attribute)))
#define PB_CORE_TAG_KIND(tag)        ((uint32_t)(tag) >> 4 & 1u)
#define PB_CORE_TAG_ATTRIBUTE(tag)   ((tag)&3u)

/** Instead of the bits of an allocation that is kept, as it is presumed where it is listed: its slot has limit 0. No tag behind the list is this. */
#define PB_CORE_TAG_KEPT 0x80u

/** The step that a job is in. */
enum pb_core_job_state {
	PB_CORE_JOB_COMPARE = 1, /**< is the buffer patched like this already? Only with a cookie */
	PB_CORE_JOB_RESOLVE = 2, /**< its allocation list is resolved */
	PB_CORE_JOB_PATCH = 3,   /**< its patch list is carried out */
	PB_CORE_JOB_READY = 4,   /**< nothing is left to do: the node has the submission, the job is free */
};

/** What it takes to prepare a submission. */
struct pb_core_job {
	uint32_t state;                        /**< enum pb_core_job_state */
	struct pb_core_submission *submission; /**< in its node; set with each slice */
	const struct pb_core_channel *channel; /**< whose it is */
	uint8_t *target;    /**< shared; byte 0 of the submission; NULL: it lies page by page */
	uint32_t start;     /**< PatchOffset of that byte */
	uint32_t bytes;     /**< of the submission */
	uint32_t dma_bytes; /**< of the whole DMA buffer */

	const struct pb_allocation *allocations; /**< shared */
	/** Where the buffer lies page by page; NULL: it is contiguous. */
	const struct pb_core_segment *aperture;
	uint32_t aperture_offset;  /**< of the buffer's byte 0 in the aperture */
	uint32_t allocation_count; /**< of the allocation list */
	uint32_t resolved;         /**< allocations resolved */
	uint32_t slots_used;       /**< slots from here on have limit 0 */
	bool high;                 /**< some address does not fit 32 bits */
	bool crossing;             /**< some allocation reaches over a multiple of 4 GiB */

	const uint32_t *list; /**< shared; the next word of the patch list */
	uint32_t list_words;  /**< of it that are left */
	uint32_t list_index;  /**< list index of the next entry, or word of a compact list */
	bool compact;         /**< the list is in the compact encoding, in groups or not */
	bool grouped;         /**< the list is in the grouped encoding */
	uint32_t format_id;   /**< of the last entry */
	uint32_t cookie;      /**< the host's name for the buffer's contents, or 0 */
	uint32_t compared;    /**< allocations that the digest holds */
	uint64_t digest;      /**< of all that the patched bytes depend on, with a cookie */

	const struct pb_presumed *presumed; /**< shared; by allocation index; NULL: nothing is presumed */
	uint32_t group;                     /**< words left of the group at hand, of a grouped list */

	struct pb_core_slot slots[PB_LIMIT_ALLOCATIONS]; /**< by allocation index */
	uint32_t ids[PB_LIMIT_ALLOCATIONS];              /**< by allocation index: what ID formats write */
	uint8_t tags[PB_LIMIT_ALLOCATIONS];              /**< by allocation index: PB_CORE_TAG, or _KEPT */
};

#endif
