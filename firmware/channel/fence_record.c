/* SPDX-License-Identifier: MIT */
#include "firmware/channel/fence_record.h"

/** Begins a change that is not a completion. */
static void begin_change(struct pb_core_queue *queue)
{
	const uint32_t error = queue->changes & PB_CORE_QUEUE_ERROR_SHOWN;
	const uint32_t changes = (queue->changes + 2u) & PB_CORE_QUEUE_CHANGES;

	pb_shared_write32(&queue->page->fence.sequence, pb_core_fence_sequence(queue, queue->completed) + 1u);
	pb_shared_release();
	queue->changes = (uint16_t)(error | changes);
}

static void end_change(struct pb_core_queue *queue)
{
	pb_shared_release();
	pb_shared_write32(&queue->page->fence.sequence, pb_core_fence_sequence(queue, queue->completed));
}

void pb_core_fence_init(struct pb_core_queue *queue, uint32_t epoch)
{
	struct pb_fence_record *record = &queue->page->fence;
	struct pb_preempt_record *preempt = &queue->page->preempt;

	queue->changes = 0;
	queue->error_timeline = UINT64_MAX;
	begin_change(queue);
	for (uint32_t i = 1; i < sizeof(*record) / sizeof(uint32_t); i++)
		pb_shared_write32(&record->sequence + i, 0);
	pb_shared_write32(&record->epoch, epoch);
	pb_shared_write32(&record->error_index, PB_INDEX_NONE);
	end_change(queue);
	for (uint32_t i = 0; i < sizeof(*preempt) / sizeof(uint32_t); i++)
		pb_shared_write32(&preempt->sequence + i, 0);
	pb_shared_write32(&preempt->epoch, epoch);
}

void pb_core_fence_returned(struct pb_core_queue *queue)
{
	begin_change(queue);
	pb_shared_write32(&queue->page->fence.completed, queue->completed);
	end_change(queue);
}

/* The record is read back: a host that wrote over it misleads itself only. */
uint32_t pb_core_fence_last(const struct pb_core_queue *queue, uint32_t *valid)
{
	*valid = pb_shared_read32(&queue->page->fence.valid);
	return pb_shared_read32(&queue->page->fence.fence_id);
}

void pb_core_fence_preempted(struct pb_core_queue *queue, uint32_t preemption_id,
			     const struct pb_core_outcome *outcome)
{
	struct pb_preempt_record *record = &queue->page->preempt;
	const uint32_t sequence = pb_shared_read32(&record->sequence) & ~1u;

	pb_shared_write32(&record->sequence, sequence + 1u);
	pb_shared_release();
	pb_shared_write32(&record->count, sequence / 2u + 1u);
	pb_shared_write32(&record->preemption_id, preemption_id);
	pb_shared_write32(&record->fence_id, outcome->words[0]);
	pb_shared_write32(&record->valid, outcome->words[1]);
	pb_shared_write32(&record->completed, outcome->words[2]);
	pb_shared_write32(&record->returned, outcome->words[3]);
	pb_shared_write32(&record->started, outcome->words[4]);
	pb_shared_release();
	pb_shared_write32(&record->sequence, sequence + 2u);
}

void pb_core_fence_error(struct pb_core_queue *queue, uint32_t error, uint32_t fence_id, uint32_t index)
{
	struct pb_fence_record *record = &queue->page->fence;
	/* Counted on from what stands there: only the queue's own host reads it. */
	const uint32_t errors = pb_shared_read32(&record->errors);

	begin_change(queue);
	pb_shared_write32(&record->errors, errors + 1u);
	if (!pb_core_fence_shows_error(queue)) {
		queue->changes |= PB_CORE_QUEUE_ERROR_SHOWN;
		pb_shared_write32(&record->error, error);
		pb_shared_write32(&record->error_fence_id, fence_id);
		pb_shared_write32(&record->error_index, index);
	}
	end_change(queue);
}

void pb_core_fence_failed_at(struct pb_core_queue *queue, uint64_t timeline)
{
	if (timeline < queue->error_timeline)
		queue->error_timeline = timeline;
}

void pb_core_fence_clear(struct pb_core_queue *queue)
{
	struct pb_fence_record *record = &queue->page->fence;

	queue->changes &= (uint16_t)~PB_CORE_QUEUE_ERROR_SHOWN;
	queue->error_timeline = UINT64_MAX;
	begin_change(queue);
	pb_shared_write32(&record->error, PB_ERROR_OK);
	pb_shared_write32(&record->error_fence_id, 0);
	pb_shared_write32(&record->error_index, PB_INDEX_NONE);
	end_change(queue);
}
