/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The search for cycles of waits among the queues of one channel. Each queue
 * waits for at most one other, so that its waits are a chain; it has closed a
 * cycle if the chain leads back to it, along values that were not submitted
 * when their queues began to wait. The queues of a cycle wait for ever, so that
 * a search that begins later finds it, whatever other queues do meanwhile. The
 * owner of struct pb_core_deadlock; main loop only.
 */
#ifndef PB_FIRMWARE_QUEUE_DEADLOCK_H
#define PB_FIRMWARE_QUEUE_DEADLOCK_H

#include "firmware/queue_record.h"

struct pb_firmware;

/** A member of a channel's record: one search at a time. */
struct pb_core_deadlock {
	uint16_t
		from; /**< the queue that may have closed a cycle; PB_CORE_NO_QUEUE: no search is under way */
	uint16_t at;  /**< the queue that the search has reached */
	uint16_t left; /**< steps of this round after which there is no cycle */
	uint16_t next; /**< queues with PB_CORE_QUEUE_NEXT */
	bool second;   /**< the search has come back to `from` once */
	bool closed;   /**< no queue becomes one of the next until the searches of those have begun */
};

/** No search is under way. Once, at boot. */
void pb_core_deadlock_boot(struct pb_core_deadlock *search);
/** Whether a queue that begins to wait for `value` of `target` may close a cycle: it is awaited, and `target` waits before that value. */
bool pb_core_deadlock_is_suspect(const struct pb_core_queue *queue, const struct pb_core_queue *target,
				 uint64_t value);
/**
 * Begins the search from a queue that waits and may have closed a cycle, if it is the queue's turn. A queue that asks
 * again and again has its turn, whatever other queues do.
 * @return false: not yet
 */
bool pb_core_deadlock_begin(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Takes up to PB_SLICE_CHAIN steps of the search. Pre: one is under way. @return the queue that has closed a cycle, or NULL */
struct pb_core_queue *pb_core_deadlock_step(struct pb_firmware *firmware, struct pb_core_deadlock *search);
/** The queue waits no longer: ends the search that began from it, or was to begin. */
void pb_core_deadlock_leave(struct pb_firmware *firmware, struct pb_core_queue *queue);

/** Whether a search is under way. */
static inline bool pb_core_deadlock_searches(const struct pb_core_deadlock *search)
{
	return search->from != PB_CORE_NO_QUEUE;
}

#endif
