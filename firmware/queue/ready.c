/* SPDX-License-Identifier: MIT */
#include "firmware/queue/ready.h"

#include "firmware/compiler.h"
#include "hal/bits.h"

void pb_core_ready_init(struct pb_core_ready *ready)
{
	for (uint32_t priority = 0; priority < PB_PRIORITIES; priority++) {
		for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++)
			pb_core_list_init(&ready->at[priority].lists[channel]);
	}
}

/** Submissions of higher priorities after which one that has starved, and could not be served, is due again. */
#define STARVATION_RETRY 4u

/** Computes which of a priority's channels are ready: those that have queues listed and are not held. */
static void update(struct pb_core_ready *ready, uint32_t priority)
{
	struct pb_core_ready_level *level = &ready->at[priority];

	level->ready = (uint16_t)(level->listed & ~ready->held);
	if (level->ready != 0) {
		ready->priorities |= 1u << priority;
		return;
	}
	ready->priorities &= ~(1u << priority);
}

/** Notes that the queue's list holds queues. @param level of its priority */
static void note_listed(struct pb_core_ready *ready, struct pb_core_ready_level *level,
			const struct pb_core_queue *queue)
{
	level->listed |= (uint16_t)(1u << queue->channel);
	update(ready, pb_core_queue_priority(queue));
}

static struct pb_core_ready_level *level_of(struct pb_core_ready *ready, const struct pb_core_queue *queue)
{
	return &ready->at[pb_core_queue_priority(queue)];
}

void pb_core_ready_append(struct pb_core_queue *queues, struct pb_core_ready *ready,
			  struct pb_core_queue *queue)
{
	struct pb_core_ready_level *level = level_of(ready, queue);

	PB_CORE_KEEP(level); /* computed once */
	pb_core_list_append(queues, &level->lists[queue->channel], queue);
	note_listed(ready, level, queue);
}

void pb_core_ready_prepend(struct pb_core_queue *queues, struct pb_core_ready *ready,
			   struct pb_core_queue *queue)
{
	struct pb_core_ready_level *level = level_of(ready, queue);

	pb_core_list_prepend(queues, &level->lists[queue->channel], queue);
	note_listed(ready, level, queue);
}

void pb_core_ready_remove(struct pb_core_queue *queues, struct pb_core_ready *ready,
			  struct pb_core_queue *queue)
{
	struct pb_core_list *list = &level_of(ready, queue)->lists[queue->channel];

	pb_core_list_remove(queues, list, queue);
	if (list->head != PB_CORE_NO_QUEUE)
		return;
	ready->at[pb_core_queue_priority(queue)].listed &= (uint16_t) ~(1u << queue->channel);
	update(ready, pb_core_queue_priority(queue));
}

void pb_core_ready_halt(struct pb_core_ready *ready, uint32_t channel, bool halted)
{
	ready->halted = (ready->halted & ~(1u << channel)) | (uint32_t)halted << channel;
}

void pb_core_ready_hold(struct pb_core_ready *ready, uint32_t held)
{
	ready->held = ready->halted | held;
	for (uint32_t priority = 0; priority < PB_PRIORITIES; priority++) {
		if (ready->at[priority].listed != 0)
			update(ready, priority);
	}
}

void pb_core_ready_served(struct pb_core_ready *ready, uint32_t priority)
{
	ready->at[priority].starvation = 0;
}

void pb_core_ready_retry(struct pb_core_ready *ready, uint32_t priority)
{
	ready->at[priority].starvation = PB_LIMIT_STARVATION - STARVATION_RETRY;
}

void pb_core_ready_starve_below(struct pb_core_ready *ready, uint32_t priority)
{
	/*@ assert bits: \forall integer bit; 0 <= bit < 32 && pb_core_has((1 << priority) - 1, bit) ==> bit < priority; */
	/*@ ghost uint32_t lower = (1u << priority) - 1u; */
	/*@ assert lower: lower == (1 << priority) - 1; */
	/*@ assert lower_bits: \forall integer bit; 0 <= bit < 32 && pb_core_has(lower, bit) ==> bit < priority; */
	/*@
	  loop invariant below: \forall integer bit; 0 <= bit < 32 && pb_core_has(left, bit) ==> bit < priority;
	  loop invariant above: \forall integer i; priority <= i < PB_PRIORITIES ==>
	    ready->at[i].starvation == \at(ready->at[i].starvation, Pre);
	  loop assigns left, ready->at[0 .. PB_PRIORITIES - 1].starvation;
	  loop variant left;
	*/
	for (uint32_t left = ready->priorities & ((1u << priority) - 1u); left != 0; left &= left - 1u) {
		/*@ assert less: (left & (left - 1)) < left; */
		/*@ ghost uint32_t less = left - 1u; */
		/*@ assert fewer: \forall integer bit; 0 <= bit < 32 && pb_core_has(left & less, bit) ==> pb_core_has(left, bit); */
		/*@ assert less_than: less == left - 1; */
		struct pb_core_ready_level *below = &ready->at[pb_bits_lowest(left)];

		if (below->starvation < PB_LIMIT_STARVATION)
			below->starvation++;
	}
}
