/* SPDX-License-Identifier: MIT */
/*
 * A DMA buffer of 200 allocations and 400 commands, submitted again and again to the simulated card by the manager of
 * video memory, with a record of what its patches presume and without one. Nothing moves: paging is no part of this.
 */
#include "hal/engine/packets.h"
#include "patchbay/patchbay.h"
#include "patchbay/residency.h"
#include "qemu/sim.h"
#include "tests/bench/host_bench.h"

#define ALLOCATIONS  200u
#define COMMANDS     400u
#define BYTES        256u
#define TIMEOUT_US   1000000u
#define SYSTEM_BYTES 0x100000u
#define VIDEO_BYTES  0x20000u
#define VIDEO_OS     UINT64_C(0x800000000)
#define SYSTEM_OS    0x10000000u

static struct {
	struct pb_channel channel;
	struct pb_segment segments[2];
	struct pb_queue queues[2]; /* of buffers, of paging buffers */
	struct pb_memory buffer;
	struct pb_memory backing;
	uint32_t context;
	struct pb_residency_segment segment;
	struct pb_residency_allocation array[ALLOCATIONS + 1];
	struct pb_residency manager;
	struct pb_residency_presumption entries[ALLOCATIONS];
	struct pb_residency_patched patched;
	struct pb_residency_submission submission;
} bench;

static void require(enum pb_error error, const char *what)
{
	pb_host_bench_require(error == PB_ERROR_OK, what);
}

static void open_client(struct pb_link *link)
{
	const struct pb_segment_request requests[] = {
		{0, SYSTEM_OS, SYSTEM_OS, SYSTEM_BYTES, SYSTEM_BYTES, PB_SEGMENT_LINEAR},
		{1, VIDEO_OS, VIDEO_OS, VIDEO_BYTES, VIDEO_BYTES, PB_SEGMENT_LINEAR}};

	require(pb_channel_attach(&bench.channel, link, TIMEOUT_US), "attach");
	for (uint32_t i = 0; i < 2; i++)
		require(pb_segment_create(&bench.segments[i], &bench.channel, &requests[i]), "segment");
	require(pb_context_create(&bench.channel, &bench.context), "context");
	for (uint32_t i = 0; i < 2; i++)
		require(pb_queue_create(&bench.queues[i], &bench.channel, &bench.segments[0], i, 16),
			"queue");
}

static void start_manager(void)
{
	struct pb_residency_setup setup = {
		.segments = &bench.segment,
		.segment_count = 1,
		.allocations = bench.array,
		.allocation_count = ALLOCATIONS + 1,
		.queues = {&bench.queues[0]},
		.paging = &bench.queues[1],
		.timeout_us = TIMEOUT_US,
	};

	bench.segment = (struct pb_residency_segment){
		.id = 1, .os_base = VIDEO_OS, .gpu_base = VIDEO_OS, .bytes = VIDEO_BYTES};
	require(pb_memory_allocate(&bench.segments[0], PB_PAGE_BYTES, PB_PAGE_BYTES, &setup.buffer),
		"paging buffer");
	require(pb_memory_allocate(&bench.segments[0], ALLOCATIONS * BYTES, PB_PAGE_BYTES, &bench.backing),
		"backing");
	require(pb_memory_allocate(&bench.segments[0], 16 * PB_PAGE_BYTES, PB_PAGE_BYTES, &bench.buffer),
		"buffer");
	require(pb_residency_start(&bench.manager, &setup), "manager");
	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		const struct pb_residency_request request = {
			.bytes = BYTES,
			.alignment = BYTES,
			.backing = SYSTEM_OS + bench.backing.offset + (uint64_t)i * BYTES,
			.segments = {1},
		};
		uint32_t handle;

		require(pb_residency_add(&bench.manager, &request, &handle), "allocation");
	}
}

/* FILLs of one word, two for each allocation. The lists follow the commands. */
static void write_buffer(bool presumed)
{
	uint32_t *words = (uint32_t *)(void *)bench.buffer.bytes_host;
	struct pb_allocation *allocations = (void *)(bench.buffer.bytes_host + 4 * PB_PAGE_BYTES);
	struct pb_patch_location *locations = (void *)(bench.buffer.bytes_host + 6 * PB_PAGE_BYTES);
	const uint32_t address = (uint32_t)bench.buffer.os_address;

	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		allocations[i] =
			(struct pb_allocation){.size_low = BYTES, .flags = PB_ALLOCATION_WRITE, .id = i + 1};
	for (uint32_t i = 0; i < COMMANDS; i++) {
		const uint32_t at = i * PB_PACKET_FILL_WORDS * 4u;

		words[at / 4] = PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
		words[at / 4 + 3] = 4;
		locations[i] = (struct pb_patch_location){.allocation_index = i / 2,
							  .driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
							  .patch_offset = at + 4,
							  .split_offset = at};
	}
	bench.submission = (struct pb_residency_submission){
		.descriptor = {.context = bench.context,
			       .dma_address_low = address,
			       .dma_size = 4 * PB_PAGE_BYTES,
			       .dma_end = COMMANDS * PB_PACKET_FILL_WORDS * 4u,
			       .allocation_count = ALLOCATIONS,
			       .allocation_address_low = address + 4 * PB_PAGE_BYTES,
			       .patch_count = COMMANDS,
			       .patch_length = COMMANDS,
			       .patch_address_low = address + 6 * PB_PAGE_BYTES},
		.allocations = allocations,
		.locations = locations,
		.patched = presumed ? &bench.patched : NULL,
	};
	pb_residency_patched_start(&bench.patched, bench.entries, ALLOCATIONS);
}

/* What scripts/bench counts. */
__attribute__((noinline)) void pb_host_bench_resubmit(void)
{
	require(pb_residency_submit(&bench.manager, 0, &bench.submission), "submit");
}

static void finish(uint64_t patches)
{
	struct pb_fence fence;

	require(pb_queue_wait(&bench.queues[0], bench.queues[0].timeline, TIMEOUT_US, &fence), "wait");
	require((enum pb_error)fence.error, "a submission failed");
	pb_host_bench_require(fence.patches == patches, "another number of patches was carried out");
}

static uint32_t run(uint64_t *times, uint32_t repeats, bool presumed)
{
	struct pb_sim *sim = pb_sim_create();
	struct pb_link *link = NULL;

	pb_host_bench_require(sim != NULL, "simulation");
	require(pb_link_open_sim(sim, 1, &link), "link");
	open_client(link);
	start_manager();
	write_buffer(presumed);
	require(pb_residency_submit(&bench.manager, 0, &bench.submission), "submit");
	finish(COMMANDS);
	for (uint32_t i = 0; i < repeats; i++) {
		const uint64_t start = pb_host_bench_now_ns();

		pb_host_bench_resubmit();
		times[i] = pb_host_bench_now_ns() - start;
		finish(presumed ? COMMANDS : (uint64_t)(i + 2) * COMMANDS);
	}
	link->ops->close(link);
	pb_sim_destroy(sim);
	return 1;
}

uint32_t pb_host_bench_resubmit_whole(uint64_t *times, uint32_t repeats)
{
	return run(times, repeats, false);
}

uint32_t pb_host_bench_resubmit_presumed(uint64_t *times, uint32_t repeats)
{
	return run(times, repeats, true);
}
