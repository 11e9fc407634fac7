/* SPDX-License-Identifier: MIT */
/*
 * Fence records: seqlocks in the queue's page. Odd while the fields change.
 */
#include "firmware/core.h"

static void begin(struct pb_core_queue *queue)
{
	pb_shared_write32(&queue->page->fence.sequence, queue->record_sequence + 1u);
	pb_shared_release();
}

static void end(struct pb_core_queue *queue)
{
	queue->record_sequence += 2u;
	pb_shared_release();
	pb_shared_write32(&queue->page->fence.sequence, queue->record_sequence);
}

void pb_core_record_init(struct pb_core_queue *queue, uint32_t epoch)
{
	struct pb_fence_record *record = &queue->page->fence;

	queue->record_sequence = 0;
	begin(queue);
	for (uint32_t i = 1; i < sizeof(*record) / sizeof(uint32_t); i++)
		pb_shared_write32(&record->sequence + i, 0);
	pb_shared_write32(&record->epoch, epoch);
	pb_shared_write32(&record->error_index, PB_INDEX_NONE);
	end(queue);
}

void pb_core_record_complete(struct pb_core_queue *queue, const struct pb_core_work *work)
{
	struct pb_fence_record *record = &queue->page->fence;

	begin(queue);
	pb_shared_write32(&record->completed, queue->completed);
	pb_shared_write32(&record->timeline_low, work->timeline_low);
	pb_shared_write32(&record->timeline_high, work->timeline_high);
	pb_shared_write32(&record->fence_id, work->fence_id);
	pb_shared_write32(&record->status, work->status);
	pb_shared_write32(&record->valid, 1);
	end(queue);
}

void pb_core_record_error(struct pb_core_queue *queue, uint32_t error, uint32_t fence_id, uint32_t index)
{
	struct pb_fence_record *record = &queue->page->fence;

	if (queue->errors != UINT16_MAX)
		queue->errors++;
	begin(queue);
	pb_shared_write32(&record->errors, queue->errors);
	if (!queue->error_shown) {
		queue->error_shown = true;
		pb_shared_write32(&record->error, error);
		pb_shared_write32(&record->error_fence_id, fence_id);
		pb_shared_write32(&record->error_index, index);
	}
	end(queue);
}

void pb_core_record_clear(struct pb_core_queue *queue)
{
	struct pb_fence_record *record = &queue->page->fence;

	queue->error_shown = false;
	begin(queue);
	pb_shared_write32(&record->error, PB_ERROR_OK);
	pb_shared_write32(&record->error_fence_id, 0);
	pb_shared_write32(&record->error_index, PB_INDEX_NONE);
	end(queue);
}
