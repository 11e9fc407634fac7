/* SPDX-License-Identifier: MIT */
/*
 * Placement in a full segment: an allocation takes the first range with room, after those used least recently have
 * left. Sizes are drawn from 1 to 16 pages; the transfers that go with it are not part of this.
 */
#include "host/residency_internal.h"
#include "tests/bench/host_bench.h"

#define PLACEMENTS      64u
#define ALLOCATIONS_MAX 10000u
#define PAGES_MAX       16u

static struct {
	struct pb_residency manager;
	struct pb_residency_segment segment;
	struct pb_residency_allocation allocations[ALLOCATIONS_MAX];
	uint32_t next;
	uint32_t random;
} bench;

static uint64_t random_bytes(void)
{
	bench.random = bench.random * 1664525u + 1013904223u;
	return (1u + (bench.random >> 28)) * (uint64_t)PB_PAGE_BYTES;
}

/** A segment for half of the allocations, at their mean size. */
static void start(uint32_t count)
{
	bench.segment = (struct pb_residency_segment){
		.id = 1,
		.kind = PB_SEGMENT_LINEAR,
		.bytes = (uint64_t)count * PB_PAGE_BYTES * (PAGES_MAX + 1) / 4,
	};
	bench.manager.setup = (struct pb_residency_setup){.segments = &bench.segment,
							  .segment_count = 1,
							  .allocations = bench.allocations,
							  .allocation_count = count};
	for (uint32_t i = 0; i < count; i++)
		bench.allocations[i].request =
			(struct pb_residency_request){.bytes = random_bytes(), .alignment = PB_PAGE_BYTES};
}

/** Uses the next allocation, which is the one used least recently of all: the segment has half of them. */
static void place(void)
{
	struct pb_residency_allocation *allocation = &bench.allocations[bench.next];
	uint64_t offset;

	bench.next = (bench.next + 1) % bench.manager.setup.allocation_count;
	pb_residency_release(&bench.manager);
	if (allocation->segment == NULL) {
		while (!pb_residency_room_find(&bench.manager, &bench.segment, &allocation->request, false,
					       &offset))
			pb_residency_room_remove(&bench.manager,
						 pb_residency_room_oldest(&bench.manager, &bench.segment));
		allocation->offset = offset;
		pb_residency_room_place(&bench.manager, allocation, &bench.segment);
	}
	pb_residency_room_hold(&bench.manager, allocation);
}

/** What scripts/bench counts. */
__attribute__((noinline)) void pb_host_bench_place(void)
{
	place();
}

uint32_t pb_host_bench_residency(uint64_t *times, uint32_t repeats, uint32_t allocations)
{
	pb_host_bench_require(allocations <= ALLOCATIONS_MAX, "number of allocations");
	start(allocations);
	for (uint32_t i = 0; i < 2 * allocations; i++)
		place();
	for (uint32_t i = 0; i < repeats; i++) {
		const uint64_t began = pb_host_bench_now_ns();

		for (uint32_t n = 0; n < PLACEMENTS; n++)
			pb_host_bench_place();
		times[i] = pb_host_bench_now_ns() - began;
	}
	return PLACEMENTS;
}
