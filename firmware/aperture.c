/* SPDX-License-Identifier: MIT */
/*
 * Apertures: pages of linear segments seen at other addresses. The engine
 * writes their page tables as it runs paging buffers, so that an entry is a
 * foreign word here.
 */
#include "firmware/core.h"

uint32_t pb_core_aperture_clear(const struct pb_firmware *firmware, const struct pb_core_segment *aperture,
				uint32_t at)
{
	const struct pb_engine *engine = &firmware->config->engines[0];
	uint32_t count = (uint32_t)(aperture->size / PB_PAGE_BYTES) - at;

	if (count > PB_SLICE_PAGES)
		count = PB_SLICE_PAGES;
	engine->ops->page_clear(engine->context, aperture->table_offset, at, count);
	return at + count;
}

/** Whether a whole page lies in the backing of a linear segment of the channel. */
static bool page_is_the_channels(const struct pb_firmware *firmware, const struct pb_core_channel *channel,
				 uint32_t page)
{
	const struct pb_core_segment *segment = &firmware->segments[pb_core_memory_owner(firmware, page)];
	const uint32_t offset = page - segment->memory_offset;

	return &firmware->channels[segment->channel] == channel && offset % PB_PAGE_BYTES == 0 &&
	       offset < segment->memory_bytes;
}

uint32_t *pb_core_aperture_word(struct pb_firmware *firmware, const struct pb_core_channel *channel,
				const struct pb_core_segment *aperture, uint32_t offset)
{
	const struct pb_engine *engine = &firmware->config->engines[0];
	const uint32_t page =
		engine->ops->page(engine->context, aperture->table_offset, offset / PB_PAGE_BYTES);

	if (!page_is_the_channels(firmware, channel, page))
		return NULL;
	return pb_core_at(firmware, page + offset % PB_PAGE_BYTES);
}
