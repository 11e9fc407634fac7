/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How far each queue's descriptor ring has been read, admitted and completed,
 * and how many submissions of a queue and of a channel are in flight. The owner
 * of pb_core_queue.put, completed, timeline, reached, in_flight and prepared,
 * and of struct pb_core_usage; main loop only.
 */
#ifndef PB_FIRMWARE_QUEUE_RING_H
#define PB_FIRMWARE_QUEUE_RING_H

#include "firmware/compiler.h"
#include "firmware/queue_record.h"
#include "patchbay/abi/channel.h"

/** What a channel has admitted: a member of its record. */
struct pb_core_usage {
	uint32_t in_flight; /**< submissions admitted and not retired */
	uint64_t
		patches; /**< carried out in submissions that completed or were recalled, since the channel was attached */
};

/*@
  predicate pb_core_ring_holds(struct pb_core_queue *queue) =
    queue->in_flight <= (uint32_t)(queue->put - queue->completed) <= queue->mask + 1;
*/

/** Whether the ring holds descriptors that were not admitted. */
/*@
  requires \valid_read(queue);
  assigns \nothing;
  ensures \result <==> (uint32_t)(queue->put - queue->completed) != queue->in_flight;
*/
static PB_CORE_INLINE bool pb_core_ring_has_more(const struct pb_core_queue *queue)
{
	return queue->put != queue->completed + queue->in_flight;
}

/** Whether a put index that the host wrote moved back, or lies beyond the ring. */
/*@
  requires \valid_read(queue) && pb_core_ring_holds(queue);
  assigns \nothing;
  ensures forward: \result <==> (uint32_t)(put - queue->put) >
    queue->mask + 1 - (uint32_t)(queue->put - queue->completed);
  ensures still_holds: !\result ==> queue->in_flight <= (uint32_t)(put - queue->completed) <= queue->mask + 1;
*/
static inline bool pb_core_ring_put_is_bad(const struct pb_core_queue *queue, uint32_t put)
{
	return put - queue->put > queue->mask + 1u - (queue->put - queue->completed);
}

/** Index of the next descriptor to admit. */
static inline uint32_t pb_core_ring_next(const struct pb_core_queue *queue)
{
	return queue->completed + queue->in_flight;
}

/** How many submissions before a cutoff have not completed. */
/*@
  requires \valid_read(queue);
  assigns \nothing;
  ensures \result <= queue->mask + 1;
  ensures (uint32_t)(cutoff - queue->completed) <= queue->mask + 1 ==>
    (uint32_t)(queue->completed + \result) == cutoff;
  ensures (uint32_t)(cutoff - queue->completed) > queue->mask + 1 ==> \result == 0;
*/
static inline uint32_t pb_core_ring_before(const struct pb_core_queue *queue, uint32_t cutoff)
{
	const uint32_t count = cutoff - queue->completed;

	return count > queue->mask + 1u ? 0 : count; /* or the queue has completed beyond the cutoff */
}

/** Accepts a put index. Pre: pb_core_ring_put_is_bad() is false for the index. */
static inline void pb_core_ring_accept_put(struct pb_core_queue *queue, uint32_t put)
{
	queue->put = put;
}

/** Counts the queue's next descriptor as admitted. */
static inline void pb_core_ring_admit(struct pb_core_queue *queue, struct pb_core_usage *usage)
{
	queue->in_flight++;
	usage->in_flight++;
}

/** A submission is not in flight any more: it completes, or its descriptor is to be read again. */
static inline void pb_core_ring_release(struct pb_core_queue *queue, struct pb_core_usage *usage)
{
	queue->in_flight--;
	usage->in_flight--;
}

/** Accepts the timeline value of a descriptor, or sets it back to that of the last submission left. */
/*@
  requires \valid(queue);
  assigns queue->timeline;
  ensures queue->timeline == timeline;
*/
static inline void pb_core_ring_set_timeline(struct pb_core_queue *queue, uint64_t timeline)
{
	queue->timeline = timeline;
}

/** Advances the queue by the submission that completed. Pre: it was released. @param reached its timeline value */
static inline void pb_core_ring_complete(struct pb_core_queue *queue, uint32_t completed, uint64_t reached)
{
	queue->completed = completed;
	queue->reached = reached;
}

/** Keeps that a recalled submission is patched. @param started it had begun: its progress is in the queue's page */
static inline void pb_core_ring_keep_prepared(struct pb_core_queue *queue, bool started)
{
	queue->prepared = (uint8_t)((queue->prepared & ~PB_CORE_QUEUE_DEADLOCK) + 1u);
	if (started)
		queue->prepared |= PB_CORE_QUEUE_STARTED;
}

/** Whether the next submission to admit was recalled: it is patched, and has waited. */
static inline bool pb_core_ring_is_prepared(const struct pb_core_queue *queue)
{
	return (queue->prepared & PB_CORE_QUEUE_PREPARED) != 0;
}

/** Whether the next submission to admit has begun. */
static inline bool pb_core_ring_is_started(const struct pb_core_queue *queue)
{
	return (queue->prepared & PB_CORE_QUEUE_STARTED) != 0;
}

/** Claims what is kept of a recalled submission that is admitted again. @return whether it had begun */
static inline bool pb_core_ring_claim_prepared(struct pb_core_queue *queue)
{
	const bool started = pb_core_ring_is_started(queue);

	queue->prepared = (uint8_t)((queue->prepared & PB_CORE_QUEUE_PREPARED) - 1u);
	return started;
}

/**
 * Has the next submission to admit fail with DEADLOCK. That is forgotten if the submission is returned to the host, if
 * it is to be patched anew, and if one before it is recalled: then it waits again. Pre: it was not recalled.
 */
static inline void pb_core_ring_set_deadlock(struct pb_core_queue *queue)
{
	queue->prepared |= PB_CORE_QUEUE_DEADLOCK;
}

/** Claims whether the submission that is being admitted fails with DEADLOCK. */
static inline bool pb_core_ring_claim_deadlock(struct pb_core_queue *queue)
{
	if ((queue->prepared & PB_CORE_QUEUE_DEADLOCK) == 0)
		return false;
	queue->prepared &= (uint8_t)~PB_CORE_QUEUE_DEADLOCK;
	return true;
}

/** Has every descriptor of the ring patched anew but the first, if that has begun. */
static inline void pb_core_ring_keep_started(struct pb_core_queue *queue)
{
	queue->prepared = pb_core_ring_is_started(queue) ? PB_CORE_QUEUE_STARTED | 1u : 0;
}

/** Counts patches of a submission that completes or is recalled, for the channel. */
void pb_core_ring_count_patches(struct pb_core_usage *usage, struct pb_channel_entry *entry,
				uint32_t patches);
/** A channel is attached: nothing of it is counted. */
void pb_core_ring_open(struct pb_core_usage *usage, struct pb_channel_entry *entry);
/** Resets the progress of a queue that begins its life. */
void pb_core_ring_init(struct pb_core_queue *queue);
/** Lets `count` more submissions complete, or as many as are in flight if those are more, until pb_core_ring_unlimit(). */
void pb_core_ring_limit(struct pb_core_queue *queue, uint32_t count);
/** Ends a limit. Pre: no put index was accepted since. @param put the queue's put index before the limit */
void pb_core_ring_unlimit(struct pb_core_queue *queue, uint32_t put);
/** Returns to the host what has not completed before a cutoff. Pre: something has not. @param cutoff put index at the host's request */
void pb_core_ring_return(struct pb_core_queue *queue, uint32_t cutoff);

#endif
