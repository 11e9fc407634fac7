/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The queues of a node that are ready: a list for each priority and channel,
 * and which of them are held. The owner of struct pb_core_ready; main loop only.
 */
#ifndef PB_FIRMWARE_QUEUE_READY_H
#define PB_FIRMWARE_QUEUE_READY_H

#include "firmware/limits.h"
#include "firmware/queue/links.h"
#include "patchbay/abi/channel.h"

/** The ready queues of one priority. */
struct pb_core_ready_level {
	uint16_t listed;    /**< mask of channels that have queues in their list */
	uint16_t ready;     /**< those of them that are not held */
	uint8_t starvation; /**< submissions of higher priorities while this one was ready, since it was charged or served because it starved */
	struct pb_core_list lists[PB_LIMIT_CHANNELS]; /**< by channel */
};

/** A member of a node's record. */
struct pb_core_ready {
	uint32_t priorities; /**< mask of priorities that are ready */
	uint32_t held;       /**< mask of channels none of whose submissions is admitted */
	uint32_t halted;     /**< those of them that a bad paging buffer halted, until RESET */
	struct pb_core_ready_level at[PB_PRIORITIES]; /**< by priority */
};

/*@
  // Whether a bit of a mask is set.
  predicate pb_core_has(integer mask, integer bit) = ((mask >> bit) & 1) == 1;
  // Every priority that is ready is one.
  predicate pb_core_ready_sound(struct pb_core_ready *ready) =
    \forall integer priority; PB_PRIORITIES <= priority < 32 ==> !pb_core_has(ready->priorities, priority);
*/

/** Empties all lists. */
void pb_core_ready_init(struct pb_core_ready *ready);
/** Puts a queue behind the others of its priority and channel. Pre: it is in no list. */
void pb_core_ready_append(struct pb_core_queue *queues, struct pb_core_ready *ready,
			  struct pb_core_queue *queue);
/** Puts a queue in front of the others of its priority and channel. Pre: it is in no list. */
void pb_core_ready_prepend(struct pb_core_queue *queues, struct pb_core_ready *ready,
			   struct pb_core_queue *queue);
/** Takes a queue out of its list. Pre: its place is LISTED. */
void pb_core_ready_remove(struct pb_core_queue *queues, struct pb_core_ready *ready,
			  struct pb_core_queue *queue);
/** Halts or releases a channel, without effect until pb_core_ready_hold(). */
void pb_core_ready_halt(struct pb_core_ready *ready, uint32_t channel, bool halted);
/** Sets which channels are held beside those that are halted. */
void pb_core_ready_hold(struct pb_core_ready *ready, uint32_t held);
/** A priority has used the engine, or is served because it starved: its count begins anew. */
/*@
  requires \valid(ready) && priority < PB_PRIORITIES;
  assigns ready->at[priority].starvation;
  ensures ready->at[priority].starvation == 0;
*/
void pb_core_ready_served(struct pb_core_ready *ready, uint32_t priority);
/** A priority that was to be served, as it starved, could not be: it is due again after few more submissions. */
void pb_core_ready_retry(struct pb_core_ready *ready, uint32_t priority);
/** Counts a submission of `priority` against every lower priority that is ready. */
/*@
  requires \valid(ready) && pb_core_ready_sound(ready) && priority < PB_PRIORITIES;
  assigns ready->at[0 .. PB_PRIORITIES - 1].starvation;
  ensures above: \forall integer i; priority <= i < PB_PRIORITIES ==>
    ready->at[i].starvation == \old(ready->at[i].starvation);
*/
void pb_core_ready_starve_below(struct pb_core_ready *ready, uint32_t priority);

/** Whether any queue may be admitted from beside the one that has the timeslice. */
static inline bool pb_core_ready_any(const struct pb_core_ready *ready)
{
	return ready->priorities != 0;
}

/** Whether a queue of a higher priority is ready. */
static inline bool pb_core_ready_above(const struct pb_core_ready *ready, uint32_t priority)
{
	return ready->priorities >> priority > 1u;
}

/** Whether a channel has queues in its list of a priority, held or not. */
static inline bool pb_core_ready_lists(const struct pb_core_ready *ready, uint32_t priority, uint32_t channel)
{
	return (ready->at[priority].listed >> channel & 1u) != 0;
}

/** Whether a bad paging buffer halted the channel on this node. */
static inline bool pb_core_ready_is_halted(const struct pb_core_ready *ready, uint32_t channel)
{
	return (ready->halted >> channel & 1u) != 0;
}

#endif
