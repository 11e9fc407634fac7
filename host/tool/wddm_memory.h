/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The part of a WDDM kernel that manages video memory, on top of the scheduler
 * (wddm_os.h). Allocations lie in pages of system memory that are not in order,
 * and are transferred to a segment, or mapped by an aperture, before a packet
 * that needs them is submitted. Where they were evicted meanwhile they get
 * another place: the packet is patched again. A DMA buffer is split where not
 * all of its allocations fit at once.
 *
 * System memory is segment 0 of the card. Paging buffers are built through a
 * second mapping of that memory, at other addresses, where the link maps memory
 * that can be mapped twice.
 */
#ifndef PB_HOST_TOOL_WDDM_MEMORY_H
#define PB_HOST_TOOL_WDDM_MEMORY_H

#include "host/tool/wddm_os.h"

/** Segments of an adapter, without system memory. */
#define PB_VIDMM_SEGMENTS 3u
/** Segments that an allocation can prefer. */
#define PB_VIDMM_PREFERRED 2u
/** Allocations at most. */
#define PB_VIDMM_ALLOCATIONS 32u

/** A segment, as the miniport described it. */
struct pb_vidmm_segment {
	uint32_t id;
	bool aperture;  /**< it has addresses only */
	uint64_t base;  /**< BaseAddress */
	uint64_t bytes; /**< Size */
	uint64_t rover; /**< where the search for room begins: behind the last allocation placed */
};

/** An allocation. */
struct pb_vidmm_allocation {
	struct pb_wddm_allocation object;       /**< the miniport's; hDeviceSpecificAllocation */
	uint64_t bytes;                         /**< whole pages */
	struct pb_mdl *mdl;                     /**< its pages of system memory; the frame numbers follow */
	uint32_t preferred[PB_VIDMM_PREFERRED]; /**< ids of segments, the preferred one first; 0: none */
	struct pb_vidmm_segment *segment;       /**< where it is; NULL: evicted */
	uint64_t address;                       /**< in the segment, its base included */
	uint64_t used;                          /**< the manager's clock at the last use */
	uint32_t pins;                          /**< packets on hardware queues that name it */
	bool changed;                           /**< written since it was transferred in */
};

/** A DMA buffer with what Render returned for it. */
struct pb_vidmm_buffer {
	struct pb_memory memory;  /**< in system memory */
	uint32_t *private_data;   /**< DmaBufferPrivateData */
	uint32_t private_size;    /**< size of the private data, in bytes */
	uint32_t private_end;     /**< bytes of it in use */
	uint32_t dma_end;         /**< bytes of the buffer in use */
	uint32_t location_count;  /**< patch locations in use */
	uint32_t location_room;   /**< elements of `locations` */
	uint32_t allocation_room; /**< elements of the following three */
	/** By AllocationIndex; NULL: the NULL allocation. */
	struct pb_vidmm_allocation **named;
	struct pb_dxgk_allocationlist *list;     /**< as last given to the miniport */
	struct pb_dxgk_allocationlist *rendered; /**< as given to Render */
	struct pb_patch_location *locations;     /**< by Render */
	uint32_t packets;                        /**< packets of it that have not ended */
	bool patched;                            /**< Patch was called since Render */
};

/** Counters. */
struct pb_vidmm_figures {
	uint32_t page_ins;  /**< allocations made resident */
	uint32_t evictions; /**< allocations evicted */
	uint64_t bytes;     /**< bytes transferred */
	uint32_t paging;    /**< paging buffers submitted */
	uint32_t splits;    /**< DMA buffers cut; a buffer in n parts counts n - 1 */
	uint32_t
		prepatched; /**< packets for which Patch was left out, because nothing had moved since Render */
};

/** Paging buffer. */
struct pb_vidmm_paging {
	struct pb_memory memory;    /**< in system memory */
	uint8_t *mapping;           /**< where BuildPagingBuffer writes */
	void *alias;                /**< a second mapping of system memory; NULL: there is none */
	size_t alias_bytes;         /**< size of that mapping */
	uint32_t used;              /**< bytes written */
	uint32_t *private_data;     /**< DmaBufferPrivateData */
	uint32_t private_size;      /**< its size in bytes */
	uint32_t private_used;      /**< bytes written */
	struct pb_os_packet packet; /**< of the buffer */
	bool running;               /**< the packet has not left */
};

/** The manager. The caller owns the memory and keeps it in place. */
struct pb_vidmm {
	struct pb_os *os;
	struct pb_segment *system; /**< segment 0 */
	struct pb_vidmm_segment segments[PB_VIDMM_SEGMENTS];
	uint32_t segment_count;
	struct pb_vidmm_allocation allocations[PB_VIDMM_ALLOCATIONS];
	uint32_t allocation_count;
	struct pb_memory pages; /**< system memory for allocations */
	uint32_t pages_given;   /**< pages given out */
	uint32_t pages_taken;   /**< steps of the order in which they are given out */
	struct pb_vidmm_paging paging;
	uint32_t paging_node; /**< where paging buffers run */
	uint64_t clock;       /**< advances at each use of an allocation */
	uint64_t held;        /**< the clock at the start of this packet: later uses must stay */
	bool without_patches; /**< Patch is never called: pictures must be wrong */
	struct pb_vidmm_figures figures;
};

/**
 * Starts the manager, and becomes the scheduler's client. Asks the miniport for its segments.
 * @param system_bytes system memory for all allocations; whole pages
 * @return false: see os->message
 */
bool pb_vidmm_start(struct pb_vidmm *manager, struct pb_os *os, uint32_t paging_node, uint32_t system_bytes);
/** Frees what the manager allocated on the host. */
void pb_vidmm_stop(struct pb_vidmm *manager);

/**
 * Creates an allocation, evicted, by CreateAllocation and OpenAllocation.
 * @param bytes rounded up to whole pages
 * @param first id of the preferred segment
 * @param second id of another, or 0
 * @return NULL: see os->message
 */
struct pb_vidmm_allocation *pb_vidmm_create(struct pb_vidmm *manager, uint64_t bytes, uint32_t first,
					    uint32_t second);
/** Waits until nothing uses an allocation, and evicts it. @param keep its contents @return false: see os->message */
bool pb_vidmm_evict(struct pb_vidmm *manager, struct pb_vidmm_allocation *allocation, bool keep);
/** Returns the host's address of a byte of an allocation, where it is now; valid to the end of the byte's page. */
uint8_t *pb_vidmm_byte(const struct pb_vidmm *manager, const struct pb_vidmm_allocation *allocation,
		       uint64_t offset);

/** Allocates a DMA buffer of one page. @return false: see os->message */
bool pb_vidmm_buffer_make(struct pb_vidmm *manager, struct pb_vidmm_buffer *buffer, uint32_t allocations,
			  uint32_t patches);
/** Frees a DMA buffer. */
void pb_vidmm_buffer_free(struct pb_vidmm_buffer *buffer);
/**
 * Writes the allocation list of a DMA buffer for Render: addresses of what is resident, none of the others.
 * @param written whether an entry has WriteOperation
 */
void pb_vidmm_list(struct pb_vidmm_buffer *buffer, uint32_t index, struct pb_vidmm_allocation *allocation,
		   bool written);
/**
 * Queues a packet of the whole DMA buffer.
 * @param built place of the call of Render, in the scheduler's record
 * @return the packet, until the next step; NULL: see os->message
 */
struct pb_os_packet *pb_vidmm_submit(struct pb_vidmm *manager, struct pb_wddm_context *context,
				     struct pb_vidmm_buffer *buffer, size_t built);

/* ---- between the manager's files ---- */

/** Returns what the scheduler calls. */
struct pb_os_client pb_vidmm_client(struct pb_vidmm *manager);

/** Makes an allocation resident. Pre: there is room at its address. @return false: see os->message */
bool pb_vidmm_page_in(struct pb_vidmm *manager, struct pb_vidmm_allocation *allocation);
/** Pages an allocation out. Pre: no packet uses it. @return false: see os->message */
bool pb_vidmm_page_out(struct pb_vidmm *manager, struct pb_vidmm_allocation *allocation, bool keep);
/** Submits what is in the paging buffer, and waits for its fence. @return false: see os->message */
bool pb_vidmm_flush(struct pb_vidmm *manager);
/** Makes the paging buffer. @return false: see os->message */
bool pb_vidmm_paging_start(struct pb_vidmm *manager, uint32_t bytes, uint32_t private_bytes);
/** Frees the paging buffer. */
void pb_vidmm_paging_stop(struct pb_vidmm *manager);

#endif
