/* SPDX-License-Identifier: MIT */
#include "tests/sim/judge.h"

bool pb_judge_is_reached(const struct pb_host *host, const struct pb_entry_wait *wait)
{
	const struct pb_queue_view *queue;

	if (wait->reached)
		return true;
	if (wait->queue == PB_QUEUES)
		return false;
	queue = &host->queues[wait->queue];
	if (queue->handle != wait->handle || queue->life == PB_QUEUE_ABSENT)
		return false;
	return wait->value == 0 || (queue->valid && queue->reached >= wait->value);
}

bool pb_judge_wait_reached(const struct pb_host *host, const struct pb_entry *entry)
{
	for (uint32_t i = 0; i < entry->wait_count; i++) {
		if (!pb_judge_is_reached(host, &entry->waits[i]))
			return false;
	}
	return true;
}

void pb_judge_waits_keep(struct pb_host *host)
{
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		struct pb_queue_view *queue = &host->queues[q];

		for (uint32_t i = queue->completed; queue->life >= PB_QUEUE_OPEN && i != queue->put; i++) {
			struct pb_entry *entry = pb_entry_at(queue, i);

			for (uint32_t w = 0; w < entry->wait_count; w++)
				entry->waits[w].reached = pb_judge_is_reached(host, &entry->waits[w]);
		}
	}
}

/** Whether the handle named no queue at some time since the entry was submitted. */
static bool was_gone(const struct pb_host *host, const struct pb_entry *entry,
		     const struct pb_entry_wait *wait)
{
	const struct pb_queue_view *queue;

	if (wait->queue == PB_QUEUES)
		return true;
	queue = &host->queues[wait->queue];
	return queue->handle != wait->handle || queue->life != PB_QUEUE_OPEN ||
	       queue->gone_step >= entry->step;
}

/** Whether the queue has a failure of this very pass. The judge may have checked its waiters before it. */
static bool has_news(const struct pb_queue_view *queue)
{
	return queue->life == PB_QUEUE_OPEN && pb_shared_read32(&queue->page->fence.errors) != queue->errors;
}

bool pb_judge_dep_failed(const struct pb_run *run, const struct pb_host *host, const struct pb_entry *entry)
{
	(void)run;
	for (uint32_t i = 0; i < entry->wait_count; i++) {
		const struct pb_entry_wait *wait = &entry->waits[i];

		if (was_gone(host, entry, wait))
			return true;
		if (host->queues[wait->queue].worst <= wait->value &&
		    host->queues[wait->queue].worst_step >= entry->step)
			return true;
		if (has_news(&host->queues[wait->queue]))
			return true;
	}
	return false;
}

void pb_judge_note_waits(const struct pb_run *run, struct pb_queue_view *queue, const struct pb_entry *entry)
{
	for (uint32_t w = 0; w < entry->wait_count; w++) {
		if (entry->waits[w].queue != PB_QUEUES)
			queue->waited_step[entry->waits[w].queue] = run->step;
	}
}

/** Whether an outstanding submission waits for queue q of the host. */
static bool waits_for(struct pb_queue_view *queue, uint32_t q)
{
	for (uint32_t i = queue->completed; i != queue->put; i++) {
		const struct pb_entry *entry = pb_entry_at(queue, i);

		for (uint32_t w = 0; w < entry->wait_count; w++) {
			if (entry->waits[w].queue == q)
				return true;
		}
	}
	return false;
}

/**
 * Whether a submission of `from`, outstanding at or after that step, waits for `to`, directly or through
 * others.
 */
static bool leads_to(struct pb_host *host, uint32_t from, uint32_t to, uint64_t step, uint32_t *seen)
{
	struct pb_queue_view *queue = &host->queues[from];

	if (from == to)
		return true;
	if ((*seen & 1u << from) != 0 || queue->entries == 0)
		return false;
	*seen |= 1u << from;
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		const bool waits = queue->waited_step[q] >= step || waits_for(queue, q);

		if (waits && leads_to(host, q, to, step, seen))
			return true;
	}
	return false;
}

bool pb_judge_deadlock(struct pb_host *host, const struct pb_queue_view *queue, const struct pb_entry *entry)
{
	const uint32_t self = (uint32_t)(queue - host->queues);
	uint32_t seen = 0;

	for (uint32_t i = 0; i < entry->wait_count; i++) {
		const struct pb_entry_wait *wait = &entry->waits[i];

		/* Nothing before it in its own queue can reach that value any more. */
		if (wait->queue == self && wait->handle == queue->handle && !pb_judge_is_reached(host, wait))
			return true;
		if (wait->queue != PB_QUEUES && wait->queue != self &&
		    leads_to(host, wait->queue, self, entry->step, &seen))
			return true;
	}
	return false;
}

/** Waits are evaluated in order: a wait behind one that is not reached does not count yet. */
bool pb_judge_free_to_run(struct pb_host *host, struct pb_queue_view *queue)
{
	const struct pb_entry *entry = pb_entry_at(queue, queue->completed);

	for (uint32_t i = 0; i < entry->wait_count; i++) {
		const struct pb_entry_wait *wait = &entry->waits[i];

		if (pb_judge_is_reached(host, wait))
			continue;
		return was_gone(host, entry, wait) || &host->queues[wait->queue] == queue;
	}
	return true;
}
