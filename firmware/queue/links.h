/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lists of queues, linked by index through the queues' own records. A queue
 * stands in one list at a time; pb_core_queue.links tells which. The owner of
 * the fields next, prev, waiters and links; main loop only.
 */
#ifndef PB_FIRMWARE_QUEUE_LINKS_H
#define PB_FIRMWARE_QUEUE_LINKS_H

#include "firmware/queue_record.h"

/** A list of queues with two ends. */
struct pb_core_list {
	uint16_t head; /**< PB_CORE_NO_QUEUE: the list is empty */
	uint16_t tail; /**< PB_CORE_NO_QUEUE: the list is empty */
};

/** Empties a list, whatever it held. */
void pb_core_list_init(struct pb_core_list *list);
/** Puts a queue behind the last one. Pre: the queue is in no list. @param queues the table of all queues */
void pb_core_list_append(struct pb_core_queue *queues, struct pb_core_list *list,
			 struct pb_core_queue *queue);
/** Puts a queue in front of the first one. Pre: the queue is in no list. */
void pb_core_list_prepend(struct pb_core_queue *queues, struct pb_core_list *list,
			  struct pb_core_queue *queue);
/** Takes a queue out. Pre: the queue is in this list. */
void pb_core_list_remove(struct pb_core_queue *queues, struct pb_core_list *list,
			 struct pb_core_queue *queue);

/**
 * Adds a queue at the end of the ring of those that wait for `target`, and need not be checked.
 * Pre: the queue is in no list, and queue->awaits is the index of `target`.
 */
void pb_core_waiters_add(struct pb_core_queue *queues, struct pb_core_queue *target,
			 struct pb_core_queue *queue);
/**
 * Moves all waiters of `target` to the end of their channel's ring of waiters to check, where they stand one behind the
 * other. Sets PB_CORE_QUEUE_WAKES. Takes the same time for any number of them.
 * Pre: `target` has PB_CORE_QUEUE_AWAITED, and not PB_CORE_QUEUE_WAKES.
 * @param checks the first of that ring, or PB_CORE_NO_QUEUE
 */
void pb_core_waiters_check(struct pb_core_queue *queues, struct pb_core_queue *target, uint16_t *checks);
/** Whether a queue is the only waiter of `target` that stands in the ring of waiters to check. Pre: it waits for `target`. */
bool pb_core_waiters_is_last(const struct pb_core_queue *queues, const struct pb_core_queue *target,
			     const struct pb_core_queue *queue);
/** Takes a queue that waits for `target` out of the ring in which it stands. @param checks as above */
void pb_core_waiters_remove(struct pb_core_queue *queues, struct pb_core_queue *target, uint16_t *checks,
			    struct pb_core_queue *queue);

/** Puts a queue on top of a stack. Pre: the queue is in no list. @param top the first of the stack, or PB_CORE_NO_QUEUE */
void pb_core_stack_push(struct pb_core_queue *queues, uint16_t *top, struct pb_core_queue *queue);
/** Takes the first queue from a stack that is not empty. */
struct pb_core_queue *pb_core_stack_pop(struct pb_core_queue *queues, uint16_t *top);

/** Resets all links of a queue that begins its life: it is in no list, and no queue waits for it. */
static inline void pb_core_links_reset(struct pb_core_queue *queue)
{
	queue->next = 0;
	queue->prev = 0;
	queue->waiters = PB_CORE_NO_QUEUE;
	queue->links = PB_CORE_PLACE_NONE;
}

/** Notes in which list a queue stands from here on. Pre: it stands in none. */
/*@
  requires \valid(queue) && place <= PB_CORE_PLACE_WAITING && queue->links % 4 == PB_CORE_PLACE_NONE;
  assigns queue->links;
  ensures queue->links % 4 == place && queue->links / 4 == \old(queue->links) / 4;
*/
static inline void pb_core_links_enter(struct pb_core_queue *queue, enum pb_core_place place)
{
	queue->links = (uint8_t)(queue->links + (uint32_t)place);
}

/** Notes that a queue stands in no list any more. */
/*@
  requires \valid(queue);
  assigns queue->links;
  ensures queue->links % 4 == PB_CORE_PLACE_NONE && queue->links / 4 == \old(queue->links) / 4;
*/
static inline void pb_core_links_leave(struct pb_core_queue *queue)
{
	queue->links &= (uint8_t) ~(uint32_t)PB_CORE_QUEUE_PLACE;
}

/** The last of the queue's waiters to check was checked, or is gone. @return whether the others are to be checked once more */
static inline bool pb_core_links_end_wakes(struct pb_core_queue *target)
{
	const bool again = (target->links & PB_CORE_QUEUE_AGAIN) != 0;

	target->links &= (uint8_t) ~(PB_CORE_QUEUE_WAKES | PB_CORE_QUEUE_AGAIN);
	return again;
}

/** Has the queue's waiters checked once more when those that are being checked have been. */
static inline void pb_core_links_check_again(struct pb_core_queue *target)
{
	target->links |= PB_CORE_QUEUE_AGAIN;
}

/** Notes whether a queue that waits may have closed a cycle of waits, which is to be searched for. */
static inline void pb_core_links_set_suspect(struct pb_core_queue *queue, bool suspect)
{
	queue->links =
		(uint8_t)((queue->links & ~PB_CORE_QUEUE_SUSPECT) | (suspect ? PB_CORE_QUEUE_SUSPECT : 0));
}

/** Notes whether the search from a queue is one of the next to begin. */
static inline void pb_core_links_set_next(struct pb_core_queue *queue, bool next)
{
	queue->links = (uint8_t)((queue->links & ~PB_CORE_QUEUE_NEXT) | (next ? PB_CORE_QUEUE_NEXT : 0));
}

/** Notes that a search has passed a queue that waits. @return whether none had passed it since it began to wait */
static inline bool pb_core_links_pass(struct pb_core_queue *queue)
{
	const bool first = (queue->links & PB_CORE_QUEUE_PASSED) == 0;

	queue->links |= PB_CORE_QUEUE_PASSED;
	return first;
}

/** A queue waits no longer: resets what belongs to its wait. */
static inline void pb_core_links_end_wait(struct pb_core_queue *queue)
{
	queue->links &= (uint8_t) ~(PB_CORE_QUEUE_SUSPECT | PB_CORE_QUEUE_PASSED);
}

#endif
