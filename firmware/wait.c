/* SPDX-License-Identifier: MIT */
/*
 * Waits of one queue for another: all from private memory. A queue that waits
 * is in the ring of waiters of the one that it waits for, on no node's lists,
 * and costs nothing until that one gets on.
 */
#include "firmware/core.h"

/** Into the ring of waiters, at its end. */
static void park(struct pb_firmware *firmware, struct pb_core_queue *queue, struct pb_core_queue *target,
		 uint64_t value)
{
	const uint16_t index = pb_core_queue_index(firmware, queue);

	pb_core_queue_set_place(queue, PB_CORE_PLACE_WAITING);
	PB_CORE_TRACE_QUEUE(firmware, WAIT, queue, pb_core_queue_index(firmware, target), (uint32_t)value);
	queue->awaits = pb_core_queue_index(firmware, target);
	queue->awaited = value;
	if (target->waiters == PB_CORE_NO_QUEUE) {
		queue->next = index;
		queue->prev = index;
		target->waiters = index;
		target->flags |= PB_CORE_QUEUE_AWAITED;
		return;
	}
	queue->next = target->waiters;
	queue->prev = firmware->queues[target->waiters].prev;
	firmware->queues[queue->prev].next = index;
	firmware->queues[target->waiters].prev = index;
}

void pb_core_wait_leave(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_queue *target = &firmware->queues[queue->awaits];
	const uint16_t index = pb_core_queue_index(firmware, queue);

	if (pb_core_queue_place(queue) != PB_CORE_PLACE_WAITING)
		return;
	pb_core_queue_set_place(queue, PB_CORE_PLACE_NONE);
	PB_CORE_TRACE_QUEUE(firmware, WAKE, queue, queue->awaits, 0);
	firmware->unparked++;
	if (queue->next == index) {
		target->waiters = PB_CORE_NO_QUEUE;
		target->flags &= (uint8_t)~PB_CORE_QUEUE_AWAITED;
		return;
	}
	firmware->queues[queue->prev].next = queue->next;
	firmware->queues[queue->next].prev = queue->prev;
	if (target->waiters == index)
		target->waiters = queue->next;
	if (firmware->waking_last == index)
		firmware->waking_last = queue->prev;
}

/** Whether a value will not be reached, or was reached in error. */
/*@
  requires \valid_read(target);
  assigns \nothing;
  ensures \result <==> (target->reached >= value
    ? (target->flags & PB_CORE_QUEUE_ERROR_SHOWN) != 0 && target->error_timeline <= value
    : target->state % 4 == PB_CORE_QUEUE_FAULTED && value > target->timeline);
*/
static bool has_failed(const struct pb_core_queue *target, uint64_t value)
{
	if (target->reached >= value)
		return (target->flags & PB_CORE_QUEUE_ERROR_SHOWN) != 0 && target->error_timeline <= value;
	return pb_core_queue_state(target) == PB_CORE_QUEUE_FAULTED && value > target->timeline;
}

/** Whether a waiter of this queue need not wait any longer, for better or worse. */
/*@
  requires \valid_read(target);
  assigns \nothing;
  ensures reached: target->reached >= value ==> \result;
  ensures \result ==> target->reached >= value || target->state % 4 == PB_CORE_QUEUE_CLOSING ||
    (target->state % 4 == PB_CORE_QUEUE_FAULTED && value > target->timeline);
*/
static bool is_over(const struct pb_core_queue *target, uint64_t value)
{
	return target->reached >= value || pb_core_queue_state(target) == PB_CORE_QUEUE_CLOSING ||
	       has_failed(target, value);
}

static enum pb_error wait_one(struct pb_firmware *firmware, struct pb_core_queue *queue,
			      const struct pb_wait *wait, bool *parked)
{
	const uint32_t handle = pb_shared_read32(&wait->queue);
	const uint32_t low = pb_shared_read32(&wait->timeline_low);
	const uint64_t value = pb_core_wide(low, pb_shared_read32(&wait->timeline_high));
	struct pb_core_queue *target = pb_core_queue_find(firmware, queue->channel, handle);
	struct pb_core_node *node = &firmware->nodes[queue->node];

	if (pb_shared_read32(&wait->reserved) != 0)
		return PB_ERROR_BAD_WAIT;
	if (target == NULL || has_failed(target, value))
		return PB_ERROR_DEP_FAILED;
	if (target->reached >= value)
		return PB_ERROR_OK;
	if (target == queue && value > queue->timeline)
		return PB_ERROR_DEADLOCK;
	pb_core_schedule_remove(firmware, queue);
	park(firmware, queue, target, value);
	*parked = true;
	if (pb_core_queue_place(target) == PB_CORE_PLACE_WAITING && value > target->timeline) {
		node->next = PB_CORE_NEXT_WALK;
		node->walker = queue;
		node->walk_at = pb_core_queue_index(firmware, target);
		node->walk_unparked = firmware->unparked;
	}
	return PB_ERROR_OK;
}

enum pb_error pb_core_wait(struct pb_firmware *firmware, struct pb_core_queue *queue,
			   const struct pb_descriptor *descriptor, uint32_t count, bool *parked)
{
	const struct pb_core_segment *system =
		pb_core_segment_of(firmware, &firmware->channels[queue->channel], PB_SEGMENT_SYSTEM);
	const uint32_t low = pb_shared_read32(&descriptor->wait_address_low);
	const uint64_t address = pb_core_wide(low, pb_shared_read32(&descriptor->wait_address_high));
	enum pb_error error = PB_ERROR_OK;
	const struct pb_wait *waits;
	uint32_t offset;

	*parked = false;
	if (count > PB_WAITS_MAX)
		return PB_ERROR_BAD_WAIT;
	offset = pb_core_segment_memory(system, address, count * sizeof(struct pb_wait));
	if (offset == 0 || address % 8u != 0)
		return PB_ERROR_BAD_WAIT;
	waits = pb_core_at(firmware, offset);
	for (uint32_t i = 0; i < count && error == PB_ERROR_OK && !*parked; i++)
		error = wait_one(firmware, queue, &waits[i], parked);
	return error;
}

/*
 * Each queue waits for one other at a time, so that what it waits for is one
 * chain. It closes a cycle if it leads back, along values that were not
 * submitted when their queues began to wait. If any queue ceases to wait
 * meanwhile, the walk begins anew.
 */
enum pb_core_walk pb_core_wait_walk(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_queue *walker = node->walker;

	if (pb_core_queue_place(walker) != PB_CORE_PLACE_WAITING) {
		node->next = PB_CORE_NEXT_NONE;
		return PB_CORE_WALK_FREE;
	}
	if (node->walk_unparked != firmware->unparked) {
		node->walk_unparked = firmware->unparked;
		node->walk_at = pb_core_queue_index(firmware, walker);
	}
	for (uint32_t step = 0; step < PB_SLICE_CHAIN; step++) {
		const struct pb_core_queue *queue = &firmware->queues[node->walk_at];
		const struct pb_core_queue *target = &firmware->queues[queue->awaits];

		if (pb_core_queue_place(queue) != PB_CORE_PLACE_WAITING ||
		    queue->awaited <= target->timeline) {
			node->next = PB_CORE_NEXT_NONE;
			return PB_CORE_WALK_FREE;
		}
		if (target == walker) {
			node->next = PB_CORE_NEXT_NONE;
			pb_core_wait_leave(firmware, walker);
			return PB_CORE_WALK_CYCLE;
		}
		node->walk_at = queue->awaits;
	}
	return PB_CORE_WALK_MORE;
}

void pb_core_wait_wake(struct pb_firmware *firmware, struct pb_core_queue *target)
{
	if ((target->flags & PB_CORE_QUEUE_AWAITED) == 0 || (target->state & PB_CORE_QUEUE_WAKES) != 0)
		return;
	target->state |= PB_CORE_QUEUE_WAKES;
	firmware->wakes_pending = 1;
	if (firmware->wakes_put - firmware->wakes_get == PB_LIMIT_WAKES) {
		firmware->wakes_lost = true;
		firmware->wakes_at = 0;
		return;
	}
	firmware->wakes[firmware->wakes_put++ % PB_LIMIT_WAKES] = pb_core_queue_index(firmware, target);
}

/** A queue that was closed, and that nobody waits for any more, can be freed. */
static void stop(struct pb_firmware *firmware, struct pb_core_queue *target)
{
	firmware->waking = PB_CORE_NO_QUEUE;
	if (pb_core_queue_state(target) == PB_CORE_QUEUE_CLOSING && target->busy == 0)
		pb_core_queue_drained(firmware, target);
}

static void start(struct pb_firmware *firmware, uint16_t index)
{
	struct pb_core_queue *target = &firmware->queues[index];

	if ((target->state & PB_CORE_QUEUE_WAKES) == 0)
		return;
	target->state &= (uint8_t)~PB_CORE_QUEUE_WAKES;
	if (target->waiters == PB_CORE_NO_QUEUE) {
		stop(firmware, target); /* they have all left meanwhile */
		return;
	}
	firmware->waking = index;
	firmware->waking_last = firmware->queues[target->waiters].prev;
}

/** Looks through the queues for one that the short list had no room for. */
static void search(struct pb_firmware *firmware)
{
	for (uint32_t i = 0; i < PB_SLICE_SEARCH && firmware->waking == PB_CORE_NO_QUEUE; i++) {
		if (firmware->wakes_at == firmware->queue_count) {
			firmware->wakes_lost = false;
			return;
		}
		start(firmware, firmware->wakes_at++);
	}
}

static void wake_some(struct pb_firmware *firmware)
{
	struct pb_core_queue *target = &firmware->queues[firmware->waking];

	for (uint32_t i = 0; i < PB_SLICE_WAITERS; i++) {
		const uint16_t index = target->waiters;
		struct pb_core_queue *waiter = &firmware->queues[index];
		const bool last = index == firmware->waking_last;

		if (index == PB_CORE_NO_QUEUE) {
			stop(firmware, target);
			return;
		}
		target->waiters = waiter->next; /* round the ring */
		if (is_over(target, waiter->awaited)) {
			pb_core_wait_leave(firmware, waiter);
			pb_core_schedule_add(firmware, waiter);
		}
		if (last) {
			stop(firmware, target);
			return;
		}
	}
}

void pb_core_wait_step(struct pb_firmware *firmware)
{
	pb_core_waypoint(firmware, PB_WAYPOINT_WAIT);
	if (firmware->waking != PB_CORE_NO_QUEUE)
		wake_some(firmware);
	else if (firmware->wakes_put != firmware->wakes_get)
		start(firmware, firmware->wakes[firmware->wakes_get++ % PB_LIMIT_WAKES]);
	else if (firmware->wakes_lost)
		search(firmware);
	firmware->wakes_pending = firmware->waking != PB_CORE_NO_QUEUE ||
				  firmware->wakes_put != firmware->wakes_get || firmware->wakes_lost;
}
