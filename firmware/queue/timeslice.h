/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The timeslice of a node: which queue has it, and how much of it is used. The
 * owner of struct pb_core_timeslice; main loop only.
 */
#ifndef PB_FIRMWARE_QUEUE_TIMESLICE_H
#define PB_FIRMWARE_QUEUE_TIMESLICE_H

#include "firmware/queue_record.h"

struct pb_firmware;
struct pb_core_node;

/** A member of a node's record. */
struct pb_core_timeslice {
	/* Both are written at once when a timeslice begins: together they take one instruction. */
	struct pb_core_queue *current; /**< the queue that has the timeslice; NULL: none */
	uint32_t used;                 /**< microseconds of engine time in the current timeslice */
	const struct pb_core_queue
		*expired; /**< its timeslice is used up, and the engine stops for that; else NULL */
	bool protect; /**< the next submission admitted is protected from preemption: its priority starved */
};

/** Starts the queue's timeslice. Pre: the queue is in no list. */
void pb_core_timeslice_begin(struct pb_core_timeslice *slice, struct pb_core_queue *queue);
/** Starts the timeslice of the first queue in a ready list. Pre: the list is not empty, and no queue has the timeslice. */
struct pb_core_queue *pb_core_timeslice_pick(struct pb_firmware *firmware, struct pb_core_node *node,
					     uint32_t priority, uint32_t channel);
/** Ends the current timeslice: its queue has nothing to admit. */
void pb_core_timeslice_end(struct pb_core_timeslice *slice);
/** Takes a queue from its ready list, or its timeslice from it; it is in no list then, unless it waits for another queue. */
void pb_core_timeslice_remove(struct pb_firmware *firmware, struct pb_core_node *node,
			      struct pb_core_queue *queue);

/** Charges engine time to the current timeslice. */
static inline void pb_core_timeslice_charge(struct pb_core_timeslice *slice, uint32_t microseconds)
{
	slice->used += microseconds;
}

/** The queue's timeslice is used up: the engine is about to stop for that. @param used microseconds of it */
static inline void pb_core_timeslice_expire(struct pb_core_timeslice *slice,
					    const struct pb_core_queue *queue, uint32_t used)
{
	if (queue == slice->current)
		slice->used = used;
	slice->expired = queue;
}

/** The engine has stopped: no timeslice expires any more. */
static inline void pb_core_timeslice_settle(struct pb_core_timeslice *slice)
{
	slice->expired = NULL;
}

/** Has the next submission protected. */
/*@
  requires \valid(slice);
  assigns slice->protect;
  ensures slice->protect;
*/
static inline void pb_core_timeslice_protect(struct pb_core_timeslice *slice)
{
	slice->protect = true;
}

/**
 * Claims whether the submission being admitted is protected. Only that of the queue which has the timeslice is: what is
 * admitted meanwhile, as that queue waits for a job, leaves it its protection.
 */
static inline bool pb_core_timeslice_claim_protect(struct pb_core_timeslice *slice,
						   const struct pb_core_queue *queue)
{
	const bool protect = slice->protect && queue == slice->current;

	if (protect)
		slice->protect = false;
	return protect;
}

#endif
