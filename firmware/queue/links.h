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

/** Adds a queue at the end of the ring of those that wait for `target`. Pre: the queue is in no list. */
void pb_core_ring_of_waiters_add(struct pb_core_queue *queues, struct pb_core_queue *target,
				 struct pb_core_queue *queue);
/** Takes a queue out of the ring of those that wait for `target`. Pre: it is in that ring. */
void pb_core_ring_of_waiters_remove(struct pb_core_queue *queues, struct pb_core_queue *target,
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

/** Notes in which list a queue stands. */
/*@
  requires \valid(queue) && place <= PB_CORE_PLACE_WAITING;
  assigns queue->links;
  ensures queue->links % 4 == place && queue->links / 4 == \old(queue->links) / 4;
*/
static inline void pb_core_links_set_place(struct pb_core_queue *queue, enum pb_core_place place)
{
	queue->links = (uint8_t)((queue->links & ~(uint32_t)PB_CORE_QUEUE_PLACE) | (uint32_t)place);
}

/** Moves the first of a queue's waiters behind the last one. Pre: there is one. */
static inline void pb_core_links_rotate(const struct pb_core_queue *queues, struct pb_core_queue *target)
{
	target->waiters = queues[target->waiters].next;
}

/** Notes whether the queue's waiters are to be checked. */
static inline void pb_core_links_set_wakes(struct pb_core_queue *queue, bool wakes)
{
	queue->links = (uint8_t)((queue->links & ~PB_CORE_QUEUE_WAKES) | (wakes ? PB_CORE_QUEUE_WAKES : 0));
}

#endif
