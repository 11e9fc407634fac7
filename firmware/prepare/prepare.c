/* SPDX-License-Identifier: MIT */
#include "firmware/prepare/prepare.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "firmware/prepare/resolve.h"

/** Fails the job's submission at a list entry. */
static void fail(struct pb_firmware *firmware, struct pb_core_job *job, enum pb_error error, uint32_t index)
{
	pb_core_submission_fail(job->submission, error, index, 0);
	job->state = PB_CORE_JOB_READY;
	PB_CORE_TRACE_QUEUE(firmware, REFUSE, job->submission->queue, job->submission->fence_id, error);
}

static void resolve(struct pb_firmware *firmware, struct pb_core_job *job)
{
	enum pb_error error;

	pb_core_waypoint(firmware, PB_WAYPOINT_RESOLVE);
	error = pb_core_resolve(firmware, job);
	if (error != PB_ERROR_OK)
		fail(firmware, job, error, job->resolved);
}

static void patch(struct pb_firmware *firmware, struct pb_core_job *job)
{
	enum pb_error error;

	pb_core_waypoint(firmware, PB_WAYPOINT_PATCH);
	error = pb_core_patch(firmware, job);
	if (error != PB_ERROR_OK)
		fail(firmware, job, error, job->list_index);
	else if (job->state == PB_CORE_JOB_READY && job->cookie != 0)
		pb_core_compare_remember(&firmware->patched, job);
}

/** Advances a job by slices of one step. @return whether its submission is ready or has failed */
static PB_CORE_STEP bool advance(struct pb_firmware *firmware, struct pb_core_job *job)
{
	if (job->state == PB_CORE_JOB_RESOLVE)
		resolve(firmware, job);
	else if (job->state == PB_CORE_JOB_COMPARE)
		pb_core_compare(firmware, job);
	else
		patch(firmware, job);
	if (job->state != PB_CORE_JOB_READY)
		return false;
	PB_CORE_TRACE_QUEUE(firmware, PATCHED, job->submission->queue, job->submission->fence_id,
			    job->submission->status);
	return true;
}

void pb_core_prepare(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_job *job = node->staged.job;

	job->submission = pb_core_in_flight_next(&node->flight); /* a recall may have moved it */
	if (!advance(firmware, job))
		return;
	if (job->submission->status == PB_ERROR_OK)
		pb_core_staged_ready(firmware, node);
	else
		pb_core_staged_fail(firmware, node);
}

void pb_core_prepare_begin(struct pb_firmware *firmware, struct pb_core_node *node, struct pb_core_job *job,
			   uint32_t length)
{
	const bool brief = length <= PB_BRIEF_LENGTH && job->allocation_count <= PB_BRIEF_ALLOCATIONS &&
			   firmware->jobs.wanted == 0;
	const uint32_t began = pb_core_clock(firmware);

	job->submission = pb_core_in_flight_next(&node->flight);
	PB_CORE_TRACE_QUEUE(firmware, PATCH, job->submission->queue, job->submission->fence_id, length);
	while (brief && !pb_lines_waiting(firmware->lines->pending)) {
		if (!advance(firmware, job))
			continue;
		pb_core_staged_finish(&node->staged, job->submission->status, began);
		return;
	}
	pb_core_staged_prepare(firmware, node, job);
}
