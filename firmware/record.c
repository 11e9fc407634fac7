/* SPDX-License-Identifier: MIT */
/*
 * Fence records: seqlocks in the queue's page. Odd while the fields change.
 */
#include "firmware/core.h"

/** Counts completions and other changes; a host compares it with itself only. */
static uint32_t sequence_of(const struct pb_core_queue *queue)
{
	return 2u * (queue->completed + queue->changes);
}

static void begin(struct pb_core_queue *queue, uint32_t sequence)
{
	pb_shared_write32(&queue->page->fence.sequence, sequence + 1u);
	pb_shared_release();
}

static void end(struct pb_core_queue *queue)
{
	pb_shared_release();
	pb_shared_write32(&queue->page->fence.sequence, sequence_of(queue));
}

/** A change that is no completion. */
static void begin_change(struct pb_core_queue *queue)
{
	begin(queue, sequence_of(queue));
	queue->changes++;
}

void pb_core_record_init(struct pb_core_queue *queue, uint32_t epoch)
{
	struct pb_fence_record *record = &queue->page->fence;
	struct pb_preempt_record *preempt = &queue->page->preempt;

	begin_change(queue);
	for (uint32_t i = 1; i < sizeof(*record) / sizeof(uint32_t); i++)
		pb_shared_write32(&record->sequence + i, 0);
	pb_shared_write32(&record->epoch, epoch);
	pb_shared_write32(&record->error_index, PB_INDEX_NONE);
	end(queue);
	for (uint32_t i = 0; i < sizeof(*preempt) / sizeof(uint32_t); i++)
		pb_shared_write32(&preempt->sequence + i, 0);
	pb_shared_write32(&preempt->epoch, epoch);
}

void pb_core_record_returned(struct pb_core_queue *queue, uint32_t cutoff)
{
	begin_change(queue);
	queue->completed = cutoff;
	pb_shared_write32(&queue->page->fence.completed, cutoff);
	end(queue);
}

/* The record is read back for the report of a preemption: what a host may have done to it, it did to itself. */
uint32_t pb_core_record_last(const struct pb_core_queue *queue, uint32_t *valid)
{
	*valid = pb_shared_read32(&queue->page->fence.valid);
	return pb_shared_read32(&queue->page->fence.fence_id);
}

void pb_core_record_preempted(struct pb_core_queue *queue, const struct pb_core_stop *stop,
			      const struct pb_core_outcome *outcome)
{
	struct pb_preempt_record *record = &queue->page->preempt;
	const uint32_t sequence = pb_shared_read32(&record->sequence) & ~1u;

	pb_shared_write32(&record->sequence, sequence + 1u);
	pb_shared_release();
	pb_shared_write32(&record->count, sequence / 2u + 1u);
	pb_shared_write32(&record->preemption_id, stop->preemption_id);
	pb_shared_write32(&record->fence_id, outcome->words[0]);
	pb_shared_write32(&record->valid, outcome->words[1]);
	pb_shared_write32(&record->completed, outcome->words[2]);
	pb_shared_write32(&record->returned, outcome->words[3]);
	pb_shared_write32(&record->started, outcome->words[4]);
	pb_shared_release();
	pb_shared_write32(&record->sequence, sequence + 2u);
}

void pb_core_record_error(struct pb_core_queue *queue, uint32_t error, uint32_t fence_id, uint32_t index)
{
	struct pb_fence_record *record = &queue->page->fence;
	/* Counted on from what stands there: nobody but its own host reads it. */
	const uint32_t errors = pb_shared_read32(&record->errors);

	begin_change(queue);
	pb_shared_write32(&record->errors, errors + 1u);
	if ((queue->flags & PB_CORE_QUEUE_ERROR_SHOWN) == 0) {
		queue->flags |= PB_CORE_QUEUE_ERROR_SHOWN;
		pb_shared_write32(&record->error, error);
		pb_shared_write32(&record->error_fence_id, fence_id);
		pb_shared_write32(&record->error_index, index);
	}
	end(queue);
}

void pb_core_record_clear(struct pb_core_queue *queue)
{
	struct pb_fence_record *record = &queue->page->fence;

	queue->flags &= (uint8_t)~PB_CORE_QUEUE_ERROR_SHOWN;
	queue->error_timeline = UINT64_MAX;
	begin_change(queue);
	pb_shared_write32(&record->error, PB_ERROR_OK);
	pb_shared_write32(&record->error_fence_id, 0);
	pb_shared_write32(&record->error_index, PB_INDEX_NONE);
	end(queue);
}
