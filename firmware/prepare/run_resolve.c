/* SPDX-License-Identifier: MIT */
#include "firmware/compiler.h"
#include "firmware/prepare/resolve.h"

/*
 * The first compare needs few words. The other words of an irregular allocation
 * are read after the loop has left.
 */
PB_CORE_STEP bool pb_core_run_resolve(struct pb_core_job *job, const struct pb_core_window *shared_window,
				      uint32_t end, const uint32_t *pending, struct pb_core_listed *irregular)
{
	const struct pb_core_window window = *shared_window;
	const uint32_t first = job->resolved;
	const struct pb_allocation *allocation = &job->allocations[first];
	const struct pb_allocation *const last = &job->allocations[end];
	struct pb_core_slot *slot = &job->slots[first];
	uint32_t *id = &job->ids[first];
	bool is_irregular = true;
	struct pb_core_listed listed;

	do {
		const struct pb_allocation *const slice = (uint32_t)(last - allocation) > PB_SLICE_ALLOCATIONS
								  ? allocation + PB_SLICE_ALLOCATIONS
								  : last;

		for (; allocation != slice; allocation++, slot++, id++) {
			uint32_t room;

			listed.flags = pb_shared_read32(&allocation->flags);
			listed.address_high = pb_shared_read32(&allocation->address_high);
			listed.size_high = pb_shared_read32(&allocation->size_high);
			if (((listed.flags ^ window.flags) | (listed.address_high ^ window.os_high) |
			     listed.size_high) != 0)
				goto irregular_early;
			listed.size_low = pb_shared_read32(&allocation->size_low);
			listed.address_low = pb_shared_read32(&allocation->address_low);
			room = window.os_end - listed.address_low;
			if (room > window.bytes || listed.size_low - 1u >= room)
				goto irregular_late;
			slot->low = listed.address_low + window.gpu_delta;
			slot->high = window.gpu_high;
			slot->limit[0] = listed.size_low;
			slot->limit[1] = listed.size_low & window.writable;
			*id = pb_shared_read32(&allocation->id);
		}
	} while (allocation != last && !pb_lines_waiting(pending));
	is_irregular = false;
	goto out;
irregular_early:
	listed.size_low = pb_shared_read32(&allocation->size_low);
	listed.address_low = pb_shared_read32(&allocation->address_low);
	listed.id = pb_shared_read32(&allocation->id);
	*irregular = listed;
	goto out;
irregular_late:
	/* What was equal is taken from the window, which frees three registers. */
	*irregular = (struct pb_core_listed){
		.address_low = listed.address_low,
		.address_high = window.os_high,
		.size_low = listed.size_low,
		.size_high = 0,
		.flags = window.flags,
		.id = pb_shared_read32(&allocation->id),
	};
out:
	job->resolved = (uint32_t)(allocation - job->allocations);
	return is_irregular;
}
