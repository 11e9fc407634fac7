/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The host library: attach to a card, make segments, contexts and queues,
 * submit DMA buffers with their lists, wait for fences.
 *
 * All structs are the caller's and live at a fixed address while in use. No
 * heap, no operating system, no lock: one channel is used by one thread at a
 * time. What the firmware writes is foreign: it is read once and range-checked,
 * and PB_ERROR_PROTOCOL says that it made no sense.
 *
 * Every function that talks to the card may also return
 *   PB_ERROR_FIRMWARE_DEAD  it stopped or was restarted (pb_card_state says more)
 *   PB_ERROR_NO_CARD        the link is gone
 *   PB_ERROR_DETACHED       the channel was closed from the other side, or faulted
 *   PB_ERROR_PROTOCOL       see above
 */
#ifndef PB_HOST_PATCHBAY_H
#define PB_HOST_PATCHBAY_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/abi/boot.h"
#include "firmware/abi/channel.h"
#include "firmware/abi/errors.h"
#include "firmware/abi/patch.h"
#include "firmware/abi/submission.h"
#include "host/link.h"

/** Capabilities that the library keeps: keys below this. */
#define PB_CAPABILITY_KEYS 32u
/** How long a control command may take before it counts as lost, in microseconds. */
#define PB_COMMAND_TIMEOUT_US 5000000u

/** Name of an error, such as "PATCH_RANGE"; "?" for a number not in the list. */
const char *pb_error_name(uint32_t error);
/** What it means, in one phrase. */
const char *pb_error_meaning(uint32_t error);
/** Name of a boot stage, waypoint, event type or capability; "?" for an unknown number. */
const char *pb_boot_stage_name(uint32_t stage);
const char *pb_waypoint_name(uint32_t waypoint);
const char *pb_event_name(uint32_t type);
const char *pb_capability_name(uint32_t key);
/** Name of enum pb_format_reason, such as "SHIFT"; "?" for a number not in the list. */
const char *pb_format_reason_name(uint32_t reason);
/** What it means, in one phrase. */
const char *pb_format_reason_meaning(uint32_t reason);

/* ---- card.c: what can be read with no command ---- */

/** Snapshot of a card's boot block, checked. */
struct pb_card_info {
	uint32_t abi_version;
	uint32_t memory_bytes;
	uint32_t channel_directory_offset;
	uint32_t channel_count;
	char build[33];                            /**< zero-terminated, printable */
	uint32_t capabilities[PB_CAPABILITY_KEYS]; /**< by key; 0 where the card names none */
	uint32_t boot_stage;                       /**< enum pb_boot_stage */
	uint32_t waypoint;                         /**< enum pb_waypoint */
	uint32_t heartbeat;
	uint32_t incarnation;
	uint32_t mcu_state; /**< enum pb_mcu_state */
	uint32_t mcu_deaths;
	uint32_t dead_stage;
	uint32_t dead_waypoint;
	struct pb_fatal_record fatal;
};

/**
 * Reads the boot block.
 * @retval PB_ERROR_NO_CARD no firmware has ever come up in this memory
 * @retval PB_ERROR_BAD_VERSION of another major version; only abi_version is filled in
 * @retval PB_ERROR_PROTOCOL an offset or count in it is out of range
 */
enum pb_error pb_card_read(const struct pb_link *link, struct pb_card_info *info);

/* ---- channel.c: attach, commands, events ---- */

/** A host's side of one channel. */
struct pb_channel {
	struct pb_link *link;
	struct pb_card_info card;       /**< as read when it attached */
	struct pb_channel_entry *entry; /**< in card memory */
	uint32_t epoch;                 /**< of this attachment */
	uint32_t control_offset;
	uint32_t reply_offset;
	uint32_t kick_offset;
	uint32_t event_offset;
	uint32_t control_entries;
	uint32_t kick_entries;
	uint32_t event_entries;
	uint32_t control_put;
	uint32_t reply_get;
	uint32_t kick_put;
	uint32_t rescan;
	uint32_t event_get;
	uint32_t next_tag;
	bool attached;
};

/**
 * Waits for the firmware to run, checks its version, and attaches. Whatever
 * this channel had before is drained and freed first. It also waits while the
 * card starts dead firmware again.
 * @param timeout_us for all of it
 * @retval PB_ERROR_FIRMWARE_DEAD it stopped: returned at once if nobody starts it again, else at the
 *   end of the time given
 * @retval PB_ERROR_BAD_VERSION firmware and library do not fit; card.abi_version has the firmware's
 * @retval PB_ERROR_TIMEOUT it does not answer; card.boot_stage has how far it came
 */
enum pb_error pb_channel_attach(struct pb_channel *channel, struct pb_link *link, uint64_t timeout_us);

/** Gives everything back. Does not close the link. */
enum pb_error pb_channel_detach(struct pb_channel *channel);

/**
 * Whether the firmware still is the one that the channel attached to.
 * @retval PB_ERROR_OK it is
 * @retval PB_ERROR_FIRMWARE_DEAD it is not; `now`, if not NULL, says what is known
 */
enum pb_error pb_channel_check(const struct pb_channel *channel, struct pb_card_info *now);

/**
 * Carries out one control command and waits for its reply.
 * @param arguments PB_COMMAND_ARGUMENTS words
 * @param results NULL or PB_REPLY_RESULTS words, filled in by any reply, one with an error too
 * @return the reply's error, or one of the library's
 */
enum pb_error pb_channel_command(struct pb_channel *channel, uint32_t code, const uint32_t *arguments,
				 uint32_t *results);

/** Takes the oldest unread event. @return false: there is none. */
bool pb_channel_event(struct pb_channel *channel, struct pb_event *event);

/* ---- segment.c: segments and an allocator in each ---- */

/** What to ask for. */
struct pb_segment_request {
	uint32_t id;            /**< 0: contiguous system memory */
	uint64_t os_base;       /**< first address as the OS and the lists name it */
	uint64_t gpu_base;      /**< first address as the engine sees it */
	uint64_t size;          /**< bytes of address space, multiple of 4 KiB */
	uint32_t backing_bytes; /**< bytes of memory behind its start, multiple of 4 KiB; may be 0 */
	uint32_t kind;          /**< enum pb_segment_kind; an aperture has no backing of its own */
};

/** Extents that one segment's allocator can hold. */
#define PB_SEGMENT_EXTENTS 128u

/** A segment and its free list. */
struct pb_segment {
	struct pb_channel *channel;
	struct pb_segment_request request;
	uint32_t memory_offset; /**< where the backing lies in card memory */
	uint32_t extent_count;
	struct {
		uint32_t offset;
		uint32_t bytes;
	} extents[PB_SEGMENT_EXTENTS]; /**< allocated parts of the backing, sorted */
};

/** A piece of a segment's backing memory. */
struct pb_memory {
	struct pb_segment *segment;
	uint32_t offset; /**< from the segment's start, multiple of 64 */
	uint32_t bytes;
	uint64_t os_address; /**< for lists and descriptors */
	uint8_t *bytes_host; /**< where the host sees it; foreign: others may write here */
};

enum pb_error pb_segment_create(struct pb_segment *segment, struct pb_channel *channel,
				const struct pb_segment_request *request);
enum pb_error pb_segment_destroy(struct pb_segment *segment);
/**
 * First fit. @param alignment power of two, at least 64
 * @retval PB_ERROR_NO_SPACE no free run is long enough, or all extents are taken
 */
enum pb_error pb_memory_allocate(struct pb_segment *segment, uint32_t bytes, uint32_t alignment,
				 struct pb_memory *memory);
/** The piece must come from pb_memory_allocate and be used by no submission. */
void pb_memory_free(struct pb_memory *memory);

/* ---- queue.c: contexts, queues, submissions, fences ---- */

enum pb_error pb_context_create(struct pb_channel *channel, uint32_t *context);
enum pb_error pb_context_destroy(struct pb_channel *channel, uint32_t context);
/** Lets a context that an error lost work again. */
enum pb_error pb_context_clear(struct pb_channel *channel, uint32_t context);

/** A host's side of one queue. */
struct pb_queue {
	struct pb_channel *channel;
	struct pb_memory memory; /**< queue page and ring */
	uint32_t handle;
	uint32_t entries;
	uint32_t put;
	uint32_t completed; /**< the last that was read */
	uint64_t timeline;  /**< of the last descriptor submitted */
};

/** A fence record, read whole. */
struct pb_fence {
	uint32_t completed; /**< submissions done since the queue was made */
	uint64_t timeline;
	uint32_t fence_id;
	uint32_t status; /**< enum pb_error of the last completed submission */
	bool valid;      /**< anything has completed */
	uint64_t patches; /**< carried out in completed work of the whole channel since it attached */
	uint32_t error; /**< first one since made or cleared */
	uint32_t error_fence_id;
	uint32_t error_index;
	uint32_t errors;
};

/** @param entries power of two, within the card's capabilities; @param system segment 0 of the channel */
enum pb_error pb_queue_create(struct pb_queue *queue, struct pb_channel *channel, struct pb_segment *system,
			      uint32_t node, uint32_t entries);
/** Returns when the queue's last work has left its node. Frees its memory. */
enum pb_error pb_queue_destroy(struct pb_queue *queue);
/**
 * Writes one descriptor, kicks, and rings. Never blocks.
 * descriptor->timeline_* 0 means "the next": one more than the last one's.
 * @retval PB_ERROR_NO_SPACE the ring is full: wait for a fence first
 */
enum pb_error pb_queue_submit(struct pb_queue *queue, const struct pb_descriptor *descriptor);
/**
 * How many submissions are done, without waiting: for an interrupt routine.
 * What they did to memory, and the events that they raised, are visible.
 */
enum pb_error pb_queue_completed(struct pb_queue *queue, uint32_t *completed);
/** Reads the fence record. */
enum pb_error pb_queue_fence(struct pb_queue *queue, struct pb_fence *fence);
/**
 * Waits until the queue's timeline has reached a value.
 * @param fence NULL, or the record as it was then
 * @retval PB_ERROR_TIMEOUT it has not
 */
enum pb_error pb_queue_wait(struct pb_queue *queue, uint64_t timeline, uint64_t timeout_us,
			    struct pb_fence *fence);
/** Acknowledges the record's first error. */
enum pb_error pb_queue_clear(struct pb_queue *queue);

#endif
