/* SPDX-License-Identifier: MIT */
/*
 * host_burst SOCKET ROUNDS: several submissions in a row to an idle node, in each round. Prints for each its fence id, and
 * the clock right before and right after the library was called, in microseconds.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hal/engine/packets.h"
#include "patchbay/patchbay.h"

#define BYTES         4096u
#define SEGMENT_BYTES 0x40000u
#define BURST         6u
#define PATIENCE_US   20000000u

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

static uint64_t clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

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

/** A FILL of the target, whose address is patched. All submissions share it. */
static struct pb_descriptor describe(uint32_t context)
{
	const uint32_t packet[] = {PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), 0, 0, BYTES, 0x600df00du};
	const struct pb_allocation allocation = {
		.address_low = (uint32_t)target.os_address,
		.address_high = (uint32_t)(target.os_address >> 32),
		.size_low = BYTES,
		.flags = 1u << PB_ALLOCATION_SEGMENT_SHIFT | PB_ALLOCATION_WRITE,
	};
	const struct pb_patch_location location = {.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
						   .patch_offset = sizeof(packet[0])};

	memcpy(buffer.bytes_host, packet, sizeof(packet));
	memcpy(lists.bytes_host, &allocation, sizeof(allocation));
	memcpy(lists.bytes_host + sizeof(allocation), &location, sizeof(location));
	return (struct pb_descriptor){
		.context = context,
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

static void run_burst(struct pb_descriptor descriptor, uint32_t first)
{
	for (uint32_t i = 0; i < BURST; i++) {
		const uint64_t before = clock_us();

		descriptor.fence_id = first + i;
		check(pb_queue_submit(&queue, &descriptor));
		printf("%u %" PRIu64 " %" PRIu64 "\n", (unsigned)(first + i), before, clock_us());
	}
	check(pb_queue_wait(&queue, queue.timeline, PATIENCE_US, NULL));
}

int main(int argc, char **argv)
{
	const uint32_t rounds = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	struct pb_descriptor descriptor;
	struct pb_link *link;
	uint32_t context;

	if (rounds == 0)
		return 2;
	check(pb_link_open(argv[1], &link));
	check(pb_channel_attach(&channel, link, PATIENCE_US));
	make_memory();
	check(pb_context_create(&channel, &context));
	check(pb_queue_create(&queue, &channel, &system_memory, 0, 16));
	descriptor = describe(context);
	for (uint32_t i = 0; i < rounds; i++)
		run_burst(descriptor, 100u * (i + 1u));
	check(pb_channel_detach(&channel));
	link->ops->close(link);
	return 0;
}
