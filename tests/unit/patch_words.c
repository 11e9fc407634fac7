/* SPDX-License-Identifier: MIT */
/* Lists of words, made by no code of the host library. */
#include <string.h>

#include "tests/unit/patch_oracle.h"

uint32_t oracle_compact(const struct pb_patch_location *patches, uint32_t count, uint32_t loose,
			uint32_t *words)
{
	uint32_t format = 0;
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct pb_patch_location *patch = &patches[i];
		const uint32_t index = patch->allocation_index % 1024;

		if ((loose >> i % 32 & 1u) == 0 && patch->driver_id == format &&
		    patch->patch_offset % 4 == 0 && patch->patch_offset / 4 < 1023 * 4096) {
			words[used++] = patch->patch_offset / 4 * 1024 + index;
		} else {
			format = patch->driver_id % 256;
			words[used++] = 0xffc00000 + format * 1024 + index;
			words[used++] = patch->patch_offset;
		}
		words[used++] = patch->allocation_offset;
	}
	return used;
}

uint32_t oracle_grouped(const struct oracle_list *list, uint32_t count, uint32_t most, uint32_t *words)
{
	uint32_t used = 0;

	for (uint32_t first = 0; first < count;) {
		const uint32_t entries = count - first < most ? count - first : 1 + first % most;
		const struct pb_patch_location *patch = &list->patches[first];
		const struct pb_patch_format *format = oracle_format(list, patch->driver_id);
		uint32_t *head = &words[used];

		/* As a compact list whose first entry is an escape, which has the head's format. */
		head[1] = oracle_compact(patch, entries, 1, &head[2]);
		head[0] = patch->allocation_index % 1024 + patch->driver_id % 256 * 1024 +
			  (format != NULL && format_uses_allocation(format) ? 0 : 0x40000);
		if (patch->patch_offset % 4 == 0 && patch->patch_offset / 4 < 1023 * 4096) {
			/* The first entry is short after all. */
			head[2] = patch->patch_offset / 4 * 1024 + head[2] % 1024;
			head[3] = head[4];
			memmove(&head[4], &head[5], (head[1] - 3) * sizeof(head[0]));
			head[1]--;
		}
		used += 2 + head[1];
		first += entries;
	}
	return used;
}
