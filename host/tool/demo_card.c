/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "host/tool/card_failure.h"
#include "host/tool/demo_state.h"

#define ATTACH_TIMEOUT_US 30000000u
/* Small, so that one pass of the scene takes several calls of Render. */
#define DMA_BYTES  512u
#define LIST_BYTES 4096u

/*
 * OS and GPU addresses differ, and both go beyond 4 GiB: an address that was
 * patched with the wrong base, or in one word only, leads nowhere. Video memory
 * is a quarter of what the demo draws with: one screen, and half of the textures.
 */
static const struct pb_segment_request requests[PB_DEMO_SEGMENTS] = {
	{.id = PB_DEMO_SYSTEM,
	 .os_base = 0x10000000,
	 .gpu_base = 0x10000000,
	 .size = 0x200000,
	 .backing_bytes = 0x200000},
	{.id = PB_DEMO_LARGE,
	 .os_base = 0x40000000,
	 .gpu_base = 0x240000000,
	 .size = 0x4000000,
	 .backing_bytes = 0x50000},
	{.id = PB_DEMO_SMALL,
	 .os_base = 0x900000000,
	 .gpu_base = 0x1280000000,
	 .size = 0x4000000,
	 .backing_bytes = 0x10000},
	{.id = PB_DEMO_APERTURE,
	 .os_base = 0x700000000,
	 .gpu_base = 0x380000000,
	 .size = 0x20000,
	 .kind = PB_SEGMENT_APERTURE},
};

bool pb_demo_fail(const struct pb_demo *demo, const char *what, enum pb_error error)
{
	char failure[PB_CARD_FAILURE_BYTES];

	pb_card_failure(&demo->channel, error, failure);
	fprintf(stderr, "patchbay demo: frame %u: %s: %s\n", (unsigned)demo->frame, what, failure);
	return false;
}

/* @return the first node of a kind, or the number of nodes if there is none */
static uint32_t find_node(const struct pb_card_info *card, uint32_t kind)
{
	uint32_t nodes = card->capabilities[PB_CAPABILITY_NODES];
	uint32_t kinds = card->capabilities[PB_CAPABILITY_NODE_KINDS];
	uint32_t node = 0;

	/* The capability word has room for 8 nodes. */
	if (nodes > 8)
		nodes = 8;
	while (node < nodes && (kinds >> 4 * node & 0xfu) != kind)
		node++;
	return node;
}

static bool open_queue(struct pb_demo *demo, enum pb_demo_engine engine)
{
	static const char *const names[PB_DEMO_ENGINES] = {"3D node", "copy node"};
	static const uint32_t kinds[PB_DEMO_ENGINES] = {PB_NODE_3D, PB_NODE_COPY};
	struct pb_demo_queue *queue = &demo->queues[engine];
	enum pb_error error;

	queue->name = names[engine];
	error = pb_queue_create(&queue->queue, &demo->channel, &demo->segments[PB_DEMO_SYSTEM],
				find_node(&demo->channel.card, kinds[engine]),
				demo->channel.card.capabilities[PB_CAPABILITY_RING_ENTRIES_MIN]);
	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, queue->name, error);
	demo->queue_count++;
	return true;
}

static bool open_buffers(struct pb_demo *demo)
{
	struct pb_segment *system = &demo->segments[PB_DEMO_SYSTEM];
	enum pb_error error = PB_ERROR_OK;

	for (uint32_t i = 0; error == PB_ERROR_OK && i < PB_DEMO_BUFFERS; i++) {
		error = pb_memory_allocate(system, DMA_BYTES, PB_PAGE_BYTES, &demo->buffers[i].dma);
		if (error == PB_ERROR_OK)
			error = pb_memory_allocate(system, LIST_BYTES, PB_PAGE_BYTES,
						   &demo->buffers[i].lists);
	}
	return error == PB_ERROR_OK || pb_demo_fail(demo, "DMA buffer", error);
}

static bool fail_full(const struct pb_demo *demo, uint32_t bytes)
{
	char failure[PB_CARD_FAILURE_BYTES];

	pb_card_full(&demo->channel, bytes, failure);
	fprintf(stderr, "patchbay demo: segment: %s\n", failure);
	return false;
}

static bool open_segments(struct pb_demo *demo)
{
	for (uint32_t i = 0; i < PB_DEMO_SEGMENTS; i++) {
		enum pb_error error = pb_segment_create(&demo->segments[i], &demo->channel, &requests[i]);

		if (error == PB_ERROR_NO_SPACE)
			return fail_full(demo, requests[i].backing_bytes);
		if (error != PB_ERROR_OK)
			return pb_demo_fail(demo, "segment", error);
		demo->segment_count++;
	}
	return true;
}

bool pb_demo_open(struct pb_demo *demo)
{
	enum pb_error error = pb_channel_attach(&demo->channel, demo->options->link, ATTACH_TIMEOUT_US);

	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, "attach", error);
	if (!open_segments(demo))
		return false;
	error = pb_context_create(&demo->channel, &demo->context);
	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, "context", error);
	for (uint32_t i = 0; i < PB_DEMO_ENGINES; i++) {
		if (!open_queue(demo, (enum pb_demo_engine)i))
			return false;
	}
	return open_buffers(demo);
}

/* Detaching gives queues, context and segments back to the card. */
void pb_demo_close(struct pb_demo *demo)
{
	if (demo->channel.attached)
		(void)pb_channel_detach(&demo->channel);
}
