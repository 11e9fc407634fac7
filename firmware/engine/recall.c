/* SPDX-License-Identifier: MIT */
#include "firmware/engine/recall.h"

#include "firmware/instance.h"

/** What was in flight, and the staged submission behind it, while they are put in their new slots. */
struct recalled {
	struct pb_core_submission at[PB_LIMIT_IN_FLIGHT + 1u];
	uint32_t count; /**< in flight */
	bool staged;    /**< at[count] is the staged one */
	bool ready;     /**< that is ready to be fed: if it has failed, it completes */
	uint32_t out;   /**< mask of those that are recalled */
};

/** Whether the host wants the queue's submissions back. A queue that drains lets them complete. */
static bool host_wants(const struct pb_core_queue *queue)
{
	return (queue->stop & (PB_CORE_QUEUE_STOPPING | PB_CORE_QUEUE_DRAINING)) == PB_CORE_QUEUE_STOPPING;
}

static bool is_wanted(const struct pb_core_node *node, const struct pb_core_submission *submission)
{
	if (host_wants(submission->queue))
		return true;
	return node->machine.reason == PB_CORE_STOP_TO_SWITCH &&
	       node->schedule.policy->may_recall(node, submission);
}

/** Whether a submission, or one of its queue behind it, has failed: it completes, and so does what is before it. */
static bool must_complete(const struct recalled *all, uint32_t i)
{
	const struct pb_core_queue *queue = all->at[i].queue;

	for (; i < all->count + (all->ready ? 1u : 0u); i++) {
		if (all->at[i].queue == queue && all->at[i].status != PB_ERROR_OK)
			return true;
	}
	return false;
}

/** Whether a submission of its queue behind it stays: order within a queue is kept. */
static bool is_before_one_that_stays(const struct recalled *all, uint32_t i)
{
	const struct pb_core_queue *queue = all->at[i].queue;

	while (++i < all->count) {
		if (all->at[i].queue == queue && (all->out >> i & 1u) == 0)
			return true;
	}
	return false;
}

static void collect(struct pb_core_node *node, struct recalled *all)
{
	all->count = pb_core_in_flight_count(&node->flight);
	all->staged = pb_core_staged_any(&node->staged);
	all->ready = pb_core_staged_is_ready(&node->staged);
	all->out = 0;
	for (uint32_t i = 0; i < all->count + (all->staged ? 1u : 0u); i++)
		all->at[i] = *pb_core_in_flight_at(&node->flight, node->flight.retired + 1u + i);
	/* The last one first: one that stays keeps those before it in its queue. */
	for (uint32_t i = all->count; i-- != 0;) {
		if (is_wanted(node, &all->at[i]) && !must_complete(all, i) &&
		    !is_before_one_that_stays(all, i))
			all->out |= 1u << i;
	}
}

/** Puts what stays into its new slots. The engine counts from 1 again, unless it drained: then its numbers go on. */
static void renumber(struct pb_core_node *node, const struct recalled *all)
{
	if (node->machine.drained)
		return;
	pb_core_complete_restart(&node->retirement, node->flight.retired);
	pb_core_in_flight_restart(&node->flight);
	for (uint32_t i = 0; i < all->count; i++) {
		if ((all->out >> i & 1u) == 0)
			*pb_core_in_flight_at(&node->flight, pb_core_in_flight_feed(&node->flight)) =
				all->at[i];
	}
	pb_core_in_flight_recount(&node->flight);
	if (all->staged)
		*pb_core_in_flight_next(&node->flight) = all->at[all->count];
}

/** Unsubmits the staged submission if one before it in its queue is recalled. */
static void unsubmit_staged(struct pb_firmware *firmware, struct pb_core_node *node,
			    const struct recalled *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		if ((all->out >> i & 1u) != 0 && pb_core_staged_is_of(node, all->at[i].queue)) {
			pb_core_charge_unsubmitted(firmware, node);
			pb_core_staged_unsubmit(firmware, node);
			return;
		}
	}
}

/** Returns one submission to its queue's ring. */
static void give_back(struct pb_firmware *firmware, struct pb_core_node *node,
		      const struct pb_core_submission *submission)
{
	struct pb_core_queue *queue = submission->queue;

	if (submission->patches != 0)
		pb_core_staged_count_patches(firmware, submission);
	pb_core_ring_keep_prepared(queue, submission->resumes);
	pb_core_ring_release(queue, &firmware->channels[queue->channel].usage);
	pb_core_ring_set_timeline(queue, pb_core_in_flight_timeline(&node->flight, queue));
	if (pb_core_table_is_closing(queue)) {
		pb_core_complete_drain(firmware, queue);
	} else if (!host_wants(queue)) {
		/* The queue may have begun to wait for what is behind that submission, or even for the submission. */
		pb_core_wait_leave(firmware, queue);
		pb_core_schedule_return(firmware, queue);
	}
}

/** Whether the host of a queue that has submissions in flight wants them back. */
static bool any_host_wants(struct pb_core_node *node)
{
	for (uint32_t sequence = node->flight.retired + 1u; sequence != node->flight.fed + 1u; sequence++) {
		if (host_wants(pb_core_in_flight_at(&node->flight, sequence)->queue))
			return true;
	}
	return false;
}

const struct pb_core_submission *pb_core_recall_first_wanted(struct pb_core_node *node)
{
	struct recalled all;

	if (!any_host_wants(node))
		return NULL;
	collect(node, &all);
	for (uint32_t i = 0; i < all.count; i++) {
		if ((all.out >> i & 1u) != 0 && host_wants(all.at[i].queue))
			return pb_core_in_flight_at(&node->flight, node->flight.retired + 1u + i);
	}
	return NULL;
}

void pb_core_recall(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct recalled all;

	collect(node, &all);
	renumber(node, &all);
	unsubmit_staged(firmware, node, &all);
	/* The last one first, so that the first is in front in its list. */
	for (uint32_t i = all.count; i-- != 0;) {
		if ((all.out >> i & 1u) != 0)
			give_back(firmware, node, &all.at[i]);
	}
	for (uint32_t sequence = node->flight.retired + 1u; sequence != node->flight.fed + 1u; sequence++)
		pb_core_feed_again(firmware, node, sequence);
	pb_core_timeslice_settle(&node->slice);
	pb_core_mark_node(&firmware->marks, node->bit);
	pb_core_mark_stops(&firmware->marks, node->bit);
}
