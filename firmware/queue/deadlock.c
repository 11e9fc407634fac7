/* SPDX-License-Identifier: MIT */
#include "firmware/queue/deadlock.h"

#include "firmware/instance.h"

void pb_core_deadlock_boot(struct pb_core_deadlock *search)
{
	search->from = PB_CORE_NO_QUEUE;
}

/*
 * Which queue a cycle is closed by: the last of it that began to wait. At that
 * time the others waited, so that one of them awaited it.
 */
bool pb_core_deadlock_is_suspect(const struct pb_core_queue *queue, const struct pb_core_queue *target,
				 uint64_t value)
{
	return (queue->links & (PB_CORE_QUEUE_AWAITED | PB_CORE_QUEUE_WAKES)) != 0 &&
	       pb_core_queue_place(target) == PB_CORE_PLACE_WAITING && value > target->timeline;
}

/** Counts a queue that is one of the next as one no more. */
static void forget_next(struct pb_core_deadlock *search, struct pb_core_queue *queue)
{
	pb_core_links_set_next(queue, false);
	search->next--;
}

/*
 * Queues whose turn has not come while a search is under way become the next.
 * As soon as one of those has its turn, no queue is added to them until all
 * have had theirs, so that queues which come and go keep none waiting for ever.
 */
bool pb_core_deadlock_begin(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	const struct pb_core_channel *channel = &firmware->channels[queue->channel];
	struct pb_core_deadlock *search = &firmware->channels[queue->channel].search;
	const bool next = (queue->links & PB_CORE_QUEUE_NEXT) != 0;

	if (pb_core_deadlock_searches(search)) {
		if (!next && !search->closed) {
			pb_core_links_set_next(queue, true);
			search->next++;
		}
		return false;
	}
	if (!next && search->next != 0)
		return false;
	if (next)
		forget_next(search, queue);
	search->closed = search->next != 0;
	search->from = pb_core_table_index(&firmware->table, queue);
	search->at = search->from;
	search->left = channel->quota.used[PB_RESOURCE_QUEUES];
	search->second = false;
	return true;
}

/** Whether a queue of the channel waits for what its target cannot reach before the target's own wait is over. */
static bool is_blocked(const struct pb_core_queue *queues, const struct pb_core_queue *queue,
		       uint32_t channel)
{
	return pb_core_queue_place(queue) == PB_CORE_PLACE_WAITING && queue->channel == channel &&
	       queue->awaited > queues[queue->awaits].timeline;
}

/** Moves the search on by one queue. @return false: there is no cycle */
static bool advance(struct pb_core_queue *queues, struct pb_core_deadlock *search)
{
	struct pb_core_queue *queue = &queues[search->at];

	if (search->left == 0 || !is_blocked(queues, queue, queues[search->from].channel))
		return false;
	if (pb_core_links_pass(queue) && search->second)
		return false;
	search->left--;
	search->at = queue->awaits;
	return true;
}

/** Ends the search. @param closed the queue that has closed a cycle, or NULL */
static struct pb_core_queue *end(struct pb_core_deadlock *search, struct pb_core_queue *closed)
{
	search->from = PB_CORE_NO_QUEUE;
	return closed;
}

/*
 * The first round passes every queue of the cycle. If the second round finds
 * that each of them has waited without a break since, all of them waited at the
 * end of the first round: the cycle is there, although each queue was seen at a
 * time of its own. A round takes at most one step for each queue of the
 * channel; a longer one follows queues that come and go, or leads into a cycle
 * that another queue has closed.
 */
struct pb_core_queue *pb_core_deadlock_step(struct pb_firmware *firmware, struct pb_core_deadlock *search)
{
	struct pb_core_queue *queues = firmware->table.queues;
	struct pb_core_queue *from = &queues[search->from];

	for (uint32_t step = 0; step < PB_SLICE_CHAIN; step++) {
		if (!advance(queues, search))
			return end(search, NULL);
		if (search->at != search->from)
			continue;
		if (search->second)
			return end(search, from);
		search->second = true;
		search->left = firmware->channels[from->channel].quota.used[PB_RESOURCE_QUEUES];
	}
	return NULL;
}

void pb_core_deadlock_leave(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	struct pb_core_deadlock *search = &firmware->channels[queue->channel].search;

	if ((queue->links & PB_CORE_QUEUE_NEXT) != 0)
		forget_next(search, queue);
	if (search->from == pb_core_table_index(&firmware->table, queue))
		search->from = PB_CORE_NO_QUEUE;
}
