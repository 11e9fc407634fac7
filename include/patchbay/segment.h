/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Segments of a channel, and a first-fit allocator over the backing memory of
 * each. The allocator's state is the host's alone.
 */
#ifndef PB_HOST_SEGMENT_H
#define PB_HOST_SEGMENT_H

#include <stdint.h>

#include "patchbay/channel.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Parameters of pb_segment_create(). */
struct pb_segment_request {
	uint32_t id;       /**< PB_SEGMENT_SYSTEM (0): contiguous system memory; else 1 to 31 */
	uint64_t os_base;  /**< first address as the OS and the lists name it */
	uint64_t gpu_base; /**< first address as the engine sees it */
	uint64_t size;     /**< bytes of address space, multiple of 4 KiB */
	/** Bytes of card memory, or of host memory, behind the segment's start, multiple of 4 KiB; may be 0. */
	uint32_t backing_bytes;
	uint32_t
		kind; /**< enum pb_segment_kind; an aperture has backing_bytes 0, outer memory backs all of its size */
};

/** Host pages that back a segment: one run, which the card's admin has granted to the channel. */
struct pb_host_pages {
	uint64_t address; /**< host address of the first byte, multiple of 4 KiB */
	uint8_t *memory;  /**< the pages as the host sees them; NULL: they are a part of the link's memory */
};

/** Host pages that the card's admin has granted to a channel. */
struct pb_host_grant {
	uint32_t count;   /**< grants that the channel has */
	uint64_t address; /**< host address of the first byte */
	uint32_t bytes;   /**< 0: the channel has no grant of that index */
	uint32_t offset;  /**< where the card sees the pages, in bytes from the start of card memory */
};

/** Allocations that one segment can hold at once. Another number must be the same for the library and for its users. */
#ifndef PB_SEGMENT_EXTENTS
#define PB_SEGMENT_EXTENTS 128u
#endif

/** A segment and its allocator. The caller owns the memory and keeps it in place; only the library writes it. */
struct pb_segment {
	struct pb_channel *channel;        /**< owner of the segment */
	struct pb_segment_request request; /**< parameters of its creation */
	uint32_t
		memory_offset; /**< backing memory, bytes from the start of card memory; host memory lies behind that */
	uint8_t *
		host_memory; /**< backing memory as the host sees it; NULL: it is a part of the link's memory */
	uint32_t extent_count; /**< elements of `extents` in use */
	struct {
		uint32_t offset;       /**< bytes from the segment's start */
		uint32_t bytes;        /**< size, multiple of 64 */
	} extents[PB_SEGMENT_EXTENTS]; /**< allocated ranges of the backing memory, by offset */
};

/** An allocated range of a segment's backing memory. */
struct pb_memory {
	struct pb_segment *segment; /**< segment of the range; NULL: nothing is allocated */
	uint32_t offset;            /**< bytes from the segment's start, multiple of 64 */
	uint32_t bytes;             /**< bytes asked for */
	uint64_t os_address;        /**< address for lists and descriptors */
	uint8_t *bytes_host; /**< the range as the host sees it; the firmware and engines may write there */
};

/**
 * Creates a segment on the card. Blocks for at most PB_COMMAND_TIMEOUT_US.
 * Threads: alone, commands; waits.
 * @param segment out; must stay in place until pb_segment_destroy() or the detach
 * @param channel attached
 * @param request copied
 * @retval PB_ERROR_BUSY the channel already has a segment of this id
 * @retval PB_ERROR_NO_SPACE no segment slot, or not enough backing memory, is left on the card
 */
enum pb_error pb_segment_create(struct pb_segment *segment, struct pb_channel *channel,
				const struct pb_segment_request *request);
/**
 * Creates a segment whose backing is host memory, as pb_segment_create() does.
 * Threads: alone, commands; waits.
 * @param request copied; of kind PB_SEGMENT_HOST, backing_bytes is not 0
 * @param pages copied; backing_bytes of them
 * @retval PB_ERROR_NO_PERMISSION the pages are not granted to the channel, as one run
 * @retval PB_ERROR_UNSUPPORTED the card reaches no host memory
 */
enum pb_error pb_segment_create_host(struct pb_segment *segment, struct pb_channel *channel,
				     const struct pb_segment_request *request,
				     const struct pb_host_pages *pages);
/**
 * Asks for one of the host memory grants of a channel. Blocks for at most PB_COMMAND_TIMEOUT_US.
 * Threads: commands; waits.
 * @param owner number of the channel; another one than the asker's needs PB_PRIVILEGE_QUERY
 * @param index of the grant, from 0
 * @param grant out
 */
enum pb_error pb_host_grant_query(struct pb_channel *channel, uint32_t owner, uint32_t index,
				  struct pb_host_grant *grant);
/**
 * Grants host pages to a channel. Admin only. Blocks for at most PB_COMMAND_TIMEOUT_US.
 * Threads: commands; waits.
 * @param owner number of the channel
 * @param address by which the channel names the first page @param bytes whole pages
 * @param window_offset of the first page in the card's window on host memory
 * @retval PB_ERROR_BUSY the channel has a grant for one of these addresses
 */
enum pb_error pb_host_grant(struct pb_channel *channel, uint32_t owner, uint64_t address, uint32_t bytes,
			    uint32_t window_offset);
/**
 * Takes host pages from a channel. Admin only. Returns when nothing reaches them for the channel any more. Blocks for at
 * most PB_COMMAND_TIMEOUT_US.
 * Threads: commands; waits.
 * @retval PB_ERROR_BAD_ARGUMENT none of the pages is granted to the channel
 * @retval PB_ERROR_ENGINE_DEAD an engine that was given up may reach them until the next boot
 */
enum pb_error pb_host_revoke(struct pb_channel *channel, uint32_t owner, uint64_t address, uint32_t bytes);
/**
 * Destroys a segment. All memory allocated from it becomes invalid. Blocks for at most PB_COMMAND_TIMEOUT_US.
 * Threads: alone, commands; waits.
 * @retval PB_ERROR_BUSY admitted submissions or queues still use the segment
 */
enum pb_error pb_segment_destroy(struct pb_segment *segment);
/**
 * Allocates the first range of backing memory that is large enough. Needs no command.
 * Threads: mutex.
 * @param bytes not 0; rounded up to a multiple of 64
 * @param alignment of the offset in the segment: a power of two, at least 64
 * @param memory out; the caller frees it with pb_memory_free()
 * @retval PB_ERROR_NO_SPACE no free range is large enough, or PB_SEGMENT_EXTENTS allocations exist
 * @retval PB_ERROR_BAD_ARGUMENT `bytes` is 0, or `alignment` is not as required
 */
enum pb_error pb_memory_allocate(struct pb_segment *segment, uint32_t bytes, uint32_t alignment,
				 struct pb_memory *memory);
/**
 * Frees memory from pb_memory_allocate() and clears `memory`. No submission may use the memory any more. Does nothing
 * if memory->segment is NULL.
 * Threads: mutex.
 */
void pb_memory_free(struct pb_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
