/* SPDX-License-Identifier: MIT */
/*
 * Taking work back from an engine that was stopped or reset: what is withdrawn
 * is in its queue's ring as if it had not been read, the rest is fed again.
 */
#include "firmware/core.h"

/** Behind a withdrawal the last timeline value accepted is that of the last work left. */
static void rewind_timeline(struct pb_core_node *node, struct pb_core_queue *queue)
{
	queue->timeline = queue->reached;
	for (uint32_t sequence = node->retired + 1u; sequence != node->fed + 1u; sequence++) {
		const struct pb_core_work *work = pb_core_work_at(node, sequence);

		if (work->queue == queue)
			queue->timeline = pb_core_wide(work->timeline_low, work->timeline_high);
	}
}

static void give_back(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	queue->busy--;
	firmware->channels[queue->channel].busy--;
}

void pb_core_drop_next(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_work *work = pb_core_work_at(node, node->fed + 1u);
	struct pb_core_queue *queue = work->queue;

	if (node->next == PB_CORE_NEXT_PREPARED) {
		queue->patched++;
		if (work->resumes)
			queue->flags |= PB_CORE_QUEUE_STARTED;
	}
	pb_core_next_clear(firmware, node);
	if (work->patches != 0)
		pb_core_count_patches(firmware, work);
	give_back(firmware, queue);
	rewind_timeline(node, queue);
	firmware->awake |= 1u << queue->node;
}

uint32_t pb_core_first_in_flight(struct pb_core_node *node, const struct pb_core_queue *queue)
{
	for (uint32_t i = 1; i <= node->fed - node->retired; i++) {
		if (pb_core_work_at(node, node->retired + i)->queue == queue)
			return i;
	}
	return 0;
}

bool pb_core_next_is(struct pb_core_node *node, const struct pb_core_queue *queue)
{
	return pb_core_has_next(node) && pb_core_work_at(node, node->fed + 1u)->queue == queue;
}

/** What was in flight, and the next work, while they are put in their new places. */
struct works {
	struct pb_core_work at[PB_LIMIT_IN_FLIGHT + 1u];
	uint32_t count; /**< in flight */
	bool next;      /**< at[count] is the next one */
	uint32_t out;   /**< mask of those that are withdrawn */
};

/** What drains is no more the host's to take back than other work. */
static bool is_wanted_back_by_host(const struct pb_core_queue *queue)
{
	return (queue->flags & (PB_CORE_QUEUE_STOPPING | PB_CORE_QUEUE_DRAINING)) == PB_CORE_QUEUE_STOPPING;
}

static bool is_wanted_back(const struct pb_core_node *node, const struct pb_core_work *work)
{
	if (is_wanted_back_by_host(work->queue))
		return true;
	return node->reason == PB_CORE_STOP_TO_SWITCH && (!work->guarded || work->queue == node->expired);
}

/** Work that failed has told its context so: it completes, and so does what is before it in its queue. */
static bool is_kept(const struct works *works, uint32_t i)
{
	const struct pb_core_queue *queue = works->at[i].queue;

	for (; i < works->count + (works->next ? 1u : 0u); i++) {
		if (works->at[i].queue == queue && works->at[i].status != PB_ERROR_OK)
			return true;
	}
	return false;
}

/** Whether work of its queue behind it stays, as it is guarded. */
static bool is_before_kept(const struct works *works, uint32_t i)
{
	const struct pb_core_queue *queue = works->at[i].queue;

	while (++i < works->count) {
		if (works->at[i].queue == queue && (works->out >> i & 1u) == 0)
			return true;
	}
	return false;
}

static void collect(struct pb_core_node *node, struct works *works)
{
	works->count = node->fed - node->retired;
	works->next = pb_core_has_next(node);
	works->out = 0;
	for (uint32_t i = 0; i < works->count + (works->next ? 1u : 0u); i++)
		works->at[i] = *pb_core_work_at(node, node->retired + 1u + i);
	/* The last one first: what stays keeps those before it in its queue. */
	for (uint32_t i = works->count; i-- != 0;) {
		if (is_wanted_back(node, &works->at[i]) && !is_kept(works, i) && !is_before_kept(works, i))
			works->out |= 1u << i;
	}
}

/** The engine counts from 1 again. */
static void renumber(struct pb_core_node *node, const struct works *works)
{
	node->completed += node->retired;
	node->fed = 0;
	node->retired = 0;
	for (uint32_t i = 0; i < works->count; i++) {
		if ((works->out >> i & 1u) == 0)
			*pb_core_work_at(node, ++node->fed) = works->at[i];
	}
	if (!works->next)
		return;
	*pb_core_work_at(node, node->fed + 1u) = works->at[works->count];
	if (node->next == PB_CORE_NEXT_JOB)
		node->job->work = pb_core_work_at(node, node->fed + 1u);
}

/** The next work goes with those that stand before it in its queue. */
static void drop_next_with(struct pb_firmware *firmware, struct pb_core_node *node, const struct works *works)
{
	for (uint32_t i = 0; i < works->count; i++) {
		if ((works->out >> i & 1u) != 0 && pb_core_next_is(node, works->at[i].queue)) {
			pb_core_drop_next(firmware, node);
			return;
		}
	}
}

static void withdraw(struct pb_firmware *firmware, struct pb_core_node *node, const struct pb_core_work *work)
{
	struct pb_core_queue *queue = work->queue;

	if (work->patches != 0)
		pb_core_count_patches(firmware, work);
	queue->patched++;
	if (work->resumes)
		queue->flags |= PB_CORE_QUEUE_STARTED;
	give_back(firmware, queue);
	rewind_timeline(node, queue);
	if ((queue->flags & PB_CORE_QUEUE_CLOSING_IT) != 0)
		pb_core_drained(firmware, queue); /* this was the last of it, maybe */
	else if (!is_wanted_back_by_host(queue))
		pb_core_schedule_return(firmware, queue);
}

void pb_core_withdraw(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct works works;

	collect(node, &works);
	renumber(node, &works);
	drop_next_with(firmware, node, &works);
	/* The last one first, so that the first is before it in the list. */
	for (uint32_t i = works.count; i-- != 0;) {
		if ((works.out >> i & 1u) != 0)
			withdraw(firmware, node, &works.at[i]);
	}
	for (uint32_t sequence = 1; sequence != node->fed + 1u; sequence++)
		pb_core_feed_again(firmware, node, sequence);
	node->expired = NULL;
	firmware->awake |= node->bit;
	pb_core_stop_settle(firmware, node);
}
