/* SPDX-License-Identifier: MIT */
/*
 * One submission: the engine fills memory whose address the firmware has patched into the DMA buffer.
 * hello_submit SOCKET, where `patchbay card --socket SOCKET` runs; in a virtual machine hello_submit vfio:ADDRESS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patchbay/engine/packets.h"
#include "patchbay/patchbay.h"

#define BYTES         4096u
#define VALUE         0x600df00du
#define SEGMENT_BYTES 0x40000u

static struct pb_channel channel;
static struct pb_segment system_memory, video_memory;
static struct pb_queue queue;
static struct pb_memory target, buffer, lists;

static void check(enum pb_error error)
{
	if (error == PB_ERROR_OK)
		return;
	fprintf(stderr, "%s: %s\n", pb_error_name(error), pb_error_meaning(error));
	exit(1);
}

/* Segment 0 holds queues, DMA buffers and lists; segment 1 what the engine works on. Addresses are this host's to choose. */
static void make_memory(void)
{
	struct pb_segment_request request = {.size = SEGMENT_BYTES, .backing_bytes = SEGMENT_BYTES};

	check(pb_segment_create(&system_memory, &channel, &request));
	request.id = 1;
	request.os_base = 0x80000000u;
	request.gpu_base = 0x540000000u;
	check(pb_segment_create(&video_memory, &channel, &request));
	check(pb_memory_allocate(&video_memory, BYTES, PB_PAGE_BYTES, &target));
	check(pb_memory_allocate(&system_memory, BYTES, PB_PAGE_BYTES, &buffer));
	check(pb_memory_allocate(&system_memory, BYTES, PB_LINE_BYTES, &lists));
}

/* A packet without its address, one allocation, and where its address belongs. */
static struct pb_descriptor describe(uint32_t context)
{
	const uint32_t packet[] = {PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), 0, 0, BYTES, VALUE};
	const struct pb_allocation allocation = {
		.address_low = (uint32_t)target.os_address,
		.address_high = (uint32_t)(target.os_address >> 32),
		.size_low = BYTES,
		.flags = 1u << PB_ALLOCATION_SEGMENT_SHIFT | PB_ALLOCATION_WRITE,
	};
	const struct pb_patch_location location = {.allocation_index = 0,
						   .driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
						   .patch_offset = sizeof(packet[0])};

	memcpy(buffer.bytes_host, packet, sizeof(packet));
	memcpy(lists.bytes_host, &allocation, sizeof(allocation));
	memcpy(lists.bytes_host + sizeof(allocation), &location, sizeof(location));
	return (struct pb_descriptor){
		.context = context,
		.fence_id = 1,
		.dma_address_low = (uint32_t)buffer.os_address,
		.dma_size = BYTES,
		.dma_end = sizeof(packet),
		.allocation_count = 1,
		.allocation_address_low = (uint32_t)lists.os_address,
		.patch_address_low = (uint32_t)(lists.os_address + sizeof(allocation)),
		.patch_count = 1,
		.patch_length = 1,
	};
}

int main(int argc, char **argv)
{
	struct pb_descriptor descriptor;
	struct pb_link *link;
	struct pb_fence fence;
	uint32_t context, last;

	check(pb_link_open(argc > 1 ? argv[1] : "/tmp/patchbay.sock", &link));
	check(pb_channel_attach(&channel, link, 10000000));
	make_memory();
	check(pb_context_create(&channel, &context));
	check(pb_queue_create(&queue, &channel, &system_memory, 0, 16));
	descriptor = describe(context);
	check(pb_queue_submit(&queue, &descriptor));
	check(pb_queue_wait(&queue, queue.timeline, 10000000, &fence));
	check((enum pb_error)fence.status);
	memcpy(&last, target.bytes_host + BYTES - sizeof(last), sizeof(last));
	printf("fence %u: the last word is %#x\n", fence.fence_id, last);
	check(pb_channel_detach(&channel));
	link->ops->close(link);
	return last == VALUE ? 0 : 1;
}
