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

	pb_core_links_set_place(queue, PB_CORE_PLACE_LISTED);
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

	pb_core_links_set_place(queue, PB_CORE_PLACE_LISTED);
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
	pb_core_links_set_place(queue, PB_CORE_PLACE_NONE);
}

void pb_core_ring_of_waiters_add(struct pb_core_queue *queues, struct pb_core_queue *target,
				 struct pb_core_queue *queue)
{
	const uint16_t index = index_of(queues, queue);

	pb_core_links_set_place(queue, PB_CORE_PLACE_WAITING);
	if (target->waiters == PB_CORE_NO_QUEUE) {
		queue->next = index;
		queue->prev = index;
		target->waiters = index;
		target->links |= PB_CORE_QUEUE_AWAITED;
		return;
	}
	queue->next = target->waiters;
	queue->prev = queues[target->waiters].prev;
	queues[queue->prev].next = index;
	queues[target->waiters].prev = index;
}

void pb_core_ring_of_waiters_remove(struct pb_core_queue *queues, struct pb_core_queue *target,
				    struct pb_core_queue *queue)
{
	const uint16_t index = index_of(queues, queue);

	pb_core_links_set_place(queue, PB_CORE_PLACE_NONE);
	if (queue->next == index) {
		target->waiters = PB_CORE_NO_QUEUE;
		target->links &= (uint8_t)~PB_CORE_QUEUE_AWAITED;
		return;
	}
	queues[queue->prev].next = queue->next;
	queues[queue->next].prev = queue->prev;
	if (target->waiters == index)
		target->waiters = queue->next;
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
