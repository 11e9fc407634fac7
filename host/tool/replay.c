/* SPDX-License-Identifier: MIT */
#include "host/tool/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/tool/card_failure.h"
#include "host/tool/placement.h"
#include "host/tool/replay_job.h"
#include "host/tool/replay_wddm.h"
#include "patchbay/patchbay.h"

#define ATTACH_TIMEOUT_US 30000000u
/** Time for one submission in microseconds; an emulated MCU on a busy machine is slow. */
#define FENCE_TIMEOUT_US 120000000u
#define PROGRESS_STEP    16u

struct replay {
	const struct pb_replay_options *options;
	struct pb_replay_summary *summary;
	uint64_t largest; /**< card memory of the largest submission, in bytes */
	int result;       /**< enum pb_replay_result of the first failure */
	FILE *crc_out;
	struct pb_subm_reader reader;
	struct pb_replay_rules rules;
	struct pb_replay_formats formats;
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_segment targets;
	struct pb_queue queue;
	uint32_t context;
	uint64_t patches;             /**< the firmware's patch counter as last read */
	struct pb_replay_job jobs[2]; /**< one submitted, one in preparation */
};

/** Records a failure, unless there is one already. @return false, for the caller to return */
__attribute__((format(printf, 3, 4))) static bool fail(struct replay *replay, int result, const char *format,
						       ...)
{
	va_list arguments;

	if (replay->result != PB_REPLAY_OK)
		return false;
	replay->result = result;
	va_start(arguments, format);
	(void)vsnprintf(replay->summary->message, sizeof(replay->summary->message), format, arguments);
	va_end(arguments);
	return false;
}

static bool fail_card(struct replay *replay, const char *what, enum pb_error error)
{
	char failure[PB_CARD_FAILURE_BYTES];

	pb_card_failure(&replay->channel, error, failure);
	return fail(replay, PB_REPLAY_FAILED, "%s: %s", what, failure);
}

static bool fail_submission(struct replay *replay, int result, uint32_t index, const char *message)
{
	return fail(replay, result, "%.160s: submission %" PRIu32 ": %s", replay->options->file, index,
		    message);
}

/** Records a failure of the card during a submission. @return false */
static bool fail_job(struct replay *replay, const struct pb_replay_job *job, enum pb_error error)
{
	char failure[PB_CARD_FAILURE_BYTES];

	pb_card_failure(&replay->channel, error, failure);
	return fail_submission(replay, PB_REPLAY_FAILED, job->submission.index, failure);
}

/* ---- the card ---- */

static uint64_t round_to_page(uint64_t bytes)
{
	return (bytes + PB_PAGE_BYTES - 1) / PB_PAGE_BYTES * PB_PAGE_BYTES;
}

/** Returns the bytes for the queue and some of the largest submissions, limited to the card's pool. */
static uint32_t system_bytes(const struct replay *replay, uint32_t submissions)
{
	const uint32_t *capabilities = replay->channel.card.capabilities;
	uint32_t pool = pb_card_pool_most(&replay->channel.card) / PB_PAGE_BYTES * PB_PAGE_BYTES;
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
		/* Above all targets, so that the segments' addresses do not overlap. */
		const struct pb_segment_request request = {
			.id = PB_SEGMENT_SYSTEM,
			.os_base = PB_PLACEMENT_TOP,
			.gpu_base = PB_PLACEMENT_TOP,
			.size = bytes,
			.backing_bytes = bytes,
		};

		error = pb_segment_create(&replay->system, &replay->channel, &request);
	}
	return error;
}

static bool fail_full(struct replay *replay)
{
	char failure[PB_CARD_FAILURE_BYTES];

	pb_card_full(&replay->channel, system_bytes(replay, 1), failure);
	return fail(replay, PB_REPLAY_FAILED, "cannot create the segments: %s", failure);
}

static bool set_up_card(struct replay *replay, struct pb_link *link)
{
	const struct pb_segment_request targets = {.id = PB_REPLAY_TARGET_SEGMENT, .size = PB_PLACEMENT_TOP};
	const uint32_t *capabilities = replay->channel.card.capabilities;
	enum pb_error error = pb_channel_attach(&replay->channel, link, ATTACH_TIMEOUT_US);

	if (error != PB_ERROR_OK)
		return fail_card(replay, "cannot attach to the card", error);
	error = create_system(replay);
	if (error == PB_ERROR_NO_SPACE)
		return fail_full(replay);
	if (error == PB_ERROR_OK)
		error = pb_segment_create(&replay->targets, &replay->channel, &targets);
	if (error != PB_ERROR_OK)
		return fail_card(replay, "cannot create the segments", error);
	error = pb_context_create(&replay->channel, &replay->context);
	if (error == PB_ERROR_OK)
		error = pb_queue_create(&replay->queue, &replay->channel, &replay->system, 0,
					capabilities[PB_CAPABILITY_RING_ENTRIES_MIN]);
	if (error != PB_ERROR_OK)
		return fail_card(replay, "cannot create a context and a queue", error);
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
	else if (patches != job->submission.relocation_count)
		(void)snprintf(message, sizeof(message),
			       "the firmware counted %" PRIu64 " patches for %" PRIu32 " relocations",
			       patches, job->submission.relocation_count);
	else
		return true;
	return fail_submission(replay, PB_REPLAY_FAILED, index, message);
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

static void show_progress(const struct replay *replay, uint32_t index)
{
	if (replay->options->progress && index % PROGRESS_STEP == 0)
		(void)fprintf(stderr, "\rreplay: %" PRIu32 " of %" PRIu32, index, replay->reader.count);
}

static void clear_progress(const struct replay *replay)
{
	if (replay->options->progress)
		(void)fputs("\r\033[K", stderr);
}

/** Verifies a job's buffer and frees its memory. */
static bool verify(struct replay *replay, struct pb_replay_job *job)
{
	const struct pb_subm_submission *submission = &job->submission;
	char message[PB_REPLAY_MESSAGE_BYTES];
	bool right = pb_replay_job_verify(job, message);

	pb_memory_free(&job->memory);
	if (replay->crc_out != NULL)
		(void)fprintf(replay->crc_out, "%" PRIu32 "\t%" PRIu32 "\t%08" PRIx32 "\t%08" PRIx32 "\n",
			      submission->index, submission->relocation_count, job->crc_before,
			      job->crc_after);
	if (!right)
		return fail_submission(replay, PB_REPLAY_FAILED, submission->index, message);
	replay->summary->submissions++;
	replay->summary->relocations += submission->relocation_count;
	replay->summary->bytes += submission->contents_bytes;
	replay->summary->list_bytes += job->list_bytes;
	show_progress(replay, submission->index);
	return true;
}

static bool finish(struct replay *replay, struct pb_replay_job *job)
{
	return await(replay, job) && verify(replay, job);
}

/** Reads and prepares the next submission. @return false: there is none, or replay->result is set */
static bool prepare(struct replay *replay, struct pb_replay_job *job)
{
	char message[PB_REPLAY_MESSAGE_BYTES];
	int got;

	pb_replay_job_clear(job);
	got = pb_subm_next(&replay->reader, &job->submission);
	if (got < 0)
		return fail(replay, PB_REPLAY_REFUSED, "%s", replay->reader.error);
	if (got == 0)
		return false;
	if (!pb_replay_job_prepare(job, &replay->rules, message))
		return fail_submission(replay, PB_REPLAY_REFUSED, job->submission.index, message);
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
		       replay->channel.card.capabilities[PB_CAPABILITY_POOL_BYTES]);
	return fail_submission(replay, PB_REPLAY_REFUSED, job->submission.index, message);
}

/** Sets the formats that the card lacks. Pre: no submission is in flight. */
static bool set_formats(struct replay *replay, const struct pb_replay_job *job)
{
	char message[PB_REPLAY_MESSAGE_BYTES];
	const enum pb_error error = pb_replay_formats_set(&replay->formats, &replay->channel, message);

	if (error == PB_ERROR_BAD_FORMAT)
		return fail_submission(replay, PB_REPLAY_FAILED, job->submission.index, message);
	return error == PB_ERROR_OK || fail_job(replay, job, error);
}

/** Builds a job's patch list. If the card lacks formats for it, finishes the running job and sets them. */
static bool list(struct replay *replay, struct pb_replay_job *job, struct pb_replay_job **running)
{
	struct pb_replay_formats *formats = &replay->formats;
	char message[PB_REPLAY_MESSAGE_BYTES];

	if (!pb_replay_formats_add(formats, &job->submission)) {
		(void)snprintf(message, sizeof(message),
			       "too many patch formats are needed; this board's limit is %s = %" PRIu32,
			       pb_capability_name(PB_CAPABILITY_FORMATS_OWN), formats->room);
		return fail_submission(replay, PB_REPLAY_REFUSED, job->submission.index, message);
	}
	if (!pb_replay_job_list(job, &replay->rules, formats, message))
		return fail_submission(replay, PB_REPLAY_REFUSED, job->submission.index, message);
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
	error = pb_queue_submit(&replay->queue, &job->descriptor);
	if (error != PB_ERROR_OK)
		return fail_job(replay, job, error);
	return running == NULL || verify(replay, running);
}

/* ---- the file ---- */

static void replay_all(struct replay *replay)
{
	struct pb_replay_job *running = NULL;
	struct pb_replay_job *job = &replay->jobs[0];

	while (prepare(replay, job) && allocate(replay, job, &running) && list(replay, job, &running)) {
		pb_replay_job_write(job, replay->context);
		if (!submit(replay, job, running))
			return;
		running = job;
		job = job == &replay->jobs[0] ? &replay->jobs[1] : &replay->jobs[0];
	}
	if (running != NULL)
		(void)finish(replay, running);
}

static bool open_files(struct replay *replay)
{
	const struct pb_replay_options *options = replay->options;

	if (!pb_subm_open(&replay->reader, options->file))
		return fail(replay, PB_REPLAY_REFUSED, "%s", replay->reader.error);
	if (options->crc_out == NULL)
		return true;
	replay->crc_out = fopen(options->crc_out, "w");
	if (replay->crc_out == NULL)
		return fail(replay, PB_REPLAY_REFUSED, "%.160s: %s", options->crc_out, strerror(errno));
	(void)fputs("index\trelocs\tcrc_before\tcrc_after\n", replay->crc_out);
	return true;
}

static void close_files(struct replay *replay)
{
	pb_subm_close(&replay->reader);
	if (replay->crc_out == NULL)
		return;
	if ((ferror(replay->crc_out) | fclose(replay->crc_out)) != 0)
		(void)fail(replay, PB_REPLAY_REFUSED, "%.160s: %s", replay->options->crc_out,
			   strerror(errno));
}

static void tear_down_card(struct replay *replay)
{
	enum pb_error error = pb_channel_detach(&replay->channel);

	if (error != PB_ERROR_OK)
		(void)fail_card(replay, "cannot detach from the card", error);
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
			uint64_t bytes = pb_replay_job_bytes(&submission, options->encoding);

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

static struct pb_replay_rules make_rules(const struct replay *replay)
{
	return (struct pb_replay_rules){
		.card = &replay->channel.card,
		.reloc_bits = replay->reader.reloc_bits,
		.encoding = replay->options->encoding,
		.random = replay->options->random,
		.random_state = replay->options->seed,
	};
}

int pb_replay_run(struct pb_link *link, const struct pb_replay_options *options, uint64_t largest,
		  struct pb_replay_summary *summary)
{
	struct replay replay = {.options = options, .summary = summary, .largest = largest};

	if (options->wddm)
		return pb_replay_run_wddm(link, options, summary);
	*summary = (struct pb_replay_summary){0};
	if (open_files(&replay)) {
		if (set_up_card(&replay, link)) {
			replay.rules = make_rules(&replay);
			replay.formats.room = pb_replay_formats_room(&replay.channel.card);
			replay_all(&replay);
			clear_progress(&replay);
		}
		tear_down_card(&replay);
	}
	close_files(&replay);
	return replay.result;
}
