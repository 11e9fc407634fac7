/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Waits of one queue for a timeline value of another of its channel, and how
 * they end. All from private memory: a queue that waits stands in a ring of
 * waiters of the other one, in no node's lists, and costs nothing until that
 * one makes progress. Then all its waiters move, at once, to the channel's ring
 * of waiters to check. Channels take turns with their checks, so that none is
 * kept waiting by what others do. The owner of struct pb_core_wakes, struct
 * pb_core_checks and of pb_core_queue.awaits and awaited; main loop only.
 */
#ifndef PB_FIRMWARE_QUEUE_WAIT_H
#define PB_FIRMWARE_QUEUE_WAIT_H

#include "firmware/limits.h"
#include "firmware/queue_record.h"
#include "patchbay/abi/errors.h"

struct pb_firmware;

/** The state of this module: whose turn it is. */
struct pb_core_wakes {
	uint32_t channels; /**< channels that have waiters to check, or a search for a cycle */
	uint32_t last;     /**< the channel that had its slice last */
};

/** A member of a channel's record. */
struct pb_core_checks {
	uint16_t
		first; /**< of the ring of waiters to check, or PB_CORE_NO_QUEUE; those of one target stand one behind the other */
};

/** No queue waits. Once, at boot. */
void pb_core_wait_boot(struct pb_firmware *firmware);
/** Resets what this module keeps of a queue that begins its life. */
void pb_core_wait_init(struct pb_core_queue *queue);
/**
 * Checks the waits of a submission, up to the first that is not over.
 * @param parked set to whether the queue waits now: it has no timeslice then, and the result is OK
 * @return OK, BAD_WAIT, DEP_FAILED or DEADLOCK
 */
enum pb_error pb_core_wait(struct pb_firmware *firmware, struct pb_core_queue *queue,
			   const struct pb_descriptor *descriptor, uint32_t count, bool *parked);
/** Ends a queue's wait, whatever it waits for. Nothing happens if it does not wait. May drain a closing queue that it waited for. */
void pb_core_wait_leave(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** A queue has made progress, or never will: has its waiters checked, from the next pass on. Takes the same time for any number of them. */
void pb_core_wait_wake(struct pb_firmware *firmware, struct pb_core_queue *target);
/**
 * Gives PB_PASS_WAITS slices to channels, in turn, that have waiters to check or a search for a cycle. Called in each
 * pass while there are any.
 */
void pb_core_wait_step(struct pb_firmware *firmware);
/** A closing queue has nothing in flight: drains it, unless other queues still wait for it; then the last of those does. */
void pb_core_wait_drain(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Whether other queues wait for the queue: it cannot be freed. */
bool pb_core_wait_is_awaited(const struct pb_core_queue *queue);

#endif
