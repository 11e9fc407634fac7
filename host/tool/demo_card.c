/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "host/tool/card_failure.h"
#include "host/tool/demo_state.h"
#include "host/tool/wddm_card.h"

#define ATTACH_TIMEOUT_US 30000000u
/* Sizes of the segments of video memory for pictures at full size, in bytes. */
#define LARGE_BYTES 0x50000u
#define SMALL_BYTES 0x10000u
/*
 * OS and GPU addresses differ, and both exceed 4 GiB: an address patched with the wrong base, or in one word only, is
 * invalid. The backing memory depends on the size of the pictures.
 */
static const struct pb_segment_request requests[PB_DEMO_SEGMENTS] = {
	{.id = PB_DEMO_SYSTEM, .os_base = 0x10000000, .gpu_base = 0x10000000, .size = 0x4000000},
	{.id = PB_DEMO_LARGE, .os_base = 0x40000000, .gpu_base = 0x240000000, .size = 0x4000000},
	{.id = PB_DEMO_SMALL, .os_base = 0x900000000, .gpu_base = 0x1280000000, .size = 0x4000000},
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

uint32_t pb_demo_find_node(const struct pb_card_info *card, uint32_t kind)
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

/* ---- size of the pictures ---- */

uint32_t pb_demo_whole_pages(uint32_t bytes)
{
	return (bytes + PB_PAGE_BYTES - 1) / PB_PAGE_BYTES * PB_PAGE_BYTES;
}

/*
 * Returns a segment's backing memory. Video memory holds a quarter of the images: one screen, and half of the textures.
 */
static uint32_t bytes_behind(const struct pb_demo *demo, uint32_t segment, uint32_t shrink)
{
	switch (segment) {
	case PB_DEMO_SYSTEM:
		return demo->path->system_bytes(demo, shrink);
	case PB_DEMO_LARGE:
		return demo->path->video_bytes(LARGE_BYTES >> 2u * shrink);
	case PB_DEMO_SMALL:
		return demo->path->video_bytes(SMALL_BYTES >> 2u * shrink);
	default:
		return 0;
	}
}

/* Returns the pool memory that the demo needs, including the page table of the aperture. */
static uint32_t pool_bytes(const struct pb_demo *demo, uint32_t shrink)
{
	uint32_t bytes = pb_demo_whole_pages((uint32_t)requests[PB_DEMO_APERTURE].size / PB_PAGE_BYTES * 4u);

	for (uint32_t i = 0; i < PB_DEMO_SEGMENTS; i++)
		bytes += bytes_behind(demo, i, shrink);
	return bytes;
}

/* Halves the sides of the pictures until the card has room for them. */
static bool choose_size(struct pb_demo *demo)
{
	const uint32_t pool = pb_card_pool_most(&demo->channel.card);
	uint32_t shrink = 0;

	while (shrink < PB_SCENE_SHRINK_MAX && pool_bytes(demo, shrink) > pool)
		shrink++;
	demo->scene.shrink = shrink;
	if (pool_bytes(demo, shrink) <= pool)
		return true;
	fprintf(stderr,
		"patchbay demo: this board's %s = %u; the smallest pictures, %u x %u, need %u bytes\n",
		pb_capability_name(PB_CAPABILITY_POOL_BYTES), (unsigned)pool,
		(unsigned)pb_scene_side(pb_scene_images[PB_SCENE_SCREEN].width, shrink),
		(unsigned)pb_scene_side(pb_scene_images[PB_SCENE_SCREEN].height, shrink),
		(unsigned)pool_bytes(demo, shrink));
	return false;
}

static bool fail_full(const struct pb_demo *demo, uint32_t bytes)
{
	char failure[PB_CARD_FAILURE_BYTES];

	pb_card_full(&demo->channel, bytes, failure);
	fprintf(stderr, "patchbay demo: segment: %s\n", failure);
	return false;
}

static enum pb_error create_segment(struct pb_demo *demo, const struct pb_segment_request *request)
{
	struct pb_segment *segment = &demo->segments[request->id];

	if (demo->options->wddm && request->id == PB_DEMO_SYSTEM)
		return pb_wddm_create_system(segment, &demo->channel, demo->options->host_memory, request);
	return pb_segment_create(segment, &demo->channel, request);
}

static bool open_segments(struct pb_demo *demo)
{
	for (uint32_t i = 0; i < PB_DEMO_SEGMENTS; i++) {
		struct pb_segment_request request = requests[i];
		enum pb_error error;

		request.backing_bytes = bytes_behind(demo, i, demo->scene.shrink);
		/* An OS uses all of a segment. */
		if (demo->options->wddm && request.kind == PB_SEGMENT_LINEAR)
			request.size = request.backing_bytes;
		error = create_segment(demo, &request);
		if (error == PB_ERROR_NO_SPACE)
			return fail_full(demo, request.backing_bytes);
		if (error != PB_ERROR_OK)
			return pb_demo_fail(demo, "segment", error);
		demo->segment_count++;
	}
	return true;
}

bool pb_demo_open(struct pb_demo *demo)
{
	enum pb_error error = PB_ERROR_OK;

	if (demo->options->wddm)
		error = pb_wddm_take_card(demo->options->link, PB_DEMO_ENGINES);
	if (error == PB_ERROR_OK)
		error = pb_channel_attach(&demo->channel, demo->options->link, ATTACH_TIMEOUT_US);

	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, "attach", error);
	if (!choose_size(demo) || !open_segments(demo))
		return false;
	return demo->path->open(demo);
}
