/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "hal/shared_copy.h"
#include "host/tool/demo_state.h"

#define WAIT_TIMEOUT_US 60000000u

enum pb_scene_image pb_demo_image_of(uint32_t resource)
{
	return resource > PB_DEMO_VERTICES ? PB_SCENE_SCREEN : (enum pb_scene_image)resource;
}

uint32_t pb_demo_resource_of(const struct pb_demo *demo, enum pb_scene_image image)
{
	const uint32_t screen = demo->frame % PB_DEMO_SCREENS;

	return image != PB_SCENE_SCREEN || screen == 0 ? (uint32_t)image : PB_DEMO_MORE_SCREENS + screen - 1u;
}

static uint32_t bytes_of(const struct pb_demo_resource *resource)
{
	return resource->inset + resource->row_bytes * resource->rows;
}

static void fill_words(uint8_t *memory, uint32_t bytes, uint32_t value)
{
	uint32_t *shared = (uint32_t *)(void *)memory;

	for (uint32_t i = 0; i < bytes / 4; i++)
		pb_shared_write32(&shared[i], value);
}

static void write_rows(const struct pb_demo_resource *resource, const uint32_t *words)
{
	pb_shared_copy_out(resource->backing.bytes_host + resource->inset, words,
			   resource->row_bytes * resource->rows);
}

bool pb_demo_write(struct pb_demo *demo, uint32_t resource, const uint32_t *words)
{
	const struct pb_demo_resource *to = &demo->resources[resource];
	const enum pb_error error = pb_residency_page_out(&demo->residency, to->handle, false);

	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, "page out", error);
	fill_words(to->backing.bytes_host, to->inset, PB_DEMO_POISON);
	write_rows(to, words);
	return true;
}

const uint32_t *pb_demo_contents(struct pb_demo *demo, uint32_t resource, struct pb_render_allocation *found)
{
	const struct pb_demo_resource *at = &demo->resources[resource];
	const uint8_t *bytes = at->backing.bytes_host;
	struct pb_render_allocation now = {0};

	(void)pb_residency_find(&demo->residency, at->handle, &now);
	if (now.segment != 0 && demo->segments[now.segment].request.kind == PB_SEGMENT_LINEAR) {
		const struct pb_segment *segment = &demo->segments[now.segment];

		bytes = demo->channel.link->memory + segment->memory_offset +
			(now.os_address - segment->request.os_base);
	}
	if (found != NULL)
		*found = now;
	return (const uint32_t *)(const void *)bytes;
}

/* Starts the memory manager with all segments except system memory. */
static bool start_manager(struct pb_demo *demo)
{
	struct pb_residency_setup setup = {
		.segments = demo->managed,
		.segment_count = PB_DEMO_SEGMENTS - 1,
		.allocations = demo->allocations,
		.allocation_count = PB_DEMO_RESOURCES,
		.queues = {&demo->queues[PB_DEMO_3D].queue},
		.paging = &demo->queues[PB_DEMO_COPY].queue,
		.timeout_us = WAIT_TIMEOUT_US,
	};
	enum pb_error error = pb_memory_allocate(&demo->segments[PB_DEMO_SYSTEM], PB_PAGE_BYTES,
						 PB_PAGE_BYTES, &setup.buffer);

	for (uint32_t i = 1; i < PB_DEMO_SEGMENTS; i++) {
		const struct pb_segment_request *request = &demo->segments[i].request;

		demo->managed[i - 1] = (struct pb_residency_segment){
			.id = request->id,
			.kind = request->kind,
			.os_base = request->os_base,
			.gpu_base = request->gpu_base,
			.bytes =
				request->kind == PB_SEGMENT_APERTURE ? request->size : request->backing_bytes,
		};
	}
	if (error == PB_ERROR_OK)
		error = pb_residency_start(&demo->residency, &setup);
	return error == PB_ERROR_OK || pb_demo_fail(demo, "memory manager", error);
}

/*
 * Vertices stay in system memory, behind the aperture; screens need the large segment; all others prefer the small one.
 */
static struct pb_residency_request request_of(uint32_t number, const struct pb_demo_resource *resource)
{
	const struct pb_memory *backing = &resource->backing;
	struct pb_residency_request request = {
		.bytes = bytes_of(resource),
		.alignment = 64u << number % 4,
		.backing = backing->segment->request.gpu_base + backing->offset,
		.segments = {PB_DEMO_SMALL, PB_DEMO_LARGE},
	};

	if (number == PB_DEMO_VERTICES) {
		request.segments[0] = PB_DEMO_APERTURE;
		request.segments[1] = 0;
	} else if (pb_demo_image_of(number) == PB_SCENE_SCREEN) {
		request.segments[0] = PB_DEMO_LARGE;
		request.segments[1] = 0;
	}
	return request;
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

uint32_t pb_demo_backing_bytes(uint32_t number, uint32_t shrink)
{
	const struct pb_demo_resource resource = pb_demo_layout(number, shrink);
	/* The aperture maps whole pages. */
	const uint32_t unit = number == PB_DEMO_VERTICES ? PB_PAGE_BYTES : PB_LINE_BYTES;

	return (bytes_of(&resource) + unit - 1) / unit * unit;
}

static bool back_resource(struct pb_demo *demo, uint32_t number)
{
	const uint32_t shrink = demo->scene.shrink;
	const enum pb_error error = pb_memory_allocate(
		&demo->segments[PB_DEMO_SYSTEM], pb_demo_backing_bytes(number, shrink),
		number == PB_DEMO_VERTICES ? PB_PAGE_BYTES : PB_LINE_BYTES, &demo->resources[number].backing);

	return error == PB_ERROR_OK || pb_demo_fail(demo, "backing store", error);
}

/* Allocates the page-aligned resource first, so that alignment leaves no hole. */
static bool back_resources(struct pb_demo *demo)
{
	bool good = back_resource(demo, PB_DEMO_VERTICES);

	for (uint32_t i = 0; good && i < PB_DEMO_RESOURCES; i++)
		good = i == PB_DEMO_VERTICES || back_resource(demo, i);
	return good;
}

static bool make_resource(struct pb_demo *demo, uint32_t number)
{
	struct pb_demo_resource *resource = &demo->resources[number];
	const struct pb_memory backing = resource->backing;
	const bool vertices = number == PB_DEMO_VERTICES;
	struct pb_residency_request request;
	enum pb_error error;

	*resource = pb_demo_layout(number, demo->scene.shrink);
	resource->backing = backing;
	fill_words(resource->backing.bytes_host, resource->backing.bytes, PB_DEMO_POISON);
	request = request_of(number, resource);
	error = pb_residency_add(&demo->residency, &request, &resource->handle);
	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, "resource", error);
	if (!vertices && pb_scene_images[pb_demo_image_of(number)].source == PB_SCENE_FIXED)
		write_rows(resource, demo->expected[number].pixels);
	return true;
}

bool pb_demo_fill_memory(struct pb_demo *demo)
{
	for (uint32_t i = PB_DEMO_LARGE; i <= PB_DEMO_SMALL; i++) {
		const struct pb_segment *segment = &demo->segments[i];

		fill_words(demo->channel.link->memory + segment->memory_offset,
			   segment->request.backing_bytes, PB_ENGINE_POISON);
	}
	if (!start_manager(demo) || !back_resources(demo))
		return false;
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		if (!make_resource(demo, i))
			return false;
	}
	return true;
}
