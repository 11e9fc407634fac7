/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Stop requests: preemption, suspension and reset of queues; and the
 * submissions that a dead firmware or a closed channel left unfinished.
 *
 * A returned submission did not complete: it does not advance the timeline, and
 * the host may submit its timeline value again.
 */
#ifndef PB_HOST_STOP_H
#define PB_HOST_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- preemption ---- */

/**
 * Preempts a queue and waits: when it returns PB_ERROR_OK, each submission made before the call has completed or was
 * returned. If nothing was submitted meanwhile, the next default timeline value follows that of the last submission
 * completed. Blocks for at most PB_COMMAND_TIMEOUT_US.
 * Threads: commands, queue; waits.
 * @param preemption_id any number; the result carries it
 * @param flags PB_STOP_INSIDE or 0
 * @param result NULL, or out
 * @retval PB_ERROR_BUSY a preemption, suspension or reset of the queue is in progress
 * @retval PB_ERROR_NO_SPACE no stop request is free: ask again when another one of the channel has ended
 * @retval PB_ERROR_TIMEOUT the preemption is still in progress: call pb_queue_preempt_finish()
 */
enum pb_error pb_queue_preempt(struct pb_queue *queue, uint32_t preemption_id, uint32_t flags,
			       struct pb_preempt *result);
/**
 * Requests a preemption without waiting. The host may submit meanwhile; later submissions are not returned. Parameters
 * and errors as for pb_queue_preempt(). Never blocks.
 * Threads: commands, queue; interrupt.
 */
enum pb_error pb_queue_preempt_begin(struct pb_queue *queue, uint32_t preemption_id, uint32_t flags);
/**
 * Finishes a preemption that was begun, if the reply has come. Never blocks.
 * Threads: commands, queue; interrupt.
 * @param result NULL, or out
 * @retval PB_ERROR_TIMEOUT the preemption is still in progress
 * @retval PB_ERROR_BAD_ARGUMENT no preemption was begun, or it has been finished
 */
enum pb_error pb_queue_preempt_finish(struct pb_queue *queue, struct pb_preempt *result);
/**
 * Reads the record of the last preemption reported, as an interrupt routine does after PB_EVENT_PREEMPTED. The reply
 * comes right after the record; pb_queue_preempt_finish() must still be called. Never blocks.
 * Threads: queue; interrupt.
 * @param last out: all 0 if the queue was never preempted
 * @retval PB_ERROR_TIMEOUT the firmware is writing a record: call again, at the latest at the next interrupt
 */
enum pb_error pb_queue_preempted_now(struct pb_queue *queue, struct pb_preempt *last);
/**
 * Reads that record as pb_queue_preempted_now() does, and waits for a write in progress as pb_queue_fence() does.
 * Threads: queue; waits.
 */
enum pb_error pb_queue_preempted(struct pb_queue *queue, struct pb_preempt *last);

/* ---- suspension ---- */

/**
 * Suspends a queue and waits until each submission made so far has completed or, with PB_STOP_RECALL, was recalled from
 * the engine. From then on no submission of the queue runs until pb_queue_resume(). The host may move the memory of
 * the queue's allocations and may go on submitting. Blocks for at most PB_COMMAND_TIMEOUT_US.
 * Threads: commands, queue; waits.
 * @param flags PB_STOP_*
 * @retval PB_ERROR_NO_SPACE no stop request is free: ask again when another one of the channel has ended
 */
enum pb_error pb_queue_suspend(struct pb_queue *queue, uint32_t flags);
/**
 * Requests a suspension without waiting.
 * Threads: commands, queue; interrupt.
 * @param flags PB_STOP_*
 * @param tag out: for pb_channel_finish()
 */
enum pb_error pb_queue_suspend_begin(struct pb_queue *queue, uint32_t flags, uint32_t *tag);
/**
 * Resumes a suspended queue. The firmware reads and patches recalled submissions again. Blocks for at most
 * PB_COMMAND_TIMEOUT_US.
 * Threads: commands; waits.
 */
enum pb_error pb_queue_resume(struct pb_queue *queue);
/**
 * Suspends all queues of all channels, as pb_queue_suspend() does one queue. The card resumes with pb_card_resume(), or
 * when the admin's channel closes: when it detaches, or when another admin attaches after its death.
 * Threads: commands; waits.
 * @param channel the admin's
 * @param flags PB_STOP_*
 */
enum pb_error pb_card_suspend(struct pb_channel *channel, uint32_t flags);
/**
 * Ends a suspension by pb_card_suspend().
 * Threads: commands; waits.
 * @param channel the admin's
 */
enum pb_error pb_card_resume(struct pb_channel *channel);

/* ---- reset ---- */

/**
 * Resets the engine of the queue's node. The queue's submissions that were in flight fail with PB_ERROR_ENGINE_HANG;
 * its other submissions are returned. In-flight submissions of other queues run again from their start. Blocks for at
 * most PB_COMMAND_TIMEOUT_US.
 * Threads: commands, queue; waits.
 * @param result NULL, or out
 * @retval PB_ERROR_NO_SPACE no stop request is free: ask again when another one of the channel has ended
 */
enum pb_error pb_queue_reset(struct pb_queue *queue, struct pb_preempt *result);
/**
 * Releases a node that a failed paging buffer halted for this channel: the channel's submissions run there again.
 * Blocks for at most PB_COMMAND_TIMEOUT_US.
 * Threads: commands; waits.
 */
enum pb_error pb_node_release(struct pb_channel *channel, uint32_t node);

/* ---- unfinished submissions ---- */

/**
 * Hands out one submission that will never complete because the firmware died or the channel was closed: the oldest
 * first, each once. Such a submission may have run in part, or even as a whole. Call it until it returns PB_ERROR_OK,
 * before the channel attaches again. After the first submission handed out the queue cannot be used any more.
 * Threads: queue; interrupt.
 * @pre the queue's request had a history
 * @param descriptor out: as submitted, with its timeline value
 * @retval PB_ERROR_OK no (further) submission is lost: all others completed, were returned, or may still complete
 * @retval PB_ERROR_FIRMWARE_DEAD `descriptor` was lost with the firmware
 * @retval PB_ERROR_RETURNED `descriptor` was not completed before the channel was closed, faulted or detached
 * @retval PB_ERROR_BAD_ARGUMENT the queue has no history
 */
enum pb_error pb_queue_unfinished(struct pb_queue *queue, struct pb_descriptor *descriptor);

#ifdef __cplusplus
}
#endif

#endif
