/* SPDX-License-Identifier: MIT */
#include "tests/sim/judge.h"

static bool is_reached(const struct pb_host *host, const struct pb_entry_wait *wait)
{
	const struct pb_queue_view *queue;

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
		if (!is_reached(host, &entry->waits[i]))
			return false;
	}
	return true;
}

/** The handle named nothing at some time since the entry was submitted. */
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
	}
	return false;
}

/** Whether anything outstanding of `from` waits for `to`, directly or through others. */
static bool leads_to(struct pb_host *host, uint32_t from, uint32_t to, uint32_t *seen)
{
	struct pb_queue_view *queue = &host->queues[from];

	if (from == to)
		return true;
	if ((*seen & 1u << from) != 0 || queue->entries == 0)
		return false;
	*seen |= 1u << from;
	for (uint32_t i = queue->completed; i != queue->put; i++) {
		const struct pb_entry *entry = pb_entry_at(queue, i);

		for (uint32_t w = 0; w < entry->wait_count; w++) {
			if (entry->waits[w].queue != PB_QUEUES &&
			    leads_to(host, entry->waits[w].queue, to, seen))
				return true;
		}
	}
	return false;
}

bool pb_judge_deadlock(struct pb_host *host, const struct pb_queue_view *queue, const struct pb_entry *entry)
{
	const uint32_t self = (uint32_t)(queue - host->queues);
	uint32_t seen = 0;

	for (uint32_t i = 0; i < entry->wait_count; i++) {
		const struct pb_entry_wait *wait = &entry->waits[i];

		if (wait->queue == self && wait->value >= entry->timeline)
			return true;
		if (wait->queue != PB_QUEUES && wait->queue != self &&
		    leads_to(host, wait->queue, self, &seen))
			return true;
	}
	return false;
}

bool pb_judge_free_to_run(struct pb_host *host, struct pb_queue_view *queue)
{
	const struct pb_entry *entry = pb_entry_at(queue, queue->completed);

	if (pb_judge_wait_reached(host, entry))
		return true;
	for (uint32_t i = 0; i < entry->wait_count; i++) {
		if (was_gone(host, entry, &entry->waits[i]))
			return true;
	}
	return pb_judge_deadlock(host, queue, entry) && entry->wait_count == 1 &&
	       &host->queues[entry->waits[0].queue] == queue;
}
