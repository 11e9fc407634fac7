/* SPDX-License-Identifier: MIT */
#include "firmware/queue/links.h"

static uint16_t index_of(const struct pb_core_queue *queues, const struct pb_core_queue *queue)
{
	return (uint16_t)(queue - queues);
}

void pb_core_list_init(struct pb_core_list *list)
{
	list->head = PB_CORE_NO_QUEUE;
	list->tail = PB_CORE_NO_QUEUE;
}

void pb_core_list_append(struct pb_core_queue *queues, struct pb_core_list *list, struct pb_core_queue *queue)
{
	const uint16_t index = index_of(queues, queue);

	pb_core_links_enter(queue, PB_CORE_PLACE_LISTED);
	queue->next = PB_CORE_NO_QUEUE;
	queue->prev = list->tail;
	if (list->head == PB_CORE_NO_QUEUE)
		list->head = index;
	else
		queues[list->tail].next = index;
	list->tail = index;
}

void pb_core_list_prepend(struct pb_core_queue *queues, struct pb_core_list *list,
			  struct pb_core_queue *queue)
{
	const uint16_t index = index_of(queues, queue);

	pb_core_links_enter(queue, PB_CORE_PLACE_LISTED);
	queue->next = list->head;
	queue->prev = PB_CORE_NO_QUEUE;
	if (list->head == PB_CORE_NO_QUEUE)
		list->tail = index;
	else
		queues[list->head].prev = index;
	list->head = index;
}

void pb_core_list_remove(struct pb_core_queue *queues, struct pb_core_list *list, struct pb_core_queue *queue)
{
	if (queue->prev == PB_CORE_NO_QUEUE)
		list->head = queue->next;
	else
		queues[queue->prev].next = queue->next;
	if (queue->next == PB_CORE_NO_QUEUE)
		list->tail = queue->prev;
	else
		queues[queue->next].prev = queue->prev;
	pb_core_links_leave(queue);
}

/** Sets the first of a queue's own ring of waiters. */
static void set_waiters(struct pb_core_queue *target, uint16_t first)
{
	target->waiters = first;
	if (first == PB_CORE_NO_QUEUE)
		target->links &= (uint8_t)~PB_CORE_QUEUE_AWAITED;
	else
		target->links |= PB_CORE_QUEUE_AWAITED;
}

/** Puts the ring that begins with `second` behind the ring that begins with `first`. */
static void join(struct pb_core_queue *queues, uint16_t first, uint16_t second)
{
	const uint16_t first_end = queues[first].prev;
	const uint16_t second_end = queues[second].prev;

	queues[first_end].next = second;
	queues[second].prev = first_end;
	queues[second_end].next = first;
	queues[first].prev = second_end;
}

void pb_core_waiters_add(struct pb_core_queue *queues, struct pb_core_queue *target,
			 struct pb_core_queue *queue)
{
	const uint16_t index = index_of(queues, queue);

	pb_core_links_enter(queue, PB_CORE_PLACE_WAITING);
	queue->next = index;
	queue->prev = index;
	if (target->waiters == PB_CORE_NO_QUEUE)
		set_waiters(target, index);
	else
		join(queues, target->waiters, index);
}

void pb_core_waiters_check(struct pb_core_queue *queues, struct pb_core_queue *target, uint16_t *checks)
{
	if (*checks == PB_CORE_NO_QUEUE)
		*checks = target->waiters;
	else
		join(queues, *checks, target->waiters);
	set_waiters(target, PB_CORE_NO_QUEUE);
	target->links |= PB_CORE_QUEUE_WAKES;
}

bool pb_core_waiters_is_last(const struct pb_core_queue *queues, const struct pb_core_queue *target,
			     const struct pb_core_queue *queue)
{
	const uint16_t index = index_of(queues, queue);

	if (queue->next == index)
		return target->waiters != index;
	return queues[queue->next].awaits != queue->awaits && queues[queue->prev].awaits != queue->awaits;
}

void pb_core_waiters_remove(struct pb_core_queue *queues, struct pb_core_queue *target, uint16_t *checks,
			    struct pb_core_queue *queue)
{
	const uint16_t index = index_of(queues, queue);
	const uint16_t next = queue->next == index ? PB_CORE_NO_QUEUE : queue->next;

	pb_core_links_leave(queue);
	queues[queue->prev].next = queue->next;
	queues[queue->next].prev = queue->prev;
	if (target->waiters == index)
		set_waiters(target, next);
	else if (*checks == index)
		*checks = next;
}

void pb_core_stack_push(struct pb_core_queue *queues, uint16_t *top, struct pb_core_queue *queue)
{
	queue->next = *top;
	*top = index_of(queues, queue);
}

struct pb_core_queue *pb_core_stack_pop(struct pb_core_queue *queues, uint16_t *top)
{
	struct pb_core_queue *queue = &queues[*top];

	*top = queue->next;
	return queue;
}
