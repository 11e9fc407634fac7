/* SPDX-License-Identifier: MIT */
/*
 * Backing memory for segments: runs of the pool, in an array sorted by offset.
 * A host asks for it a few times in its life, so first fit by a walk will do.
 */
#include <string.h>

#include "firmware/core.h"

uint32_t pb_core_memory_take(struct pb_firmware *firmware, uint32_t bytes)
{
	struct pb_core_extent *extents = firmware->extents;
	uint32_t start = firmware->config->pool_offset;
	uint32_t at;

	PB_ASSERT(firmware->extent_count < PB_CORE_EXTENTS);
	for (at = 0; at < firmware->extent_count && extents[at].offset - start < bytes; at++)
		start = extents[at].offset + extents[at].bytes;
	if (firmware->config->memory_bytes - start < bytes)
		return 0;
	memmove(&extents[at + 1u], &extents[at], (firmware->extent_count - at) * sizeof(extents[0]));
	extents[at] = (struct pb_core_extent){.offset = start, .bytes = bytes};
	firmware->extent_count++;
	return start;
}

void pb_core_memory_give(struct pb_firmware *firmware, uint32_t offset)
{
	struct pb_core_extent *extents = firmware->extents;
	uint32_t at = 0;

	while (at < firmware->extent_count && extents[at].offset != offset)
		at++;
	PB_ASSERT(at < firmware->extent_count);
	firmware->extent_count--;
	memmove(&extents[at], &extents[at + 1u], (firmware->extent_count - at) * sizeof(extents[0]));
}
