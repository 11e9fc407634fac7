/* SPDX-License-Identifier: MIT */
/*
 * Where the lists of a descriptor are, and a job that keeps what resolving and
 * patching need of them.
 */
#include "firmware/compiler.h"
#include "firmware/prepare/admit.h"

/*@
  // A list lies in the backing of the channel's system segment, all of it.
  predicate is_backed(struct pb_firmware *firmware, struct pb_core_channel *channel, integer offset, integer bytes) =
    \let segment = firmware->segments.at + channel->memory.segment_of[PB_SEGMENT_SYSTEM];
    segment->memory_offset <= offset && offset + bytes <= segment->memory_offset + segment->memory_bytes;
*/

/** Where the allocation list lies in card memory. */
/*@
  requires \valid(firmware) && \valid_read(channel) && \valid_read(descriptor) && \valid(offset);
  requires pb_core_has_segments(firmware, channel);
  requires \separated(offset, firmware) && \separated(offset, channel);
  assigns *offset;
  ensures count: \result == PB_ERROR_OK ==> count <= PB_LIMIT_ALLOCATIONS;
  ensures backed: \result == PB_ERROR_OK ==> is_backed(firmware, channel, *offset, 24 * count);
*/
static PB_CORE_INLINE enum pb_error find_allocations(struct pb_firmware *firmware,
						     const struct pb_core_channel *channel,
						     const struct pb_descriptor *descriptor, uint32_t count,
						     uint32_t *offset)
{
	uint64_t address;

	if (count > PB_LIMIT_ALLOCATIONS)
		return PB_ERROR_TOO_MANY_ALLOCATIONS;
	address = pb_core_wide(pb_shared_read32(&descriptor->allocation_address_low),
			       pb_shared_read32(&descriptor->allocation_address_high));
	*offset = pb_core_segment_memory(
		pb_core_segment_of(&firmware->segments, &channel->memory, PB_SEGMENT_SYSTEM), address,
		count * sizeof(struct pb_allocation));
	return *offset == 0 || address % 8u != 0 ? PB_ERROR_BAD_ALLOCATION_LIST : PB_ERROR_OK;
}

static enum pb_error admit_allocations(struct pb_firmware *firmware, const struct pb_core_channel *channel,
				       const struct pb_descriptor *descriptor, uint32_t count,
				       const struct pb_allocation **list)
{
	uint32_t offset;
	const enum pb_error error = find_allocations(firmware, channel, descriptor, count, &offset);

	if (error == PB_ERROR_OK)
		*list = pb_core_at(firmware, offset);
	return error;
}

/** Nothing of the lists has been read yet. */
static void start_lists(struct pb_core_job *job)
{
	job->resolved = 0;
	job->compared = 0;
	job->high = false;
	job->crossing = false;
	/* The first entry of a list with formats of its own is likely of the last list's format. */
	if (job->compact)
		job->format_id = 0;
}

/** Where the patch list lies in card memory. @param unit_words of an entry, or 1 if the list is compact */
/*@
  requires \valid(firmware) && \valid_read(channel) && \valid_read(descriptor) && \valid_read(lists) && \valid(offset);
  requires pb_core_has_segments(firmware, channel) && (unit_words == 1 || unit_words == 6);
  requires \separated(offset, firmware) && \separated(offset, channel) && \separated(offset, lists);
  assigns *offset;
  ensures compact: \result == PB_ERROR_OK && unit_words == 1 ==> is_backed(firmware, channel, *offset, 4 * lists->count);
  ensures plain: \result == PB_ERROR_OK && unit_words == 6 ==> is_backed(firmware, channel, *offset, 24 * lists->count);
*/
static PB_CORE_INLINE enum pb_error find_patches(struct pb_firmware *firmware,
						 const struct pb_core_channel *channel,
						 const struct pb_descriptor *descriptor,
						 const struct pb_core_lists *lists, uint32_t unit_words,
						 uint32_t *offset)
{
	const uint64_t address = pb_core_wide(pb_shared_read32(&descriptor->patch_address_low),
					      pb_shared_read32(&descriptor->patch_address_high));

	/*@ assert one: unit_words == 1 ==> (uint64_t)((uint64_t)(lists->count * unit_words) * 4) == 4 * lists->count; */
	/*@ assert six: unit_words == 6 ==> (uint64_t)((uint64_t)(lists->count * unit_words) * 4) == 24 * lists->count; */
	*offset = pb_core_segment_memory(
		pb_core_segment_of(&firmware->segments, &channel->memory, PB_SEGMENT_SYSTEM), address,
		(uint64_t)lists->count * unit_words * sizeof(uint32_t));
	return *offset == 0 || address % 4u != 0 ? PB_ERROR_BAD_PATCH_LIST : PB_ERROR_OK;
}

/** Finds what patches presume, behind the allocation list. @return false: not all of it is backed */
static PB_CORE_COLD bool find_presumed(struct pb_firmware *firmware, struct pb_core_job *job,
				       const struct pb_core_lists *lists)
{
	const struct pb_core_segment *system =
		pb_core_segment_of(&firmware->segments, &job->channel->memory, PB_SEGMENT_SYSTEM);
	const uintptr_t end = (uintptr_t)pb_core_at(firmware, system->memory_offset) + system->memory_bytes;

	if (lists->allocation_count == 0)
		return true;
	job->presumed = (const void *)(lists->allocations + lists->allocation_count);
	return end - (uintptr_t)job->presumed >= lists->allocation_count * sizeof(struct pb_presumed);
}

/** A list that is not empty; its sizes count entries, or words of a compact one. */
static enum pb_error admit_list(struct pb_firmware *firmware, struct pb_core_job *job,
				const struct pb_descriptor *descriptor, const struct pb_core_lists *lists)
{
	const uint32_t word = pb_shared_read32(&descriptor->patch_encoding);
	const uint32_t encoding = word & ~PB_PATCH_PRESUMED;
	const bool compact = encoding != PB_PATCH_ENCODING_WDDM;
	const uint32_t unit_words = compact ? 1u : sizeof(struct pb_patch_location) / sizeof(uint32_t);
	enum pb_error error;
	uint32_t offset;

	if (encoding > PB_PATCH_ENCODING_GROUPED || word == (PB_PATCH_ENCODING_COMPACT | PB_PATCH_PRESUMED))
		return PB_ERROR_UNSUPPORTED;
	job->presumed = NULL;
	if (word != encoding && !find_presumed(firmware, job, lists))
		return PB_ERROR_BAD_ALLOCATION_LIST;
	if (lists->length > (compact ? PB_LIMIT_PATCHES * PB_COMPACT_ESCAPE_WORDS : PB_LIMIT_PATCHES))
		return PB_ERROR_TOO_MANY_PATCHES;
	error = find_patches(firmware, job->channel, descriptor, lists, unit_words, &offset);
	if (error != PB_ERROR_OK)
		return error;
	job->list = (const uint32_t *)pb_core_at(firmware, offset) + lists->start * unit_words;
	job->list_words = lists->length * unit_words;
	job->list_index = lists->start;
	job->compact = compact;
	job->grouped = encoding == PB_PATCH_ENCODING_GROUPED;
	job->group = 0;
	job->cookie = pb_shared_read32(&descriptor->cookie);
	return PB_ERROR_OK;
}

static void keep_target(const struct pb_firmware *firmware, struct pb_core_job *job,
			const struct pb_core_range *range)
{
	const struct pb_core_segment *segment = range->segment;

	job->target = NULL;
	job->aperture = range->paged ? segment : NULL;
	job->aperture_offset = range->offset;
	if (segment != NULL && !range->paged)
		job->target = pb_core_at(firmware, segment->memory_offset + range->offset + range->start);
}

/** Fills a job with what the lists need. Pre: a job is free. */
static enum pb_error fill_job(struct pb_firmware *firmware, const struct pb_core_channel *channel,
			      const struct pb_descriptor *descriptor, const struct pb_core_range *range,
			      const struct pb_core_lists *lists, struct pb_core_job **filled)
{
	struct pb_core_job *job = pb_core_jobs_find(firmware);
	enum pb_error error;

	PB_CORE_KEEP(job);
	job->channel = channel;
	error = admit_list(firmware, job, descriptor, lists);
	if (error != PB_ERROR_OK)
		return error;
	job->allocations = lists->allocations;
	job->allocation_count = lists->allocation_count;
	job->start = range->start;
	job->bytes = range->end - range->start;
	job->dma_bytes = range->size;
	keep_target(firmware, job, range);
	job->state = job->cookie != 0 ? PB_CORE_JOB_COMPARE : PB_CORE_JOB_RESOLVE;
	start_lists(job);
	*filled = job;
	return PB_ERROR_OK;
}

enum pb_error pb_core_admit_lists(struct pb_firmware *firmware, const struct pb_core_channel *channel,
				  const struct pb_descriptor *descriptor, const struct pb_core_range *range,
				  struct pb_core_lists *lists, struct pb_core_job **job)
{
	enum pb_error error = PB_ERROR_OK;

	lists->count = pb_shared_read32(&descriptor->patch_count);
	if (lists->allocation_count != 0)
		error = admit_allocations(firmware, channel, descriptor, lists->allocation_count,
					  &lists->allocations);
	if (error != PB_ERROR_OK)
		return error;
	if (lists->start > lists->count || lists->length > lists->count - lists->start)
		return PB_ERROR_BAD_PATCH_LIST;
	if (lists->length == 0 || job == NULL)
		return PB_ERROR_OK;
	return fill_job(firmware, channel, descriptor, range, lists, job);
}
