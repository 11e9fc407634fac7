/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the files of the host library share and nobody else includes.
 */
#ifndef PB_HOST_INTERNAL_H
#define PB_HOST_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/shared.h"
#include "hal/shared_copy.h"
#include "host/patchbay.h"

/** Longest single wait on the link: what a lost interrupt costs, and how often the heartbeat is looked at. */
#define PB_WAIT_SLICE_US 2000u
/** The same while nothing interrupts: before a channel is open. */
#define PB_ATTACH_SLICE_US 1000u

/** Address of a byte of card memory; the caller has checked the offset. */
static inline void *pb_at(const struct pb_link *link, uint32_t offset)
{
	return link->memory + offset;
}

/** Called where a caller may poll: what is read next is not old. @return errors of look */
static inline enum pb_error pb_look(struct pb_link *link)
{
	return link->ops->look != NULL ? link->ops->look(link) : PB_ERROR_OK;
}

/** Whether a range of card memory is there and its words are aligned. */
static inline bool pb_inside(const struct pb_link *link, uint32_t offset, uint64_t bytes)
{
	return offset % sizeof(uint32_t) == 0 && offset + bytes <= link->memory_bytes;
}

static inline bool pb_is_power_of_two(uint32_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

/** Reads the lines of the boot block that change while the firmware runs; the block is inside the memory. */
void pb_card_state(const struct pb_link *link, struct pb_card_info *info);

/** The moment timeout_us from now. */
uint64_t pb_deadline(struct pb_link *link, uint64_t timeout_us);
/**
 * Waits once, at most slice_us and not beyond the deadline.
 * @retval PB_ERROR_OK look again
 * @retval PB_ERROR_TIMEOUT the deadline was over before the call
 */
enum pb_error pb_pause(struct pb_link *link, uint64_t deadline, uint64_t slice_us);

/** Whether the channel is attached, its firmware is the one it attached to, and the main loop still turns. */
enum pb_error pb_alive(const struct pb_channel *channel);

/**
 * The error to report where the firmware's words made no sense: a firmware
 * that is gone explains more than what it, or its successor, left there.
 */
enum pb_error pb_blame(const struct pb_channel *channel, enum pb_error error);

/**
 * Whether what was read of the channel's memory, before a barrier, was its own. After a reboot, or when the channel has
 * been closed, another host may have it, with records that look just right. A firmware that only died leaves it as it is.
 */
enum pb_error pb_still_owns(const struct pb_channel *channel);

/**
 * An error number that the firmware wrote and calls a failure. It has no
 * business with the library's own numbers: they would mislead the caller.
 */
enum pb_error pb_foreign_error(uint32_t number);

/** Waits for the reply of a command that was begun. @retval PB_ERROR_TIMEOUT it is still pending */
enum pb_error pb_channel_await(struct pb_channel *channel, uint32_t tag, uint32_t *results);
/** A command of up to two arguments without results. */
enum pb_error pb_command_about(struct pb_channel *channel, uint32_t code, uint32_t first, uint32_t second);

/** The queue's page in card memory. */
static inline struct pb_queue_page *pb_queue_page(const struct pb_queue *queue)
{
	return (struct pb_queue_page *)(void *)queue->memory.bytes_host;
}

/** Reads a seqlock record of one line, its sequence first, whole. */
enum pb_error pb_read_record(const struct pb_queue *queue, const void *shared, void *record);

#endif
