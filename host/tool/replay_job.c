/* SPDX-License-Identifier: MIT */
#include "host/tool/replay_job.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/placement.h"
#include "host/tool/replay_oracle.h"
#include "patchbay/compact.h"

/** Alignment of contents in the DMA buffer, in bytes. */
#define CONTENTS_ALIGNMENT 64u

/** Formats a message. @return false, for the caller to return */
__attribute__((format(printf, 2, 3))) static bool fail(char *message, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(message, PB_REPLAY_MESSAGE_BYTES, format, arguments);
	va_end(arguments);
	return false;
}

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + CONTENTS_ALIGNMENT - 1) / CONTENTS_ALIGNMENT * CONTENTS_ALIGNMENT;
}

/** Returns the bytes of all contents, each aligned. */
static uint64_t buffer_size(const struct pb_subm_submission *submission)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < submission->contents_count; i++)
		bytes += round_up(submission->contents[i].bytes);
	return bytes;
}

static uint32_t words_max(enum pb_patch_encoding encoding, uint32_t entries)
{
	return encoding == PB_PATCH_ENCODING_COMPACT ? PB_COMPACT_WORDS_MAX(entries)
						     : PB_GROUPED_WORDS_MAX(entries);
}

static uint32_t object_bytes(bool presumed)
{
	return (uint32_t)sizeof(struct pb_allocation) + (presumed ? (uint32_t)sizeof(struct pb_presumed) : 0);
}

uint64_t pb_replay_job_bytes(const struct pb_subm_submission *submission, enum pb_patch_encoding encoding,
			     bool presumed)
{
	uint64_t entry_bytes = encoding == PB_PATCH_ENCODING_WDDM ? sizeof(struct pb_patch_location)
								  : words_max(encoding, sizeof(uint32_t));
	uint64_t bytes = buffer_size(submission) + submission->object_count * object_bytes(presumed) +
			 submission->relocation_count * entry_bytes;

	/* An empty submission still needs an address. */
	return bytes == 0 ? CONTENTS_ALIGNMENT : bytes;
}

static bool within_limits(struct pb_replay_job *job, const struct pb_replay_rules *rules, char *message)
{
	const struct pb_card_info *card = rules->card;
	const struct pb_subm_submission *submission = &job->submission;
	uint64_t buffer_bytes = buffer_size(submission);
	uint64_t memory_bytes = pb_replay_job_bytes(submission, rules->encoding, rules->presumed);
	const struct {
		const char *what;
		uint64_t amount;
		enum pb_capability_key key;
		uint32_t limit;
	} demands[] = {
		{"objects", submission->object_count, PB_CAPABILITY_ALLOCATIONS_MAX,
		 card->capabilities[PB_CAPABILITY_ALLOCATIONS_MAX]},
		{"relocations", submission->relocation_count, PB_CAPABILITY_PATCHES_MAX,
		 card->capabilities[PB_CAPABILITY_PATCHES_MAX]},
		{"bytes of contents in its DMA buffer", buffer_bytes, PB_CAPABILITY_BUFFER_BYTES_MAX,
		 card->capabilities[PB_CAPABILITY_BUFFER_BYTES_MAX]},
		{"bytes of buffer and lists", memory_bytes, PB_CAPABILITY_POOL_BYTES,
		 pb_card_pool_most(card)},
	};

	for (size_t i = 0; i < sizeof(demands) / sizeof(demands[0]); i++) {
		if (demands[i].amount > demands[i].limit)
			return fail(message, "%" PRIu64 " %s; this board's limit is %s = %" PRIu32,
				    demands[i].amount, demands[i].what, pb_capability_name(demands[i].key),
				    demands[i].limit);
	}
	job->buffer_bytes = (uint32_t)buffer_bytes;
	job->memory_bytes = (uint32_t)memory_bytes;
	return true;
}

static bool place_objects(struct pb_replay_job *job, struct pb_replay_rules *rules)
{
	uint32_t *order;
	bool placed;

	if (!rules->random)
		return pb_placement_fixed(&job->submission, rules->reloc_bits, job->addresses);
	order = malloc(job->submission.object_count * sizeof(*order));
	placed = order != NULL && pb_placement_random(&job->submission, rules->reloc_bits,
						      &rules->random_state, order, job->addresses);
	free(order);
	return placed;
}

/** Copies the captured contents to their offsets in the expected DMA buffer. */
static void lay_out(struct pb_replay_job *job)
{
	const struct pb_subm_submission *submission = &job->submission;
	uint64_t next = 0;

	for (uint32_t i = 0; i < submission->contents_count; i++) {
		const struct pb_subm_contents *contents = &submission->contents[i];

		job->offsets[i] = (uint32_t)next;
		memcpy(job->expected + next, contents->data, contents->bytes);
		next += round_up(contents->bytes);
	}
}

/** Room for all that depends on the counts; one more of each, as sizes of 0 have no address. */
static bool make_room(struct pb_replay_job *job, const struct pb_replay_rules *rules)
{
	const struct pb_subm_submission *submission = &job->submission;
	const size_t entries = (size_t)submission->relocation_count + 1;

	job->addresses = calloc(submission->object_count, sizeof(*job->addresses));
	job->offsets = calloc((size_t)submission->contents_count + 1, sizeof(*job->offsets));
	job->expected = calloc((size_t)job->buffer_bytes + 1, 1);
	job->found = calloc((size_t)job->buffer_bytes + 1, 1);
	job->patches = calloc(entries, sizeof(*job->patches));
	if (rules->encoding != PB_PATCH_ENCODING_WDDM)
		job->words = calloc(words_max(rules->encoding, (uint32_t)entries), sizeof(*job->words));
	if (rules->presumed)
		job->presumed = calloc((size_t)submission->object_count + 1, sizeof(*job->presumed));
	return job->addresses != NULL && job->offsets != NULL && job->expected != NULL &&
	       job->found != NULL && job->patches != NULL &&
	       (rules->encoding == PB_PATCH_ENCODING_WDDM || job->words != NULL) &&
	       (!rules->presumed || job->presumed != NULL);
}

void pb_replay_job_expect(struct pb_replay_job *job)
{
	lay_out(job);
	pb_oracle_apply(&job->submission, job->addresses, job->offsets, job->expected);
}

bool pb_replay_job_prepare(struct pb_replay_job *job, struct pb_replay_rules *rules, char *message)
{
	const struct pb_subm_submission *submission = &job->submission;

	if (!within_limits(job, rules, message))
		return false;
	if (!make_room(job, rules))
		return fail(message, "out of memory");
	if (!place_objects(job, rules))
		return fail(message, "the objects do not fit into the address space");
	lay_out(job);
	job->crc_before = pb_oracle_crc(submission, job->offsets, job->expected);
	pb_replay_job_expect(job);
	job->patch_count = submission->relocation_count;
	return true;
}

/** Returns the offset of a relocation in the DMA buffer. */
static uint32_t patch_offset(const struct pb_replay_job *job, const struct pb_subm_relocation *relocation)
{
	uint32_t contents = job->submission.objects[relocation->object].contents;

	return job->offsets[contents] + (uint32_t)relocation->offset;
}

void pb_replay_job_write_buffer(const struct pb_replay_job *job, uint8_t *to)
{
	memcpy(to, job->expected, job->buffer_bytes);
	for (uint32_t i = 0; i < job->submission.relocation_count; i++) {
		const struct pb_subm_relocation *relocation = &job->submission.relocations[i];
		uint32_t start = patch_offset(job, relocation);

		for (uint32_t b = start; b < start + relocation->width; b++)
			to[b] = (uint8_t)~job->expected[b];
	}
}

void pb_replay_job_write_allocations(const struct pb_replay_job *job)
{
	const size_t count = job->submission.object_count;
	uint8_t *to = job->memory.bytes_host + job->buffer_bytes;

	for (uint32_t i = 0; i < job->submission.object_count; i++) {
		const struct pb_subm_object *object = &job->submission.objects[i];
		struct pb_allocation entry = {
			.address_low = (uint32_t)job->addresses[i],
			.address_high = (uint32_t)(job->addresses[i] >> 32),
			.size_low = (uint32_t)object->size,
			.size_high = (uint32_t)(object->size >> 32),
			.flags = PB_REPLAY_TARGET_SEGMENT << PB_ALLOCATION_SEGMENT_SHIFT,
			.id = object->handle,
		};

		if (object->written)
			entry.flags |= PB_ALLOCATION_WRITE;
		if (object->gart)
			entry.flags |= PB_REPLAY_ATTRIBUTE_GART << PB_ALLOCATION_ATTRIBUTE_SHIFT;
		memcpy(to + i * sizeof(entry), &entry, sizeof(entry));
	}
	if (job->presumed != NULL)
		memcpy(to + count * sizeof(struct pb_allocation), job->presumed,
		       count * sizeof(*job->presumed));
}

static void make_patches(struct pb_replay_job *job, const struct pb_replay_formats *formats)
{
	const struct pb_subm_submission *submission = &job->submission;

	for (uint32_t i = 0; i < submission->relocation_count; i++) {
		const struct pb_subm_relocation *relocation = &submission->relocations[i];

		job->patches[i] = (struct pb_patch_location){
			.allocation_index = relocation->target,
			.slot = relocation->target & ~PB_PATCH_RESERVED_MASK,
			.driver_id = pb_replay_formats_number(formats, submission->driver, relocation),
			.allocation_offset = relocation->delta,
			.patch_offset = patch_offset(job, relocation),
		};
	}
}

/** Encodes the list in words. Fails for an object that the encoding cannot name, or a list beyond the board's limit. */
static bool make_words(struct pb_replay_job *job, const struct pb_replay_rules *rules, char *message)
{
	const struct pb_card_info *card = rules->card;
	const bool grouped = rules->encoding == PB_PATCH_ENCODING_GROUPED;
	const uint32_t count = job->submission.relocation_count;
	const uint32_t most = (grouped ? PB_COMPACT_ESCAPE_WORDS : PB_COMPACT_SHORT_WORDS) *
			      card->capabilities[PB_CAPABILITY_PATCHES_MAX];
	uint32_t encoded;

	if ((grouped ? pb_grouped_encode : pb_compact_encode)(job->patches, count, job->words,
							      words_max(rules->encoding, count),
							      &job->list_count, &encoded) != PB_ERROR_OK)
		return fail(message,
			    "relocation %" PRIu32 " names object %" PRIu32 "; such a list can name %u",
			    encoded, job->patches[encoded].allocation_index, PB_COMPACT_INDEX_MASK + 1);
	job->list_bytes = job->list_count * (uint32_t)sizeof(*job->words);
	if (job->list_count <= most)
		return true;
	return fail(message, "the list has %" PRIu32 " words; this board's limit is %s times %s = %" PRIu32,
		    job->list_count, grouped ? "three" : "two", pb_capability_name(PB_CAPABILITY_PATCHES_MAX),
		    card->capabilities[PB_CAPABILITY_PATCHES_MAX]);
}

bool pb_replay_job_list(struct pb_replay_job *job, const struct pb_replay_rules *rules,
			const struct pb_replay_formats *formats, char *message)
{
	make_patches(job, formats);
	if (job->words != NULL)
		return make_words(job, rules, message);
	job->list_count = job->submission.relocation_count;
	job->list_bytes = job->list_count * (uint32_t)sizeof(*job->patches);
	return true;
}

void pb_replay_job_write(struct pb_replay_job *job, uint32_t context, enum pb_patch_encoding encoding)
{
	uint32_t allocations = job->buffer_bytes;
	uint32_t patches = allocations + job->submission.object_count * object_bytes(job->presumed != NULL);
	uint64_t address = job->memory.os_address;
	const void *list = job->patches;

	if (job->words != NULL)
		list = job->words;
	pb_replay_job_write_buffer(job, job->memory.bytes_host);
	pb_replay_job_write_allocations(job);
	memcpy(job->memory.bytes_host + patches, list, job->list_bytes);
	job->descriptor = (struct pb_descriptor){
		.flags = PB_FLAG_NULL_RENDERING,
		.context = context,
		.fence_id = job->submission.index,
		.dma_address_low = (uint32_t)address,
		.dma_address_high = (uint32_t)(address >> 32),
		.dma_segment = PB_SEGMENT_SYSTEM,
		.dma_size = job->buffer_bytes,
		.dma_end = job->buffer_bytes,
		.allocation_count = job->submission.object_count,
		.allocation_address_low = (uint32_t)(address + allocations),
		.allocation_address_high = (uint32_t)((address + allocations) >> 32),
		.patch_address_low = (uint32_t)(address + patches),
		.patch_address_high = (uint32_t)((address + patches) >> 32),
		.patch_count = job->list_count,
		.patch_length = job->list_count,
		.patch_encoding = encoding,
	};
}

uint32_t pb_replay_job_entry(const struct pb_replay_job *job, uint32_t index)
{
	if (job->words == NULL)
		return index;
	if ((job->descriptor.patch_encoding & ~PB_PATCH_PRESUMED) == PB_PATCH_ENCODING_GROUPED)
		return pb_grouped_index(job->words, job->list_count, index);
	return pb_compact_index(job->words, job->list_count, index);
}

void pb_replay_job_refusal(const struct pb_replay_job *job, const struct pb_fence *fence, char *message)
{
	const bool object = fence->error < PB_ERROR_PATCH_RESERVED;
	const uint32_t index = object ? fence->error_index : pb_replay_job_entry(job, fence->error_index);
	char entry[32] = "";

	if (index != PB_INDEX_NONE)
		(void)snprintf(entry, sizeof(entry), "%s %" PRIu32 ": ", object ? "object" : "relocation",
			       index);
	(void)snprintf(message, PB_REPLAY_MESSAGE_BYTES, "refused by the firmware: %s%s (%s)", entry,
		       pb_error_name(fence->error), pb_error_meaning(fence->error));
}

/** Reads a patched value of 4 or 8 bytes. */
static uint64_t value_at(const uint8_t *bytes, uint32_t start, uint32_t width)
{
	uint64_t value = 0;

	for (uint32_t b = 0; b < width; b++)
		value |= (uint64_t)bytes[start + b] << (8 * b);
	return value;
}

/** Formats the difference at byte `at` of the buffer. The last relocation there decides its value. @return false */
static bool describe_difference(const struct pb_replay_job *job, uint32_t at, char *message)
{
	for (uint32_t i = job->submission.relocation_count; i-- > 0;) {
		const struct pb_subm_relocation *relocation = &job->submission.relocations[i];
		uint32_t start = patch_offset(job, relocation);

		if (at < start || at - start >= relocation->width)
			continue;
		return fail(message,
			    "relocation %" PRIu32 " (object %" PRIu32 ", offset 0x%" PRIx64
			    ", target %" PRIu32 " at 0x%" PRIx64 ", delta 0x%" PRIx32 "): expected 0x%" PRIx64
			    ", found 0x%" PRIx64,
			    i, relocation->object, relocation->offset, relocation->target,
			    job->addresses[relocation->target], relocation->delta,
			    value_at(job->expected, start, relocation->width),
			    value_at(job->found, start, relocation->width));
	}
	return fail(message,
		    "byte 0x%" PRIx32 " of the DMA buffer changed, and no relocation lies there: "
		    "expected 0x%02x, found 0x%02x",
		    at, job->expected[at], job->found[at]);
}

bool pb_replay_job_verify(struct pb_replay_job *job, char *message)
{
	uint32_t at = 0;

	memcpy(job->found, job->memory.bytes_host, job->buffer_bytes);
	job->crc_after = pb_oracle_crc(&job->submission, job->offsets, job->found);
	if (memcmp(job->found, job->expected, job->buffer_bytes) == 0)
		return true;
	while (job->found[at] == job->expected[at])
		at++;
	return describe_difference(job, at, message);
}

void pb_replay_job_clear(struct pb_replay_job *job)
{
	free(job->addresses);
	free(job->offsets);
	free(job->expected);
	free(job->found);
	free(job->patches);
	free(job->words);
	free(job->presumed);
	free(job->shared);
	job->presumed = NULL;
	job->shared = NULL;
	job->patches = NULL;
	job->words = NULL;
	job->addresses = NULL;
	job->offsets = NULL;
	job->expected = NULL;
	job->found = NULL;
}
