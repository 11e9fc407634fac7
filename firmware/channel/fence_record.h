/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Fence records and preempt records: seqlocks in the queue's page, odd while
 * their fields change. The owner of pb_core_queue.changes and error_timeline;
 * main loop only.
 */
#ifndef PB_FIRMWARE_CHANNEL_FENCE_RECORD_H
#define PB_FIRMWARE_CHANNEL_FENCE_RECORD_H

#include "firmware/channel/reply.h"
#include "firmware/queue_record.h"
#include "hal/shared_pair.h"

/** The record's sequence number: counts completions and other changes. A host compares it with itself only. */
static inline uint32_t pb_core_fence_sequence(const struct pb_core_queue *queue, uint32_t completed)
{
	return 2u * completed + (queue->changes & ~PB_CORE_QUEUE_ERROR_SHOWN);
}

/**
 * Publishes that a submission has completed. Each submission comes by here.
 * @param completed consumer index behind it @param low, high its timeline value @param status enum pb_error
 */
static inline void pb_core_fence_complete(const struct pb_core_queue *queue, uint32_t completed, uint32_t low,
					  uint32_t high, uint32_t fence_id, uint32_t status)
{
	struct pb_fence_record *record = &queue->page->fence;
	const uint32_t sequence = pb_core_fence_sequence(queue, completed);

	pb_shared_write32(&record->sequence, sequence - 1u);
	pb_shared_release();
	pb_shared_write_pair(&record->completed, completed, low);
	pb_shared_write_pair(&record->timeline_high, high, fence_id);
	pb_shared_write32(&record->status, status);
	pb_shared_write32(&record->valid, 1);
	pb_shared_release();
	pb_shared_write32(&record->sequence, sequence);
}

/** Publishes that everything before a cutoff was returned to the host. Pre: the queue is at the cutoff. */
void pb_core_fence_returned(struct pb_core_queue *queue);
/** Reads the fence id of the last submission completed. @param valid set to 1 if there is one, else to 0 */
uint32_t pb_core_fence_last(const struct pb_core_queue *queue, uint32_t *valid);
/** Publishes what a preemption came to. @param outcome the results of its reply */
void pb_core_fence_preempted(struct pb_core_queue *queue, uint32_t preemption_id,
			     const struct pb_core_outcome *outcome);
/** Publishes a queue's first error since it was cleared, and counts it; later errors are counted only. */
void pb_core_fence_error(struct pb_core_queue *queue, uint32_t error, uint32_t fence_id, uint32_t index);
/** Keeps the timeline value of the first submission that failed since the error was cleared. */
void pb_core_fence_failed_at(struct pb_core_queue *queue, uint64_t timeline);
/** Clears the error that the record shows. */
void pb_core_fence_clear(struct pb_core_queue *queue);
/** Sets up the records of a queue that begins its life. */
void pb_core_fence_init(struct pb_core_queue *queue, uint32_t epoch);

/** Whether the record shows an error. */
/*@
  requires \valid_read(queue);
  assigns \nothing;
  ensures \result <==> (queue->changes & PB_CORE_QUEUE_ERROR_SHOWN) != 0;
*/
static inline bool pb_core_fence_shows_error(const struct pb_core_queue *queue)
{
	return (queue->changes & PB_CORE_QUEUE_ERROR_SHOWN) != 0;
}

#endif
