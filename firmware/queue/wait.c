/* SPDX-License-Identifier: MIT */
#include "firmware/queue/wait.h"

#include "firmware/instance.h"

void pb_core_wait_boot(struct pb_core_wakes *wakes)
{
	wakes->waking = PB_CORE_NO_QUEUE;
}

void pb_core_wait_init(struct pb_core_queue *queue)
{
	queue->awaited = 0;
	queue->awaits = 0;
}

/** Has a queue wait for a value of another. Pre: it is in no list. */
static void park(struct pb_firmware *firmware, struct pb_core_queue *queue, struct pb_core_queue *target,
		 uint64_t value)
{
	queue->awaits = pb_core_table_index(&firmware->table, target);
	queue->awaited = value;
	pb_core_ring_of_waiters_add(firmware->table.queues, target, queue);
	PB_CORE_TRACE_QUEUE(firmware, WAIT, queue, queue->awaits, (uint32_t)value);
}

void pb_core_wait_leave(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	const uint16_t prev = queue->prev;

	if (pb_core_queue_place(queue) != PB_CORE_PLACE_WAITING)
		return;
	pb_core_ring_of_waiters_remove(firmware->table.queues, &firmware->table.queues[queue->awaits], queue);
	PB_CORE_TRACE_QUEUE(firmware, WAKE, queue, queue->awaits, 0);
	firmware->wakes.unparked++;
	if (firmware->wakes.last == pb_core_table_index(&firmware->table, queue))
		firmware->wakes.last = prev;
}

/** Whether a value will not be reached, or was reached in error. */
/*@
  requires \valid_read(target);
  assigns \nothing;
  ensures \result <==> (target->reached >= value
    ? (target->changes & PB_CORE_QUEUE_ERROR_SHOWN) != 0 && target->error_timeline <= value
    : target->identity / 64 == PB_CORE_QUEUE_FAULTED && value > target->timeline);
*/
static bool has_failed(const struct pb_core_queue *target, uint64_t value)
{
	if (target->reached >= value)
		return pb_core_fence_shows_error(target) && target->error_timeline <= value;
	return pb_core_queue_state(target) == PB_CORE_QUEUE_FAULTED && value > target->timeline;
}

/** Whether a waiter of this queue need not wait any longer, for better or worse. */
/*@
  requires \valid_read(target);
  assigns \nothing;
  ensures reached: target->reached >= value ==> \result;
  ensures \result ==> target->reached >= value || target->identity / 64 == PB_CORE_QUEUE_CLOSING ||
    (target->identity / 64 == PB_CORE_QUEUE_FAULTED && value > target->timeline);
*/
static bool is_over(const struct pb_core_queue *target, uint64_t value)
{
	return target->reached >= value || pb_core_queue_state(target) == PB_CORE_QUEUE_CLOSING ||
	       has_failed(target, value);
}

/** Starts the search for a cycle, if the target itself waits before it can reach the value. */
static void start_walk(struct pb_firmware *firmware, struct pb_core_queue *queue,
		       const struct pb_core_queue *target, uint64_t value)
{
	struct pb_core_walk *walk = &firmware->nodes[pb_core_queue_node(queue)].walk;

	if (pb_core_queue_place(target) != PB_CORE_PLACE_WAITING || value <= target->timeline)
		return;
	walk->queue = queue;
	walk->at = pb_core_table_index(&firmware->table, target);
	walk->unparked = firmware->wakes.unparked;
}

static enum pb_error wait_one(struct pb_firmware *firmware, struct pb_core_queue *queue,
			      const struct pb_wait *wait, bool *parked)
{
	const uint32_t handle = pb_shared_read32(&wait->queue);
	const uint32_t low = pb_shared_read32(&wait->timeline_low);
	const uint64_t value = pb_core_wide(low, pb_shared_read32(&wait->timeline_high));
	struct pb_core_queue *target = pb_core_table_find(firmware, queue->channel, handle);

	if (pb_shared_read32(&wait->reserved) != 0)
		return PB_ERROR_BAD_WAIT;
	if (target == NULL || has_failed(target, value))
		return PB_ERROR_DEP_FAILED;
	if (target->reached >= value)
		return PB_ERROR_OK;
	if (target == queue && value > queue->timeline)
		return PB_ERROR_DEADLOCK;
	pb_core_timeslice_remove(firmware, &firmware->nodes[pb_core_queue_node(queue)], queue);
	park(firmware, queue, target, value);
	*parked = true;
	start_walk(firmware, queue, target, value);
	return PB_ERROR_OK;
}

enum pb_error pb_core_wait(struct pb_firmware *firmware, struct pb_core_queue *queue,
			   const struct pb_descriptor *descriptor, uint32_t count, bool *parked)
{
	const struct pb_core_segment *system = pb_core_segment_of(
		&firmware->segments, &firmware->channels[queue->channel].memory, PB_SEGMENT_SYSTEM);
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
 * meanwhile, the search begins anew.
 */
enum pb_core_walk_result pb_core_wait_walk(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_walk *walk = &node->walk;
	struct pb_core_queue *walker = walk->queue;

	walk->queue = NULL;
	if (pb_core_queue_place(walker) != PB_CORE_PLACE_WAITING)
		return PB_CORE_WALK_FREE;
	if (walk->unparked != firmware->wakes.unparked) {
		walk->unparked = firmware->wakes.unparked;
		walk->at = pb_core_table_index(&firmware->table, walker);
	}
	for (uint32_t step = 0; step < PB_SLICE_CHAIN; step++) {
		const struct pb_core_queue *queue = &firmware->table.queues[walk->at];
		const struct pb_core_queue *target = &firmware->table.queues[queue->awaits];

		if (pb_core_queue_place(queue) != PB_CORE_PLACE_WAITING || queue->awaited <= target->timeline)
			return PB_CORE_WALK_FREE;
		if (target == walker) {
			pb_core_wait_leave(firmware, walker);
			return PB_CORE_WALK_CYCLE;
		}
		walk->at = queue->awaits;
	}
	walk->queue = walker;
	return PB_CORE_WALK_MORE;
}

void pb_core_wait_wake(struct pb_firmware *firmware, struct pb_core_queue *target)
{
	struct pb_core_wakes *wakes = &firmware->wakes;

	if ((target->links & (PB_CORE_QUEUE_AWAITED | PB_CORE_QUEUE_WAKES)) != PB_CORE_QUEUE_AWAITED)
		return;
	pb_core_links_set_wakes(target, true);
	pb_core_mark(&firmware->marks, PB_CORE_MARK_WAKE, true);
	if (wakes->put - wakes->get == PB_LIMIT_WAKES) {
		wakes->lost = true;
		wakes->search_at = 0;
		return;
	}
	wakes->at[wakes->put++ % PB_LIMIT_WAKES] = pb_core_table_index(&firmware->table, target);
}

bool pb_core_wait_is_awaited(const struct pb_firmware *firmware, const struct pb_core_queue *queue)
{
	return (queue->links & PB_CORE_QUEUE_AWAITED) != 0 ||
	       firmware->wakes.waking == pb_core_table_index(&firmware->table, queue);
}

void pb_core_wait_drain(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	if (!pb_core_wait_is_awaited(firmware, queue))
		pb_core_table_drain(firmware, queue);
}

/** All waiters of a queue were checked. */
static void stop(struct pb_firmware *firmware, struct pb_core_queue *target)
{
	firmware->wakes.waking = PB_CORE_NO_QUEUE;
	if (pb_core_table_is_closing(target) && target->in_flight == 0)
		pb_core_wait_drain(firmware, target);
}

/** Begins with the waiters of a queue, if they are to be checked. */
static void start(struct pb_firmware *firmware, uint16_t index)
{
	struct pb_core_queue *target = &firmware->table.queues[index];

	if ((target->links & PB_CORE_QUEUE_WAKES) == 0)
		return;
	pb_core_links_set_wakes(target, false);
	if (target->waiters == PB_CORE_NO_QUEUE) {
		stop(firmware, target); /* they have all left meanwhile */
		return;
	}
	firmware->wakes.waking = index;
	firmware->wakes.last = firmware->table.queues[target->waiters].prev;
}

/** Searches a slice of the queues for one that `at` had no room for. */
static void search(struct pb_firmware *firmware)
{
	struct pb_core_wakes *wakes = &firmware->wakes;

	for (uint32_t i = 0; i < PB_SLICE_SEARCH && wakes->waking == PB_CORE_NO_QUEUE; i++) {
		if (wakes->search_at == firmware->table.count) {
			wakes->lost = false;
			return;
		}
		start(firmware, wakes->search_at++);
	}
}

/** Checks a slice of the waiters of one queue; those that are over go back to their nodes. */
static void wake_some(struct pb_firmware *firmware)
{
	struct pb_core_queue *queues = firmware->table.queues;
	struct pb_core_queue *target = &queues[firmware->wakes.waking];

	for (uint32_t i = 0; i < PB_SLICE_WAITERS; i++) {
		const uint16_t index = target->waiters;
		const bool last = index == firmware->wakes.last;

		if (index == PB_CORE_NO_QUEUE) {
			stop(firmware, target);
			return;
		}
		pb_core_links_rotate(queues, target);
		if (is_over(target, queues[index].awaited)) {
			pb_core_wait_leave(firmware, &queues[index]);
			pb_core_schedule_add(firmware, &queues[index]);
		}
		if (last) {
			stop(firmware, target);
			return;
		}
	}
}

void pb_core_wait_step(struct pb_firmware *firmware)
{
	struct pb_core_wakes *wakes = &firmware->wakes;

	pb_core_waypoint(firmware, PB_WAYPOINT_WAIT);
	if (wakes->waking != PB_CORE_NO_QUEUE)
		wake_some(firmware);
	else if (wakes->put != wakes->get)
		start(firmware, wakes->at[wakes->get++ % PB_LIMIT_WAKES]);
	else if (wakes->lost)
		search(firmware);
	pb_core_mark(&firmware->marks, PB_CORE_MARK_WAKE,
		     wakes->waking != PB_CORE_NO_QUEUE || wakes->put != wakes->get || wakes->lost);
}
