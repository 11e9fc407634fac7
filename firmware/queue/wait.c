/* SPDX-License-Identifier: MIT */
#include "firmware/queue/wait.h"

#include "firmware/instance.h"
#include "firmware/queue/schedule_add.h"
#include "hal/bits.h"

void pb_core_wait_boot(struct pb_firmware *firmware)
{
	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++) {
		firmware->channels[c].checks.first = PB_CORE_NO_QUEUE;
		pb_core_deadlock_boot(&firmware->channels[c].search);
	}
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
	pb_core_waiters_add(firmware->table.queues, target, queue);
	PB_CORE_TRACE_QUEUE(firmware, WAIT, queue, queue->awaits, (uint32_t)value);
}

/** Has the waiters of a queue checked, from the next pass on. Pre: it has some, and none of them is being checked. */
static void begin_checks(struct pb_firmware *firmware, struct pb_core_queue *target)
{
	pb_core_waiters_check(firmware->table.queues, target,
			      &firmware->channels[target->channel].checks.first);
	firmware->wakes.channels |= 1u << target->channel;
	pb_core_mark(&firmware->marks, PB_CORE_MARK_WAKE, true);
}

/** The last waiter of a queue that was to be checked is where it belongs. */
static void end_checks(struct pb_firmware *firmware, struct pb_core_queue *target)
{
	if (pb_core_links_end_wakes(target) && (target->links & PB_CORE_QUEUE_AWAITED) != 0)
		begin_checks(firmware, target);
	else if (pb_core_table_is_closing(target) && target->in_flight == 0)
		pb_core_wait_drain(firmware, target);
}

void pb_core_wait_leave(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_queue *queues = firmware->table.queues;
	struct pb_core_queue *target = &queues[queue->awaits];
	bool last;

	if (pb_core_queue_place(queue) != PB_CORE_PLACE_WAITING)
		return;
	last = pb_core_waiters_is_last(queues, target, queue);
	pb_core_waiters_remove(queues, target, &firmware->channels[queue->channel].checks.first, queue);
	pb_core_deadlock_leave(firmware, queue);
	pb_core_links_end_wait(queue);
	PB_CORE_TRACE_QUEUE(firmware, WAKE, queue, queue->awaits, 0);
	if (last)
		end_checks(firmware, target);
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
	pb_core_timeslice_remove(firmware, pb_core_node_of(firmware, queue), queue);
	park(firmware, queue, target, value);
	*parked = true;
	if (pb_core_deadlock_is_suspect(queue, target, value)) {
		pb_core_links_set_suspect(queue, true);
		pb_core_wait_wake(firmware, target);
	}
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

void pb_core_wait_wake(struct pb_firmware *firmware, struct pb_core_queue *target)
{
	if ((target->links & PB_CORE_QUEUE_AWAITED) == 0)
		return;
	if ((target->links & PB_CORE_QUEUE_WAKES) != 0)
		pb_core_links_check_again(target);
	else
		begin_checks(firmware, target);
}

bool pb_core_wait_is_awaited(const struct pb_core_queue *queue)
{
	return (queue->links & (PB_CORE_QUEUE_AWAITED | PB_CORE_QUEUE_WAKES)) != 0;
}

void pb_core_wait_drain(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	if (!pb_core_wait_is_awaited(queue))
		pb_core_table_drain(firmware, queue);
}

/** Begins the search from a queue that may have closed a cycle; if its turn has not come, the queue is checked once more. */
static void begin_search(struct pb_firmware *firmware, struct pb_core_queue *queue,
			 struct pb_core_queue *target)
{
	if (pb_core_deadlock_begin(firmware, queue))
		pb_core_links_set_suspect(queue, false);
	else
		pb_core_links_check_again(target);
}

/** Checks one waiter: it goes back to its node if its wait is over, else to the other waiters of its target. */
static void check(struct pb_firmware *firmware, struct pb_core_checks *checks)
{
	struct pb_core_queue *queues = firmware->table.queues;
	struct pb_core_queue *queue = &queues[checks->first];
	struct pb_core_queue *target = &queues[queue->awaits];
	bool last;

	if (is_over(target, queue->awaited)) {
		pb_core_wait_leave(firmware, queue);
		pb_core_schedule_add(firmware, queue);
		return;
	}
	last = pb_core_waiters_is_last(queues, target, queue);
	pb_core_waiters_remove(queues, target, &checks->first, queue);
	pb_core_waiters_add(queues, target, queue);
	if ((queue->links & PB_CORE_QUEUE_SUSPECT) != 0)
		begin_search(firmware, queue, target);
	if (last)
		end_checks(firmware, target);
}

/** Takes a slice of a channel's search for a cycle. The submission that has closed one fails when it is admitted next. */
static void search(struct pb_firmware *firmware, struct pb_core_channel *channel)
{
	struct pb_core_queue *queue = pb_core_deadlock_step(firmware, &channel->search);

	if (queue == NULL)
		return;
	pb_core_wait_leave(firmware, queue);
	pb_core_ring_set_deadlock(queue);
	pb_core_schedule_add(firmware, queue);
}

/** Gives a channel its slice: of the search that is under way, and of the waiters to check. */
static void serve(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];

	if (pb_core_deadlock_searches(&channel->search))
		search(firmware, channel);
	for (uint32_t i = pb_core_quota_wakes(&channel->quota);
	     i != 0 && channel->checks.first != PB_CORE_NO_QUEUE; i--)
		check(firmware, &channel->checks);
	if (channel->checks.first == PB_CORE_NO_QUEUE && !pb_core_deadlock_searches(&channel->search))
		firmware->wakes.channels &= ~(1u << c);
}

/** Chooses the next channel in turn. Pre: one has waiters to check, or a search. */
static uint32_t next_channel(struct pb_core_wakes *wakes)
{
	wakes->last = pb_bits_next(wakes->channels, wakes->last);
	return wakes->last;
}

void pb_core_wait_step(struct pb_firmware *firmware)
{
	struct pb_core_wakes *wakes = &firmware->wakes;

	pb_core_waypoint(firmware, PB_WAYPOINT_WAIT);
	for (uint32_t i = 0; i < PB_PASS_WAITS && wakes->channels != 0; i++)
		serve(firmware, next_channel(wakes));
	pb_core_mark(&firmware->marks, PB_CORE_MARK_WAKE, wakes->channels != 0);
}
