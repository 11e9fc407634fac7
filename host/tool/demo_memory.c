/* SPDX-License-Identifier: MIT */
#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "host/tool/demo_state.h"

/* Tries to find a place, in one segment or the other. */
#define PLACE_TRIES 16u

/* Xorshift: the same moves in every run. @return 0..below - 1 */
static uint32_t chance(struct pb_demo *demo, uint32_t below)
{
	demo->random ^= demo->random << 13;
	demo->random ^= demo->random >> 17;
	demo->random ^= demo->random << 5;
	return demo->random % below;
}

/* First fit would alternate between two places; a spacer of random size in front makes it wander. */
static enum pb_error take_place(struct pb_demo *demo, uint32_t bytes, struct pb_memory *memory)
{
	struct pb_segment *segment = &demo->segments[1 + chance(demo, 2)];
	uint32_t alignment = 64u << chance(demo, 7);
	struct pb_memory spacer;
	enum pb_error error = pb_memory_allocate(segment, 64 + chance(demo, 0x100000), 64, &spacer);

	if (error != PB_ERROR_OK)
		return error;
	error = pb_memory_allocate(segment, bytes, alignment, memory);
	pb_memory_free(&spacer);
	return error;
}

/* Puts the resource somewhere else, at another offset and pitch; says nothing about what lies there. */
static bool place(struct pb_demo *demo, struct pb_demo_resource *resource)
{
	uint32_t inset = 4 * chance(demo, 64);
	uint32_t pitch = resource->row_bytes + 4 * chance(demo, 16);
	uint32_t bytes = inset + pitch * resource->rows;
	enum pb_error error = PB_ERROR_NO_SPACE;

	for (uint32_t i = 0; i < PLACE_TRIES && error == PB_ERROR_NO_SPACE; i++)
		error = take_place(demo, bytes, &resource->memory);
	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, "place for a resource", error);
	resource->inset = inset;
	resource->pitch = pitch;
	return true;
}

static uint32_t *row_of(const struct pb_demo_resource *resource, uint32_t row)
{
	void *start = resource->memory.bytes_host + resource->inset + row * resource->pitch;

	return start;
}

void pb_demo_write(struct pb_demo *demo, uint32_t resource, const uint32_t *words)
{
	const struct pb_demo_resource *to = &demo->resources[resource];

	for (uint32_t row = 0; row < to->rows; row++) {
		uint32_t *shared = row_of(to, row);

		for (uint32_t i = 0; i < to->row_bytes / 4; i++)
			pb_shared_write32(&shared[i], *words++);
	}
}

void pb_demo_read(const struct pb_demo *demo, uint32_t resource, uint32_t *words)
{
	const struct pb_demo_resource *from = &demo->resources[resource];

	for (uint32_t row = 0; row < from->rows; row++) {
		const uint32_t *shared = row_of(from, row);

		for (uint32_t i = 0; i < from->row_bytes / 4; i++)
			*words++ = pb_shared_read32(&shared[i]);
	}
}

/* Overwrites what is free in a segment with poison. Nothing else may have been taken from it behind the DMA buffer. */
static bool poison_segment(struct pb_demo *demo, struct pb_segment *segment)
{
	uint32_t taken = segment->extent_count == 0
				 ? 0
				 : segment->extents[segment->extent_count - 1].offset +
					   segment->extents[segment->extent_count - 1].bytes;
	struct pb_memory rest;
	enum pb_error error = pb_memory_allocate(segment, segment->request.backing_bytes - taken, 64, &rest);

	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, "poison", error);
	for (uint32_t i = 0; i < rest.bytes / 4; i++)
		pb_shared_write32((uint32_t *)(void *)rest.bytes_host + i, PB_DEMO_POISON);
	pb_memory_free(&rest);
	return true;
}

bool pb_demo_fill_memory(struct pb_demo *demo)
{
	for (uint32_t i = 1; i < PB_DEMO_SEGMENTS; i++) {
		if (!poison_segment(demo, &demo->segments[i]))
			return false;
	}
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		struct pb_demo_resource *resource = &demo->resources[i];

		resource->rows = i == PB_DEMO_VERTICES ? 1 : pb_scene_images[i].height;
		resource->row_bytes = i == PB_DEMO_VERTICES ? (uint32_t)sizeof(demo->scene.vertices)
							    : 4 * pb_scene_images[i].width;
		if (!place(demo, resource))
			return false;
		if (i != PB_DEMO_VERTICES && pb_scene_images[i].source == PB_SCENE_FIXED)
			pb_demo_write(demo, i, demo->expected[i].pixels);
	}
	return true;
}

static void add_copy(struct pb_dma *dma, const struct pb_demo_resource *from,
		     const struct pb_demo_resource *to)
{
	if (from->rows == 1) {
		pb_dma_packet(dma, PB_PACKET_COPY, PB_PACKET_COPY_WORDS);
		pb_dma_address(dma, &from->memory, from->inset, false);
		pb_dma_address(dma, &to->memory, to->inset, true);
		pb_dma_word(dma, from->row_bytes);
		return;
	}
	pb_dma_packet(dma, PB_PACKET_COPY_RECT, PB_PACKET_COPY_RECT_WORDS);
	pb_dma_address(dma, &from->memory, from->inset, false);
	pb_dma_word(dma, from->pitch);
	pb_dma_address(dma, &to->memory, to->inset, true);
	pb_dma_word(dma, to->pitch);
	pb_dma_word(dma, from->row_bytes);
	pb_dma_word(dma, from->rows);
}

static void add_poison(struct pb_demo *demo, const struct pb_memory *memory)
{
	struct pb_dma *dma = &demo->queues[PB_DEMO_COPY].dma;
	uint32_t value = PB_DEMO_POISON - 1 - demo->moves % 127;

	pb_dma_packet(dma, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	pb_dma_address(dma, memory, 0, true);
	pb_dma_word(dma, memory->bytes);
	pb_dma_word(dma, value);
	pb_demo_shadow_fill(demo, memory, value);
}

static bool add_move(struct pb_demo *demo, struct pb_demo_resource *resource)
{
	struct pb_demo_resource from = *resource;

	if (demo->left_count == PB_DEMO_LEFT_MAX)
		return pb_demo_fail(demo, "moves of a frame", PB_ERROR_NO_SPACE);
	if (!place(demo, resource))
		return false;
	add_copy(&demo->queues[PB_DEMO_COPY].dma, &from, resource);
	add_poison(demo, &from.memory);
	demo->left[demo->left_count++] = from.memory;
	demo->moves++;
	demo->bytes_moved += (uint64_t)from.row_bytes * from.rows;
	return true;
}

bool pb_demo_move(struct pb_demo *demo, uint32_t must, uint32_t may)
{
	uint32_t moves = demo->moves;

	pb_dma_begin(&demo->queues[PB_DEMO_COPY].dma);
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		bool moving =
			(must & PB_DEMO_BIT(i)) != 0 || ((may & PB_DEMO_BIT(i)) != 0 && chance(demo, 2) != 0);

		if (moving && !add_move(demo, &demo->resources[i]))
			return false;
	}
	return demo->moves == moves || pb_demo_submit(demo, PB_DEMO_COPY);
}

void pb_demo_free_left(struct pb_demo *demo)
{
	while (demo->left_count > 0)
		pb_memory_free(&demo->left[--demo->left_count]);
}
