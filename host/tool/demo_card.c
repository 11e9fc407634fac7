/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "host/tool/card_failure.h"
#include "host/tool/demo_state.h"

#define ATTACH_TIMEOUT_US 30000000u
#define DMA_BYTES         8192u
#define DMA_PATCHES       256u

/*
 * OS and GPU addresses differ, and both go beyond 4 GiB: an address that was
 * patched with the wrong base, or in one word only, leads nowhere.
 */
static const struct pb_segment_request requests[PB_DEMO_SEGMENTS] = {
	{.id = 0, .os_base = 0x10000000, .gpu_base = 0x10000000, .size = 0x100000, .backing_bytes = 0x100000},
	{.id = 1,
	 .os_base = 0x40000000,
	 .gpu_base = 0x240000000,
	 .size = 0x4000000,
	 .backing_bytes = 0x400000},
	{.id = 2,
	 .os_base = 0x900000000,
	 .gpu_base = 0x1280000000,
	 .size = 0x4000000,
	 .backing_bytes = 0x400000},
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

/* The DMA buffer of the 3D node lies in a segment that patches may point into: its draws are an indirect part. */
static bool open_queue(struct pb_demo *demo, enum pb_demo_engine engine)
{
	static const char *const names[PB_DEMO_ENGINES] = {"3D node", "copy node"};
	static const uint32_t kinds[PB_DEMO_ENGINES] = {PB_NODE_3D, PB_NODE_COPY};
	struct pb_demo_queue *queue = &demo->queues[engine];
	struct pb_segment *system = &demo->segments[0];
	enum pb_error error;

	queue->name = names[engine];
	error = pb_queue_create(&queue->queue, &demo->channel, system,
				find_node(&demo->channel.card, kinds[engine]),
				demo->channel.card.capabilities[PB_CAPABILITY_RING_ENTRIES_MIN]);
	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, queue->name, error);
	demo->queue_count++;
	error = pb_dma_open(&queue->dma, &queue->queue, demo->context,
			    engine == PB_DEMO_3D ? &demo->segments[1] : system, system, DMA_BYTES,
			    DMA_PATCHES);
	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, "DMA buffer", error);
	queue->dma.without_patches = demo->options->without_patches;
	return true;
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
	return true;
}

/* Detaching gives queues, context and segments back to the card. */
void pb_demo_close(struct pb_demo *demo)
{
	if (demo->channel.attached)
		(void)pb_channel_detach(&demo->channel);
}
