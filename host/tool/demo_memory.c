/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "hal/shared_copy.h"
#include "host/tool/demo_state.h"

enum pb_scene_image pb_demo_image_of(uint32_t resource)
{
	return resource > PB_DEMO_VERTICES ? PB_SCENE_SCREEN : (enum pb_scene_image)resource;
}

uint32_t pb_demo_resource_of(const struct pb_demo *demo, enum pb_scene_image image)
{
	const uint32_t screen = demo->frame % PB_DEMO_SCREENS;

	return image != PB_SCENE_SCREEN || screen == 0 ? (uint32_t)image : PB_DEMO_MORE_SCREENS + screen - 1u;
}

uint32_t pb_demo_bytes(const struct pb_demo_resource *resource)
{
	return resource->inset + resource->row_bytes * resource->rows;
}

static void fill_words(uint8_t *memory, uint32_t bytes, uint32_t value)
{
	uint32_t *shared = (uint32_t *)(void *)memory;

	for (uint32_t i = 0; i < bytes / 4; i++)
		pb_shared_write32(&shared[i], value);
}

/* Returns how many bytes from `offset` on lie in one page of a resource. */
static uint32_t piece(uint32_t offset, uint32_t bytes)
{
	const uint32_t left = PB_PAGE_BYTES - offset % PB_PAGE_BYTES;

	return bytes < left ? bytes : left;
}

/* Writes words to a resource. @param words NULL: poison */
static void write_words(const struct pb_demo *demo, uint32_t number, uint32_t offset, const uint32_t *words,
			uint32_t bytes)
{
	while (bytes != 0) {
		const uint32_t count = piece(offset, bytes);
		uint8_t *to = demo->path->byte(demo, number, offset);

		if (words == NULL)
			fill_words(to, count, PB_DEMO_POISON);
		else
			pb_shared_copy_out(to, words, count);
		words = words == NULL ? NULL : words + count / 4;
		offset += count;
		bytes -= count;
	}
}

void pb_demo_read(const struct pb_demo *demo, uint32_t resource, uint32_t offset, uint32_t *words,
		  uint32_t count)
{
	uint32_t bytes = 4 * count;

	while (bytes != 0) {
		const uint32_t part = piece(offset, bytes);

		pb_shared_copy_in(words, demo->path->byte(demo, resource, offset), part);
		words += part / 4;
		offset += part;
		bytes -= part;
	}
}

static void write_rows(const struct pb_demo *demo, uint32_t number, const uint32_t *words)
{
	const struct pb_demo_resource *resource = &demo->resources[number];

	write_words(demo, number, resource->inset, words, resource->row_bytes * resource->rows);
}

bool pb_demo_write(struct pb_demo *demo, uint32_t resource, const uint32_t *words)
{
	if (!demo->path->page_out(demo, resource))
		return false;
	write_words(demo, resource, 0, NULL, demo->resources[resource].inset);
	write_rows(demo, resource, words);
	return true;
}

struct pb_demo_resource pb_demo_layout(uint32_t number, uint32_t shrink)
{
	const struct pb_scene_image_info *image = &pb_scene_images[pb_demo_image_of(number)];
	struct pb_demo_resource resource = {.inset = 4 * (number * 37 % 64), .rows = 1};

	if (number == PB_DEMO_VERTICES) {
		resource.row_bytes = (uint32_t)sizeof(struct pb_vertex) *
				     (shrink == 0 ? PB_SCENE_VERTICES_MAX : PB_SCENE_VERTICES_SHRUNK);
	} else {
		resource.row_bytes = 4 * pb_scene_side(image->width, shrink);
		resource.rows = pb_scene_side(image->height, shrink);
	}
	return resource;
}

/* Poisons a resource, and writes it if it is a fixed image. */
static void fill_resource(const struct pb_demo *demo, uint32_t number)
{
	const uint32_t unit = demo->path->unit;
	const uint32_t bytes = (pb_demo_bytes(&demo->resources[number]) + unit - 1) / unit * unit;

	write_words(demo, number, 0, NULL, bytes);
	if (number != PB_DEMO_VERTICES && pb_scene_images[pb_demo_image_of(number)].source == PB_SCENE_FIXED)
		write_rows(demo, number, demo->expected[number].pixels);
}

bool pb_demo_fill_memory(struct pb_demo *demo)
{
	for (uint32_t i = PB_DEMO_LARGE; i <= PB_DEMO_SMALL; i++) {
		const struct pb_segment *segment = &demo->segments[i];

		fill_words(demo->channel.link->memory + segment->memory_offset,
			   segment->request.backing_bytes, PB_ENGINE_POISON);
	}
	if (!demo->path->create(demo))
		return false;
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++)
		fill_resource(demo, i);
	return true;
}
