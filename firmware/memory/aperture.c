/* SPDX-License-Identifier: MIT */
#include "firmware/memory/aperture.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"

uint32_t pb_core_aperture_clear(const struct pb_firmware *firmware, const struct pb_core_segment *aperture,
				uint32_t at)
{
	const struct pb_engine_memory *memory = firmware->config->engine_memory;
	uint32_t count = (uint32_t)(aperture->size / PB_PAGE_BYTES) - at;

	if (count > PB_SLICE_PAGES)
		count = PB_SLICE_PAGES;
	memory->ops->page_clear(memory->context, aperture->table_offset, at, count);
	return at + count;
}

/** Whether a page of host memory lies in a segment of the channel. */
static PB_CORE_COLD bool is_in_host_segment(const struct pb_firmware *firmware, uint32_t channel,
					    uint32_t page)
{
	const struct pb_core_channel_memory *memory = &firmware->channels[channel].memory;

	for (uint32_t id = 0; id < PB_LIMIT_SEGMENTS; id++) {
		const struct pb_core_segment *segment = &firmware->segments.at[memory->segment_of[id]];

		if (segment->kind == PB_SEGMENT_HOST && page - segment->memory_offset < segment->memory_bytes)
			return true;
	}
	return false;
}

/** Whether a whole page lies in the backing of a segment of the channel. */
static bool page_is_the_channels(const struct pb_firmware *firmware, uint32_t channel, uint32_t page)
{
	const struct pb_core_segment *segment =
		&firmware->segments.at[pb_core_pool_owner(&firmware->pool, page)];
	const uint32_t offset = page - segment->memory_offset;

	if (pb_core_host_window_bytes(firmware) != 0 &&
	    page - firmware->config->host->offset < firmware->config->host->bytes)
		return page % PB_PAGE_BYTES == 0 && is_in_host_segment(firmware, channel, page);
	return segment->channel == channel && offset % PB_PAGE_BYTES == 0 && offset < segment->memory_bytes;
}

uint32_t *pb_core_aperture_word(struct pb_firmware *firmware, uint32_t channel,
				const struct pb_core_segment *aperture, uint32_t offset)
{
	const struct pb_engine_memory *memory = firmware->config->engine_memory;
	const uint32_t page =
		memory->ops->page(memory->context, aperture->table_offset, offset / PB_PAGE_BYTES);

	if (!page_is_the_channels(firmware, channel, page))
		return NULL;
	return pb_core_at(firmware, page + offset % PB_PAGE_BYTES);
}
