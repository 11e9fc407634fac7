/* SPDX-License-Identifier: MIT */
#include "host/tool/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/tool/card_failure.h"
#include "host/tool/placement.h"
#include "host/tool/replay_run.h"
#include "host/tool/replay_wddm.h"
#include "patchbay/patchbay.h"

#define ATTACH_TIMEOUT_US 30000000u
/** Time for one submission in microseconds; an emulated MCU on a busy machine is slow. */
#define FENCE_TIMEOUT_US 120000000u

struct replay {
	struct pb_replay_run run;
	uint64_t largest; /**< card memory of the largest submission, in bytes */
	struct pb_segment system;
	struct pb_segment targets;
	struct pb_queue queue;
	uint32_t context;
	uint64_t patches;             /**< the firmware's patch counter as last read */
	struct pb_replay_job jobs[2]; /**< one submitted, one in preparation */
};

/** Records a failure of the card during a submission. @return false */
static bool fail_job(struct replay *replay, const struct pb_replay_job *job, enum pb_error error)
{
	char failure[PB_CARD_FAILURE_BYTES];

	pb_card_failure(&replay->run.channel, error, failure);
	return pb_replay_fail_submission(&replay->run, PB_REPLAY_FAILED, job->submission.index, failure);
}

/* ---- the card ---- */

static uint64_t round_to_page(uint64_t bytes)
{
	return (bytes + PB_PAGE_BYTES - 1) / PB_PAGE_BYTES * PB_PAGE_BYTES;
}

/** Returns the bytes for the queue and some of the largest submissions, limited to the card's pool. */
static uint32_t system_bytes(const struct replay *replay, uint32_t submissions)
{
	const uint32_t *capabilities = replay->run.channel.card.capabilities;
	uint32_t pool = pb_card_pool_most(&replay->run.channel.card) / PB_PAGE_BYTES * PB_PAGE_BYTES;
	uint64_t queue =
		sizeof(struct pb_queue_page) +
		(uint64_t)capabilities[PB_CAPABILITY_RING_ENTRIES_MIN] * sizeof(struct pb_descriptor);
	uint64_t bytes = round_to_page(queue) + submissions * round_to_page(replay->largest);

	return bytes < pool ? (uint32_t)bytes : pool;
}

/** Creates segment 0 for two submissions, or for one if the card has less memory free. */
static enum pb_error create_system(struct replay *replay)
{
	enum pb_error error = PB_ERROR_NO_SPACE;

	for (uint32_t submissions = 2; error == PB_ERROR_NO_SPACE && submissions > 0; submissions--) {
		uint32_t bytes = system_bytes(replay, submissions);
		const struct pb_segment_request request = pb_replay_system(bytes);

		error = pb_segment_create(&replay->system, &replay->run.channel, &request);
	}
	return error;
}

static bool fail_full(struct replay *replay)
{
	char failure[PB_CARD_FAILURE_BYTES];

	pb_card_full(&replay->run.channel, system_bytes(replay, 1), failure);
	return pb_replay_fail(&replay->run, PB_REPLAY_FAILED, "cannot create the segments: %s", failure);
}

static bool set_up_card(struct replay *replay, struct pb_link *link)
{
	const struct pb_segment_request targets = {.id = PB_REPLAY_TARGET_SEGMENT, .size = PB_PLACEMENT_TOP};
	const uint32_t *capabilities = replay->run.channel.card.capabilities;
	enum pb_error error = pb_channel_attach(&replay->run.channel, link, ATTACH_TIMEOUT_US);

	if (error != PB_ERROR_OK)
		return pb_replay_fail_card(&replay->run, "cannot attach to the card", error);
	error = create_system(replay);
	if (error == PB_ERROR_NO_SPACE)
		return fail_full(replay);
	if (error == PB_ERROR_OK)
		error = pb_segment_create(&replay->targets, &replay->run.channel, &targets);
	if (error != PB_ERROR_OK)
		return pb_replay_fail_card(&replay->run, "cannot create the segments", error);
	error = pb_context_create(&replay->run.channel, &replay->context);
	if (error == PB_ERROR_OK)
		error = pb_queue_create(&replay->queue, &replay->run.channel, &replay->system, 0,
					capabilities[PB_CAPABILITY_RING_ENTRIES_MIN]);
	if (error != PB_ERROR_OK)
		return pb_replay_fail_card(&replay->run, "cannot create a context and a queue", error);
	return true;
}

/* ---- one submission ---- */

static bool check_fence(struct replay *replay, const struct pb_replay_job *job, const struct pb_fence *fence)
{
	uint32_t index = job->submission.index;
	uint64_t patches = fence->patches - replay->patches;
	char message[PB_REPLAY_MESSAGE_BYTES];

	replay->patches = fence->patches;
	if (fence->errors != 0 || fence->status != PB_ERROR_OK)
		pb_replay_job_refusal(job, fence, message);
	else if (fence->fence_id != index)
		(void)snprintf(message, sizeof(message),
			       "the fence record has submission %" PRIu32 " instead", fence->fence_id);
	else if (patches != job->patch_count)
		(void)snprintf(message, sizeof(message),
			       "the firmware counted %" PRIu64 " patches for %" PRIu32 " relocations",
			       patches, job->patch_count);
	else
		return true;
	return pb_replay_fail_submission(&replay->run, PB_REPLAY_FAILED, index, message);
}

/** Waits for a job's fence. Only one job is submitted at a time, so that the patch counter is that job's. */
static bool await(struct replay *replay, const struct pb_replay_job *job)
{
	struct pb_fence fence;
	enum pb_error error = pb_queue_wait(&replay->queue, replay->queue.timeline, FENCE_TIMEOUT_US, &fence);

	if (error != PB_ERROR_OK)
		return fail_job(replay, job, error);
	return check_fence(replay, job, &fence);
}

/** Submits a job again after moves, and verifies its buffer each time. */
static bool repeat(struct replay *replay, struct pb_replay_job *job)
{
	struct pb_replay_summary *summary = replay->run.summary;
	char message[PB_REPLAY_MESSAGE_BYTES];

	for (uint32_t round = 0; round < PB_REPLAY_ROUNDS; round++) {
		enum pb_error error;

		if (!pb_replay_job_again(job, &replay->run.rules, round, message))
			return pb_replay_fail_submission(&replay->run, PB_REPLAY_REFUSED,
							 job->submission.index, message);
		error = pb_queue_submit(&replay->queue, &job->descriptor);
		if (error != PB_ERROR_OK)
			return fail_job(replay, job, error);
		if (!await(replay, job))
			return false;
		if (!pb_replay_job_verify(job, message))
			return pb_replay_fail_submission(&replay->run, PB_REPLAY_FAILED,
							 job->submission.index, message);
		summary->moves++;
		summary->repatched += job->patch_count;
		summary->kept += job->submission.relocation_count - job->patch_count;
	}
	return true;
}

/** Verifies a job's buffer and frees its memory. */
static bool verify(struct replay *replay, struct pb_replay_job *job)
{
	const struct pb_subm_submission *submission = &job->submission;
	char message[PB_REPLAY_MESSAGE_BYTES];
	bool right = pb_replay_job_verify(job, message);
	const uint32_t crc_after = job->crc_after;

	if (right && replay->run.options->presumed && !repeat(replay, job))
		return false;
	pb_memory_free(&job->memory);
	if (replay->run.crc_out != NULL)
		(void)fprintf(replay->run.crc_out, "%" PRIu32 "\t%" PRIu32 "\t%08" PRIx32 "\t%08" PRIx32 "\n",
			      submission->index, submission->relocation_count, job->crc_before, crc_after);
	if (!right)
		return pb_replay_fail_submission(&replay->run, PB_REPLAY_FAILED, submission->index, message);
	replay->run.summary->submissions++;
	replay->run.summary->relocations += submission->relocation_count;
	replay->run.summary->bytes += submission->contents_bytes;
	replay->run.summary->list_bytes += job->list_bytes;
	pb_replay_show_progress(&replay->run, submission->index);
	return true;
}

static bool finish(struct replay *replay, struct pb_replay_job *job)
{
	return await(replay, job) && verify(replay, job);
}

/** Reads and prepares the next submission. @return false: there is none, or replay->run.result is set */
static bool prepare(struct replay *replay, struct pb_replay_job *job)
{
	char message[PB_REPLAY_MESSAGE_BYTES];
	int got;

	pb_replay_job_clear(job);
	got = pb_subm_next(&replay->run.reader, &job->submission);
	if (got < 0)
		return pb_replay_fail(&replay->run, PB_REPLAY_REFUSED, "%s", replay->run.reader.error);
	if (got == 0)
		return false;
	if (!pb_replay_job_prepare(job, &replay->run.rules, message))
		return pb_replay_fail_submission(&replay->run, PB_REPLAY_REFUSED, job->submission.index,
						 message);
	return true;
}

/** Allocates card memory for a job; if there is none, finishes the running job first. */
static bool allocate(struct replay *replay, struct pb_replay_job *job, struct pb_replay_job **running)
{
	enum pb_error error =
		pb_memory_allocate(&replay->system, job->memory_bytes, PB_PAGE_BYTES, &job->memory);
	char message[PB_REPLAY_MESSAGE_BYTES];

	if (error == PB_ERROR_NO_SPACE && *running != NULL) {
		if (!finish(replay, *running))
			return false;
		*running = NULL;
		error = pb_memory_allocate(&replay->system, job->memory_bytes, PB_PAGE_BYTES, &job->memory);
	}
	if (error == PB_ERROR_OK)
		return true;
	(void)snprintf(message, sizeof(message),
		       "%" PRIu32 " bytes of card memory are needed; %" PRIu32
		       " are available of this board's %s = %" PRIu32,
		       job->memory_bytes, replay->system.request.backing_bytes,
		       pb_capability_name(PB_CAPABILITY_POOL_BYTES),
		       replay->run.channel.card.capabilities[PB_CAPABILITY_POOL_BYTES]);
	return pb_replay_fail_submission(&replay->run, PB_REPLAY_REFUSED, job->submission.index, message);
}

/** Sets the formats that the card lacks. Pre: no submission is in flight. */
static bool set_formats(struct replay *replay, const struct pb_replay_job *job)
{
	char message[PB_REPLAY_MESSAGE_BYTES];
	const enum pb_error error =
		pb_replay_formats_set(&replay->run.formats, &replay->run.channel, message);

	if (error == PB_ERROR_BAD_FORMAT)
		return pb_replay_fail_submission(&replay->run, PB_REPLAY_FAILED, job->submission.index,
						 message);
	return error == PB_ERROR_OK || fail_job(replay, job, error);
}

/** Builds a job's patch list. If the card lacks formats for it, finishes the running job and sets them. */
static bool list(struct replay *replay, struct pb_replay_job *job, struct pb_replay_job **running)
{
	struct pb_replay_formats *formats = &replay->run.formats;
	char message[PB_REPLAY_MESSAGE_BYTES];

	if (!pb_replay_formats_add(formats, &job->submission)) {
		(void)snprintf(message, sizeof(message),
			       "too many patch formats are needed; this board's limit is %s = %" PRIu32,
			       pb_capability_name(PB_CAPABILITY_FORMATS_OWN), formats->room);
		return pb_replay_fail_submission(&replay->run, PB_REPLAY_REFUSED, job->submission.index,
						 message);
	}
	if (!pb_replay_job_list(job, &replay->run.rules, formats, message))
		return pb_replay_fail_submission(&replay->run, PB_REPLAY_REFUSED, job->submission.index,
						 message);
	if (formats->set == formats->count)
		return true;
	if (*running != NULL && !finish(replay, *running))
		return false;
	*running = NULL;
	return set_formats(replay, job);
}

/** Submits a job, then verifies the previous one while the card works. */
static bool submit(struct replay *replay, struct pb_replay_job *job, struct pb_replay_job *running)
{
	enum pb_error error;
	if (running != NULL && !await(replay, running))
		return false;
	/* A job that is submitted again has the queue to itself. */
	if (running != NULL && replay->run.options->presumed && !verify(replay, running))
		return false;
	error = pb_queue_submit(&replay->queue, &job->descriptor);
	if (error != PB_ERROR_OK)
		return fail_job(replay, job, error);
	return running == NULL || replay->run.options->presumed || verify(replay, running);
}

/* ---- the file ---- */

static void replay_all(struct replay *replay)
{
	struct pb_replay_job *running = NULL;
	struct pb_replay_job *job = &replay->jobs[0];

	while (prepare(replay, job) && allocate(replay, job, &running) && list(replay, job, &running)) {
		pb_replay_job_write(job, replay->context, replay->run.options->encoding);
		if (!submit(replay, job, running))
			return;
		running = job;
		job = job == &replay->jobs[0] ? &replay->jobs[1] : &replay->jobs[0];
	}
	if (running != NULL)
		(void)finish(replay, running);
}

static void tear_down_card(struct replay *replay)
{
	enum pb_error error = pb_channel_detach(&replay->run.channel);

	if (error != PB_ERROR_OK)
		(void)pb_replay_fail_card(&replay->run, "cannot detach from the card", error);
	for (size_t i = 0; i < sizeof(replay->jobs) / sizeof(replay->jobs[0]); i++) {
		pb_replay_job_clear(&replay->jobs[i]);
		pb_subm_submission_free(&replay->jobs[i].submission);
	}
}

int pb_replay_scan(const struct pb_replay_options *options, uint64_t *largest,
		   struct pb_replay_summary *summary)
{
	struct pb_subm_submission submission = {0};
	struct pb_subm_reader reader;
	int got = -1;

	*summary = (struct pb_replay_summary){0};
	*largest = 0;
	if (pb_subm_open(&reader, options->file)) {
		while ((got = pb_subm_next(&reader, &submission)) > 0) {
			uint64_t bytes =
				pb_replay_job_bytes(&submission, options->encoding, options->presumed);

			if (bytes > *largest)
				*largest = bytes;
		}
		pb_subm_close(&reader);
		pb_subm_submission_free(&submission);
	}
	if (got == 0)
		return PB_REPLAY_OK;
	(void)snprintf(summary->message, sizeof(summary->message), "%s", reader.error);
	return PB_REPLAY_REFUSED;
}

int pb_replay_run(struct pb_link *link, const struct pb_replay_options *options, uint64_t largest,
		  struct pb_replay_summary *summary)
{
	struct replay replay = {.run = {.options = options, .summary = summary}, .largest = largest};
	struct pb_replay_run *run = &replay.run;

	if (options->wddm)
		return pb_replay_run_wddm(link, options, summary);
	*summary = (struct pb_replay_summary){0};
	if (pb_replay_open_files(run)) {
		if (set_up_card(&replay, link)) {
			pb_replay_set_rules(run, options->encoding);
			replay_all(&replay);
			pb_replay_clear_progress(run);
		}
		tear_down_card(&replay);
	}
	pb_replay_close_files(run);
	return run->result;
}
