/* SPDX-License-Identifier: MIT */
#include "firmware/prepare/staged.h"

#include "firmware/instance.h"

void pb_core_staged_prepare(struct pb_firmware *firmware, struct pb_core_node *node, struct pb_core_job *job)
{
	pb_core_jobs_claim(firmware, node, job);
	node->staged.job = job;
	node->staged.kind = PB_CORE_STAGED_JOB;
	node->staged.preparing = pb_core_clock(firmware);
}

/** Sets what is staged. The node's job, if it has one, is free again. */
static void replace_job(struct pb_firmware *firmware, struct pb_core_node *node, uint8_t kind)
{
	const bool had_job = node->staged.kind == PB_CORE_STAGED_JOB;

	node->staged.kind = kind;
	if (had_job)
		pb_core_jobs_release(firmware, node, node->staged.job);
}

void pb_core_staged_ready(struct pb_firmware *firmware, struct pb_core_node *node)
{
	replace_job(firmware, node, PB_CORE_STAGED_READY);
}

void pb_core_staged_fail(struct pb_firmware *firmware, struct pb_core_node *node)
{
	replace_job(firmware, node, PB_CORE_STAGED_FAILED);
}

void pb_core_staged_cancel(struct pb_core_node *node)
{
	const struct pb_core_submission *submission = pb_core_in_flight_next(&node->flight);

	/* What a queue keeps of a recalled submission is claimed when that is fed. */
	pb_core_ring_keep_prepared(submission->queue, submission->resumes);
	node->staged.kind = PB_CORE_STAGED_FAILED;
}

void pb_core_staged_settle_failed(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_submission *submission = pb_core_in_flight_next(&node->flight);
	const uint32_t status = submission->status;

	node->staged.kind = PB_CORE_STAGED_READY;
	if (pb_core_ring_is_prepared(submission->queue))
		(void)pb_core_ring_claim_prepared(submission->queue);
	if (status == PB_ERROR_DEP_FAILED || status == PB_ERROR_DEADLOCK || status == PB_ERROR_CONTEXT_LOST)
		return;
	pb_core_context_lose(&firmware->contexts, submission);
	if (submission->context == PB_CORE_CONTEXT_PAGING)
		pb_core_staged_halt(firmware, node, submission);
}

bool pb_core_staged_may_unsubmit(struct pb_core_node *node)
{
	return pb_core_staged_has_failed(&node->staged) ||
	       pb_core_in_flight_next(&node->flight)->status == PB_ERROR_OK;
}

void pb_core_staged_clear(struct pb_firmware *firmware, struct pb_core_node *node)
{
	replace_job(firmware, node, PB_CORE_STAGED_NONE);
}

bool pb_core_staged_is_of(struct pb_core_node *node, const struct pb_core_queue *queue)
{
	return pb_core_staged_any(&node->staged) && pb_core_in_flight_next(&node->flight)->queue == queue;
}

void pb_core_staged_count_patches(struct pb_firmware *firmware, const struct pb_core_submission *submission)
{
	const struct pb_core_queue *queue = submission->queue;
	struct pb_core_channel *channel = &firmware->channels[queue->channel];

	pb_core_node_of(firmware, queue)->staged.patches += submission->patches;
	pb_core_ring_count_patches(&channel->usage, channel->endpoint.entry, submission->patches);
}

uint32_t pb_core_staged_count_starved(struct pb_core_staged *staged, uint32_t idle_since, uint32_t clock)
{
	const uint32_t idle = clock - idle_since;
	const uint32_t preparing = clock - staged->preparing;
	const uint32_t starved = idle < preparing ? idle : preparing;

	staged->starved += starved;
	return starved;
}

void pb_core_staged_unsubmit(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_submission *submission = pb_core_in_flight_next(&node->flight);
	struct pb_core_queue *queue = submission->queue;

	if (pb_core_staged_is_ready(&node->staged))
		pb_core_ring_keep_prepared(queue, submission->resumes);
	pb_core_staged_clear(firmware, node);
	if (submission->patches != 0)
		pb_core_staged_count_patches(firmware, submission);
	pb_core_ring_release(queue, &firmware->channels[queue->channel].usage);
	pb_core_ring_set_timeline(queue, pb_core_in_flight_timeline(&node->flight, queue));
	pb_core_mark_node(&firmware->marks, node->bit);
}

void pb_core_staged_drop_closing(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_submission *submission = pb_core_in_flight_next(&node->flight);
	struct pb_core_queue *queue = submission->queue;

	if (!pb_core_staged_any(&node->staged))
		return;
	if (!pb_core_table_is_closing(queue) &&
	    !pb_core_schedule_is_closing(&firmware->holds, queue->channel))
		return;
	if (!pb_core_staged_has_failed(&node->staged))
		pb_core_staged_report_halt(firmware, submission);
	pb_core_staged_clear(firmware, node);
	pb_core_ring_release(queue, &firmware->channels[queue->channel].usage);
	pb_core_mark_node(&firmware->marks, node->bit);
}

void pb_core_staged_report_halt(struct pb_firmware *firmware, const struct pb_core_submission *submission)
{
	const struct pb_core_queue *queue = submission->queue;
	struct pb_event event;

	if (submission->context != PB_CORE_CONTEXT_PAGING || submission->status == PB_ERROR_OK ||
	    submission->status == PB_ERROR_HALTED)
		return;
	event = (struct pb_event){
		.type = PB_EVENT_HALTED,
		.queue = pb_core_table_handle(firmware, queue),
		.fence_id = submission->fence_id,
		.error = submission->status,
		.index = PB_INDEX_NONE,
		.detail = pb_core_queue_node(queue),
	};
	pb_core_event(firmware, queue->channel, &event);
}

void pb_core_staged_halt(struct pb_firmware *firmware, struct pb_core_node *node,
			 const struct pb_core_submission *submission)
{
	const uint32_t channel = submission->queue->channel;
	struct pb_core_submission *next = pb_core_in_flight_next(&node->flight);

	pb_core_schedule_halt(firmware, node, channel, true);
	/* What was being prepared behind it has had its descriptor read: it must complete. */
	if (pb_core_staged_any(&node->staged) && next != submission && next->queue->channel == channel &&
	    next->status == PB_ERROR_OK) {
		pb_core_submission_fail(next, PB_ERROR_HALTED, PB_INDEX_NONE, 0);
		pb_core_staged_ready(firmware, node);
	}
}
