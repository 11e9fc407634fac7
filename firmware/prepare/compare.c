/* SPDX-License-Identifier: MIT */
/*
 * A buffer that comes again unchanged, with nothing moved, needs no patch. The
 * host names its contents by a cookie; whether anything moved is decided here,
 * from the resolved list.
 *
 * A digest stands for the list: the sum of products of word pairs, each word with a
 * key of its place added (the NH hash of UMAC, RFC 4418 section 5.2). A host
 * that finds two placements of one digest, or gives a wrong cookie, runs a
 * buffer with its own stale addresses; the engine checks those as all others.
 */
#include "firmware/prepare/compare.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"

/** The key of slot 0, and what it grows by from slot to slot: odd, and without a pattern (2^32 / golden ratio). */
#define KEY_FIRST 0x6a09e667u
#define KEY_STEP  0x9e3779b1u

static inline uint32_t rotate_right(uint32_t value, uint32_t bits)
{
	return value >> bits | value << (32u - bits);
}

static PB_CORE_STEP uint64_t digest_slots(const struct pb_core_job *job, uint64_t digest, uint32_t from,
					  uint32_t to)
{
	const struct pb_core_slot *slot = &job->slots[from];
	const struct pb_core_slot *const end = &job->slots[to];
	const uint32_t *id = &job->ids[from];
	const uint8_t *tag = &job->tags[from];
	uint32_t key = KEY_FIRST + from * KEY_STEP;

	for (; slot != end; slot++, id++, tag++) {
		digest += (uint64_t)(slot->low + key) * (slot->high - key);
		digest += (uint64_t)(slot->limit[0] ^ key) * (*id + rotate_right(key, 13));
		/* The second limit is the first or 0, a tag six bits: they share a word. */
		digest += (uint64_t)(slot->limit[1] ^ (uint32_t)*tag << 26) * key;
		key += KEY_STEP;
	}
	return digest;
}

/** Of all but the allocations: which bytes, by which list and which formats, in whose name. */
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
		job->compact,
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
	const uint32_t *pending = firmware->lines->pending;
	const struct pb_core_patched *patched = entry_of(&firmware->patched, job);

	if (job->compared == 0)
		job->digest = digest_job(job);
	while (job->compared < job->allocation_count) {
		uint32_t end = job->allocation_count;

		if (end - job->compared > PB_SLICE_SLOTS)
			end = job->compared + PB_SLICE_SLOTS;
		job->digest = digest_slots(job, job->digest, job->compared, end);
		job->compared = end;
		if (end != job->allocation_count && pb_lines_waiting(pending))
			return;
	}
	job->state = PB_CORE_JOB_PATCH;
	if (patched->cookie == job->cookie && patched->channel == job->submission->queue->channel &&
	    patched->digest == job->digest)
		job->state = PB_CORE_JOB_READY;
	else
		pb_core_compare_forget(&firmware->patched, job);
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
	*entry_of(patched, job) = (struct pb_core_patched){
		.cookie = job->cookie,
		.channel = job->submission->queue->channel,
		.digest = job->digest,
		.target = (uintptr_t)job->target,
		.bytes = job->bytes,
	};
	patched->end = PB_LIMIT_PATCHED; /* hosts that give no cookies do not pay for them */
}
