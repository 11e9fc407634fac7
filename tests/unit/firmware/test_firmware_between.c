/* SPDX-License-Identifier: MIT */
/* What only the firmware's own functions and tables show: slices of loops, names of buffers, handles that wrap. */
#include <string.h>

#include "firmware/instance.h"
#include "firmware/limits.h"
#include "firmware/patch/run_compact.h"
#include "firmware/prepare/resolve.h"
#include "tests/unit/puppet_bench.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- inside loops ---- */

/* A line is raised in the midst of a list: the loop stops behind the slice that it is at, and goes on later. */
static void resolving_stops_for_a_line(void **state)
{
	enum { LENGTH = 3u * PB_SLICE_ALLOCATIONS + 5u };
	static struct pb_core_job job;
	static struct pb_allocation allocations[LENGTH];
	const struct pb_core_window window = {
		.os_end = 0x20000, .bytes = 0x10000, .gpu_delta = 0x500, .gpu_high = 3};
	const uint32_t quiet = 0, raised = 4;
	struct pb_core_listed irregular;

	(void)state;
	for (uint32_t i = 0; i < LENGTH; i++)
		allocations[i] =
			(struct pb_allocation){.address_low = 0x10000u + 16u * i, .size_low = 16, .id = i};
	job.allocations = allocations;
	for (uint32_t slices = 1; slices <= 3; slices++) {
		assert_false(pb_core_run_resolve(&job, &window, LENGTH, &raised, &irregular));
		assert_int_equal(job.resolved, slices * PB_SLICE_ALLOCATIONS);
	}
	assert_false(pb_core_run_resolve(&job, &window, LENGTH, &raised, &irregular));
	assert_int_equal(job.resolved, LENGTH);
	job.resolved = 1;
	assert_false(pb_core_run_resolve(&job, &window, LENGTH, &quiet, &irregular));
	assert_int_equal(job.resolved, LENGTH);
	for (uint32_t i = 0; i < LENGTH; i++) {
		assert_int_equal(job.slots[i].low, 0x10500u + 16u * i);
		assert_int_equal(job.slots[i].high, 3);
		assert_int_equal(job.ids[i], i);
	}
}

/* Short entries count target words from the buffer's start: beyond the last that they can name there is none. */
static void places_of_short_entries(void **state)
{
	static const struct {
		uint32_t start, places, expected;
	} cases[] = {
		{0, 10, 10},
		{0, UINT32_MAX, PB_COMPACT_PLACE_END / 4u},
		{PB_COMPACT_PLACE_END - 8u, 10, 2},
		{PB_COMPACT_PLACE_END - 4u, 10, 1},
		{PB_COMPACT_PLACE_END, 10, 0},
		{PB_COMPACT_PLACE_END + 4u, 10, 0},
		{0xfffffffcu, 10, 0},
	};
	static struct pb_core_cursor cursor;

	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		cursor.start = cases[i].start;
		cursor.places[PB_CORE_CLASS_WORD] = cases[i].places;
		assert_int_equal(pb_core_short_places(&cursor, PB_CORE_CLASS_WORD),
				 cases[i].expected << PB_COMPACT_PLACE_SHIFT);
	}
}

/* A buffer is known by its cookie to its own channel only, wherever that is kept. */
static void cookies_of_other_channels(void **state)
{
	struct pb_firmware *firmware = puppet_bench.firmware;
	static struct pb_core_job job;
	struct pb_core_queue queue = {.channel = 1};
	struct pb_core_submission submission = {.queue = &queue};

	(void)state;
	job = (struct pb_core_job){.submission = &submission,
				   .channel = &firmware->channels[1],
				   .target = puppet_memory,
				   .bytes = 8,
				   .cookie = 0xc001};
	for (uint32_t channel = 0; channel < 64; channel++) {
		queue.channel = 1;
		job.compared = 0;
		pb_core_compare(firmware, &job);
		pb_core_compare_remember(&firmware->patched, &job);
		queue.channel = (uint8_t)channel;
		pb_core_compare(firmware, &job);
		assert_int_equal(job.state, channel == 1 ? PB_CORE_JOB_READY : PB_CORE_JOB_RESOLVE);
	}
}

/* Generation 0 is no handle's. */
static void generations_wrap(void **state)
{
	struct pb_firmware *firmware = pb_firmware_instance();
	struct pb_queue queue;
	uint32_t context;

	(void)state;
	firmware->table.queues[firmware->table.free].generation = UINT16_MAX - 1u;
	for (uint32_t expected = UINT16_MAX; expected != 2u; expected = expected == UINT16_MAX ? 1u : 2u) {
		assert_int_equal(pb_queue_create(&queue, &puppet_bench.channel, &puppet_bench.system, 0, 4),
				 PB_ERROR_OK);
		assert_int_equal(PB_HANDLE_GENERATION(queue.handle), expected);
		assert_int_equal(pb_queue_destroy(&queue), PB_ERROR_OK);
	}
	firmware->contexts.at[3] = PB_CORE_CONTEXT(UINT16_MAX - 1u, 1);
	for (uint32_t expected = UINT16_MAX; expected != 2u; expected = expected == UINT16_MAX ? 1u : 2u) {
		assert_int_equal(pb_context_create(&puppet_bench.channel, &context), PB_ERROR_OK);
		assert_int_equal(context, PB_HANDLE(3, expected));
		assert_int_equal(pb_context_destroy(&puppet_bench.channel, context), PB_ERROR_OK);
	}
}

UNIT_SUITE(test_firmware_between)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolving_stops_for_a_line),
		cmocka_unit_test(places_of_short_entries),
		cmocka_unit_test_setup(cookies_of_other_channels, puppet_start),
		cmocka_unit_test_setup(generations_wrap, puppet_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
