/* SPDX-License-Identifier: MIT */
/* Room in segments: what the trees find is what a search of all ranges finds, byte by byte. */
#include <string.h>

#include "host/residency_internal.h"
#include "tests/unit/unit.h"

#define ALLOCATIONS 60u
#define PAGES       64u
#define QUARTER     (PB_PAGE_BYTES / 4u)
#define STEPS       20000u

static struct {
	struct pb_residency manager;
	struct pb_residency_segment segments[2];
	struct pb_residency_allocation allocations[ALLOCATIONS];
	uint32_t random;
} bench;

static uint32_t random_below(uint32_t bound)
{
	bench.random = bench.random * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)bench.random * bound) >> 32);
}

static void start(uint32_t seed)
{
	memset(&bench, 0, sizeof(bench));
	bench.random = seed;
	bench.segments[0] = (struct pb_residency_segment){.id = 31,
							  .kind = PB_SEGMENT_LINEAR,
							  .gpu_base = 3 * PB_PAGE_BYTES,
							  .bytes = PAGES * PB_PAGE_BYTES};
	bench.segments[1] = (struct pb_residency_segment){.id = 1,
							  .kind = PB_SEGMENT_APERTURE,
							  .gpu_base = 5 * PB_PAGE_BYTES,
							  .bytes = PAGES * PB_PAGE_BYTES};
	bench.manager.setup = (struct pb_residency_setup){.segments = bench.segments,
							  .segment_count = 2,
							  .allocations = bench.allocations,
							  .allocation_count = ALLOCATIONS};
}

/** Returns whether all of [offset, offset + bytes) is free, by looking at each allocation. */
static bool is_free(const struct pb_residency_segment *segment, uint64_t offset, uint64_t bytes,
		    bool held_only)
{
	const uint64_t page = segment->kind == PB_SEGMENT_APERTURE ? PB_PAGE_BYTES : 1;

	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		const struct pb_residency_allocation *other = &bench.allocations[i];
		const uint64_t end = other->offset + (other->request.bytes + page - 1) / page * page;

		if (other->segment == segment && (!held_only || other->used > bench.manager.held) &&
		    other->offset < offset + bytes && offset < end)
			return false;
	}
	return true;
}

/** Tries each offset that has the alignment, the lowest first. */
static bool expected_room(const struct pb_residency_segment *segment,
			  const struct pb_residency_request *request, bool held_only, uint64_t *offset)
{
	const bool aperture = segment->kind == PB_SEGMENT_APERTURE;
	const uint64_t step = QUARTER;
	const uint64_t bytes = aperture ? (request->bytes + PB_PAGE_BYTES - 1) / PB_PAGE_BYTES * PB_PAGE_BYTES
					: request->bytes;

	for (*offset = 0; *offset + bytes <= segment->bytes; *offset += step) {
		if ((segment->gpu_base + *offset) % request->alignment == 0 &&
		    (!aperture || *offset % PB_PAGE_BYTES == 0) &&
		    is_free(segment, *offset, bytes, held_only))
			return true;
	}
	return false;
}

static struct pb_residency_request any_request(void)
{
	return (struct pb_residency_request){
		.bytes = QUARTER * (1 + random_below(random_below(4) == 0 ? 40 : 10)),
		.alignment = QUARTER << random_below(6),
	};
}

/** Compares both searches for a request. @return whether there is free room at `offset` */
static bool check_room(const struct pb_residency_segment *segment, const struct pb_residency_request *request,
		       uint64_t *offset)
{
	bool found = false;

	for (uint32_t held_only = 2; held_only-- != 0;) {
		uint64_t expected;
		const bool room = expected_room(segment, request, held_only != 0, &expected);

		found = pb_residency_room_find(&bench.manager, segment, request, held_only != 0, offset);
		assert_int_equal(found, room);
		if (room)
			assert_int_equal(*offset, expected);
	}
	return found;
}

/** The list of a segment has its allocations, each once, by their last use. */
static void check_order(const struct pb_residency_segment *segment)
{
	uint32_t listed = 0, resident = 0;
	const struct pb_residency_allocation *last = NULL;

	for (const struct pb_residency_allocation *at = pb_residency_room_oldest(&bench.manager, segment);
	     at != NULL; at = at->newer) {
		assert_ptr_equal(at->older, last);
		assert_ptr_equal(at->segment, segment);
		assert_true(last == NULL || last->used < at->used);
		last = at;
		listed++;
	}
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		resident += bench.allocations[i].segment == segment;
	assert_int_equal(listed, resident);
}

/** One allocation comes, goes, or is used again; sometimes a part ends. */
static void step(void)
{
	struct pb_residency_allocation *allocation = &bench.allocations[random_below(ALLOCATIONS)];
	const struct pb_residency_segment *segment = &bench.segments[random_below(2)];
	const struct pb_residency_request request = any_request();

	if (random_below(12) == 0)
		pb_residency_release(&bench.manager);
	if (allocation->segment == NULL) {
		allocation->request = request;
		if (!check_room(segment, &request, &allocation->offset))
			return;
		pb_residency_room_place(&bench.manager, allocation, segment);
		pb_residency_room_hold(&bench.manager, allocation);
	} else if (random_below(2) == 0) {
		pb_residency_room_hold(&bench.manager, allocation);
	} else {
		pb_residency_room_remove(&bench.manager, allocation);
	}
}

static void room_is_the_lowest_that_is_free(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 5; seed++) {
		start(seed);
		for (uint32_t i = 0; i < STEPS; i++)
			step();
		check_order(&bench.segments[0]);
		check_order(&bench.segments[1]);
	}
}

/** Returns the number of nodes on the longest way down. */
static uint32_t height(const struct pb_residency_node *root)
{
	uint32_t highest = 0;

	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		uint32_t depth = 1;

		for (const struct pb_residency_node *at = &bench.allocations[i].placed; at != root;
		     at = at->parent)
			depth++;
		highest = depth > highest ? depth : highest;
	}
	return highest;
}

/* In order, in reverse order, and from both ends in turn: what a tree without balance turns into a list. */
static void ordered_insertions_leave_a_low_tree(void **state)
{
	(void)state;
	for (uint32_t order = 0; order < 3; order++) {
		start(1);
		for (uint32_t i = 0; i < ALLOCATIONS; i++) {
			const uint32_t at = order == 0                 ? i
					    : order == 1 || i % 2 != 0 ? ALLOCATIONS - 1 - i / order
								       : i / 2;

			bench.allocations[i].request =
				(struct pb_residency_request){.bytes = PB_PAGE_BYTES, .alignment = 4};
			bench.allocations[i].offset = (uint64_t)at * PB_PAGE_BYTES;
			pb_residency_room_place(&bench.manager, &bench.allocations[i], &bench.segments[0]);
		}
		assert_in_range(height(bench.manager.rooms[30].placed), 6, 18);
	}
}

UNIT_SUITE(test_residency_room)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_is_the_lowest_that_is_free),
		cmocka_unit_test(ordered_insertions_leave_a_low_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
