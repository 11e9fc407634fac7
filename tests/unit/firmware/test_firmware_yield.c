/* SPDX-License-Identifier: MIT */
/*
 * A line that is raised again as soon as it is taken: every loop stops behind
 * its slice, each pass serves the line, and the lists are finished all the same.
 */
#include <string.h>

#include "firmware/limits.h"
#include "tests/unit/puppet_bench.h"

#define ALLOCATIONS 100u
#define PATCHES     400u
/* Far more than a slice a pass takes, if every other pass has one. */
#define PASSES_MAX 1000u

#define SEGMENT_ID 1u
#define SEGMENT    (SEGMENT_ID << PB_ALLOCATION_SEGMENT_SHIFT)
#define GPU_HIGH   7u

static uint32_t taken;

static void no_doorbell(struct pb_link *link)
{
	(void)link;
}

static const struct pb_link_ops silent_ops = {.doorbell = no_doorbell};

static uint32_t take_and_raise(void *context)
{
	const uint32_t lines = pb_host_lines_ops.take(context);

	puppet_bench.host_lines.pending = 1u << PB_LINE_CHANNEL(2);
	taken++;
	return lines;
}

enum list { EQUAL, MIXED, COMPACT, LISTS };

static uint32_t target_of(uint32_t allocation)
{
	return 0x18000u + 4u * allocation;
}

static void write_lists(const struct pb_memory *memory, enum list list)
{
	struct pb_allocation *allocations = (struct pb_allocation *)(void *)memory->bytes_host;
	uint32_t *words = (uint32_t *)(void *)&allocations[ALLOCATIONS];

	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		allocations[i] = (struct pb_allocation){
			.address_low = target_of(i), .size_low = 4, .flags = PB_ALLOCATION_WRITE | SEGMENT};
	for (uint32_t i = 0; i < PATCHES; i++) {
		const struct pb_patch_location location = {
			.allocation_index = i % ALLOCATIONS,
			.driver_id = list == MIXED && i % 2 != 0 ? PB_PATCH_FORMAT_ADDRESS64_WRITE
								 : PB_PATCH_FORMAT_ADDRESS64,
			.patch_offset = 8u * i,
		};

		if (list != COMPACT) {
			memcpy(&words[i * sizeof(location) / 4u], &location, sizeof(location));
			continue;
		}
		/* The first one is an escape, as it says which format it is: the others are one word behind. */
		words[i == 0 ? 0 : 2u * i + 1u] =
			i == 0 ? PB_COMPACT_ESCAPE | location.driver_id << PB_COMPACT_FORMAT_SHIFT
			       : location.patch_offset / 4u << PB_COMPACT_PLACE_SHIFT |
					 location.allocation_index;
		words[2u * i + 2u] = 0;
		words[1] = 0;
	}
}

static void submit(const struct pb_memory *lists, enum list list)
{
	const uint32_t length = list == COMPACT ? 2u * PATCHES + 1u : PATCHES;
	const struct pb_descriptor descriptor = {
		.context = puppet_bench.contexts[0],
		.fence_id = 1,
		.dma_address_low = PUPPET_DMA,
		.dma_size = 4096,
		.dma_end = 8u * PATCHES,
		.allocation_count = ALLOCATIONS,
		.allocation_address_low = (uint32_t)lists->os_address,
		.patch_address_low =
			(uint32_t)lists->os_address + ALLOCATIONS * (uint32_t)sizeof(struct pb_allocation),
		.patch_count = length,
		.patch_length = length,
		.patch_encoding = list == COMPACT ? PB_PATCH_ENCODING_COMPACT : PB_PATCH_ENCODING_WDDM,
	};

	assert_int_equal(pb_queue_submit(&puppet_bench.queue, &descriptor), PB_ERROR_OK);
}

static void check_buffer(void)
{
	const uint32_t *words =
		(const uint32_t *)(const void *)(puppet_bench.system.channel->link->memory +
						 puppet_bench.system.memory_offset + PUPPET_DMA);

	for (uint32_t i = 0; i < PATCHES; i++) {
		assert_int_equal(words[2u * i], target_of(i % ALLOCATIONS));
		assert_int_equal(words[2u * i + 1u], GPU_HIGH);
	}
}

/* With a quiet card, and with one whose lines never rest. */
static void lists_in_slices(void **state)
{
	const struct pb_segment_request request = {.id = SEGMENT_ID,
						   .os_base = 0x10000,
						   .gpu_base = ((uint64_t)GPU_HIGH << 32) + 0x10000u,
						   .size = 0x10000};
	static struct pb_lines_ops ops;

	for (uint32_t i = 0; i < 2u * LISTS; i++) {
		const bool restless = i % 2u != 0;
		struct pb_segment segment;
		struct pb_memory memory;
		uint32_t passes = 0;

		assert_int_equal(puppet_start(state), 0);
		assert_int_equal(pb_segment_create(&segment, &puppet_bench.channel, &request), PB_ERROR_OK);
		assert_int_equal(pb_memory_allocate(&puppet_bench.system, 0x4000, PB_LINE_BYTES, &memory),
				 PB_ERROR_OK);
		write_lists(&memory, (enum list)(i / 2u));
		ops = pb_host_lines_ops;
		if (restless)
			ops.take = take_and_raise;
		taken = 0;
		/* The doorbell is rung here, not in puppet_run, which would wait for rest. */
		puppet_bench.link.ops = &silent_ops;
		puppet_bench.lines.ops = &ops;
		submit(&memory, (enum list)(i / 2u));
		puppet_bench.host_lines.pending |= 1u << PB_LINE_CHANNEL(1);
		while (puppet_bench.puppet.count == 0 && passes++ < PASSES_MAX)
			(void)pb_firmware_pass(puppet_bench.firmware);
		assert_int_equal(puppet_bench.puppet.count, 1);
		assert_int_equal(puppet_bench.puppet.fed[0].bytes, 8u * PATCHES);
		/* Slices of allocations, then of patches, and the line is served before each. */
		if (restless)
			assert_in_range(taken,
					ALLOCATIONS / PB_SLICE_ALLOCATIONS + PATCHES / PB_SLICE_PATCHES,
					passes);
		check_buffer();
	}
}

UNIT_SUITE(test_firmware_yield)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_in_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
