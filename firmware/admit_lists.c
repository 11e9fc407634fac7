/* SPDX-License-Identifier: MIT */
/*
 * Step 1, the lists: where they are, and a job that keeps what resolving and
 * patching need of them.
 */
#include "firmware/admit.h"
#include "hal/bits.h"

static enum pb_error admit_allocations(struct pb_firmware *firmware, const struct pb_core_channel *channel,
				       const struct pb_descriptor *descriptor, uint32_t count,
				       const struct pb_allocation **list)
{
	uint64_t address;
	uint32_t offset;

	if (count > PB_LIMIT_ALLOCATIONS)
		return PB_ERROR_TOO_MANY_ALLOCATIONS;
	address = pb_core_wide(pb_shared_read32(&descriptor->allocation_address_low),
			       pb_shared_read32(&descriptor->allocation_address_high));
	offset = pb_core_segment_memory(pb_core_segment_of(firmware, channel, PB_SEGMENT_SYSTEM), address,
					count * sizeof(struct pb_allocation));
	if (offset == 0 || address % 8u != 0)
		return PB_ERROR_BAD_ALLOCATION_LIST;
	*list = pb_core_at(firmware, offset);
	return PB_ERROR_OK;
}

/** Nothing of the lists has been looked at. */
static void start_lists(struct pb_core_job *job)
{
	job->resolved = 0;
	job->compared = 0;
	job->high = false;
	job->crossing = false;
	job->format_id = 0;
	job->plan.id = PB_CORE_NO_FORMAT;
	job->plan.format = NULL; /* what an entry with a DriverId of all ones gets */
	job->general.id = PB_CORE_NO_FORMAT;
}

/** A list that is not empty; its sizes count entries, or words of a compact one. */
static enum pb_error admit_list(struct pb_firmware *firmware, struct pb_core_job *job,
				const struct pb_descriptor *descriptor, const struct pb_core_lists *lists)
{
	const uint32_t encoding = pb_shared_read32(&descriptor->patch_encoding);
	const bool compact = encoding == PB_PATCH_ENCODING_COMPACT;
	const uint32_t unit_words = compact ? 1u : sizeof(struct pb_patch_location) / sizeof(uint32_t);
	uint64_t address;
	uint32_t offset;

	if (encoding > PB_PATCH_ENCODING_COMPACT)
		return PB_ERROR_UNSUPPORTED;
	if (lists->length > (compact ? PB_LIMIT_PATCHES * PB_COMPACT_ESCAPE_WORDS : PB_LIMIT_PATCHES))
		return PB_ERROR_TOO_MANY_PATCHES;
	address = pb_core_wide(pb_shared_read32(&descriptor->patch_address_low),
			       pb_shared_read32(&descriptor->patch_address_high));
	offset = pb_core_segment_memory(pb_core_segment_of(firmware, job->channel, PB_SEGMENT_SYSTEM),
					address, (uint64_t)lists->count * unit_words * sizeof(uint32_t));
	if (offset == 0 || address % 4u != 0)
		return PB_ERROR_BAD_PATCH_LIST;
	job->list = (const uint32_t *)pb_core_at(firmware, offset) + lists->start * unit_words;
	job->list_words = lists->length * unit_words;
	job->list_index = lists->start;
	job->compact = compact;
	job->cookie = pb_shared_read32(&descriptor->cookie);
	return PB_ERROR_OK;
}

static void keep_place(const struct pb_firmware *firmware, struct pb_core_job *job,
		       const struct pb_core_range *range)
{
	const struct pb_core_segment *segment = range->segment;

	job->target = NULL;
	job->aperture = range->paged ? segment : NULL;
	job->aperture_offset = range->offset;
	if (segment != NULL && !range->paged)
		job->target = pb_core_at(firmware, segment->memory_offset + range->offset + range->start);
}

/** The node takes a job, which keeps what the lists need. One is free. */
static enum pb_error take_job(struct pb_firmware *firmware, struct pb_core_node *node,
			      const struct pb_core_channel *channel, const struct pb_descriptor *descriptor,
			      const struct pb_core_range *range, const struct pb_core_lists *lists)
{
	const uint32_t j = pb_bits_lowest(firmware->jobs_free);
	struct pb_core_job *job = &firmware->jobs[j];
	enum pb_error error;

	job->channel = channel;
	error = admit_list(firmware, job, descriptor, lists);
	if (error != PB_ERROR_OK)
		return error;
	job->work = pb_core_work_at(node, node->fed + 1u);
	job->allocations = lists->allocations;
	job->allocation_count = lists->allocation_count;
	job->start = range->start;
	job->bytes = range->end - range->start;
	job->dma_bytes = range->size;
	keep_place(firmware, job, range);
	job->state = PB_CORE_JOB_RESOLVE;
	start_lists(job);
	firmware->jobs_free &= ~(1u << j);
	node->job = job;
	node->next = PB_CORE_NEXT_JOB;
	node->preparing = pb_shared_read32(firmware->clock);
	PB_CORE_TRACE_QUEUE(firmware, PATCH, job->work->queue, job->work->fence_id, lists->length);
	return PB_ERROR_OK;
}

enum pb_error pb_core_admit_lists(struct pb_firmware *firmware, struct pb_core_node *node,
				  const struct pb_core_channel *channel,
				  const struct pb_descriptor *descriptor, const struct pb_core_range *range,
				  struct pb_core_lists *lists)
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
	if (lists->length != 0)
		return take_job(firmware, node, channel, descriptor, range, lists);
	node->next = PB_CORE_NEXT_PREPARED;
	return PB_ERROR_OK;
}
