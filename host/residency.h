/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A small video memory manager: allocations live in a segment, or paged out in
 * their backing store in system memory. Before each submission it makes
 * resident what the submission needs, evicts what was used least recently, and
 * splits the DMA buffer where not all of it fits at once. docs/residency.md
 * has the rules.
 *
 * Memory and arrays are the caller's; no heap, no operating system, no lock:
 * one thread at a time. A call waits for fences where it must. After an error
 * of the card, the library or a paging buffer, what a manager says of its
 * allocations is void.
 */
#ifndef PB_HOST_RESIDENCY_H
#define PB_HOST_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "host/paging.h"
#include "host/patchbay.h"

/** Queues that one manager can submit work to. */
#define PB_RESIDENCY_QUEUES 4u
/** Segments that an allocation can name, as in DXGK_SEGMENTPREFERENCE. */
#define PB_RESIDENCY_PREFERRED 5u
/** Most that an allocation can have: 16 TiB less a page. */
#define PB_RESIDENCY_BYTES_MAX ((uint64_t)UINT32_MAX * PB_PAGE_BYTES)

/** A segment, or the part of it that is the manager's. Nobody else may use it. */
struct pb_residency_segment {
	uint32_t id;       /**< 1..31, each once */
	uint32_t kind;     /**< enum pb_segment_kind */
	uint64_t os_base;  /**< first address as lists name it, multiple of 4 KiB */
	uint64_t gpu_base; /**< first address as the engine sees it, multiple of 4 KiB */
	uint64_t bytes;    /**< of memory, or of an aperture's address space; multiple of 4 KiB */
};

/** What an allocation asks for. */
struct pb_residency_request {
	uint64_t bytes; /**< multiple of 4, not 0, PB_RESIDENCY_BYTES_MAX at most */
	uint64_t
		alignment; /**< of its GPU address: a power of two from 4 on. In an aperture 4 KiB at least */
	/**
	 * GPU address of its backing store: as much system memory, multiple of 4. For an aperture whole
	 * pages. What stands there when the allocation is made is its contents.
	 */
	uint64_t backing;
	uint32_t segments[PB_RESIDENCY_PREFERRED]; /**< ids, the most wanted one first; 0 ends the list */
};

/** One allocation. The manager's; all 0: free. */
struct pb_residency_allocation {
	struct pb_residency_request request;        /**< as it was made */
	const struct pb_residency_segment *segment; /**< NULL: paged out */
	uint64_t offset;                            /**< in its segment */
	uint64_t used;                              /**< the manager's clock when it was last needed */
	uint64_t busy[PB_RESIDENCY_QUEUES];         /**< timeline value of its last submission */
	bool changed; /**< the backing store has other contents: it was written to since paged in */
};

/** What a manager works with. */
struct pb_residency_setup {
	const struct pb_residency_segment *segments;  /**< the caller's */
	uint32_t segment_count;                       /**< of them */
	struct pb_residency_allocation *allocations;  /**< handle - 1 is an allocation's index */
	uint32_t allocation_count;                    /**< of them */
	struct pb_queue *queues[PB_RESIDENCY_QUEUES]; /**< for work, one channel's; NULL: none */
	struct pb_queue *paging; /**< for paging buffers and nothing else: a queue of its own */
	struct pb_memory buffer; /**< paging buffer: segment 0, 4 KiB aligned, PB_PAGING_BYTES_MIN or more */
	uint64_t timeout_us;     /**< for each wait */
};

/** What a manager has done. */
struct pb_residency_figures {
	uint32_t page_ins;           /**< allocations made resident */
	uint32_t evictions;          /**< allocations paged out */
	uint64_t bytes_in;           /**< transferred to segments */
	uint64_t bytes_out;          /**< transferred to backing stores */
	uint32_t paging_submissions; /**< paging buffers */
	uint32_t splits;             /**< DMA buffers cut in two, once more for each further cut */
	uint32_t waits;              /**< for work in flight, or for room in a ring */
};

/** A manager: the caller's, at a fixed address. */
struct pb_residency {
	struct pb_residency_setup setup;     /**< a copy of the caller's */
	struct pb_paging_buffer room;        /**< what is left of the paging buffer */
	uint64_t clock;                      /**< moves on with each allocation needed */
	uint64_t held;                       /**< the clock when this part began: what was used since stays */
	uint32_t paging_fence;               /**< fence id of the next paging buffer */
	struct pb_residency_figures figures; /**< since the start */
};

/** One rendered DMA buffer. */
struct pb_residency_work {
	/** Of all of it, as pb_render_describe and the caller have filled it in. Parts count fence_id on. */
	struct pb_descriptor descriptor;
	struct pb_allocation *allocations; /**< its allocation list as the host sees it; ids are handles */
	const struct pb_patch_location *locations; /**< its patch-location list */
	uint32_t parts;                            /**< out: submissions made */
	uint32_t failed; /**< out: the patch location that an error is about, or PB_INDEX_NONE */
};

/**
 * Starts with no allocations. The setup is copied; what it points to stays in use.
 * @retval PB_ERROR_BAD_ARGUMENT a segment or the paging buffer is against the rules above
 */
enum pb_error pb_residency_start(struct pb_residency *manager, const struct pb_residency_setup *setup);

/**
 * Makes an allocation, paged out.
 * @param handle not 0
 * @retval PB_ERROR_BAD_ARGUMENT a field is against the rules above, or no such segment
 * @retval PB_ERROR_NO_SPACE all elements of the array are in use, or it is larger than each of its segments
 */
enum pb_error pb_residency_add(struct pb_residency *manager, const struct pb_residency_request *request,
			       uint32_t *handle);

/**
 * Waits until no submission uses it, and forgets it. Its contents are lost.
 * @retval PB_ERROR_BAD_HANDLE no such allocation
 */
enum pb_error pb_residency_remove(struct pb_residency *manager, uint32_t handle);

/** Where an allocation is now: `find` of struct pb_render_device, whose context is the manager. */
bool pb_residency_find(void *manager, uint32_t handle, struct pb_render_allocation *allocation);

/**
 * Waits until no submission uses it, and pages it out: until the next
 * submission that needs it the host may read and write its backing store.
 * @param keep false: its contents matter no more; they are not transferred
 * @retval PB_ERROR_BAD_HANDLE no such allocation
 */
enum pb_error pb_residency_page_out(struct pb_residency *manager, uint32_t handle, bool keep);

/**
 * Makes resident what a DMA buffer needs and submits it, in parts if it must.
 * Its lists and its memory must not be in use by an earlier submission, and
 * stay until the queue's timeline, as it is after the call, is reached.
 *
 * @param queue index in setup.queues
 * @retval PB_ERROR_NO_SPACE one command needs more than fits: `failed` names the first location that does
 *         not. The parts before it were submitted.
 * @retval PB_ERROR_BAD_ARGUMENT no such queue, another patch encoding, or `failed` names a location whose
 *         AllocationIndex or SplitOffset cannot be
 * @retval PB_ERROR_BAD_HANDLE the allocation list names an allocation that is not there
 * @retval others of submitting, of waiting, or the status of a paging buffer
 */
enum pb_error pb_residency_submit(struct pb_residency *manager, uint32_t queue,
				  struct pb_residency_work *work);

#endif
