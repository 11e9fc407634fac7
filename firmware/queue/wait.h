/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Waits of one queue for a timeline value of another, and how they end. All
 * from private memory: a queue that waits stands in the ring of waiters of the
 * other one, in no node's lists, and costs nothing until that one makes
 * progress. The owner of struct pb_core_wakes, struct pb_core_walk and of
 * pb_core_queue.awaits and awaited; main loop only.
 */
#ifndef PB_FIRMWARE_QUEUE_WAIT_H
#define PB_FIRMWARE_QUEUE_WAIT_H

#include "firmware/limits.h"
#include "firmware/queue_record.h"
#include "patchbay/abi/errors.h"

struct pb_firmware;
struct pb_core_node;

/** The state of this module: queues whose waiters are to be checked. */
struct pb_core_wakes {
	uint16_t waking;    /**< the queue whose waiters are being checked, or PB_CORE_NO_QUEUE */
	uint16_t last;      /**< the last of those waiters to check */
	uint16_t search_at; /**< while `lost`: the next queue to check */
	bool lost;          /**< `at` was full once: all queues are to be searched for PB_CORE_QUEUE_WAKES */
	uint32_t put;       /**< into `at` */
	uint32_t get;       /**< from `at` */
	uint32_t unparked;  /**< counts queues that ceased to wait */
	uint16_t at[PB_LIMIT_WAKES]; /**< queues with PB_CORE_QUEUE_WAKES, as long as there was room */
};

/** A member of a node's record: the search for a cycle of waits that one of its queues may have closed. */
struct pb_core_walk {
	struct pb_core_queue *queue; /**< the queue that has begun to wait; NULL: no search is under way */
	uint32_t unparked;           /**< pb_core_wakes.unparked when the search began */
	uint16_t at;                 /**< the queue that the search has reached */
};

/** What a slice of the search for a cycle found. */
enum pb_core_walk_result {
	PB_CORE_WALK_MORE = 0,  /**< the search goes on */
	PB_CORE_WALK_FREE = 1,  /**< there is no cycle */
	PB_CORE_WALK_CYCLE = 2, /**< the queue waits no longer: its submission is to fail with DEADLOCK */
};

/** No queue waits. Once, at boot. */
void pb_core_wait_boot(struct pb_core_wakes *wakes);
/** Resets what this module keeps of a queue that begins its life. */
void pb_core_wait_init(struct pb_core_queue *queue);
/**
 * Checks the waits of a submission, up to the first that is not over.
 * @param parked set to whether the queue waits now: it has no timeslice then, and the result is OK
 * @return OK, BAD_WAIT, DEP_FAILED or DEADLOCK
 */
enum pb_error pb_core_wait(struct pb_firmware *firmware, struct pb_core_queue *queue,
			   const struct pb_descriptor *descriptor, uint32_t count, bool *parked);
/** Ends a queue's wait, whatever it waits for. Nothing happens if it does not wait. */
void pb_core_wait_leave(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** A queue has made progress, or never will: has its waiters checked, from the next pass on. */
void pb_core_wait_wake(struct pb_firmware *firmware, struct pb_core_queue *target);
/** Checks a slice of the waiters. Called in each pass while any are to be checked. */
void pb_core_wait_step(struct pb_firmware *firmware);
/** A closing queue has nothing in flight: drains it, unless other queues still wait for it; then the last wake does. */
void pb_core_wait_drain(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Whether other queues wait for the queue, or are just being checked for it: it cannot be freed. */
bool pb_core_wait_is_awaited(const struct pb_firmware *firmware, const struct pb_core_queue *queue);
/** Follows a slice of the chain of waits that a node's queue has begun. Pre: node->walk.queue is not NULL. */
enum pb_core_walk_result pb_core_wait_walk(struct pb_firmware *firmware, struct pb_core_node *node);

#endif
