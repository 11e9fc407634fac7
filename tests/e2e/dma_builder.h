/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Builds DMA buffers in card memory, with the allocation and patch lists, and submits them. One buffer is
 * built, submitted and waited for at a time. Several builders allow several submissions in flight.
 *
 * Errors stick: after the first one no call adds anything, and pb_dma_submit returns the error.
 */
#ifndef PB_TESTS_E2E_DMA_BUILDER_H
#define PB_TESTS_E2E_DMA_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/patchbay.h"

/** Value of an address until the firmware has patched it. */
#define PB_DMA_POISON 0xdeadbeefu

/** Memory ranges that one submission can name. */
#define PB_DMA_ALLOCATIONS 64u

struct pb_dma {
	struct pb_queue *queue;
	uint32_t context;
	struct pb_memory buffer; /**< the DMA buffer; may itself be the target of a patch */
	struct pb_memory
		lists;      /**< struct pb_allocation[PB_DMA_ALLOCATIONS], then struct pb_patch_location[] */
	uint32_t bytes;     /**< in the buffer so far */
	uint32_t patch_max; /**< patch locations that fit */
	uint32_t patch_count;
	uint32_t allocation_count;
	struct pb_allocation allocations[PB_DMA_ALLOCATIONS];
	uint64_t timeline;             /**< of the last submission */
	uint32_t options;              /**< PB_OPTION_* of submissions; set by the caller, like `waits` */
	const struct pb_memory *waits; /**< struct pb_wait[wait_count] that submissions wait for */
	uint32_t wait_count;
	enum pb_error error; /**< the first since pb_dma_begin */
};

/**
 * Allocates memory for a buffer and its lists.
 * @param buffer where the DMA buffer lies: segment 0, or another one if patches shall point into the buffer itself
 * @param system segment 0, for the lists
 * @param bytes room in the DMA buffer, multiple of 4
 * @param patches room in the patch-location list
 * @retval PB_ERROR_NO_SPACE a segment is too full
 */
enum pb_error pb_dma_open(struct pb_dma *dma, struct pb_queue *queue, uint32_t context,
			  struct pb_segment *buffer, struct pb_segment *system, uint32_t bytes,
			  uint32_t patches);
/** Frees the memory. Pre: no submission is in flight. A zeroed builder is left alone. */
void pb_dma_close(struct pb_dma *dma);

/** Starts an empty buffer. Pre: the last submission has completed. */
void pb_dma_begin(struct pb_dma *dma);
/** Appends a packet's header. The caller appends the rest of its words. @param words of the whole packet */
void pb_dma_packet(struct pb_dma *dma, uint32_t opcode, uint32_t words);
/** Appends one word. */
void pb_dma_word(struct pb_dma *dma, uint32_t word);
/**
 * Appends two words for the GPU address of memory + offset: poison, and a patch location of format ADDRESS64
 * or ADDRESS64_WRITE. The memory enters the allocation list once, with the write bit if any use writes.
 * @param memory in a segment other than 0
 */
void pb_dma_address(struct pb_dma *dma, const struct pb_memory *memory, uint32_t offset, bool write);
/**
 * Appends one word for the GPU address of memory in a format of 32 bits.
 * @param write the memory is written; the format must say so, too
 */
void pb_dma_patch(struct pb_dma *dma, const struct pb_memory *memory, uint32_t format, bool write);
/**
 * Begins words that the engine skips here, so that an INDIRECT packet can run them from elsewhere. @return
 * offset of their first byte
 */
uint32_t pb_dma_skip_begin(struct pb_dma *dma);
/** Ends the skipped words. @param start what pb_dma_skip_begin returned; @return their bytes */
uint32_t pb_dma_skip_end(struct pb_dma *dma, uint32_t start);

/** Submits what was built. The caller waits for the value dma->timeline. */
enum pb_error pb_dma_submit(struct pb_dma *dma, uint32_t fence_id);
/**
 * Waits for the last submission.
 * @param fence receives the record read last; not NULL
 * @return PB_ERROR_OK, an error of waiting, or the submission's own status
 */
enum pb_error pb_dma_wait(struct pb_dma *dma, uint64_t timeout_us, struct pb_fence *fence);

#endif
