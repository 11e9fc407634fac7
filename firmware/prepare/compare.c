/* SPDX-License-Identifier: MIT */
/*
 * A buffer that comes again unchanged, with nothing moved, needs no patch. The
 * host names its contents by a cookie; whether anything moved is decided here,
 * by the words of its allocation list as the host wrote them: while these and
 * the channel's segments are what they were, resolving them would give the
 * same addresses, rights and ids. So it is not done either. The segments are
 * what they were: one that is created anew changes nothing for a list that was
 * good, and SEGMENT_DESTROY, which is refused while anything of the channel is
 * in flight, makes all of the channel's buffers unknown.
 *
 * A digest stands for the list: the sum of products of word pairs, each word with a
 * key of its place added (the NH hash of UMAC, RFC 4418 section 5.2). The keys are
 * no secret, and need not be one. All that an equal digest leads to is that
 * nothing is written: the buffer is run with the words that are in it, which
 * are its client's own, or addresses that the firmware has resolved for this
 * channel and this set of segments. A host that finds two lists of one digest,
 * gives a wrong cookie, or changes its list after the digest was taken, runs its
 * own buffer with its own stale addresses, which it could write there itself.
 * The engine holds every access against the channel's ranges.
 */
#include "firmware/prepare/compare.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "hal/shared_burst.h"

/** The key of allocation 0, and what it grows by from one to the next: odd, and without a pattern (2^32 / golden ratio). */
#define KEY_FIRST 0x6a09e667u
#define KEY_STEP  0x9e3779b1u

#define ALLOCATION_WORDS ((uint32_t)(sizeof(struct pb_allocation) / sizeof(uint32_t)))

/**
 * Adds allocations to the job's digest, slice after slice, until a line is raised. The words of one pair are an address,
 * size or id, and one of which few bits are used: that with its key is never 0, or the other one would not count.
 */
static PB_CORE_STEP void digest_allocations(struct pb_core_job *job, const uint32_t *pending)
{
	const struct pb_allocation *allocation = &job->allocations[job->compared];
	const struct pb_allocation *const end = &job->allocations[job->allocation_count];
	uint32_t key = KEY_FIRST + job->compared * KEY_STEP;
	uint64_t digest = job->digest;

	while (allocation != end) {
		const struct pb_allocation *const slice =
			(uint32_t)(end - allocation) > PB_SLICE_SLOTS ? allocation + PB_SLICE_SLOTS : end;

		while (allocation != slice) {
			uint32_t word[ALLOCATION_WORDS];

			allocation = (const void *)pb_shared_read_six(&allocation->address_low, word);
			digest += (uint64_t)(word[0] + key) * (word[1] - key);
			digest += (uint64_t)(word[2] + (key >> 3)) * (word[3] + (key << 3));
			digest += (uint64_t)(word[5] + (key << 7)) * (word[4] + (key >> 7));
			key += KEY_STEP;
			PB_CORE_KEEP(
				key); /* its shifts are parts of the additions, and no sums of their own */
		}
		if (pb_lines_waiting(pending))
			break;
	}
	job->digest = digest;
	job->compared = (uint32_t)(allocation - job->allocations);
}

/** Of all but the allocation list: which bytes, by which list and which formats, in whose name. */
static uint64_t digest_job(const struct pb_core_job *job)
{
	const uint32_t words[] = {
		(uint32_t)(uintptr_t)job->target,
		job->start,
		job->bytes,
		job->dma_bytes,
		job->submission->engine.address_low,
		job->submission->engine.address_high,
		(uint32_t)(uintptr_t)job->list,
		job->list_words,
		(uint32_t)job->compact + job->grouped,
		job->allocation_count,
		job->channel->endpoint.epoch,
		job->channel->formats.version,
	};
	uint64_t digest = 1u;

	/* A chain, as these words may take each other's place. */
	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		digest = (digest ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return digest ^ digest >> 32;
}

static struct pb_core_patched *entry_of(struct pb_core_patched_set *patched, const struct pb_core_job *job)
{
	const uint32_t hash = (job->cookie + job->submission->queue->channel) * KEY_STEP;

	return &patched->at[hash / (UINT32_MAX / PB_LIMIT_PATCHED + 1u)];
}

void pb_core_compare(struct pb_firmware *firmware, struct pb_core_job *job)
{
	const struct pb_core_patched *patched = entry_of(&firmware->patched, job);

	if (job->compared == 0)
		job->digest = digest_job(job);
	if (job->compared != job->allocation_count)
		digest_allocations(job, firmware->lines->pending);
	if (job->compared != job->allocation_count)
		return;
	job->state = PB_CORE_JOB_RESOLVE;
	if (patched->cookie == job->cookie && patched->channel == job->submission->queue->channel &&
	    patched->digest == job->digest)
		job->state = PB_CORE_JOB_READY;
}

PB_CORE_COLD void pb_core_compare_forget(struct pb_core_patched_set *patched, const struct pb_core_job *job)
{
	const uintptr_t target = (uintptr_t)job->target;

	for (uint32_t i = 0; i < patched->end; i++) {
		struct pb_core_patched *entry = &patched->at[i];

		/* Through an aperture it may be any buffer of the channel. */
		if (job->aperture != NULL
			    ? entry->channel == job->submission->queue->channel
			    : entry->target - target < job->bytes || target - entry->target < entry->bytes)
			entry->cookie = 0;
	}
	/* Hosts that give no cookies any more do not pay for those that they gave. */
	while (patched->end != 0 && patched->at[patched->end - 1u].cookie == 0)
		patched->end--;
}

void pb_core_compare_forget_channel(struct pb_core_patched_set *patched, uint32_t channel)
{
	for (uint32_t i = 0; i < patched->end; i++) {
		if (patched->at[i].channel == channel)
			patched->at[i].cookie = 0;
	}
}

void pb_core_compare_remember(struct pb_core_patched_set *patched, const struct pb_core_job *job)
{
	struct pb_core_patched *entry = entry_of(patched, job);
	const uint32_t end = (uint32_t)(entry - patched->at) + 1u;

	*entry = (struct pb_core_patched){
		.cookie = job->cookie,
		.channel = job->submission->queue->channel,
		.digest = job->digest,
		.target = (uintptr_t)job->target,
		.bytes = job->bytes,
	};
	if (patched->end < end)
		patched->end = end;
}
