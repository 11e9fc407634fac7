/* SPDX-License-Identifier: MIT */
#include "tests/sim/mutate.h"

#include "hal/engine/registers.h"
#include "tests/sim/inside.h"
#include "tests/sim/judge.h"
#include "tests/sim/run.h"
#include "tests/sim/submission.h"

/** A queue whose first submission has begun and not ended. */
static struct pb_queue_view *running_queue(struct pb_run *run, struct pb_host **host)
{
	for (uint32_t h = 0; h < run->host_count; h++) {
		*host = &run->hosts[h];
		for (uint32_t q = 0; (*host)->attached && q < PB_QUEUES; q++) {
			struct pb_queue_view *queue = &(*host)->queues[q];
			const struct pb_entry *entry;

			if (queue->life != PB_QUEUE_OPEN || pb_outstanding(queue) == 0)
				continue;
			entry = pb_entry_at(queue, queue->completed);
			if (entry->kind == PB_KIND_PLAIN && entry->wait_count == 0 && !entry->paging &&
			    queue->valid &&
			    pb_shared_read32(pb_submission_mark(*host, entry->mark)) != PB_UNMARKED &&
			    pb_shared_read32(pb_submission_mark(*host, entry->mark) + 2) == PB_UNMARKED)
				return queue;
		}
	}
	return NULL;
}

static void complete_early(struct pb_queue_view *queue)
{
	const struct pb_entry *entry = pb_entry_at(queue, queue->completed);
	struct pb_fence_record *record = &queue->page->fence;

	record->completed++;
	record->timeline_low = (uint32_t)entry->timeline;
	record->timeline_high = (uint32_t)(entry->timeline >> 32);
	record->fence_id = entry->fence_id;
	record->status = PB_ERROR_OK;
}

static void complete_with_error(struct pb_queue_view *queue, struct pb_host *host)
{
	const struct pb_entry *entry = pb_entry_at(queue, queue->completed);

	complete_early(queue);
	queue->page->fence.status = PB_ERROR_ENGINE_FAULT;
	queue->reported[0] = (struct pb_reported){entry->fence_id, PB_ERROR_ENGINE_FAULT, PB_INDEX_NONE};
	queue->reported_count = 1;
	(void)host;
}

/** Stores into a mark of a submission that has ended. */
static bool store_late(struct pb_run *run)
{
	for (uint32_t h = 0; h < run->host_count; h++) {
		struct pb_host *host = &run->hosts[h];

		for (uint32_t m = 0; host->attached && m < host->mark_count; m++) {
			if (!host->marks[m].settled)
				continue;
			*pb_submission_mark(host, m) ^= 1u;
			return true;
		}
	}
	return false;
}

/** Moves the channel's segment 1 in the engines' range table. */
static void move_range(struct pb_run *run, uint32_t channel)
{
	struct pb_engine_range_entry *table =
		(struct pb_engine_range_entry *)(void *)(run->world.memory + PB_CARD_RANGES_OFFSET);

	table[channel * PB_ENGINE_RANGES + 1u].memory_offset += PB_PAGE_BYTES;
}

/** Breaks what a revocation of a part of a client's pages may not touch, or what it must keep. */
static bool break_revoked(struct pb_run *run)
{
	struct pb_engine_range_entry *table =
		(struct pb_engine_range_entry *)(void *)(run->world.memory + PB_CARD_RANGES_OFFSET);

	for (uint32_t h = 0; h < run->host_count; h++) {
		struct pb_host *host = &run->hosts[h];

		if (!host->attached || host->revocation != PB_REVOCATION_DONE)
			continue;
		if (run->mutation.kind == PB_MUTATION_REVOKED)
			host->memory[PB_REVOKED_SEGMENT][PB_PAGE_BYTES - 1u] ^= 1u;
		else
			table[host->client.channel * PB_ENGINE_RANGES + 1u].bytes = 0;
		return true;
	}
	return false;
}

/** Whether the mutation is applied elsewhere: where the judge gets its input. */
static bool is_applied_elsewhere(enum pb_mutation_kind kind)
{
	return kind == PB_MUTATION_SILENT || kind == PB_MUTATION_QUERY || kind == PB_MUTATION_FORGOTTEN;
}

static void break_queue(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	const struct pb_entry *entry = pb_entry_at(queue, queue->completed);
	const uint32_t words = host->slots[entry->slot].words;

	switch (run->mutation.kind) {
	case PB_MUTATION_LOST:
		run->world.nodes[queue->node].frozen = true;
		break;
	case PB_MUTATION_STOPPED:
		run->world.stopped = true;
		break;
	case PB_MUTATION_EARLY:
		complete_early(queue);
		break;
	case PB_MUTATION_BACK:
		queue->page->fence.completed--;
		break;
	case PB_MUTATION_PATCH:
		pb_submission_words(host, entry->slot)[words - 1u] ^= 4u;
		break;
	case PB_MUTATION_STATUS:
		complete_with_error(queue, host);
		break;
	case PB_MUTATION_FENCE:
		complete_early(queue);
		pb_submission_mark(host, entry->mark)[2] = host->marks[entry->mark].value[2];
		queue->page->fence.fence_id ^= 0x100u;
		break;
	case PB_MUTATION_EVENT:
		host->client.event_get -= 1u;
		pb_shared_write32(&host->client.entry->event_put, host->client.event_get + 1u);
		break;
	case PB_MUTATION_FOREIGN:
		host->memory[0][PB_SUBMISSION_SYSTEM_BYTES - 1u] ^= 1u;
		break;
	case PB_MUTATION_RANGE:
		move_range(run, host->client.channel);
		break;
	case PB_MUTATION_PUT:
		queue->page->put++;
		break;
	case PB_MUTATION_DROPPED:
		host->client.entry->events_dropped++;
		break;
	case PB_MUTATION_CALLS:
		run->world.touches = pb_world_touches.most + 1u;
		pb_judge_pass(run);
		break;
	case PB_MUTATION_STRAY:
		run->world.memory[PB_WORLD_MEMORY_BYTES - 1u] ^= 1u;
		break;
	case PB_MUTATION_FATAL:
		pb_inside_break(run->world.firmware);
		break;
	case PB_MUTATION_SILENT:
	case PB_MUTATION_QUERY:
	case PB_MUTATION_FORGOTTEN:
	case PB_MUTATION_STORE:
	case PB_MUTATION_REVOKED:
	case PB_MUTATION_BESIDE:
	case PB_MUTATION_NONE:
	case PB_MUTATIONS:
		break;
	}
}

bool pb_mutate(struct pb_run *run)
{
	struct pb_queue_view *queue;
	struct pb_host *host;

	if (run->mutation.kind == PB_MUTATION_NONE || run->mutation.done ||
	    is_applied_elsewhere(run->mutation.kind))
		return false;
	if (run->mutation.kind == PB_MUTATION_STORE) {
		run->mutation.done = store_late(run);
		return run->mutation.done;
	}
	if (run->mutation.kind == PB_MUTATION_REVOKED || run->mutation.kind == PB_MUTATION_BESIDE) {
		run->mutation.done = break_revoked(run);
		return run->mutation.done;
	}
	queue = running_queue(run, &host);
	if (queue == NULL || (run->mutation.kind == PB_MUTATION_EVENT && host->client.event_get == 0))
		return false;
	run->mutation.done = true;
	break_queue(run, host, queue);
	return true;
}
