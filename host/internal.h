/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Declarations that the files of the host library share. Not a public header.
 */
#ifndef PB_HOST_INTERNAL_H
#define PB_HOST_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/shared.h"
#include "hal/shared_copy.h"
#include "patchbay/patchbay.h"

/** Returns whether a link is an observer's: it has no channel of its own and may not write card memory. */
static inline bool pb_observes(const struct pb_link *link)
{
	return link->ops->ask != NULL;
}

/**
 * Longest single wait on the link, in microseconds: the cost of a lost interrupt, and the period of heartbeat checks.
 */
#define PB_WAIT_SLICE_US 2000u
/** Longest single wait before a channel is open, when no interrupt comes; in microseconds. */
#define PB_ATTACH_SLICE_US 1000u

/** Returns the address of a byte of card memory. Pre: the offset is in range. */
static inline void *pb_at(const struct pb_link *link, uint32_t offset)
{
	return link->memory + offset;
}

/** Returns where the host sees a byte of a segment's backing memory. Pre: the offset is in range. */
static inline void *pb_segment_byte(const struct pb_segment *segment, uint32_t offset)
{
	if (segment->host_memory != NULL)
		return segment->host_memory + offset;
	return pb_at(segment->channel->link, segment->memory_offset + offset);
}

/**
 * Updates a link's copy of card memory, if it has one. Called before reads for which the caller may not have waited.
 */
static inline enum pb_error pb_refresh(struct pb_link *link)
{
	return link->ops->refresh != NULL ? link->ops->refresh(link) : PB_ERROR_OK;
}

/** Takes a short lock. @param lock NULL: one thread uses what it protects */
static inline void pb_lock(struct pb_lock *lock)
{
	if (lock != NULL)
		lock->acquire(lock);
}

/** Releases a short lock. @param lock as for pb_lock() */
static inline void pb_unlock(struct pb_lock *lock)
{
	if (lock != NULL)
		lock->release(lock);
}

/** Returns the lock of a channel's control ring, reply ring and unfinished commands; NULL: there is none. */
static inline struct pb_lock *pb_command_lock(const struct pb_channel *channel)
{
	return channel->link->locks != NULL ? channel->link->locks->commands : NULL;
}

/** Returns the lock of a channel's event ring; NULL: there is none. */
static inline struct pb_lock *pb_event_lock(const struct pb_channel *channel)
{
	return channel->link->locks != NULL ? channel->link->locks->events : NULL;
}

/** Returns whether a range lies in card memory and starts on a word. */
static inline bool pb_inside(const struct pb_link *link, uint32_t offset, uint64_t bytes)
{
	return offset % sizeof(uint32_t) == 0 && offset + bytes <= link->memory_bytes;
}

/** Returns whether a value is a power of two. */
static inline bool pb_is_power_of_two(uint32_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

/** Reads the words of the boot block that change while the firmware runs. Pre: the block lies in card memory. */
void pb_card_state(const struct pb_link *link, struct pb_card_info *info);

/** Returns the time timeout_us from now on the link's clock; saturates. */
uint64_t pb_deadline(struct pb_link *link, uint64_t timeout_us);
/**
 * Waits once for an interrupt, for at most slice_us and not beyond the deadline.
 * @retval PB_ERROR_OK read shared memory again
 * @retval PB_ERROR_TIMEOUT the deadline had passed before the call
 */
enum pb_error pb_pause(struct pb_link *link, uint64_t deadline, uint64_t slice_us);

/**
 * Checks as pb_channel_check() and pb_channel_watch() that the channel can be used and the main loop makes progress.
 */
enum pb_error pb_alive(const struct pb_channel *channel);

/**
 * Returns the error to report after shared memory held invalid values: that of pb_channel_check() if the firmware is
 * gone, because a dead or restarted firmware explains such values; else `error`.
 */
enum pb_error pb_diagnose(const struct pb_channel *channel, enum pb_error error);

/**
 * Checks that the channel's memory still belonged to this attachment when it was read. Pre: a barrier stands between
 * those reads and the call. After a reboot or a close another host may use the memory, with plausible records in it.
 * Firmware that died without a reboot leaves the memory unchanged.
 */
enum pb_error pb_still_owns(const struct pb_channel *channel);

/**
 * Converts an error number that the firmware wrote. PB_ERROR_OK, unknown numbers and the library's own numbers, which
 * would mislead the caller, become PB_ERROR_PROTOCOL.
 */
enum pb_error pb_foreign_error(uint32_t number);

/** Executes a command of up to two arguments and without results, as pb_channel_command(). */
enum pb_error pb_command_about(struct pb_channel *channel, uint32_t code, uint32_t first, uint32_t second);

/** Returns the queue's page in card memory. */
static inline struct pb_queue_page *pb_queue_page(const struct pb_queue *queue)
{
	return (struct pb_queue_page *)(void *)queue->memory.bytes_host;
}

/**
 * Tries a few times to copy a record of one line that starts with its seqlock sequence. Never blocks.
 * @retval PB_ERROR_TIMEOUT each attempt met a write: call again
 */
enum pb_error pb_try_record(const struct pb_queue *queue, const void *shared, void *record);
/**
 * Calls `read` until it returns something other than PB_ERROR_TIMEOUT, because a record was half written. Waits in
 * between; the caller holds no short lock.
 * @retval PB_ERROR_PROTOCOL the record stayed half written for 100 ms
 */
enum pb_error pb_patiently(struct pb_queue *queue, enum pb_error (*read)(struct pb_queue *queue, void *out),
			   void *out);
/**
 * Reads both indices of a queue at one time. Never blocks.
 * @param put out: descriptors written
 * @param completed out: as pb_queue_completed()
 */
enum pb_error pb_queue_indices(struct pb_queue *queue, uint32_t *put, uint32_t *completed);
/** Reads the fence record as pb_queue_fence_now(). Pre: the caller holds the queue's lock; the channel is attached. */
enum pb_error pb_queue_read_fence(struct pb_queue *queue, struct pb_fence *fence);

/** What a submission did to its queue, for the trace of the host. */
struct pb_submitted {
	uint64_t value;     /**< timeline value */
	uint32_t index;     /**< of the descriptor */
	uint32_t before;    /**< consumer index known before the submission */
	uint32_t completed; /**< consumer index that the submission has read */
};

/** Notes that the consumer index has moved, if the link is traced. Pre: the caller holds no short lock. */
void pb_note_seen(const struct pb_queue *queue, uint32_t before, uint32_t completed);
/**
 * Notes a submission. Pre: the link is traced; the caller holds no short lock.
 * @param time_us when it began, on the link's clock
 */
void pb_note_submitted(const struct pb_queue *queue, uint32_t fence_id, uint64_t time_us,
		       const struct pb_submitted *submitted);

#endif
