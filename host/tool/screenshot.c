/* SPDX-License-Identifier: MIT */
#include "host/tool/screenshot.h"

#include <stdlib.h>

#include "hal/shared.h"
#include "hal/shared_copy.h"

#define PIXEL_BYTES 4u

/* Whether all of the picture lies in card memory. */
static bool is_whole(const struct pb_link *link, const struct pb_scanout *record)
{
	const uint64_t row = (uint64_t)record->width * PIXEL_BYTES;

	return record->width != 0 && record->width <= PB_SCANOUT_EXTENT_MAX && record->height != 0 &&
	       record->height <= PB_SCANOUT_EXTENT_MAX && record->pitch >= row &&
	       record->pitch % PIXEL_BYTES == 0 && record->offset % PIXEL_BYTES == 0 &&
	       record->offset + (uint64_t)record->pitch * (record->height - 1) + row <= link->memory_bytes;
}

/* Reads the record that a page of card memory begins with. @return false: there is none */
static bool read_record(const struct pb_link *link, uint32_t offset, struct pb_scanout *record)
{
	const void *page = link->memory + offset;

	if (pb_shared_read32(page) != PB_SCANOUT_MAGIC)
		return false;
	pb_shared_acquire();
	pb_shared_copy_in(record, page, sizeof(*record));
	return record->magic == PB_SCANOUT_MAGIC && record->version == PB_SCANOUT_VERSION &&
	       record->check == pb_scanout_check(record) && is_whole(link, record);
}

bool pb_screenshot_find(const struct pb_link *link, uint32_t number, struct pb_scanout *record)
{
	for (uint64_t offset = 0; offset + sizeof(*record) <= link->memory_bytes; offset += PB_PAGE_BYTES) {
		if (read_record(link, (uint32_t)offset, record) && --number == 0)
			return true;
	}
	return false;
}

bool pb_screenshot_copy(const struct pb_link *link, const struct pb_scanout *record, struct pb_image *image)
{
	*image = (struct pb_image){
		.width = record->width,
		.height = record->height,
		.pixels = malloc((size_t)record->width * record->height * PIXEL_BYTES),
	};
	for (uint32_t y = 0; y < record->height && image->pixels != NULL; y++)
		pb_shared_copy_in(image->pixels + (size_t)y * record->width,
				  link->memory + record->offset + (size_t)y * record->pitch,
				  record->width * PIXEL_BYTES);
	return image->pixels != NULL;
}
