/* SPDX-License-Identifier: MIT */
/* The submissions of a replay as a WDDM kernel. */
#include <inttypes.h>
#include <stdlib.h>

#include "host/tool/replay_wddm_state.h"

/** Every so many submissions: one runs elsewhere first, one is submitted again as it is, the node is preempted. */
#define MOVE_EVERY    4u
#define REPEAT_EVERY  4u
#define PREEMPT_EVERY 8u
/** How far below its place a submission's objects are at first. */
#define MOVE_BYTES 0x80000u

/* ---- one submission ---- */

/** Writes the allocation list: the objects' present places. */
static void write_list(const struct pb_replay_wddm_job *job)
{
	const struct pb_subm_submission *submission = &job->replay.submission;

	for (uint32_t i = 0; i < submission->object_count; i++) {
		const struct pb_subm_object *object = &submission->objects[i];

		job->objects[i] = (struct pb_wddm_allocation){
			.size = object->size,
			.attribute = object->gart ? PB_REPLAY_ATTRIBUTE_GART : PB_REPLAY_ATTRIBUTE_VRAM,
		};
		job->list[i] = (struct pb_dxgk_allocationlist){
			.hDeviceSpecificAllocation = &job->objects[i],
			.Value = (object->written ? PB_DXGK_ALLOCATION_WRITE : 0) |
				 PB_REPLAY_WDDM_TARGETS << PB_DXGK_ALLOCATION_SEGMENT_SHIFT,
			.PhysicalAddress = job->replay.addresses[i] - job->below,
		};
	}
}

/** Fills in the packet of a whole DMA buffer. */
static void describe(struct pb_replay_wddm *replay, struct pb_replay_wddm_job *job)
{
	job->packet = (struct pb_os_packet){
		.arguments = {.hContext = &replay->context,
			      .DmaBufferSegmentId = PB_SEGMENT_SYSTEM,
			      .DmaBufferPhysicalAddress = job->replay.memory.os_address,
			      .pDmaBuffer = job->replay.memory.bytes_host,
			      .DmaBufferSize = job->replay.buffer_bytes,
			      .DmaBufferSubmissionEndOffset = job->replay.buffer_bytes,
			      .pDmaBufferPrivateData = job->private_data,
			      .DmaBufferPrivateDataSize = replay->private_bytes,
			      .DmaBufferPrivateDataSubmissionEndOffset = replay->private_bytes,
			      .pAllocationList = job->list,
			      .AllocationListSize = job->replay.submission.object_count,
			      .pPatchLocationList = job->replay.patches,
			      .PatchLocationListSize = job->replay.list_count,
			      .PatchLocationListSubmissionLength = job->replay.list_count,
			      .Flags = PB_FLAG_NULL_RENDERING},
		.flags = PB_FLAG_NULL_RENDERING,
		.owner = job,
	};
}

/** Each submission is patched, with the addresses of this moment, unless it runs as it is. */
static bool prepare(void *context, struct pb_os_packet *packet)
{
	const struct pb_replay_wddm_job *job = packet->owner;

	(void)context;
	write_list(job);
	packet->patch = !job->repeats;
	return true;
}

static void left(void *context, struct pb_os_packet *packet, enum pb_os_end end)
{
	struct pb_replay_wddm_job *job = packet->owner;

	(void)context;
	job->running = job->running && end == PB_OS_RECALLED;
}

struct pb_os_client pb_replay_wddm_client(void)
{
	return (struct pb_os_client){.prepare = prepare, .left = left};
}

void pb_replay_wddm_clear(struct pb_replay_wddm_job *job)
{
	pb_replay_job_clear(&job->replay);
	free(job->objects);
	free(job->list);
	free(job->private_data);
	job->objects = NULL;
	job->list = NULL;
	job->private_data = NULL;
}

/** Waits until a packet has ended, and finds out whether the firmware refused it. */
static bool await(struct pb_replay_wddm *replay, struct pb_replay_wddm_job *job)
{
	char message[PB_REPLAY_MESSAGE_BYTES];
	struct pb_fence fence;

	while (job->running) {
		if (!pb_os_step(&replay->os))
			return pb_replay_wddm_fail_os(replay);
	}
	if (!replay->context.lost)
		return true;
	if (pb_queue_fence(&replay->os.adapter.nodes[0].queue, &fence) != PB_ERROR_OK)
		return pb_replay_fail_submission(&replay->run, PB_REPLAY_FAILED, job->replay.submission.index,
						 "its context is lost");
	fence.status = fence.error;
	pb_replay_job_refusal(&job->replay, &fence, message);
	return pb_replay_fail_submission(&replay->run, PB_REPLAY_FAILED, job->replay.submission.index,
					 message);
}

/** Starts the private data, as a Render of the captured command set would, and queues the packet. */
static bool queue(struct pb_replay_wddm *replay, struct pb_replay_wddm_job *job, bool fresh)
{
	if (fresh &&
	    pb_wddm_private_start(&replay->os.adapter, job->private_data, replay->private_bytes) == NULL)
		return pb_replay_fail(&replay->run, PB_REPLAY_FAILED, "too little private data");
	job->running = true;
	pb_os_enqueue(&replay->os, &job->packet);
	return pb_os_submit(&replay->os) || pb_replay_wddm_fail_os(replay);
}

/** Submits a job, elsewhere first if it is its turn: then its objects move, and it is patched again. */
static bool submit(struct pb_replay_wddm *replay, struct pb_replay_wddm_job *job)
{
	const uint32_t index = job->replay.submission.index;
	const bool moves = index % MOVE_EVERY == 0;

	for (uint32_t i = 0; i < job->replay.submission.object_count && moves; i++) {
		if (job->replay.addresses[i] < MOVE_BYTES)
			return queue(replay, job, true);
	}
	if (moves) {
		job->below = MOVE_BYTES;
		replay->run.summary->moves++;
		if (!queue(replay, job, true) || !await(replay, job))
			return false;
		job->below = 0;
	}
	if (!queue(replay, job, !moves))
		return false;
	return index % PREEMPT_EVERY != 1 || pb_os_preempt(&replay->os, 0) || pb_replay_wddm_fail_os(replay);
}

/** Submits a job again as it is, like a buffer that Render has patched, and verifies it again. */
static bool repeat(struct pb_replay_wddm *replay, struct pb_replay_wddm_job *job)
{
	char message[PB_REPLAY_MESSAGE_BYTES];

	if (job->replay.submission.index % REPEAT_EVERY != 2)
		return true;
	job->repeats = true;
	if (!queue(replay, job, true) || !await(replay, job))
		return false;
	return pb_replay_job_verify(&job->replay, message) ||
	       pb_replay_fail_submission(&replay->run, PB_REPLAY_FAILED, job->replay.submission.index,
					 message);
}

/** Waits for a job, verifies its buffer and frees its memory. */
static bool finish(struct pb_replay_wddm *replay, struct pb_replay_wddm_job *job)
{
	const struct pb_subm_submission *submission = &job->replay.submission;
	char message[PB_REPLAY_MESSAGE_BYTES];
	bool right;

	if (!await(replay, job))
		return false;
	right = pb_replay_job_verify(&job->replay, message);
	if (replay->run.crc_out != NULL)
		(void)fprintf(replay->run.crc_out, "%" PRIu32 "\t%" PRIu32 "\t%08" PRIx32 "\t%08" PRIx32 "\n",
			      submission->index, submission->relocation_count, job->replay.crc_before,
			      job->replay.crc_after);
	if (!right)
		return pb_replay_fail_submission(&replay->run, PB_REPLAY_FAILED, job->replay.submission.index,
						 message);
	if (!repeat(replay, job))
		return false;
	pb_memory_free(&job->replay.memory);
	replay->run.summary->submissions++;
	replay->run.summary->relocations += submission->relocation_count;
	replay->run.summary->bytes += submission->contents_bytes;
	replay->run.summary->list_bytes += job->replay.list_bytes;
	pb_replay_show_progress(&replay->run, submission->index);
	return true;
}

/** Reads and prepares the next submission. @return false: there is none, or replay->run.result is set */
static bool read_next(struct pb_replay_wddm *replay, struct pb_replay_wddm_job *job)
{
	char message[PB_REPLAY_MESSAGE_BYTES];
	int got;

	pb_replay_wddm_clear(job);
	got = pb_subm_next(&replay->run.reader, &job->replay.submission);
	if (got < 0)
		return pb_replay_fail(&replay->run, PB_REPLAY_REFUSED, "%s", replay->run.reader.error);
	if (got == 0)
		return false;
	job->below = 0;
	job->repeats = false;
	job->objects = calloc((size_t)job->replay.submission.object_count + 1, sizeof(*job->objects));
	job->list = calloc((size_t)job->replay.submission.object_count + 1, sizeof(*job->list));
	job->private_data = malloc(replay->private_bytes);
	if (job->objects == NULL || job->list == NULL || job->private_data == NULL)
		return pb_replay_fail_submission(&replay->run, PB_REPLAY_FAILED, job->replay.submission.index,
						 "out of memory");
	return pb_replay_job_prepare(&job->replay, &replay->run.rules, message) ||
	       pb_replay_fail_submission(&replay->run, PB_REPLAY_REFUSED, job->replay.submission.index,
					 message);
}

/** Allocates card memory for a job; if there is none, finishes the running job first. */
static bool allocate(struct pb_replay_wddm *replay, struct pb_replay_wddm_job *job,
		     struct pb_replay_wddm_job **running)
{
	const uint32_t bytes = job->replay.buffer_bytes != 0 ? job->replay.buffer_bytes : PB_LINE_BYTES;
	enum pb_error error = pb_memory_allocate(&replay->system, bytes, PB_PAGE_BYTES, &job->replay.memory);
	char message[PB_REPLAY_MESSAGE_BYTES];

	if (error == PB_ERROR_NO_SPACE && *running != NULL) {
		if (!finish(replay, *running))
			return false;
		*running = NULL;
		error = pb_memory_allocate(&replay->system, bytes, PB_PAGE_BYTES, &job->replay.memory);
	}
	if (error == PB_ERROR_OK)
		return true;
	(void)snprintf(message, sizeof(message),
		       "%" PRIu32 " bytes of card memory are needed; %" PRIu32
		       " are available beside the lists of this board's %s = %" PRIu32,
		       bytes, replay->system.request.backing_bytes,
		       pb_capability_name(PB_CAPABILITY_POOL_BYTES),
		       replay->run.channel.card.capabilities[PB_CAPABILITY_POOL_BYTES]);
	return pb_replay_fail_submission(&replay->run, PB_REPLAY_REFUSED, job->replay.submission.index,
					 message);
}

/** Builds a job's patch list. If the card lacks formats for it, finishes the running job and sets them. */
static bool list(struct pb_replay_wddm *replay, struct pb_replay_wddm_job *job,
		 struct pb_replay_wddm_job **running)
{
	struct pb_replay_formats *formats = &replay->run.formats;
	char message[PB_REPLAY_MESSAGE_BYTES];
	enum pb_error error;

	if (!pb_replay_formats_add(formats, &job->replay.submission)) {
		(void)snprintf(message, sizeof(message),
			       "too many patch formats are needed; this board's limit is %s = %" PRIu32,
			       pb_capability_name(PB_CAPABILITY_FORMATS_OWN), formats->room);
		return pb_replay_fail_submission(&replay->run, PB_REPLAY_REFUSED,
						 job->replay.submission.index, message);
	}
	if (!pb_replay_job_list(&job->replay, &replay->run.rules, formats, message))
		return pb_replay_fail_submission(&replay->run, PB_REPLAY_REFUSED,
						 job->replay.submission.index, message);
	if (formats->set == formats->count)
		return true;
	if (*running != NULL && !finish(replay, *running))
		return false;
	*running = NULL;
	error = pb_replay_formats_set(formats, &replay->run.channel, message);
	if (error == PB_ERROR_BAD_FORMAT)
		return pb_replay_fail_submission(&replay->run, PB_REPLAY_FAILED, job->replay.submission.index,
						 message);
	return error == PB_ERROR_OK || pb_replay_fail_card(&replay->run, "patch formats", error);
}

/* ---- the file ---- */

void pb_replay_wddm_all(struct pb_replay_wddm *replay)
{
	struct pb_replay_wddm_job *running = NULL;
	struct pb_replay_wddm_job *job = &replay->jobs[0];

	while (read_next(replay, job) && allocate(replay, job, &running) && list(replay, job, &running)) {
		pb_replay_job_write_buffer(&job->replay, job->replay.memory.bytes_host);
		describe(replay, job);
		if (!submit(replay, job) || (running != NULL && !finish(replay, running)))
			return;
		running = job;
		job = job == &replay->jobs[0] ? &replay->jobs[1] : &replay->jobs[0];
	}
	if (running != NULL)
		(void)finish(replay, running);
}
