/* SPDX-License-Identifier: MIT */
/*
 * Residency: four allocations take turns in video memory that holds two. Their contents survive in their backing stores.
 */
#include "patchbay/residency.h"

#include <stdio.h>
#include <string.h>

#include "example.h"

#define COUNT 4u
#define BYTES 0x8000u
#define VALUE 0x4e51d000u

static struct example example;
static struct pb_queue queue, paging;
static struct pb_residency manager;
static struct pb_residency_allocation records[COUNT];
static struct pb_memory backing[COUNT];
static uint32_t handles[COUNT];

static void start(void)
{
	static const struct pb_residency_segment video = {
		.id = 1, .os_base = EXAMPLE_VIDEO_OS, .gpu_base = EXAMPLE_VIDEO_GPU, .bytes = 2 * BYTES};
	struct pb_residency_setup setup = {.segments = &video,
					   .segment_count = 1,
					   .allocations = records,
					   .allocation_count = COUNT,
					   .queues = {&queue},
					   .paging = &paging,
					   .timeout_us = EXAMPLE_PATIENCE_US};

	check(pb_memory_allocate(&example.system, PB_PAGE_BYTES, PB_PAGE_BYTES, &setup.buffer));
	check(pb_residency_start(&manager, &setup));
}

static void add(uint32_t index)
{
	struct pb_residency_request request = {.bytes = BYTES, .alignment = PB_PAGE_BYTES, .segments = {1}};

	check(pb_memory_allocate(&example.system, BYTES, PB_PAGE_BYTES, &backing[index]));
	memset(backing[index].bytes_host, 0, BYTES);
	request.backing =
		backing[index].os_address; /* segment 0 has the same addresses for lists and engines */
	check(pb_residency_add(&manager, &request, &handles[index]));
}

/* The engine fills the allocation; the manager makes it resident first, and writes its place into the allocation list. */
static void fill(uint32_t index)
{
	struct pb_memory anywhere = {.segment = &example.video, .bytes = BYTES};
	struct pb_residency_submission submission = {0};
	struct example_buffer buffer;

	example_begin(&buffer, &example);
	example_fill(&buffer, &anywhere, VALUE + index);
	submission.descriptor = example_describe(&buffer, &example);
	submission.allocations = (struct pb_allocation *)(void *)buffer.allocations.bytes_host;
	submission.allocations[0].id = handles[index];
	submission.locations = (const struct pb_patch_location *)(const void *)buffer.locations.bytes_host;
	check(pb_residency_submit(&manager, 0, &submission));
	example_wait(&queue);
}

int main(int argc, char **argv)
{
	example_open(&example, argc, argv);
	check(pb_queue_create(&queue, &example.channel, &example.system, 0, 16));
	check(pb_queue_create(&paging, &example.channel, &example.system, 1, 16));
	start();
	for (uint32_t i = 0; i < COUNT; i++)
		add(i);
	for (uint32_t i = 0; i < COUNT; i++)
		fill(i);
	require(manager.figures.evictions == COUNT - 2u, "two were paged out for two others");
	for (uint32_t i = 0; i < COUNT; i++) {
		check(pb_residency_page_out(&manager, handles[i], true));
		require(example_read(&backing[i], BYTES / 4u - 1u) == VALUE + i,
			"contents are in the backing store");
	}
	printf("%u allocations, %u paged in, %u evicted\n", COUNT, manager.figures.page_ins,
	       manager.figures.evictions);
	example_close(&example);
	return 0;
}
