/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "host/tool/demo_state.h"

#define WAIT_TIMEOUT_US 60000000u

/* Offsets behind the DMA buffer in its page. */
#define PRIVATE_OFFSET     PB_DEMO_DMA_BYTES
#define ALLOCATIONS_OFFSET (PRIVATE_OFFSET + 64u)
#define LOCATIONS_OFFSET   1536u

_Static_assert(PRIVATE_OFFSET + sizeof(struct pb_render_record) <= ALLOCATIONS_OFFSET, "private data");
_Static_assert(ALLOCATIONS_OFFSET + PB_DEMO_RESOURCES * sizeof(struct pb_allocation) <= LOCATIONS_OFFSET,
	       "allocation list");

/* ---- queues ---- */

static bool open_queue(struct pb_demo *demo, enum pb_demo_engine engine)
{
	static const char *const names[PB_DEMO_ENGINES] = {"3D node", "copy node"};
	static const uint32_t kinds[PB_DEMO_ENGINES] = {PB_NODE_3D, PB_NODE_COPY};
	struct pb_demo_queue *queue = &demo->queues[engine];
	enum pb_error error;

	queue->name = names[engine];
	error = pb_queue_create(&queue->queue, &demo->channel, &demo->segments[PB_DEMO_SYSTEM],
				pb_demo_find_node(&demo->channel.card, kinds[engine]),
				demo->channel.card.capabilities[PB_CAPABILITY_RING_ENTRIES_MIN]);
	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, queue->name, error);
	demo->queue_count++;
	return true;
}

static bool open_buffers(struct pb_demo *demo)
{
	enum pb_error error = PB_ERROR_OK;

	for (uint32_t i = 0; error == PB_ERROR_OK && i < PB_DEMO_BUFFERS; i++)
		error = pb_memory_allocate(&demo->segments[PB_DEMO_SYSTEM], PB_PAGE_BYTES, PB_PAGE_BYTES,
					   &demo->buffers[i].memory);
	return error == PB_ERROR_OK || pb_demo_fail(demo, "DMA buffer", error);
}

static bool open_path(struct pb_demo *demo)
{
	const enum pb_error error = pb_context_create(&demo->channel, &demo->context);

	if (error != PB_ERROR_OK)
		return pb_demo_fail(demo, "context", error);
	for (uint32_t i = 0; i < PB_DEMO_ENGINES; i++) {
		if (!open_queue(demo, (enum pb_demo_engine)i))
			return false;
	}
	return open_buffers(demo);
}

/* Detaching frees queues, context and segments. */
static void close_path(struct pb_demo *demo)
{
	if (demo->channel.attached)
		(void)pb_channel_detach(&demo->channel);
}

/* ---- memory ---- */

static uint32_t backing_bytes(uint32_t number, uint32_t shrink)
{
	const struct pb_demo_resource resource = pb_demo_layout(number, shrink);
	/* The aperture maps whole pages. */
	const uint32_t unit = number == PB_DEMO_VERTICES ? PB_PAGE_BYTES : PB_LINE_BYTES;

	return (pb_demo_bytes(&resource) + unit - 1) / unit * unit;
}

static bool back_resource(struct pb_demo *demo, uint32_t number)
{
	const uint32_t shrink = demo->scene.shrink;
	const enum pb_error error = pb_memory_allocate(
		&demo->segments[PB_DEMO_SYSTEM], backing_bytes(number, shrink),
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

/*
 * Returns the bytes of segment 0: queues, page-aligned allocations, and all others in lines. The others fill the gap
 * behind the queues until one does not fit, so that the unused rest of the gap is smaller than that one.
 */
static uint32_t system_bytes(const struct pb_demo *demo, uint32_t shrink)
{
	const uint32_t entries = demo->channel.card.capabilities[PB_CAPABILITY_RING_ENTRIES_MIN];
	const uint32_t queue =
		(uint32_t)(sizeof(struct pb_queue_page) + entries * sizeof(struct pb_descriptor));
	uint32_t bytes = PB_DEMO_ENGINES * queue;
	uint32_t lost = 0;

	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		const uint32_t backing = backing_bytes(i, shrink);

		bytes += backing;
		if (i < PB_DEMO_VERTICES && pb_demo_image_of(i) != PB_SCENE_SCREEN && backing > lost)
			lost = backing;
	}
	bytes += lost < PB_PAGE_BYTES ? lost : PB_PAGE_BYTES;
	return pb_demo_whole_pages(bytes) + (PB_DEMO_BUFFERS + 1u) * PB_PAGE_BYTES;
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
		.bytes = pb_demo_bytes(resource),
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

static bool make_resource(struct pb_demo *demo, uint32_t number)
{
	struct pb_demo_resource *resource = &demo->resources[number];
	const struct pb_memory backing = resource->backing;
	struct pb_residency_request request;
	enum pb_error error;

	*resource = pb_demo_layout(number, demo->scene.shrink);
	resource->backing = backing;
	request = request_of(number, resource);
	error = pb_residency_add(&demo->residency, &request, &resource->handle);
	return error == PB_ERROR_OK || pb_demo_fail(demo, "resource", error);
}

static bool create(struct pb_demo *demo)
{
	if (!start_manager(demo) || !back_resources(demo))
		return false;
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		if (!make_resource(demo, i))
			return false;
	}
	return true;
}

static bool page_out(struct pb_demo *demo, uint32_t number)
{
	const enum pb_error error =
		pb_residency_page_out(&demo->residency, demo->resources[number].handle, false);

	return error == PB_ERROR_OK || pb_demo_fail(demo, "page out", error);
}

static struct pb_demo_place find(struct pb_demo *demo, uint32_t number)
{
	struct pb_render_allocation now = {0};

	(void)pb_residency_find(&demo->residency, demo->resources[number].handle, &now);
	return (struct pb_demo_place){now.segment, now.os_address};
}

static uint8_t *byte(const struct pb_demo *demo, uint32_t number, uint32_t offset)
{
	struct pb_render_allocation now = {0};
	const struct pb_segment *segment;

	(void)pb_residency_find((void *)(uintptr_t)&demo->residency, demo->resources[number].handle, &now);
	segment = &demo->segments[now.segment];
	if (now.segment == 0 || segment->request.kind != PB_SEGMENT_LINEAR)
		return demo->resources[number].backing.bytes_host + offset;
	return demo->channel.link->memory + segment->memory_offset +
	       (now.os_address - segment->request.os_base) + offset;
}

/* ---- kernel mode ---- */

static void write_list(const struct pb_demo *demo, struct pb_render_user_allocation list[PB_DEMO_RESOURCES])
{
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		list[i] = (struct pb_render_user_allocation){demo->resources[i].handle,
							     pb_demo_is_drawn(i) ? PB_RENDER_USER_WRITE : 0};
	}
}

/* Hides the address of an allocation from Render, so that the firmware must patch every address over poison. */
static bool find_size(void *context, uint32_t handle, struct pb_render_allocation *allocation)
{
	const bool found = pb_residency_find(context, handle, allocation);

	allocation->segment = 0;
	return found;
}

static struct pb_render_output output_of(const struct pb_demo_buffer *buffer)
{
	uint8_t *page = buffer->memory.bytes_host;

	return (struct pb_render_output){
		.dma_buffer = (uint32_t *)(void *)page,
		.dma_size = PB_DEMO_DMA_BYTES,
		.private_data = (uint32_t *)(void *)(page + PRIVATE_OFFSET),
		.private_data_size = sizeof(struct pb_render_record),
		.allocations = (struct pb_allocation *)(void *)(page + ALLOCATIONS_OFFSET),
		.allocations_size = PB_DEMO_RESOURCES,
		.locations = (struct pb_patch_location *)(void *)(page + LOCATIONS_OFFSET),
		.locations_size =
			(buffer->memory.bytes - LOCATIONS_OFFSET) / sizeof(struct pb_patch_location),
	};
}

static struct pb_descriptor describe(const struct pb_demo *demo, const struct pb_demo_buffer *buffer,
				     const struct pb_render_record *record)
{
	const uint64_t page = buffer->memory.os_address;
	struct pb_descriptor descriptor = {
		.context = demo->context,
		.fence_id = demo->submissions,
		.dma_address_low = (uint32_t)page,
		.dma_address_high = (uint32_t)(page >> 32),
		.dma_segment = PB_DEMO_SYSTEM,
		.dma_size = PB_DEMO_DMA_BYTES,
		.private_address_low = (uint32_t)(page + PRIVATE_OFFSET),
		.private_address_high = (uint32_t)((page + PRIVATE_OFFSET) >> 32),
		.private_size = sizeof(*record),
		.allocation_address_low = (uint32_t)(page + ALLOCATIONS_OFFSET),
		.allocation_address_high = (uint32_t)((page + ALLOCATIONS_OFFSET) >> 32),
		.patch_address_low = (uint32_t)(page + LOCATIONS_OFFSET),
		.patch_address_high = (uint32_t)((page + LOCATIONS_OFFSET) >> 32),
	};

	pb_render_describe(record, &descriptor);
	if (demo->options->without_patches)
		descriptor.patch_length = 0;
	return descriptor;
}

/* Prints the firmware's events after a failure. */
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

static bool wait_for(struct pb_demo *demo, uint64_t timeline)
{
	struct pb_demo_queue *queue = &demo->queues[PB_DEMO_3D];
	enum pb_error error = pb_queue_wait(&queue->queue, timeline, WAIT_TIMEOUT_US, &queue->fence);

	if (error == PB_ERROR_OK)
		error = (enum pb_error)queue->fence.error;
	if (error == PB_ERROR_OK)
		return true;
	pb_demo_fail(demo, queue->name, error);
	print_events(demo);
	return false;
}

static bool submit(struct pb_demo *demo, struct pb_demo_buffer *buffer, const struct pb_render_record *record)
{
	const struct pb_render_output output = output_of(buffer);
	struct pb_residency_submission submission = {
		.descriptor = describe(demo, buffer, record),
		.allocations = output.allocations,
		.locations = output.locations,
	};
	const enum pb_error error = pb_residency_submit(&demo->residency, 0, &submission);

	demo->submissions += submission.parts;
	buffer->timeline = demo->queues[PB_DEMO_3D].queue.timeline;
	if (error == PB_ERROR_OK)
		return true;
	pb_demo_fail(demo, "residency", error);
	print_events(demo);
	return false;
}

/* Calls Render once, with the buffer that was used longest ago, and submits the result. */
static bool render(struct pb_demo *demo, struct pb_render_arguments *arguments, bool *done)
{
	struct pb_demo_buffer *buffer = &demo->buffers[demo->next_buffer++ % PB_DEMO_BUFFERS];
	enum pb_render_status status;

	if (!wait_for(demo, buffer->timeline))
		return false;
	arguments->output = output_of(buffer);
	status = pb_render(arguments);
	*done = status == PB_RENDER_SUCCESS;
	if (!*done && status != PB_RENDER_INSUFFICIENT_DMA_BUFFER) {
		fprintf(stderr, "patchbay demo: frame %u: render: %s\n", (unsigned)demo->frame,
			pb_render_status_name(status));
		return false;
	}
	return submit(demo, buffer, &arguments->output.record);
}

static bool draw(struct pb_demo *demo, uint32_t number)
{
	const struct pb_render_device device = {
		.find = find_size, .context = &demo->residency, .node = PB_NODE_3D};
	struct pb_render_user_allocation list[PB_DEMO_RESOURCES];
	struct pb_render_arguments arguments = {
		.device = &device,
		.staging = demo->staging,
		.staging_size = sizeof(demo->staging),
		.command = demo->commands,
		.command_length = pb_demo_write_commands(demo, &demo->scene.passes[number]),
		.user_allocations = list,
		.user_allocation_count = PB_DEMO_RESOURCES,
	};
	bool done = false;

	write_list(demo, list);
	while (!done) {
		if (!render(demo, &arguments, &done))
			return false;
	}
	return true;
}

static bool wait_all(struct pb_demo *demo)
{
	return wait_for(demo, demo->queues[PB_DEMO_3D].queue.timeline);
}

/* ---- figures ---- */

/* The demo never waits for the copy node, the memory manager does: read its fence record for the table. */
static void print_table(struct pb_demo *demo)
{
	const struct pb_residency_figures *figures = &demo->residency.figures;
	const uint32_t submissions[PB_DEMO_ENGINES] = {demo->submissions, figures->paging_submissions};

	if (demo->queue_count != PB_DEMO_ENGINES)
		return;
	printf("%-10s %12s %12s %12s\n", "", "submissions", "fences", "errors");
	for (uint32_t i = 0; i < PB_DEMO_ENGINES; i++) {
		struct pb_demo_queue *queue = &demo->queues[i];

		(void)pb_queue_fence(&queue->queue, &queue->fence);
		printf("%-10s %12u %12u %12u\n", queue->name, (unsigned)submissions[i],
		       (unsigned)queue->fence.completed, (unsigned)queue->fence.errors);
	}
	printf("%u evictions, %u page-ins, %" PRIu64 " bytes paged, %u splits\n",
	       (unsigned)figures->evictions, (unsigned)figures->page_ins,
	       figures->bytes_in + figures->bytes_out, (unsigned)figures->splits);
}

static void print_figures(const struct pb_demo *demo)
{
	const struct pb_residency_figures *figures = &demo->residency.figures;

	printf("%u submissions, %" PRIu64 " patches, %u moves",
	       (unsigned)(demo->submissions + figures->paging_submissions),
	       demo->queues[PB_DEMO_3D].fence.patches, (unsigned)(figures->page_ins + figures->evictions));
}

const struct pb_demo_path pb_demo_direct = {
	.unit = sizeof(uint32_t),
	.system_bytes = system_bytes,
	.video_bytes = pb_demo_whole_pages,
	.open = open_path,
	.create = create,
	.page_out = page_out,
	.byte = byte,
	.find = find,
	.draw = draw,
	.wait = wait_all,
	.print_table = print_table,
	.print_figures = print_figures,
	.close = close_path,
};
