/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Segments: created in slices, looked up by each submission, destroyed or freed
 * with their channel. The owner of struct pb_core_segments and of struct
 * pb_core_channel_memory; main loop only.
 */
#ifndef PB_FIRMWARE_MEMORY_SEGMENT_H
#define PB_FIRMWARE_MEMORY_SEGMENT_H

#include <stdbool.h>

#include "firmware/memory/pool.h"
#include "patchbay/abi/base.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"

struct pb_firmware;

/** A segment of some channel. Not there while size is 0. */
struct pb_core_segment {
	uint64_t os_base;  /**< first address that its host uses */
	uint64_t gpu_base; /**< first address that engines use */
	uint64_t size;     /**< bytes of address space */
	uint32_t
		memory_offset; /**< of its backing, from the start of card memory; host memory lies behind that */
	uint32_t
		memory_bytes; /**< backed from its start by what the MCU sees; the rest has addresses only. An aperture, outer memory: 0 */
	uint32_t table_offset; /**< an aperture's page table in card memory; else 0 */
	uint8_t kind;          /**< enum pb_segment_kind */
	uint8_t channel;       /**< index of its owner */
};

/*@
  logic integer pb_core_bytes_seen(struct pb_core_segment *segment) =
    segment->kind == PB_SEGMENT_APERTURE || segment->kind == PB_SEGMENT_OUTER ? segment->size :
    segment->memory_bytes;

  // What is kept of every segment, as SEGMENT_CREATE checks it.
  predicate pb_core_is_sound(struct pb_core_segment *segment) =
    0 < segment->size && segment->size % PB_PAGE_BYTES == 0 && segment->memory_bytes % PB_PAGE_BYTES == 0 &&
    segment->os_base % PB_PAGE_BYTES == 0 && segment->gpu_base % PB_PAGE_BYTES == 0 &&
    segment->os_base + segment->size <= UINT64_MAX && segment->gpu_base + segment->size <= UINT64_MAX &&
    segment->memory_bytes <= segment->size &&
    (segment->kind == PB_SEGMENT_APERTURE ==>
     segment->memory_bytes == 0 && segment->size <= PB_LIMIT_APERTURE_PAGES * PB_PAGE_BYTES) &&
    (segment->kind == PB_SEGMENT_OUTER ==> segment->memory_bytes == 0 && segment->size <= UINT32_MAX);
  // A channel's segment, or none.
  predicate pb_core_is_segment(struct pb_core_segment *segment) =
    pb_core_is_sound(segment) || (segment->size == 0 && segment->memory_bytes == 0);
*/

/** The steps of a SEGMENT_CREATE, and what follows the end of a segment. */
enum pb_core_create_step {
	PB_CORE_CREATE_NONE = 0,  /**< none is in progress */
	PB_CORE_CREATE_CHECK = 1, /**< compares it with the channel's other segments */
	PB_CORE_CREATE_BACK = 2,  /**< searches the shared part of the pool for its backing */
	PB_CORE_CREATE_HOME = 3,  /**< searches the part that is kept for the channel */
	PB_CORE_CREATE_SCRUB =
		4, /**< clears what an earlier boot, or in outer memory an earlier owner, left in the backing */
	PB_CORE_CREATE_CLEAR = 5, /**< clears an aperture's page table */
	PB_CORE_CREATE_WIPE =
		6, /**< the segment is gone: its piece of the pool is cleared before it is free */
};

/** A SEGMENT_CREATE in progress, or the end of a segment: one slice in each pass, the reply at the end. */
struct pb_core_create {
	uint8_t step; /**< enum pb_core_create_step */
	uint8_t id;   /**< the channel's name for it */
	uint8_t slot; /**< in pb_core_segments.at, once it has one; else 0 */
	bool reply;   /**< of WIPE: a SEGMENT_DESTROY waits for its reply */
	uint32_t tag; /**< of the command */
	uint32_t at;  /**< how far the step is: segment id, offset in card memory, page, byte of the piece */
	uint32_t
		clean; /**< as pb_core_segments.clean, of the channel's own part of the pool; outlives the command */
	struct pb_core_segment segment; /**< as it will be */
};

/** The state of this module. */
struct pb_core_segments {
	struct pb_core_segment at[PB_CORE_SEGMENT_SLOTS]; /**< slot 0 is never given out: it is no segment */
	uint32_t taken[PB_LIMIT_SEGMENTS_TOTAL / 32u];    /**< mask of slots; bit 0 is slot 1 */
	uint32_t
		clean; /**< what is free of the shared part of the pool is 0 up to this offset; behind it, as an earlier boot left it */
};

/** The segment that was looked up last, for the channel whose context is known (queue/context.h). */
struct pb_core_segment_memo {
	uint32_t id;                /**< its id; all ones: none was looked up */
	struct pb_core_segment *at; /**< it, or slot 0: the channel has none of this id */
};

/** A member of a channel's record. */
struct pb_core_channel_memory {
	uint8_t segment_of[PB_LIMIT_SEGMENTS]; /**< by segment id: its slot; 0: none */
	struct pb_core_create create;          /**< the segment being created, or gone */
};

/** A channel's segment. One that the channel does not have has size 0. */
/*@
  requires \valid(segments) && \valid_read(memory);
  requires id < PB_LIMIT_SEGMENTS ==> memory->segment_of[id] < PB_CORE_SEGMENT_SLOTS;
  assigns \result \from segments, memory, id;
  ensures \result == segments->at + (id < PB_LIMIT_SEGMENTS ? memory->segment_of[id] : 0);
*/
static inline struct pb_core_segment *pb_core_segment_of(struct pb_core_segments *segments,
							 const struct pb_core_channel_memory *memory,
							 uint32_t id)
{
	return &segments->at[id < PB_LIMIT_SEGMENTS ? memory->segment_of[id] : 0];
}

/**
 * Forgets the segment that was looked up last: another channel comes next, or a slot has become a segment. One that goes
 * need not be forgotten: its slot is no segment until then.
 */
/*@
  requires \valid(memo) && \valid(segments);
  assigns *memo;
  ensures memo->id == UINT32_MAX && memo->at == segments->at;
*/
static inline void pb_core_segment_forget(struct pb_core_segment_memo *memo,
					  struct pb_core_segments *segments)
{
	memo->id = UINT32_MAX;
	memo->at = &segments->at[0];
}

/*@
  // The channel's segment of an id; or, as it has none, the slot of one that is gone.
  predicate pb_core_is_found(struct pb_core_segment *segment, struct pb_core_segments *segments,
    struct pb_core_channel_memory *memory, integer id) =
    segment == segments->at + (id < PB_LIMIT_SEGMENTS ? memory->segment_of[id] : 0) ||
    ((id < PB_LIMIT_SEGMENTS ==> memory->segment_of[id] == 0) && segment->size == 0 && segment->memory_bytes == 0 &&
     \exists integer gone; 0 <= gone < PB_CORE_SEGMENT_SLOTS && segment == segments->at + gone);
  // What is remembered is this channel's.
  predicate pb_core_remembers(struct pb_core_segment_memo *memo, struct pb_core_segments *segments,
    struct pb_core_channel_memory *memory) = pb_core_is_found(memo->at, segments, memory, memo->id);
*/

/**
 * As pb_core_segment_of(), at little cost if that segment was the last one looked up. Pre: none of another channel has
 * been looked up since the last pb_core_segment_forget().
 */
/*@
  requires \valid(memo) && \valid(segments) && \valid_read(memory) && \separated(memo, segments, memory);
  requires id < PB_LIMIT_SEGMENTS ==> memory->segment_of[id] < PB_CORE_SEGMENT_SLOTS;
  requires pb_core_remembers(memo, segments, memory);
  assigns *memo;
  assigns \result \from memo->at, segments, memory, id;
  ensures found: pb_core_is_found(\result, segments, memory, id);
  ensures remembered: pb_core_remembers(memo, segments, memory);
*/
static inline struct pb_core_segment *pb_core_segment_again(struct pb_core_segment_memo *memo,
							    struct pb_core_segments *segments,
							    const struct pb_core_channel_memory *memory,
							    uint32_t id)
{
	if (id != memo->id) {
		memo->id = id;
		memo->at = pb_core_segment_of(segments, memory, id);
	}
	return memo->at;
}

/** Whether a segment of the channel is being created, or is gone and being cleared, of whatever id. */
static inline bool pb_core_segment_is_creating(const struct pb_core_channel_memory *memory)
{
	return memory->create.step != PB_CORE_CREATE_NONE;
}

/** Whether the channel's commands wait: a segment is created in order with them, but for the time that clearing takes. */
static inline bool pb_core_segment_blocks_commands(const struct pb_core_channel_memory *memory)
{
	return (uint32_t)memory->create.step - PB_CORE_CREATE_CHECK <=
	       PB_CORE_CREATE_SCRUB - PB_CORE_CREATE_CHECK;
}

/** Whether an id is that of the segment that the channel is creating. */
static inline bool pb_core_segment_is_creating_id(const struct pb_core_channel_memory *memory, uint32_t id)
{
	return (uint32_t)memory->create.step - PB_CORE_CREATE_CHECK <
		       PB_CORE_CREATE_WIPE - PB_CORE_CREATE_CHECK &&
	       memory->create.id == id;
}

/** The engines know of no segment any more, whatever an earlier incarnation has set. Once, at boot. */
void pb_core_segment_init(struct pb_firmware *firmware);
/**
 * Starts to create a segment, a deferred task. Pre: no other of the channel is being created.
 * @param arguments of SEGMENT_CREATE @return OK: the reply is deferred; else what is wrong
 */
enum pb_error pb_core_segment_create(struct pb_firmware *firmware, uint32_t channel, uint32_t tag,
				     const uint32_t *arguments);
/** Advances the channel's segment by one slice; the last one sends the reply. */
void pb_core_segment_step(struct pb_firmware *firmware, uint32_t channel);
/** Cancels the creation of a segment, if there is one, and every reply; what it has of the pool is cleared and freed by pb_core_segment_free_next(). */
void pb_core_segment_cancel(struct pb_firmware *firmware, uint32_t channel);
/**
 * SEGMENT_DESTROY: the segment is gone, and its memory is cleared, a deferred task. Pre: no segment is being created or
 * cleared. @return OK: the reply is deferred; BUSY or BAD_ARGUMENT
 */
enum pb_error pb_core_segment_destroy(struct pb_firmware *firmware, uint32_t channel, uint32_t tag,
				      uint32_t segment);
/**
 * Removes the channel's next segment from an id on, or clears a slice of the last one removed.
 * @param id where to begin; set to the one removed @return false: none was left, and all memory is clear and free
 */
bool pb_core_segment_free_next(struct pb_firmware *firmware, uint32_t channel, uint16_t *id);
/**
 * Takes the backing from the channel's segments of host memory that are no longer granted to it as a whole. They keep
 * their addresses. What runs may reach the pages until it ends; what starts later does not.
 * @return whether segment 0 has lost its backing
 */
bool pb_core_segment_revoke(struct pb_firmware *firmware, uint32_t channel);
/** How many segments a channel has. */
static inline uint32_t pb_core_segment_count(const struct pb_core_channel_memory *memory)
{
	uint32_t count = 0;

	for (uint32_t id = 0; id < PB_LIMIT_SEGMENTS; id++)
		count += memory->segment_of[id] != 0;
	return count;
}
/**
 * Finds where a piece of backed memory lies.
 * @return its offset in card memory, or 0 (which is never in the pool) if any byte of it is not backed
 */
/*@
  requires \valid_read(segment) && pb_core_is_segment(segment);
  requires segment->memory_offset + segment->memory_bytes <= UINT32_MAX;
  assigns \nothing;
  ensures backed: \result != 0 ==> segment->os_base <= os_address &&
    os_address + bytes <= segment->os_base + segment->memory_bytes &&
    \result == segment->memory_offset + (os_address - segment->os_base);
  ensures not_backed: \result == 0 && segment->memory_offset != 0 ==> os_address < segment->os_base ||
    os_address + bytes > segment->os_base + segment->memory_bytes;
*/
uint32_t pb_core_segment_memory(const struct pb_core_segment *segment, uint64_t os_address, uint64_t bytes);

#endif
