/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A small video memory manager. Allocations lie in a segment, or are paged out
 * to their backing store in system memory. Before each submission the manager
 * makes resident what the submission needs, evicts the allocations used least
 * recently, and splits the DMA buffer if not all of its allocations fit at
 * once. docs/residency.md has the rules.
 *
 * The caller owns all memory and arrays. The manager uses no heap, no operating
 * system and no lock: one thread at a time uses a manager and its queues, for
 * example under a mutex. Calls wait for fences where they must. After an error of the card, of the library or of a paging buffer the
 * manager's records of its allocations are invalid: do not use it any more.
 */
#ifndef PB_HOST_RESIDENCY_H
#define PB_HOST_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/compact.h"
#include "patchbay/paging.h"
#include "patchbay/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Queues that one manager can submit to. */
#define PB_RESIDENCY_QUEUES 4u
/** Segments that an allocation can name, as in DXGK_SEGMENTPREFERENCE. */
#define PB_RESIDENCY_PREFERRED 5u
/** Segments that one manager can use: ids 1 to this. */
#define PB_RESIDENCY_SEGMENTS 31u
/** Largest allocation, in bytes: 16 TiB less one page. */
#define PB_RESIDENCY_BYTES_MAX ((uint64_t)UINT32_MAX * PB_PAGE_BYTES)

/**
 * How the allocations of a segment are paged where an allocation's contents do not lie in the segment, but with the
 * engine, and only addresses matter. Each function appends its packets to the paging buffer, and moves it behind them.
 * It returns PB_RENDER_SUCCESS; or PB_RENDER_INSUFFICIENT_DMA_BUFFER, and nothing was written: it is called again with
 * more room, which is the whole paging buffer at last.
 */
struct pb_residency_bindings {
	void *context; /**< passed to the functions */
	/** The allocation stands at an address from now on. */
	enum pb_render_status (*bind)(void *context, uint32_t handle, uint64_t gpu_address,
				      struct pb_paging_buffer *buffer);
	/** The allocation loses its address, and keeps its contents. */
	enum pb_render_status (*unbind)(void *context, uint32_t handle, struct pb_paging_buffer *buffer);
	/** The allocation and its contents are gone. Called once, for an allocation that was bound at least once. */
	enum pb_render_status (*forget)(void *context, uint32_t handle, struct pb_paging_buffer *buffer);
};

/** A segment, or the part of one that the manager owns. No other code may place memory there. */
struct pb_residency_segment {
	uint32_t id;       /**< 1 to PB_RESIDENCY_SEGMENTS, each id once */
	uint32_t kind;     /**< enum pb_segment_kind */
	uint64_t os_base;  /**< first address as lists name it, multiple of 4 KiB */
	uint64_t gpu_base; /**< first address as the engine sees it, multiple of 4 KiB */
	uint64_t bytes;    /**< size of memory, or of an aperture's address space; multiple of 4 KiB */
	/** NULL: contents are transferred or mapped; else how allocations are paged. Not for an aperture. */
	const struct pb_residency_bindings *bindings;
};

/** Parameters of pb_residency_add(). */
struct pb_residency_request {
	uint64_t bytes; /**< size: multiple of 4, 4 to PB_RESIDENCY_BYTES_MAX */
	/** Of the GPU address: a power of two, 4 or more; in an aperture at least 4 KiB is used. */
	uint64_t alignment;
	/**
	 * GPU address of the backing store: `bytes` of system memory (for an aperture whole pages), multiple of 4
	 * (of 4 KiB if an aperture is named). Its contents at pb_residency_add() are the allocation's contents. Unused if
	 * the segments have bindings.
	 */
	uint64_t backing;
	/** Ids of segments, the preferred one first; 0 ends the list. If one has bindings, all have the same. */
	uint32_t segments[PB_RESIDENCY_PREFERRED];
};

/** A range of a segment, in a tree of such ranges (host/residency_tree.h). Only the manager reads and writes it. */
struct pb_residency_node {
	uint64_t offset;                    /**< first byte, from the segment's start */
	uint64_t end;                       /**< byte behind the last one */
	uint64_t gap;                       /**< free bytes in front of it, in bytes */
	uint64_t largest;                   /**< largest gap in its subtree, in bytes */
	struct pb_residency_node *parent;   /**< NULL: the root */
	struct pb_residency_node *child[2]; /**< of lower, of higher offsets; NULL: none */
	uint32_t weight;                    /**< not above its parent's */
};

/** Record of one allocation. Only the manager writes it. */
struct pb_residency_allocation {
	struct pb_residency_request
		request; /**< parameters of its creation; `bytes` is 0: the record is free */
	const struct pb_residency_segment *segment; /**< segment that holds it; NULL: paged out */
	uint64_t offset;                            /**< bytes from the segment's start */
	uint64_t used;                              /**< the manager's clock at the last use */
	struct pb_residency_node placed;            /**< its range, among all of its segment */
	struct pb_residency_node held;              /**< its range, among those that this part holds */
	struct pb_residency_allocation *older;      /**< last used before it, in its segment; NULL: none */
	/** First used behind it, in its segment; of a free record: the next free one. NULL: none. */
	struct pb_residency_allocation *newer;
	/** Timeline value of the last submission that uses it, by queue. */
	uint64_t busy[PB_RESIDENCY_QUEUES];
	bool changed; /**< written since it was paged in: the backing store is outdated */
	bool bound;   /**< was bound at least once (struct pb_residency_bindings) */
};

/** What a manager works with. */
struct pb_residency_setup {
	const struct pb_residency_segment *segments; /**< the caller's array */
	uint32_t segment_count;                      /**< elements of `segments` */
	struct pb_residency_allocation *allocations; /**< the caller's array; handle - 1 is the index */
	uint32_t allocation_count;                   /**< elements of `allocations` */
	/** Queues of one channel, for DMA buffers; NULL: none. */
	struct pb_queue *queues[PB_RESIDENCY_QUEUES];
	/** A queue of its own: only the manager submits to it, only paging buffers. */
	struct pb_queue *paging;
	/** Paging buffer: in segment 0, 4 KiB aligned, PB_PAGING_BYTES_MIN bytes or more. */
	struct pb_memory buffer;
	uint64_t timeout_us; /**< for each wait, in microseconds */
};

/** Counters of a manager. */
struct pb_residency_figures {
	uint32_t page_ins;           /**< allocations made resident */
	uint32_t evictions;          /**< allocations paged out */
	uint64_t bytes_in;           /**< bytes transferred to segments */
	uint64_t bytes_out;          /**< bytes transferred to backing stores */
	uint32_t paging_submissions; /**< paging buffers submitted */
	uint32_t splits;             /**< cuts of DMA buffers: a buffer in n parts counts n - 1 */
	uint32_t waits;              /**< waits for submissions in flight, or for room in a ring */
};

/** What lies in one segment. Only the manager reads and writes it. */
struct pb_residency_room {
	struct pb_residency_node *placed;       /**< tree of all ranges in use; NULL: empty */
	struct pb_residency_node *held;         /**< tree of the ranges that this part holds; NULL: empty */
	struct pb_residency_allocation *oldest; /**< used least recently; NULL: none */
	struct pb_residency_allocation *newest; /**< used most recently; NULL: none */
};

/** A manager. The caller owns the memory and keeps it in place; only the manager writes it. */
struct pb_residency {
	struct pb_residency_setup setup;                       /**< a copy of the caller's */
	struct pb_paging_buffer room;                          /**< unused rest of the paging buffer */
	struct pb_residency_room rooms[PB_RESIDENCY_SEGMENTS]; /**< by id - 1 */
	struct pb_residency_allocation *free;                  /**< the first free record; NULL: none */
	uint64_t clock;                                        /**< advances at each use of an allocation */
	uint64_t held;         /**< the clock at the start of this part: later uses must stay resident */
	uint32_t paging_fence; /**< fence id of the next paging buffer */
	struct pb_residency_figures figures; /**< counted since pb_residency_start() */
};

/** What the patches in a DMA buffer presume of one entry of its allocation list. Only the manager reads and writes it. */
struct pb_residency_presumption {
	struct pb_presumed words; /**< words with which its patches were carried out, or are to be */
	uint32_t id;              /**< handle with which they were */
	uint32_t state;           /**< whether they were; 0: not known */
};

/**
 * What the patches in one DMA buffer presume. With such a record, a buffer that is submitted again is patched only where
 * an allocation has moved. pb_residency_patched_start() begins it, and again each time that anyone but the manager and
 * the firmware has changed the buffer or its lists, or that the manager was started again. Only the manager writes it.
 */
struct pb_residency_patched {
	struct pb_residency_presumption
		*entries; /**< the caller's array: one for each entry of the allocation list */
	uint32_t room;    /**< elements of `entries` */
	bool rendered;    /**< pb_render() has written the buffer; it was not submitted since */
	bool usable;      /**< each patch location uses its allocation, so that it may be skipped */
	bool complete;    /**< all parts of the last submission were submitted */
	struct pb_descriptor
		last;     /**< the last submission: range, lists, and timeline value of its last part */
	uint32_t epoch;   /**< of the channel then */
	uint32_t queue;   /**< handle of the queue then */
	uint32_t number;  /**< index of the queue in setup.queues */
	uint32_t returns; /**< pb_queue.returns then */
	uint32_t errors;  /**< pb_fence.errors then */
	struct pb_group_cursor *cursors; /**< the caller's array: one for each of `entries`; NULL: none */
	uint32_t *grouped;               /**< memory for the patch list in groups; NULL: none */
	uint64_t grouped_address;        /**< of it, as the OS names it */
	uint32_t grouped_room;           /**< words that it has room for */
	uint32_t grouped_words;          /**< of the list that is there; 0: none */
	bool grouped_tried;              /**< whether there is one has been decided for this patch list */
};

/** One rendered DMA buffer, for pb_residency_submit(). */
struct pb_residency_submission {
	/**
	 * Describes the whole buffer, filled in by pb_render_describe() and the caller. Each part adds 1 to fence_id.
	 */
	struct pb_descriptor descriptor;
	struct pb_allocation *allocations; /**< its allocation list as the host sees it; ids are handles */
	const struct pb_patch_location *locations; /**< its patch-location list */
	/**
	 * NULL: all of the buffer is patched. Else what its patches presume: the allocation list has room for a struct
	 * pb_presumed for each of its entries right behind it, and no two locations of different allocations write one bit.
	 */
	struct pb_residency_patched *patched;
	uint32_t parts;  /**< out: submissions made */
	uint32_t failed; /**< out: index of the patch location that caused the error, or PB_INDEX_NONE */
};

/**
 * Starts a manager without allocations.
 * @param manager out
 * @param setup copied; the arrays, queues and memory that it names stay in use
 * @retval PB_ERROR_BAD_ARGUMENT a segment or the paging buffer breaks a rule above
 */
enum pb_error pb_residency_start(struct pb_residency *manager, const struct pb_residency_setup *setup);

/**
 * Creates an allocation, paged out. Never blocks.
 * @param request copied
 * @param handle out: not 0
 * @retval PB_ERROR_BAD_ARGUMENT a field breaks a rule above, or a segment does not exist
 * @retval PB_ERROR_NO_SPACE all elements of the array are in use, or the allocation is larger than each of its segments
 */
enum pb_error pb_residency_add(struct pb_residency *manager, const struct pb_residency_request *request,
			       uint32_t *handle);

/**
 * Waits until no submission uses an allocation, and removes it. Its contents are lost. Blocks. The packets of an
 * allocation with bindings go to the engine with the next paging buffer.
 * @retval PB_ERROR_BAD_HANDLE the allocation does not exist
 */
enum pb_error pb_residency_remove(struct pb_residency *manager, uint32_t handle);

/**
 * Finds an allocation: usable as `find` of struct pb_render_device. Never blocks.
 * @param manager the struct pb_residency
 * @param allocation out: size, addresses and segment as they are now
 * @return false: the allocation does not exist
 */
bool pb_residency_find(void *manager, uint32_t handle, struct pb_render_allocation *allocation);

/**
 * Waits until no submission uses an allocation, and pages it out. The host may read and write the backing store until
 * the next submission that needs the allocation. Blocks.
 * @param keep false: the contents are dropped instead of transferred
 * @retval PB_ERROR_BAD_HANDLE the allocation does not exist
 */
enum pb_error pb_residency_page_out(struct pb_residency *manager, uint32_t handle, bool keep);

/**
 * Begins a record of what the patches in a buffer presume: nothing. Never blocks.
 * @param patched out
 * @param entries array in private memory, which stays in use
 * @param room elements of `entries`
 */
void pb_residency_patched_start(struct pb_residency_patched *patched,
				struct pb_residency_presumption *entries, uint32_t room);
/**
 * Gives a record memory for the patch list in groups. A buffer that is submitted in one part, and of which something is
 * presumed, is then submitted with the encoding GROUPED if that costs the firmware less, and if the card has that encoding:
 * the index of a bad entry in its fence record counts words of that list. Never blocks.
 * @param patched a record that was started
 * @param cursors array in private memory, which stays in use: one for each of the record's entries
 * @param words as the host sees it, in backed memory of segment 0; PB_GROUPED_WORDS_MAX() of its patch locations are enough.
 *   It is in use as the buffer's lists are
 * @param address of it as the OS names it
 * @param room in words
 */
void pb_residency_patched_group(struct pb_residency_patched *patched, struct pb_group_cursor *cursors,
				uint32_t *words, uint64_t address, uint32_t room);
/**
 * Notes the addresses that pb_render() has written into a buffer: where these are right when the buffer is submitted, it
 * is not patched. Never blocks.
 * @param submission as for pb_residency_submit(), with a record that was started. Its buffer and its allocation list are as
 *   one call of pb_render() has left them, whose device found allocations by pb_residency_find() of the manager that is to
 *   submit the buffer
 * @retval PB_ERROR_BAD_ARGUMENT the record has no room for all allocations
 */
enum pb_error pb_residency_patched_rendered(const struct pb_residency_submission *submission);

/**
 * Makes resident what a DMA buffer needs, and submits the buffer, in parts if necessary. The buffer and its lists must
 * not be in use by an earlier submission; they stay in use until the queue reaches its timeline value after this call.
 * Blocks while memory has to be freed.
 * @param queue index in setup.queues
 * @param submission the buffer; `parts` and `failed` are results
 * @retval PB_ERROR_NO_SPACE one command needs more than fits: `failed` is the first location without room. The parts
 *   before that command were submitted.
 * @retval PB_ERROR_BAD_ARGUMENT the queue does not exist, the patch encoding is not WDDM, `patched` has no room for all
 *   allocations, or location `failed` has an invalid AllocationIndex or SplitOffset
 * @retval PB_ERROR_BAD_HANDLE the allocation list names an allocation that does not exist
 * @return else an error of pb_queue_submit() or pb_queue_wait(), or the status of a paging buffer
 */
enum pb_error pb_residency_submit(struct pb_residency *manager, uint32_t queue,
				  struct pb_residency_submission *submission);

#ifdef __cplusplus
}
#endif

#endif
