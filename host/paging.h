/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Paging buffers: what DxgkDdiBuildPagingBuffer builds. An operation on memory
 * becomes packets of the engine, in a buffer that is submitted with the flag
 * Paging, without lists and without a context. docs/residency.md has the packets.
 *
 * Functions over the memory given, with no state of their own. Addresses are
 * those that the engine sees: nothing of a paging buffer is patched.
 */
#ifndef PB_HOST_PAGING_H
#define PB_HOST_PAGING_H

#include <stdint.h>

#include "host/render.h"

/** With this much room each call makes progress: one page of MAP_APERTURE. */
#define PB_PAGING_BYTES_MIN 40u

/** Operations, with their numbers in DXGK_BUILDPAGINGBUFFER_OPERATION. */
enum pb_paging_kind {
	PB_PAGING_TRANSFER = 0, /**< copies destination from source; the two do not overlap */
	PB_PAGING_FILL = 1,     /**< stores the value in each word of the destination */
	PB_PAGING_DISCARD = 2,  /**< the contents of the destination matter no more */
	PB_PAGING_MAP_APERTURE =
		5, /**< pages of the destination, in an aperture, stand for those of the source */
	PB_PAGING_UNMAP_APERTURE = 6 /**< pages of the destination, in an aperture, stand for nothing */
};

/** Memory that an operation is about. */
struct pb_paging_place {
	uint64_t gpu_address; /**< of its first byte, multiple of 4; of 4 KiB for an aperture */
	const uint64_t *
		pages; /**< NULL, or the GPU address of each of its pages (an MDL), and gpu_address is unused */
};

/** One operation, and how far it has come. */
struct pb_paging_operation {
	enum pb_paging_kind kind;           /**< what is done */
	struct pb_paging_place source;      /**< TRANSFER and MAP_APERTURE */
	struct pb_paging_place destination; /**< no list of pages for MAP_APERTURE and UNMAP_APERTURE */
	uint64_t bytes;                     /**< multiple of 4; of 4 KiB for an aperture; 0 needs no packet */
	uint32_t value;                     /**< FILL */
	uint32_t
		multipass_offset; /**< pages done: 0 in the first call; after that, as the last call left it */
};

/** Where the packets go: advanced behind them by each call, so that the next operation's may follow. */
struct pb_paging_buffer {
	uint32_t *dma_buffer; /**< the next word; card memory or plain memory, 4-byte aligned */
	uint64_t gpu_address; /**< where the engine sees that word, multiple of 4 */
	uint32_t dma_size;    /**< bytes left, multiple of 4 */
};

/**
 * Appends the packets of an operation, from multipass_offset on, as far as the
 * buffer goes. All buffers of an operation together do what one would.
 *
 * @retval PB_RENDER_SUCCESS all of it, or the rest, is in the buffer
 * @retval PB_RENDER_INSUFFICIENT_DMA_BUFFER the buffer is full: submit it and call again with a new one.
 *         If multipass_offset has not moved, nothing was written.
 * @retval PB_RENDER_INVALID_PARAMETER no such operation, or an address or size against the rules above:
 *         nothing was written
 */
enum pb_render_status pb_paging_build(struct pb_paging_operation *operation, struct pb_paging_buffer *buffer);

#endif
