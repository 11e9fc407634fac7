/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Paging buffers, as DxgkDdiBuildPagingBuffer builds them: an operation on
 * memory becomes packets of the engine, in a buffer that is submitted with
 * PB_FLAG_PAGING, without lists and without a context. docs/residency.md
 * describes the packets.
 *
 * The functions keep no state. All addresses are GPU addresses: the firmware
 * patches nothing in a paging buffer.
 */
#ifndef PB_HOST_PAGING_H
#define PB_HOST_PAGING_H

#include <stdint.h>

#include "patchbay/render.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Room in bytes with which each call makes progress: one page of MAP_APERTURE. */
#define PB_PAGING_BYTES_MIN 40u

/** Operations, numbered as in DXGK_BUILDPAGINGBUFFER_OPERATION. */
enum pb_paging_kind {
	PB_PAGING_TRANSFER = 0, /**< copies source to destination; they must not overlap */
	PB_PAGING_FILL = 1,     /**< stores `value` in each word of the destination */
	PB_PAGING_DISCARD = 2,  /**< declares the destination's contents undefined */
	PB_PAGING_MAP_APERTURE =
		5, /**< maps pages of the destination, in an aperture, to those of the source */
	PB_PAGING_UNMAP_APERTURE = 6, /**< unmaps pages of the destination, in an aperture */
};

/** One side of an operation. */
struct pb_paging_memory {
	/** Of the first byte, multiple of 4 (of an aperture: of 4 KiB); with `pages`: of page number 0, of 4 KiB. */
	uint64_t gpu_address;
	/** NULL, or the number of each page, as in an MDL: its GPU address is gpu_address + 4096 * number, modulo 2^64. */
	const uintptr_t *pages;
};

/** One operation and its progress. */
struct pb_paging_operation {
	enum pb_paging_kind kind;            /**< which operation */
	struct pb_paging_memory source;      /**< used by TRANSFER and MAP_APERTURE */
	struct pb_paging_memory destination; /**< for MAP_APERTURE and UNMAP_APERTURE without `pages` */
	uint64_t bytes;            /**< size, multiple of 4 (of an aperture: of 4 KiB); 0 needs no packet */
	uint32_t value;            /**< used by FILL */
	uint32_t multipass_offset; /**< pages done: 0 in the first call, then as the last call left it */
};

/** Room for packets. Each call moves it behind the packets written, so that operations can follow each other. */
struct pb_paging_buffer {
	uint32_t *dma_buffer; /**< next word; card memory or plain memory, 4-byte aligned */
	uint64_t gpu_address; /**< GPU address of that word, multiple of 4 */
	uint32_t dma_size;    /**< bytes left, multiple of 4 */
};

/**
 * Appends packets of an operation, from multipass_offset on, as far as the buffer has room. All buffers of an operation
 * together have the effect of the operation.
 * @param operation multipass_offset advances
 * @param buffer advances behind the packets
 * @retval PB_RENDER_SUCCESS the operation, or its rest, is in the buffer
 * @retval PB_RENDER_INSUFFICIENT_DMA_BUFFER the buffer is full: submit it and call again with a new one. If
 *   multipass_offset did not change, nothing was written.
 * @retval PB_RENDER_INVALID_PARAMETER the operation does not exist, or an address or size breaks a rule above; nothing
 *   was written
 */
enum pb_render_status pb_paging_build(struct pb_paging_operation *operation, struct pb_paging_buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif
