/* SPDX-License-Identifier: MIT */
/*
 * What a submission costs beside its entries: the shortest list; and a rescan of a channel that has one queue while the
 * card has all that it can have.
 */
#include <stddef.h>

#include "hal/shared.h"
#include "tests/bench/bench.h"

#define REPEATS          512u
#define ALLOCATION_BYTES 0x10000u
#define STRIDE           16u
#define RING_ENTRIES     4u
/** Channels whose queues fill the card: the first has all that one can have of 4,096, the others their minimum. */
#define FILLERS        7u
#define FILLER_CHANNEL 2u
#define FIRST_QUEUES   2279u
#define OTHER_QUEUES   227u
#define FIRST_BYTES    0x1b0000u
#define OTHER_BYTES    0x30000u

static struct pb_allocation *allocations(void)
{
	return (void *)pb_bench.lists.bytes_host;
}

static uint32_t offset_of(uint32_t i)
{
	return i * 4u % ALLOCATION_BYTES;
}

static void write_lists(uint32_t allocation_count, uint32_t entries)
{
	struct pb_patch_location *patches = (void *)(allocations() + allocation_count);

	for (uint32_t i = 0; i < allocation_count; i++)
		allocations()[i] =
			(struct pb_allocation){.address_low = PB_BENCH_LOCAL_OS + i * ALLOCATION_BYTES,
					       .size_low = ALLOCATION_BYTES,
					       .flags = 1u << PB_ALLOCATION_SEGMENT_SHIFT};
	for (uint32_t i = 0; i < entries; i++)
		patches[i] = (struct pb_patch_location){.allocation_index = i % allocation_count,
							.driver_id = PB_PATCH_FORMAT_ADDRESS64,
							.allocation_offset = offset_of(i),
							.patch_offset = i * STRIDE};
}

static struct pb_descriptor describe(uint32_t allocation_count, uint32_t entries)
{
	struct pb_descriptor descriptor = pb_bench_descriptor();

	descriptor.allocation_count = allocation_count;
	descriptor.allocation_address_low = (uint32_t)pb_bench.lists.os_address;
	descriptor.patch_address_low =
		descriptor.allocation_address_low + allocation_count * (uint32_t)sizeof(struct pb_allocation);
	descriptor.patch_count = entries;
	descriptor.patch_length = entries;
	return descriptor;
}

/** From the doorbell's interrupt until the firmware sleeps: one allocation and one patch. */
static void measure_small_list(void)
{
	uint64_t sum = 0;

	write_lists(1, 1);
	for (uint32_t i = 0; i < REPEATS + 1u; i++) {
		const struct pb_descriptor descriptor = describe(1, 1);
		uint32_t submit, retire;

		pb_bench_submit(&descriptor, &submit, &retire);
		/* The first one clears what a longer list has left. */
		if (i != 0)
			sum += pb_bench_submit_to_sleep;
	}
	pb_bench_print_milli("small_list_instr", (uint32_t)(sum / REPEATS));
}

/* ---- a rescan ---- */

/** A channel with many queues, all idle. */
struct filler {
	struct pb_link link;
	struct pb_channel channel;
	struct pb_segment segment;
	struct pb_memory pages;
};

static struct filler fillers[FILLERS];
static struct pb_queue queues[FIRST_QUEUES]; /* of each filler in turn: their channels free them */

static void fill(struct filler *filler, uint32_t channel, uint32_t count, uint32_t bytes)
{
	const struct pb_segment_request system = {
		.os_base = 0x10000000u, .gpu_base = 0x10000000u, .size = bytes, .backing_bytes = bytes};
	const struct pb_bench_queues request = {.channel = &filler->channel,
						.pages = &filler->pages,
						.entries = RING_ENTRIES,
						.nodes = 4,
						.priority = PB_PRIORITY_NORMAL};

	pb_bench_link(&filler->link, channel);
	pb_bench_require(pb_channel_attach(&filler->channel, &filler->link, 1) == PB_ERROR_OK,
			 "attach a channel that fills the card");
	pb_bench_require(pb_segment_create(&filler->segment, &filler->channel, &system) == PB_ERROR_OK,
			 "its segment");
	pb_bench_require(pb_memory_allocate(&filler->segment, count * pb_bench_queue_bytes(RING_ENTRIES),
					    PB_PAGE_BYTES, &filler->pages) == PB_ERROR_OK,
			 "the pages of its queues");
	pb_bench_queues_create(queues, count, &request);
}

static void measure_rescan(void)
{
	struct pb_channel *channel = &pb_bench.channel;

	fill(&fillers[0], FILLER_CHANNEL, FIRST_QUEUES, FIRST_BYTES);
	for (uint32_t f = 1; f < FILLERS; f++)
		fill(&fillers[f], FILLER_CHANNEL + f, OTHER_QUEUES, OTHER_BYTES);
	pb_shared_write32(&channel->entry->rescan, ++channel->rescan);
	pb_bench_print_milli("rescan_instr_q4096", pb_bench_doorbell());
	for (uint32_t f = 0; f < FILLERS; f++)
		pb_bench_require(pb_channel_detach(&fillers[f].channel) == PB_ERROR_OK, "detach");
}

void pb_bench_fixed(void)
{
	measure_small_list();
	measure_rescan();
}
