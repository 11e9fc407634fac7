/* SPDX-License-Identifier: MIT */
/**
 * @file
 * All private state of the firmware, in one place. Nothing here is visible to
 * hosts; what is read from card memory is checked before it comes here.
 */
#ifndef PB_FIRMWARE_STATE_H
#define PB_FIRMWARE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/abi/boot.h"
#include "firmware/abi/channel.h"
#include "firmware/abi/crash.h"
#include "firmware/abi/errors.h"
#include "firmware/abi/patch.h"
#include "firmware/abi/submission.h"
#include "firmware/abi/telemetry.h"
#include "firmware/abi/trace.h"
#include "firmware/firmware.h"
#include "firmware/limits.h"
#include "firmware/machine.h"
#include "firmware/queue_state.h"
#include "hal/engine.h"

/** "No queue" in a list of queues. */
#define PB_CORE_NO_QUEUE 0xffffu

/** A segment of some channel. Not there while size is 0. */
struct pb_core_segment {
	uint64_t os_base;
	uint64_t gpu_base;
	uint64_t size;
	uint32_t memory_offset; /**< of its backing */
	uint32_t memory_bytes;  /**< backed from its start; the rest has addresses only. An aperture: 0 */
	uint32_t table_offset;  /**< an aperture's page table in card memory; else 0 */
	uint8_t kind;           /**< enum pb_segment_kind */
	uint8_t channel;        /**< whose it is */
};

/*@
  logic integer pb_core_bytes_seen(struct pb_core_segment *segment) =
    segment->kind == PB_SEGMENT_APERTURE ? segment->size : segment->memory_bytes;

  // What is kept of every segment, as SEGMENT_CREATE takes it.
  predicate pb_core_is_sound(struct pb_core_segment *segment) =
    0 < segment->size && segment->size % PB_PAGE_BYTES == 0 && segment->memory_bytes % PB_PAGE_BYTES == 0 &&
    segment->os_base % PB_PAGE_BYTES == 0 && segment->gpu_base % PB_PAGE_BYTES == 0 &&
    segment->os_base + segment->size <= UINT64_MAX && segment->gpu_base + segment->size <= UINT64_MAX &&
    segment->memory_bytes <= segment->size &&
    (segment->kind == PB_SEGMENT_APERTURE ==>
     segment->memory_bytes == 0 && segment->size <= PB_LIMIT_APERTURE_PAGES * PB_PAGE_BYTES);
  // A channel's segment, or none.
  predicate pb_core_is_segment(struct pb_core_segment *segment) =
    pb_core_is_sound(segment) || (segment->size == 0 && segment->memory_bytes == 0);
*/

enum pb_core_make_step {
	PB_CORE_MAKE_NONE = 0,
	PB_CORE_MAKE_CHECK = 1, /**< compares it with the channel's other segments */
	PB_CORE_MAKE_PLACE = 2, /**< looks for memory */
	PB_CORE_MAKE_CLEAR = 3, /**< clears an aperture's page table */
};

/** A SEGMENT_CREATE under way: a slice in each pass, the reply at the end. */
struct pb_core_make {
	struct pb_core_segment segment; /**< as it will be */
	uint32_t step;                  /**< enum pb_core_make_step */
	uint32_t id;                    /**< the channel's name for it */
	uint32_t tag;                   /**< of the command */
	uint32_t at;    /**< how far the step has got: segment id, offset in card memory, page */
	uint32_t place; /**< in pb_firmware.segments, once it has one; else 0 */
};

struct pb_core_channel {
	struct pb_channel_entry *entry; /**< shared, as are the rings below */
	const struct pb_command *control;
	struct pb_reply *replies;
	struct pb_event *events;
	const uint32_t *kicks;
	uint32_t state; /**< enum pb_core_channel_state */
	uint32_t attach_done;
	uint32_t control_put; /**< the last that the host showed */
	uint32_t control_get;
	uint32_t reply_put;
	uint32_t reply_get;    /**< the last that the host showed */
	uint32_t replies_owed; /**< deferred replies: room is kept for them */
	uint32_t kick_get;
	uint32_t rescan;       /**< the last that was carried out */
	uint32_t rescan_asked; /**< the one being carried out */
	uint32_t rescan_at;    /**< its next queue */
	uint32_t event_put;
	uint32_t event_get; /**< the last that the host showed */
	uint32_t event_number;
	uint32_t events_dropped;
	uint32_t epoch;
	uint32_t busy;                         /**< submissions admitted and not retired */
	uint64_t patches;                      /**< carried out in completed work */
	uint32_t weight;                       /**< its share of a node, beside others of the same level */
	uint32_t priority_cap;                 /**< highest enum pb_priority of its queues */
	uint32_t queues;                       /**< how many it has */
	uint32_t stops;                        /**< of its queues that are under way */
	uint32_t moderate_count;               /**< completions to an interrupt; 0 and 1: each */
	uint32_t moderate_microseconds;        /**< after which one comes all the same */
	uint32_t unreported;                   /**< completions since the last interrupt */
	uint32_t unreported_since;             /**< on the card's clock */
	uint32_t formats_version;              /**< counts changes to its own formats */
	uint32_t privileges;                   /**< PB_PRIVILEGE_* */
	struct pb_core_make make;              /**< the segment being made */
	uint32_t closing_at;                   /**< how far its closing has got in this state */
	bool close_asked;                      /**< the admin waits for the reply to a CHANNEL_CLOSE */
	uint32_t close_tag;                    /**< its tag */
	uint8_t segment_of[PB_LIMIT_SEGMENTS]; /**< by segment id: place in pb_firmware.segments; 0: none */
};

/*
 * A context:
 *
 *   31          16 15        8 7     2 1 0
 *  +--------------+-----------+-------+-+-+
 *  |  generation  |  channel  |   0   |L|U|   U: used  L: lost
 *  +--------------+-----------+-------+-+-+
 */
#define PB_CORE_CONTEXT_USED                 1u
#define PB_CORE_CONTEXT_LOST                 2u
#define PB_CORE_CONTEXT(generation, channel) ((uint32_t)(generation) << 16 | (uint32_t)(channel) << 8)

/** Instead of a context's index in pb_core_work. */
#define PB_CORE_CONTEXT_NONE   PB_LIMIT_CONTEXTS        /**< its handle named none */
#define PB_CORE_CONTEXT_PAGING (PB_LIMIT_CONTEXTS + 1u) /**< a paging buffer */

/**
 * One allocation, resolved: what a patch needs of it. Slots at and beyond the
 * size of the list have limit 0, so that the fast loops need no index check.
 */
struct pb_core_slot {
	uint32_t low; /**< GPU address */
	uint32_t high;
	uint32_t limit
		[2]; /**< AllocationOffset must be below; [0] for reads, [1] for formats that claim a write */
};

/** The bits of an allocation that formats may choose a value by. */
#define PB_CORE_TAG(kind, attribute) ((uint8_t)((uint32_t)(kind) << 4 | (attribute)))
#define PB_CORE_TAG_KIND(tag)        ((uint32_t)(tag) >> 4)
#define PB_CORE_TAG_ATTRIBUTE(tag)   ((tag)&3u)

/** An admitted submission: all that is needed to feed, refeed and retire it. */
struct pb_core_work {
	struct pb_engine_work engine;
	uint32_t fence_id;
	uint32_t timeline_low;
	uint32_t timeline_high;
	uint32_t status;  /**< enum pb_error; OK while nothing went wrong */
	uint32_t patches; /**< carried out */
	struct pb_core_queue *queue;
	uint16_t context; /**< index, PB_CORE_CONTEXT_NONE or PB_CORE_CONTEXT_PAGING */
	bool guarded;     /**< its turn came after many of more urgent levels: it is not stopped for those */
	bool resumes;     /**< it goes on from what its queue's page has saved */
	uint32_t index; /**< with a status other than OK: the list entry that it is about, or PB_INDEX_NONE */
	uint32_t detail; /**< with a status other than OK: engine fault code, or 0 */
	uint32_t shown;  /**< on the card's clock: the doorbell; 0: another descriptor has it */
	uint32_t fed;    /**< on the card's clock: when its engine was last given it */
	uint32_t unused; /**< makes it 64 bytes on a 32-bit MCU: its place is worked out often */
};

/** Works of a node: those in flight and the next one. A power of two. */
#define PB_CORE_WORKS (PB_LIMIT_IN_FLIGHT + 1u)

enum pb_core_job_state {
	PB_CORE_JOB_RESOLVE = 1,
	PB_CORE_JOB_COMPARE = 2, /**< is it patched like this already? */
	PB_CORE_JOB_PATCH = 3,
	PB_CORE_JOB_READY = 4, /**< nothing is left to do: the node has the work, the job is free */
};

/** No format has this number. */
#define PB_CORE_NO_FORMAT UINT32_MAX

/** A format as the exact way uses it. */
struct pb_core_plan {
	const struct pb_patch_format *format; /**< NULL: no such format */
	uint32_t id;
	uint32_t places;          /**< bytes of the submission at which its words may start */
	bool uses_allocation;     /**< AllocationIndex names something */
	struct pb_core_slot base; /**< of a source that is no allocation; limit of an offset into it */
};

/** What the general loops can do of a format. */
enum pb_core_general_kind {
	PB_CORE_GENERAL_NOT = 0, /**< nothing: it always takes the exact way */
	PB_CORE_GENERAL_PLAIN,   /**< an address, shifted, one word of it */
	PB_CORE_GENERAL_RICH,    /**< the rest */
};

/** A format as the general loops use it. */
struct pb_core_general {
	enum pb_core_general_kind kind;
	uint32_t id;
	const struct pb_patch_format *format;
	uint32_t places;   /**< 4-byte aligned ones */
	uint32_t bounded;  /**< all ones: AllocationOffset is; 0: it is not */
	uint32_t column;   /**< of pb_core_slot.limit */
	uint32_t right;    /**< shift, modulo 32 */
	uint32_t lost_low; /**< bits that must not be lost */
	uint32_t lost_high;
	uint32_t mask;
	uint32_t high_or; /**< into the second word */
	uint32_t ors[4];  /**< into the first word: background, and all that is ORed in */
};

/** What it takes to prepare a submission. There are fewer than nodes: one that is ready needs none. */
struct pb_core_job {
	uint32_t state;            /**< enum pb_core_job_state */
	struct pb_core_work *work; /**< in its node */
	const struct pb_core_channel *channel;
	uint8_t *target;    /**< shared; byte 0 of the submission */
	uint32_t start;     /**< PatchOffset of that byte */
	uint32_t bytes;     /**< of the submission */
	uint32_t dma_bytes; /**< of the whole DMA buffer */

	const struct pb_allocation *allocations; /**< shared */
	/** Where the buffer lies page by page; NULL: it is contiguous. */
	const struct pb_core_segment *aperture;
	uint32_t aperture_offset; /**< of the buffer's byte 0 in the aperture */
	uint32_t allocation_count;
	uint32_t resolved;   /**< allocations resolved */
	uint32_t slots_used; /**< slots from here on have limit 0 */
	bool high;           /**< some address does not fit 32 bits */
	bool crossing;       /**< some allocation reaches over a multiple of 4 GiB */

	const uint32_t *list; /**< shared; the next word of the patch list */
	uint32_t list_words;  /**< of it that are left */
	uint32_t list_index;  /**< list index of the next entry, or word of a compact list */
	bool compact;
	uint32_t format_id;             /**< of the last entry */
	struct pb_core_plan plan;       /**< of some format that took the exact way */
	struct pb_core_general general; /**< of some format that took a general loop */
	uint32_t cookie;                /**< the host's name for the buffer's contents, or 0 */
	uint32_t compared;              /**< slots that the digest holds */
	uint64_t digest;                /**< of all that the patched bytes depend on, with a cookie */

	struct pb_core_slot slots[PB_LIMIT_ALLOCATIONS];
	uint32_t ids[PB_LIMIT_ALLOCATIONS];
	uint8_t tags[PB_LIMIT_ALLOCATIONS]; /**< PB_CORE_TAG */
};

/** A buffer that was patched to its end, and how. */
struct pb_core_patched {
	uint32_t cookie;  /**< 0: none */
	uint32_t channel; /**< whose it is */
	uint64_t digest;
	uintptr_t target; /**< where its range is */
	uint32_t bytes;
};

/** Queues of one channel and level that wait for their turn on a node. */
struct pb_core_flow {
	uint16_t head;
	uint16_t tail;
	int32_t deficit; /**< microseconds of engine time that the channel may still use, or has used too much */
};

/** Flows of one level. */
struct pb_core_level {
	uint16_t listed;  /**< mask of channels that have queues in their flow */
	uint16_t ready;   /**< those of them that are not held */
	uint8_t turn;     /**< the channel whose turn it is */
	uint8_t bypassed; /**< submissions of more urgent levels since one of this could have gone */
	uint32_t
		owed; /**< microseconds that more urgent levels are to have before one of this may go before them again */
	struct pb_core_flow flows[PB_LIMIT_CHANNELS];
};

/** What there is of a node's next work. */
enum pb_core_next {
	PB_CORE_NEXT_NONE = 0,
	PB_CORE_NEXT_JOB = 1,      /**< a job prepares it */
	PB_CORE_NEXT_PREPARED = 2, /**< it is ready to be fed */
	PB_CORE_NEXT_WALK = 3,     /**< none, and whether a wait closes a cycle is being found out */
};

/** Why a node's engine was asked to stop. */
enum pb_core_stop_reason {
	PB_CORE_STOP_FOR_HOST =
		0, /**< the work of queues that are being preempted, suspended or reset is withdrawn */
	PB_CORE_STOP_TO_SWITCH = 1, /**< all of it is, as another queue's turn has come */
};

struct pb_core_node {
	const struct pb_engine *engine;
	uint32_t bit;                  /**< its own in masks of nodes */
	struct pb_core_queue *current; /**< the queue that has its turn; NULL: none */
	uint32_t levels;               /**< mask of levels that are ready */
	uint32_t held;                 /**< mask of channels whose work is not admitted */
	uint32_t fed;                  /**< sequence number of the last work fed since the engine's reset */
	uint32_t retired;              /**< of the last work retired */
	uint32_t depth;                /**< most that may be fed and not retired */
	struct pb_core_job *job;       /**< JOB: what prepares the next work */
	struct pb_core_queue *walker;  /**< WALK: the queue that waits */
	uint16_t walk_at;              /**< how far that has got */
	uint32_t walk_unparked;        /**< pb_firmware.unparked, when it began */
	uint8_t next;                  /**< enum pb_core_next */
	bool yielded;                  /**< its job has let a line go first */
	bool guard;     /**< the current queue's next submission is not stopped for more urgent ones */
	bool inside;    /**< the stop that is asked next may be inside a buffer */
	bool stuck;     /**< what hung last had failed before: the engine runs nothing */
	uint8_t state;  /**< enum pb_node_state */
	uint8_t reason; /**< enum pb_core_stop_reason, while STOPPING */
	uint8_t mode;   /**< enum pb_node_mode */
	uint32_t used;  /**< microseconds of engine time in the current turn */
	const struct pb_core_queue
		*expired; /**< its turn is over, and it is being stopped for that; else NULL */
	uint32_t time;    /**< the engine's, when it last reported */
	uint32_t since;   /**< on the card's clock: up to when channels have been charged */
	bool lapsed; /**< they have not been since: there was nothing to do, or nobody else to do it for */

	uint32_t asked; /**< on the card's clock: when the engine was last asked for an answer, or got on */
	uint32_t asked_first;  /**< the same, without its getting on */
	uint32_t halted;       /**< those of them that a bad paging buffer halted */
	uint32_t hang_limit;   /**< microseconds */
	uint32_t answer_limit; /**< microseconds */
	uint32_t progress;     /**< for the hang check */
	uint32_t progress_time;
	uint32_t watched;                        /**< `retired` when it last looked */
	uint32_t queues;                         /**< of this node */
	struct pb_node_telemetry *telemetry;     /**< shared */
	uint32_t busy_before;                    /**< what its engine's stopwatch said at boot */
	uint32_t latency_time[PB_LATENCY_COUNT]; /**< microseconds in all */
	uint32_t
		queued; /**< descriptors in its queues that have not completed, when they were counted last */
	uint32_t queued_so_far; /**< the same, while they are counted */
	uint32_t patches;       /**< carried out; this and those below are for QUERY and the telemetry */
	uint32_t bytes;         /**< of completed works */
	uint32_t faults;        /**< works that faulted or hung */
	uint32_t completed;     /**< works, but for those since the engine's reset */
	uint32_t idles;         /**< times that nothing was left in flight */
	uint32_t idle_since;    /**< on the card's clock */
	uint32_t starved;       /**< microseconds without work while some was being prepared */
	uint32_t preparing;     /**< on the card's clock: since when a job prepares */
	uint32_t stops;
	uint32_t resets;
	struct pb_core_work
		works[PB_CORE_WORKS]; /**< by sequence number modulo their count; the next one too */
	struct pb_core_level level[PB_PRIORITIES];
};

/** What a place in pb_firmware.segments has of the pool. bytes 0: nothing. */
struct pb_core_piece {
	uint32_t offset;
	uint32_t bytes;
};

#define PB_CORE_PLACES (PB_LIMIT_SEGMENTS_TOTAL + 1u) /**< the first is never taken */

enum pb_core_stop_kind {
	PB_CORE_STOP_NONE = 0,
	PB_CORE_STOP_PREEMPT,
	PB_CORE_STOP_SUSPEND,
	PB_CORE_STOP_RESET,
};

/** What a host has asked of a queue and what has not come to its end. */
struct pb_core_stop {
	struct pb_core_queue *queue;
	uint32_t tag;
	uint32_t cutoff;
	uint32_t preemption_id;
	uint32_t fence_id; /**< of RESET: the last one aborted, if any */
	uint8_t kind;      /**< enum pb_core_stop_kind */
	bool aborted;      /**< of RESET: fence_id is valid */
	bool inside;       /**< of PREEMPT: its host takes back what has begun */
};

/** Where records of the trace go. */
struct pb_core_trace {
	uint32_t enabled; /**< mask of enum pb_core_trace_bit */
	uint32_t put;     /**< of the ring: bytes, as each submission comes by */
	uint32_t mask;    /**< of a place in the records, in bytes */
	uint8_t *
		records; /**< shared, right behind their struct pb_trace_ring; NULL: the board has no room for them */
};

/** What goes into a crash record: the first words of struct pb_crash_note. */
struct pb_core_note {
	uint32_t heartbeat;
	uint32_t what;
	uint32_t value;
};

struct pb_firmware {
	const struct pb_firmware_config *config;
	struct pb_boot_block *boot;   /**< shared */
	const struct pb_lines *lines; /**< the board's */
	const uint32_t *clock;        /**< the board's */
	struct pb_core_queue *queues; /**< config->queues */
	uint32_t queue_count;
	uint32_t heartbeat;
	uint32_t incarnation;
	uint32_t stage;          /**< enum pb_boot_stage */
	uint32_t booting;        /**< as if the tick were raised, until the stage is RUNNING; then 0 */
	uint32_t awake;          /**< mask of nodes that have something to do */
	uint32_t closing;        /**< mask of channels that close */
	uint32_t first_node;     /**< whose turn it is: not 0 if a line was raised before all had theirs */
	uint32_t jobs_free;      /**< mask of jobs */
	uint32_t jobs_wanted;    /**< mask of nodes that wait for one */
	bool nodes_waited;       /**< the last pass left the nodes out */
	uint32_t channels_again; /**< mask of channels to look at in the next pass */
	uint32_t
		chores; /**< mask of channels that close, or have a segment made; looked at with channels_again */
	uint32_t wakes_pending; /**< not 0: queues wait to be told of what they wait for */
	uint32_t suspend_owed;  /**< not 0: the admin waits for the reply to a SUSPEND of the card */
	uint32_t suspend_at;    /**< while it does, and nothing runs: the next queue to be told */
	uint32_t chore_turn;    /**< the channel whose turn was last */
	struct pb_core_trace trace;
	uint32_t contexts[PB_LIMIT_CONTEXTS]; /**< PB_CORE_CONTEXT */
	uint32_t node_lines;                  /**< mask of the lines of its nodes */
	struct pb_core_node nodes[PB_LIMIT_NODES];
	struct pb_core_channel channels[PB_LIMIT_CHANNELS];
	struct pb_core_segment segments[PB_CORE_PLACES];
	struct pb_core_piece pieces[PB_CORE_PLACES];          /**< by place */
	uint32_t places_taken[PB_LIMIT_SEGMENTS_TOTAL / 32u]; /**< bit 0 is place 1 */
	uint8_t order[PB_LIMIT_SEGMENTS_TOTAL]; /**< places that have a piece, sorted by its offset */
	uint32_t piece_count;
	struct pb_patch_format
		formats[PB_LIMIT_FORMATS_TOTAL]; /**< of all channels; not taken while mask is 0 */
	/** By channel and number of its own: place in `formats` plus 1; 0: none. */
	uint8_t format_of[PB_LIMIT_CHANNELS][PB_LIMIT_FORMATS_OWN];
	struct pb_core_patched patched[PB_LIMIT_PATCHED]; /**< by cookie */
	uint32_t patched_end;                             /**< places from here on were never taken */
	uint16_t free_queues; /**< first of those that are free, linked by `next` */
	uint16_t waking;      /**< the queue whose waiters are looked at, or PB_CORE_NO_QUEUE */
	uint16_t waking_last; /**< the last of them to look at */
	uint32_t wakes_put;   /**< into `wakes` */
	uint32_t wakes_get;
	uint16_t wakes[PB_LIMIT_WAKES]; /**< queues with PB_CORE_QUEUE_WAKES, as long as there is room */
	bool wakes_lost;                /**< there was none: all queues are to be looked at */
	uint16_t wakes_at;              /**< the next of all */
	uint32_t unparked;              /**< counts queues that ceased to wait */
	bool suspended;                 /**< the whole card is, or is about to be */
	uint32_t suspend_tag;           /**< its tag */
	uint32_t moderated; /**< mask of channels whose completions are held back from an interrupt */
	struct pb_core_stop stops[PB_LIMIT_STOPS];
	uint32_t stops_free;
	uint32_t channels_stopping; /**< channels that have a stop under way */
	uint32_t ticks;             /**< for the telemetry, as are those below */
	uint32_t drops;             /**< events that found no room */
	uint32_t channel_faults;
	uint32_t queued_at; /**< the next queue whose descriptors are counted */
	struct pb_core_job jobs[PB_LIMIT_JOBS];
	uint32_t note_count; /**< notes since boot */
	struct pb_core_note notes[PB_CRASH_NOTES];
};

/** Address of an offset in card memory. */
static inline void *pb_core_at(const struct pb_firmware *firmware, uint32_t offset)
{
	return firmware->config->memory + offset;
}

/** A channel's segment. One that the channel does not have has size 0. */
/*@
  requires \valid(firmware) && \valid_read(channel);
  requires id < PB_LIMIT_SEGMENTS ==> channel->segment_of[id] < PB_CORE_PLACES;
  assigns \result \from firmware, channel, id;
  ensures \result == firmware->segments + (id < PB_LIMIT_SEGMENTS ? channel->segment_of[id] : 0);
*/
static inline struct pb_core_segment *pb_core_segment_of(struct pb_firmware *firmware,
							 const struct pb_core_channel *channel, uint32_t id)
{
	return &firmware->segments[id < PB_LIMIT_SEGMENTS ? channel->segment_of[id] : 0];
}

/** Two words as one number. */
/*@
  assigns \nothing;
  ensures \result == low + 0x100000000 * high;
*/
static inline uint64_t pb_core_wide(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

#endif
