/* SPDX-License-Identifier: MIT */
#include "example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check(enum pb_error error)
{
	if (error == PB_ERROR_OK)
		return;
	fprintf(stderr, "%s: %s\n", pb_error_name(error), pb_error_meaning(error));
	exit(1);
}

void require(int condition, const char *text)
{
	if (condition)
		return;
	fprintf(stderr, "not so: %s\n", text);
	exit(1);
}

void example_open(struct example *example, int argc, char **argv)
{
	const struct pb_segment_request system = {.id = 0,
						  .os_base = 0x10000000,
						  .gpu_base = 0x10000000,
						  .size = 0x40000,
						  .backing_bytes = 0x40000};
	const struct pb_segment_request video = {.id = 1,
						 .os_base = EXAMPLE_VIDEO_OS,
						 .gpu_base = EXAMPLE_VIDEO_GPU,
						 .size = EXAMPLE_VIDEO_BYTES,
						 .backing_bytes = EXAMPLE_VIDEO_BYTES};

	check(pb_link_open(argc > 1 ? argv[1] : "/tmp/patchbay.sock", &example->link));
	check(pb_channel_attach(&example->channel, example->link, EXAMPLE_PATIENCE_US));
	check(pb_segment_create(&example->system, &example->channel, &system));
	check(pb_segment_create(&example->video, &example->channel, &video));
	check(pb_context_create(&example->channel, &example->context));
}

void example_close(struct example *example)
{
	check(pb_channel_detach(&example->channel));
	example->link->ops->close(example->link);
}

struct pb_memory example_allocate(struct example *example, uint32_t bytes)
{
	struct pb_memory memory;

	check(pb_memory_allocate(&example->video, bytes, PB_PAGE_BYTES, &memory));
	memset(memory.bytes_host, 0, bytes);
	return memory;
}

void example_begin(struct example_buffer *buffer, struct example *example)
{
	memset(buffer, 0, sizeof(*buffer));
	check(pb_memory_allocate(&example->system, PB_PAGE_BYTES, PB_PAGE_BYTES, &buffer->buffer));
	check(pb_memory_allocate(&example->system, 1024, PB_LINE_BYTES, &buffer->allocations));
	check(pb_memory_allocate(&example->system, 1024, PB_LINE_BYTES, &buffer->locations));
	check(pb_memory_allocate(&example->system, PB_LINE_BYTES, PB_LINE_BYTES, &buffer->waits));
}

void example_word(struct example_buffer *buffer, uint32_t word)
{
	memcpy(buffer->buffer.bytes_host + buffer->words++ * sizeof(word), &word, sizeof(word));
}

void example_address(struct example_buffer *buffer, const struct pb_memory *memory, uint32_t format,
		     uint32_t words)
{
	const struct pb_allocation allocation = {
		.address_low = (uint32_t)memory->os_address,
		.address_high = (uint32_t)(memory->os_address >> 32),
		.size_low = memory->bytes,
		.flags = memory->segment->request.id << PB_ALLOCATION_SEGMENT_SHIFT | PB_ALLOCATION_WRITE,
	};
	const struct pb_patch_location location = {
		.allocation_index = buffer->count,
		.driver_id = format,
		.patch_offset = buffer->words * (uint32_t)sizeof(uint32_t),
	};

	memcpy(buffer->allocations.bytes_host + buffer->count * sizeof(allocation), &allocation,
	       sizeof(allocation));
	memcpy(buffer->locations.bytes_host + buffer->count * sizeof(location), &location, sizeof(location));
	buffer->count++;
	while (words-- != 0)
		example_word(buffer, 0);
}

void example_fill(struct example_buffer *buffer, const struct pb_memory *memory, uint32_t value)
{
	example_word(buffer, PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS));
	example_address(buffer, memory, PB_PATCH_FORMAT_ADDRESS64_WRITE, 2);
	example_word(buffer, memory->bytes);
	example_word(buffer, value);
}

struct pb_descriptor example_describe(const struct example_buffer *buffer, const struct example *example)
{
	return (struct pb_descriptor){
		.context = example->context,
		.dma_address_low = (uint32_t)buffer->buffer.os_address,
		.dma_size = buffer->buffer.bytes,
		.dma_end = buffer->words * (uint32_t)sizeof(uint32_t),
		.allocation_count = buffer->count,
		.allocation_address_low = (uint32_t)buffer->allocations.os_address,
		.patch_address_low = (uint32_t)buffer->locations.os_address,
		.patch_count = buffer->count,
		.patch_length = buffer->count,
		.wait_count = buffer->wait_count,
		.wait_address_low = (uint32_t)buffer->waits.os_address,
	};
}

void example_wait(struct pb_queue *queue)
{
	struct pb_fence fence;

	check(pb_queue_wait(queue, queue->timeline, EXAMPLE_PATIENCE_US, &fence));
	check((enum pb_error)fence.status);
}

uint32_t example_read(const struct pb_memory *memory, uint32_t index)
{
	uint32_t word;

	memcpy(&word, memory->bytes_host + index * sizeof(word), sizeof(word));
	return word;
}
