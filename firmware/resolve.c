/* SPDX-License-Identifier: MIT */
/*
 * Step 2: the allocation list, once a submission. Everything that depends on
 * the allocation alone is decided here, so that a patch costs one compare.
 */
#include "firmware/core.h"

static enum pb_error resolve_one(struct pb_firmware *firmware, const struct pb_core_channel *channel,
				 const struct pb_allocation *allocation, struct pb_core_slot *slot)
{
	const uint32_t flags = pb_shared_read32(&allocation->flags);
	const uint32_t size_low = pb_shared_read32(&allocation->size_low);
	const uint32_t size_high = pb_shared_read32(&allocation->size_high);
	const uint64_t size = pb_core_wide(size_low, size_high);
	const uint64_t address = pb_core_wide(pb_shared_read32(&allocation->address_low),
					      pb_shared_read32(&allocation->address_high));
	const uint32_t id = (flags & PB_ALLOCATION_SEGMENT_MASK) >> PB_ALLOCATION_SEGMENT_SHIFT;
	const struct pb_core_segment *segment;
	uint64_t offset, gpu_address;

	if ((flags & PB_ALLOCATION_RESERVED) != 0)
		return PB_ERROR_BAD_ALLOCATION;
	if ((flags & PB_ALLOCATION_UNBIND) != 0) {
		*slot = (struct pb_core_slot){0};
		return id == 0 ? PB_ERROR_OK : PB_ERROR_BAD_ALLOCATION;
	}
	if (id == 0)
		return PB_ERROR_NOT_RESIDENT;
	segment = pb_core_segment_of(firmware, channel, id);
	if (segment->size == 0)
		return PB_ERROR_ALLOCATION_SEGMENT;
	if (size == 0)
		return PB_ERROR_BAD_ALLOCATION;
	offset = address - segment->os_base; /* wraps to a large one below the base */
	if (offset > segment->size || size > segment->size - offset)
		return PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT;
	gpu_address = segment->gpu_base + offset;
	slot->address_low = (uint32_t)gpu_address;
	slot->address_high = (uint32_t)(gpu_address >> 32);
	slot->limit[0] = size_high != 0 ? UINT32_MAX : size_low;
	slot->limit[1] = (flags & PB_ALLOCATION_WRITE) != 0 ? slot->limit[0] : 0;
	return PB_ERROR_OK;
}

void pb_core_resolve(struct pb_firmware *firmware, struct pb_core_job *job)
{
	uint32_t end = job->resolved + PB_SLICE_ALLOCATIONS;

	if (end > job->allocation_count)
		end = job->allocation_count;
	for (uint32_t i = job->resolved; i < end; i++) {
		enum pb_error error =
			resolve_one(firmware, job->channel, &job->allocations[i], &job->slots[i]);

		if (error != PB_ERROR_OK) {
			pb_core_job_fail(firmware, job, error, i);
			return;
		}
	}
	job->resolved = end;
	if (end == job->allocation_count)
		job->state = PB_CORE_JOB_PATCH;
}
