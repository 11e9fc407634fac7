/* SPDX-License-Identifier: MIT */
#include "firmware/compiler.h"
#include "firmware/prepare/resolve.h"

#define ALLOCATION_WORDS (sizeof(struct pb_allocation) / sizeof(uint32_t))
#define SLOT_WORDS       (sizeof(struct pb_core_slot) / sizeof(uint32_t))

PB_CORE_STEP bool pb_core_run_resolve(struct pb_core_job *job, const struct pb_core_window *shared_window,
				      uint32_t end, const uint32_t *pending, struct pb_core_listed *irregular)
{
	/* Where there are few registers, its words are loaded with each allocation, two at a time. */
	const struct pb_core_window copy = *shared_window;
	const struct pb_core_window *const window = PB_SHARED_BURSTS ? shared_window : &copy;
	const uint32_t *words = (const uint32_t *)(const void *)&job->allocations[job->resolved];
	const uint32_t *const last = (const uint32_t *)(const void *)&job->allocations[end];
	uint32_t *slot = &job->slots[job->resolved].low;
	uint32_t *id = &job->ids[job->resolved];
	bool is_irregular = true;
	struct pb_core_listed listed;

	do {
		const uint32_t slice_words = PB_SLICE_ALLOCATIONS * ALLOCATION_WORDS;
		const uint32_t *const slice =
			(uint32_t)(last - words) > slice_words ? words + slice_words : last;

		while (words != slice) {
			uint32_t flags, os_high, room, bytes, gpu_delta, gpu_high;

			words = pb_core_read_listed(words, &listed);
			flags = window->flags;
			os_high = window->os_high;
			PB_CORE_PAIR(flags, os_high);
			if (((listed.flags ^ flags) | (listed.address_high ^ os_high) | listed.size_high) !=
			    0)
				goto irregular;
			PB_CORE_KEEP(listed.size_low); /* or it is copied with every allocation */
			room = window->os_end;
			bytes = window->bytes;
			PB_CORE_PAIR(room, bytes);
			room -= listed.address_low;
			if (room > bytes || listed.size_low - 1u >= room)
				goto irregular;
			gpu_delta = window->gpu_delta;
			gpu_high = window->gpu_high;
			PB_CORE_PAIR(gpu_delta, gpu_high);
			slot = pb_burst_put_four(slot, listed.address_low + gpu_delta, gpu_high,
						 listed.size_low, listed.size_low & window->writable);
			*id++ = listed.id;
		}
	} while (words != last && !pb_lines_waiting(pending));
	is_irregular = false;
	goto out;
irregular:
	*irregular = listed;
out:
	job->resolved = (uint32_t)(slot - &job->slots[0].low) / SLOT_WORDS;
	return is_irregular;
}
