/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Declarations that the files of the WDDM shim share. Not a public header.
 */
#ifndef PB_HOST_WDDM_INTERNAL_H
#define PB_HOST_WDDM_INTERNAL_H

#include "host/internal.h"
#include "patchbay/render.h"
#include "patchbay/wddm/ddi_paging.h"
#include "patchbay/wddm/wddm.h"

/** Returns the bytes of one submission's lists: the allocation list, then the patch list. */
static inline uint32_t pb_wddm_list_bytes(const struct pb_wddm_adapter *adapter)
{
	return adapter->config.allocations * (uint32_t)sizeof(struct pb_allocation) +
	       adapter->config.patches * (uint32_t)sizeof(struct pb_patch_location);
}

/** Returns the submission of a number: position in the node's order, modulo 2^32. */
static inline struct pb_wddm_packet *pb_wddm_packet(struct pb_wddm_adapter *adapter,
						    struct pb_wddm_node *node, uint32_t position)
{
	return &node->packets[position & (adapter->config.queue_entries - 1)];
}

/** Takes the lock of the state that threads share. The holder does not wait. Without config.lock nothing is taken. */
static inline void pb_wddm_lock(const struct pb_wddm_adapter *adapter)
{
	pb_lock(adapter->config.lock);
}

/** Releases the adapter's lock. */
static inline void pb_wddm_unlock(const struct pb_wddm_adapter *adapter)
{
	pb_unlock(adapter->config.lock);
}

/** Writes a word that CollectDbgInfo reads without the lock. Pre: the caller holds the adapter's lock. */
static inline void pb_wddm_put(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/** Reads a word that pb_wddm_put() writes, with or without the lock. */
static inline uint32_t pb_wddm_get(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/** Ends the adapter: keeps the first error. Pre: the caller holds the adapter's lock. */
static inline void pb_wddm_end(struct pb_wddm_adapter *adapter, enum pb_error error)
{
	if (adapter->error == PB_ERROR_OK)
		pb_wddm_put(&adapter->error, error);
}

/** Returns whether the context or its adapter is lost. Takes the adapter's lock. */
bool pb_wddm_is_lost(const struct pb_wddm_context *context);
/** Marks a submission and its context as failed. Pre: the caller holds the adapter's lock. */
void pb_wddm_fail(struct pb_wddm_packet *packet);
/**
 * Consumes the card's events and marks the submissions that they report as failed. Pre: the caller holds the adapter's
 * lock.
 */
void pb_wddm_read_events(struct pb_wddm_adapter *adapter);
/** Progress of a node, read from the card's records. */
struct pb_wddm_position {
	uint32_t completed; /**< number behind the last submission completed, or returned by a preemption */
	uint32_t done;      /**< number behind the last submission completed */
	bool stopped; /**< the preemption is over: submissions from `done` to `completed` were returned */
};

/**
 * Reads the records of a node's queue. Never blocks: a record that the firmware is writing is read at a later
 * interrupt. Pre: the caller holds the adapter's lock.
 */
enum pb_error pb_wddm_read_position(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node,
				    struct pb_wddm_position *position);
/** Whether the firmware has refused a preemption for want of a free stop request: it may be asked for again. */
static inline bool pb_wddm_is_refusal(enum pb_error error)
{
	return error == PB_ERROR_NO_SPACE || error == PB_ERROR_NO_QUOTA;
}

/**
 * Reports a preemption that is over, once all of `done` is reported. Pre: the caller holds the adapter's lock.
 * @return true: the OS was notified
 */
bool pb_wddm_preempt_report(struct pb_wddm_adapter *adapter, uint32_t n,
			    const struct pb_wddm_position *position);
/**
 * Begins a pending preemption, or answers it if no submission is in flight. Pre: the caller holds the adapter's lock.
 * @return true: the OS was notified
 */
bool pb_wddm_preempt_advance(struct pb_wddm_adapter *adapter, uint32_t n);

/** Returns the SegmentId of an entry of the kernel's allocation list. */
static inline uint32_t pb_wddm_segment(const struct pb_dxgk_allocationlist *entry)
{
	return (entry->Value & PB_DXGK_ALLOCATION_SEGMENT_MASK) >> PB_DXGK_ALLOCATION_SEGMENT_SHIFT;
}

/**
 * Converts an address of the OS to a GPU address.
 * @return false: the segment does not exist or does not hold the range; `gpu_address` is unchanged
 */
bool pb_wddm_gpu_address(const struct pb_wddm_adapter *adapter, uint32_t segment, uint64_t address,
			 uint64_t bytes, uint64_t *gpu_address);

/** Returns how many patch entries private data has room for, beside Render's record and the longest allocation list. */
uint32_t pb_wddm_patch_room(const struct pb_wddm_config *config, uint32_t private_data_size);
/**
 * Starts the part of a DMA buffer's private data that Patch writes: no lists are in it yet.
 * @param bytes behind Render's record
 * @return the byte behind it
 */
void *pb_wddm_block_start(uint8_t *bytes, uint32_t allocation_room, uint32_t patch_room);
/**
 * Notes with which words of the allocation list Render has written addresses: where Patch lists the same words, nothing is
 * patched. What Render did not know, or what does not lie in a segment, is not noted.
 * @param bytes as for pb_wddm_block_start(), which has returned
 * @param entries the allocation list of Render
 * @param locations what Render has written of the patch list
 * @param count of these
 */
void pb_wddm_presume(const struct pb_wddm_adapter *adapter, uint8_t *bytes,
		     const struct pb_dxgk_allocationlist *entries, const struct pb_patch_location *locations,
		     uint32_t count);
/** What is to be patched of one range. */
struct pb_wddm_lists {
	const uint8_t *allocations; /**< struct pb_allocation, not aligned */
	const uint8_t *patches;     /**< struct pb_patch_location, not aligned */
	uint32_t allocation_count;  /**< entries */
	uint32_t patch_count;       /**< entries; 0: nothing is to be patched */
};

/**
 * Finds the lists that Patch kept for a submission, which are patched now. They stay where they are until Patch or Render is
 * called for the buffer.
 * @param submit of a range that is not empty
 * @param lists out
 * @return false: the submission must not run
 */
bool pb_wddm_take_lists(const struct pb_dxgkarg_submitcommand *submit, struct pb_wddm_lists *lists);
/** Returns the private data of a DMA buffer with lists of these sizes, without Render's record, in bytes. */
static inline uint64_t pb_wddm_block_bytes(uint64_t allocation_count, uint64_t patch_count)
{
	return PB_WDDM_BLOCK_HEAD_BYTES +
	       allocation_count * (PB_WDDM_PRESUMPTION_BYTES + sizeof(struct pb_allocation)) +
	       patch_count * sizeof(struct pb_patch_location);
}

/** Whether a rectangle begins at 0 or behind, and does not end before it begins. It may be empty. */
static inline bool pb_wddm_rect_valid(const struct pb_rect *rect)
{
	return rect->left >= 0 && rect->top >= 0 && rect->left <= rect->right && rect->top <= rect->bottom;
}

/** Whether a part is a rectangle, empty or not, that lies in a whole. */
static inline bool pb_wddm_rect_inside(const struct pb_rect *part, const struct pb_rect *whole)
{
	return part->left >= whole->left && part->top >= whole->top && part->right <= whole->right &&
	       part->bottom <= whole->bottom && part->left <= part->right && part->top <= part->bottom;
}

/** Whether two valid rectangles have the same size. */
static inline bool pb_wddm_rects_match(const struct pb_rect *a, const struct pb_rect *b)
{
	return a->right - a->left == b->right - b->left && a->bottom - a->top == b->bottom - b->top;
}

/** Whether two valid rectangles of one surface have a pixel in common. */
static inline bool pb_wddm_rects_overlap(const struct pb_rect *a, const struct pb_rect *b)
{
	return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/**
 * Translates the kernel's drawing commands of RenderKm from part number render->MultipassOffset on, as far as outputs and
 * staging memory have room.
 * @param arguments as for pb_render_km(), without commands; out: multipass_offset is the number of parts done
 * @return as pb_render_km()
 */
enum pb_render_status pb_wddm_translate_gdi(struct pb_render_arguments *arguments,
					    const struct pb_dxgkarg_render *render);

/**
 * Writes the addresses of a paging buffer's page lists, which depend on where the buffer lies.
 * @param packets the bytes submitted, in the library's mapping of segment 0
 * @param gpu_address of the first byte submitted
 * @param bytes submitted
 * @param records what BuildPagingBuffer left in the private data for these bytes
 * @param size of the records
 * @return false: the records do not describe such a buffer
 */
bool pb_wddm_paging_fix(uint8_t *packets, uint64_t gpu_address, uint32_t bytes, const uint8_t *records,
			uint32_t size);

#endif
