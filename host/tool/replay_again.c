/* SPDX-License-Identifier: MIT */
/*
 * A captured submission that is submitted again after some of its objects have moved. The host's side of what the patches
 * in a buffer presume (struct pb_presumed): each object where it was listed when the buffer was last found right.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host/tool/placement.h"
#include "host/tool/replay_job.h"

#define NONE UINT32_MAX

/** Of the objects that move in round 1: one in so many. */
#define STRIDE 3u

/**
 * Finds the objects of which a target byte is another object's, too: the order of such relocations decides, so they
 * cannot be patched alone. @return false: no memory
 */
static bool find_shared(struct pb_replay_job *job)
{
	const struct pb_subm_submission *submission = &job->submission;
	uint32_t *owner = malloc(((size_t)job->buffer_bytes + 1) * sizeof(*owner));

	job->shared = calloc((size_t)submission->object_count + 1, sizeof(*job->shared));
	for (uint32_t b = 0; owner != NULL && b < job->buffer_bytes; b++)
		owner[b] = NONE;
	for (uint32_t i = 0; owner != NULL && job->shared != NULL && i < submission->relocation_count; i++) {
		const uint32_t target = submission->relocations[i].target;
		const uint32_t start = job->patches[i].patch_offset;

		for (uint32_t b = start; b < start + submission->relocations[i].width; b++) {
			if (owner[b] != NONE && owner[b] != target)
				job->shared[owner[b]] = job->shared[target] = true;
			owner[b] = target;
		}
	}
	free(owner);
	return owner != NULL && job->shared != NULL;
}

/** Notes the words with which each object is listed. */
static void presume_all(struct pb_replay_job *job)
{
	const struct pb_allocation *listed = (const void *)(job->memory.bytes_host + job->buffer_bytes);

	for (uint32_t i = 0; i < job->submission.object_count; i++)
		job->presumed[i] = (struct pb_presumed){
			.address_low = listed[i].address_low,
			.address_high = listed[i].address_high,
			.flags = job->shared[i] ? 0 : listed[i].flags,
		};
}

static bool moves(uint32_t object, uint32_t round)
{
	return round == 2 || (round == 1 && object % STRIDE == 0);
}

/** Moves the objects of a round. @return false: they do not fit, or there is no memory */
static bool move(struct pb_replay_job *job, const struct pb_replay_rules *rules, uint32_t round)
{
	const uint32_t count = job->submission.object_count;
	uint64_t random = (uint64_t)job->submission.index * PB_REPLAY_ROUNDS + round;
	uint32_t *order = malloc(((size_t)count + 1) * sizeof(*order));
	uint64_t *addresses = malloc(((size_t)count + 1) * sizeof(*addresses));
	const bool placed =
		order != NULL && addresses != NULL &&
		pb_placement_random(&job->submission, rules->reloc_bits, &random, order, addresses);

	for (uint32_t i = 0; placed && i < count; i++) {
		if (moves(i, round))
			job->addresses[i] = addresses[i];
	}
	free(order);
	free(addresses);
	return placed;
}

/** Counts the relocations of objects that are not listed as presumed. */
static uint32_t count_patches(const struct pb_replay_job *job)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < job->submission.relocation_count; i++) {
		const uint32_t object = job->submission.relocations[i].target;
		const struct pb_presumed *presumed = &job->presumed[object];
		const uint64_t address = (uint64_t)presumed->address_high << 32 | presumed->address_low;

		count += presumed->flags == 0 || address != job->addresses[object];
	}
	return count;
}

bool pb_replay_job_again(struct pb_replay_job *job, const struct pb_replay_rules *rules, uint32_t round,
			 char *message)
{
	if ((job->shared == NULL && !find_shared(job)) || !move(job, rules, round)) {
		(void)snprintf(message, PB_REPLAY_MESSAGE_BYTES,
			       "no memory, or the objects do not fit into the address space");
		return false;
	}
	presume_all(job);
	pb_replay_job_expect(job);
	pb_replay_job_write_allocations(job);
	job->patch_count = count_patches(job);
	job->descriptor.patch_encoding |= PB_PATCH_PRESUMED;
	return true;
}
