/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "host/tool/demo_state.h"

#define WAIT_TIMEOUT_US 60000000u

/* Offsets behind the DMA buffer in its page. */
#define PRIVATE_OFFSET     PB_DEMO_DMA_BYTES
#define ALLOCATIONS_OFFSET (PRIVATE_OFFSET + 64u)
#define LOCATIONS_OFFSET   1536u

_Static_assert(PRIVATE_OFFSET + sizeof(struct pb_render_record) <= ALLOCATIONS_OFFSET, "private data");
_Static_assert(ALLOCATIONS_OFFSET + PB_DEMO_RESOURCES * sizeof(struct pb_allocation) <= LOCATIONS_OFFSET,
	       "allocation list");

/* ---- user mode: commands that name allocations by their index in a list ---- */

static uint32_t *add(uint32_t *words, uint32_t opcode, uint32_t count)
{
	*words++ = PB_PACKET(opcode, count);
	return words;
}

static uint32_t *add_image(const struct pb_demo *demo, uint32_t *words, uint32_t opcode, uint32_t number)
{
	const struct pb_demo_resource *image = &demo->resources[number];

	words = add(words, opcode, PB_PACKET_TARGET_WORDS);
	*words++ = number;
	*words++ = image->inset;
	*words++ = image->row_bytes / 4;
	*words++ = image->rows;
	*words++ = image->row_bytes;
	return words;
}

static uint32_t *add_clear(const struct pb_demo *demo, uint32_t *words, uint32_t number, uint32_t colour)
{
	const struct pb_demo_resource *image = &demo->resources[number];

	words = add(words, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	*words++ = number;
	*words++ = image->inset;
	*words++ = image->row_bytes * image->rows;
	*words++ = colour;
	return words;
}

static uint32_t *add_batch(const struct pb_demo *demo, uint32_t *words, const struct pb_scene_batch *batch)
{
	words = add_image(demo, words, PB_PACKET_TEXTURE, pb_demo_resource_of(demo, batch->texture));
	words = add(words, PB_PACKET_DRAW, PB_PACKET_DRAW_WORDS);
	*words++ = PB_DEMO_VERTICES;
	*words++ =
		demo->resources[PB_DEMO_VERTICES].inset + batch->first * (uint32_t)sizeof(struct pb_vertex);
	*words++ = batch->count;
	return words;
}

/* Writes the commands of a pass. @return bytes of the command buffer */
static uint32_t write_commands(struct pb_demo *demo, const struct pb_scene_pass *pass)
{
	const uint32_t target = pb_demo_resource_of(demo, pass->target);
	uint32_t *words = add_clear(demo, demo->commands, target, pass->clear);

	words = add_image(demo, words, PB_PACKET_TARGET, target);
	for (uint32_t i = 0; i < pass->count; i++)
		words = add_batch(demo, words, &demo->scene.batches[pass->first + i]);
	return (uint32_t)(words - demo->commands) * (uint32_t)sizeof(*words);
}

static void write_list(const struct pb_demo *demo, struct pb_render_user_allocation list[PB_DEMO_RESOURCES])
{
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		const bool drawn = i != PB_DEMO_VERTICES &&
				   pb_scene_images[pb_demo_image_of(i)].source == PB_SCENE_DRAWN;

		list[i] = (struct pb_render_user_allocation){demo->resources[i].handle,
							     drawn ? PB_RENDER_USER_WRITE : 0};
	}
}

/* ---- kernel mode ---- */

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

bool pb_demo_draw(struct pb_demo *demo, uint32_t number)
{
	const struct pb_render_device device = {
		.find = find_size, .context = &demo->residency, .node = PB_NODE_3D};
	struct pb_render_user_allocation list[PB_DEMO_RESOURCES];
	struct pb_render_arguments arguments = {
		.device = &device,
		.staging = demo->staging,
		.staging_size = sizeof(demo->staging),
		.command = demo->commands,
		.command_length = write_commands(demo, &demo->scene.passes[number]),
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

bool pb_demo_wait(struct pb_demo *demo)
{
	return wait_for(demo, demo->queues[PB_DEMO_3D].queue.timeline);
}
