/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "host/tool/demo_state.h"

#define WAIT_TIMEOUT_US 60000000u

static void add_image(struct pb_dma *dma, uint32_t opcode, const struct pb_demo_resource *image, bool write)
{
	pb_dma_packet(dma, opcode, PB_PACKET_TARGET_WORDS);
	pb_dma_address(dma, &image->memory, image->inset, write);
	pb_dma_word(dma, image->row_bytes / 4);
	pb_dma_word(dma, image->rows);
	pb_dma_word(dma, image->pitch);
}

static void add_clear(struct pb_dma *dma, const struct pb_demo_resource *image, uint32_t colour)
{
	pb_dma_packet(dma, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	pb_dma_address(dma, &image->memory, image->inset, true);
	pb_dma_word(dma, image->pitch * (image->rows - 1) + image->row_bytes);
	pb_dma_word(dma, colour);
}

static void add_batch(struct pb_demo *demo, struct pb_dma *dma, const struct pb_scene_batch *batch)
{
	const struct pb_demo_resource *vertices = &demo->resources[PB_DEMO_VERTICES];

	add_image(dma, PB_PACKET_TEXTURE, &demo->resources[batch->texture], false);
	pb_dma_packet(dma, PB_PACKET_DRAW, PB_PACKET_DRAW_WORDS);
	pb_dma_address(dma, &vertices->memory,
		       vertices->inset + batch->first * (uint32_t)sizeof(struct pb_vertex), false);
	pb_dma_word(dma, batch->count);
}

/*
 * The first batch is drawn where it stands; the others are an indirect buffer
 * inside the same DMA buffer, whose own address is patched as well.
 */
bool pb_demo_draw(struct pb_demo *demo, uint32_t number)
{
	const struct pb_scene_pass *pass = &demo->scene.passes[number];
	const struct pb_scene_batch *batches = &demo->scene.batches[pass->first];
	const struct pb_demo_resource *target = &demo->resources[pass->target];
	struct pb_dma *dma = &demo->queues[PB_DEMO_3D].dma;
	uint32_t start, bytes;

	pb_dma_begin(dma);
	start = pb_dma_skip_begin(dma);
	for (uint32_t i = 1; i < pass->count; i++)
		add_batch(demo, dma, &batches[i]);
	bytes = pb_dma_skip_end(dma, start);
	add_clear(dma, target, pass->clear);
	add_image(dma, PB_PACKET_TARGET, target, true);
	add_batch(demo, dma, &batches[0]);
	pb_dma_packet(dma, PB_PACKET_INDIRECT, PB_PACKET_INDIRECT_WORDS);
	pb_dma_address(dma, &dma->buffer, start, false);
	pb_dma_word(dma, bytes);
	return pb_demo_submit(demo, PB_DEMO_3D);
}

bool pb_demo_submit(struct pb_demo *demo, enum pb_demo_engine engine)
{
	struct pb_demo_queue *queue = &demo->queues[engine];
	enum pb_error error = pb_dma_submit(&queue->dma, queue->submissions);

	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, queue->name, error);
	queue->submissions++;
	queue->busy = true;
	return true;
}

/* What the firmware has to say about the failure. */
static void print_events(struct pb_demo *demo)
{
	struct pb_event event;

	while (pb_channel_event(&demo->channel, &event)) {
		fprintf(stderr, "patchbay demo: event %s: fence %u: %s", pb_event_name(event.type),
			(unsigned)event.fence_id, pb_error_name(event.error));
		if (event.index != PB_INDEX_NONE)
			fprintf(stderr, ", list entry %u", (unsigned)event.index);
		fprintf(stderr, ", detail %u\n", (unsigned)event.detail);
	}
}

bool pb_demo_wait(struct pb_demo *demo, enum pb_demo_engine engine)
{
	struct pb_demo_queue *queue = &demo->queues[engine];
	enum pb_error error;

	if (!queue->busy)
		return true;
	error = pb_dma_wait(&queue->dma, WAIT_TIMEOUT_US, &queue->fence);
	if (error != PB_ERROR_OK) {
		pb_demo_fail(demo, queue->name, error);
		print_events(demo);
		return false;
	}
	queue->busy = false;
	queue->waited++;
	return true;
}
