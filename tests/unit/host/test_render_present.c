/* SPDX-License-Identifier: MIT */
/* The blit of a present, and the descriptor of a rendered buffer. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/host/render_bench.h"

static struct pb_render_present good_present(struct render_bench *bench)
{
	/* 256 bytes as 8 by 8 pixels; 4096 as 32 by 32. The last 4 by 4 of the one, into the corner of the other. */
	return (struct pb_render_present){
		.device = &bench->device,
		.source = {.handle = BENCH_READ, .pitch = 32, .left = 4, .top = 4},
		.destination = {.handle = BENCH_PAGED_OUT, .pitch = 128, .left = 28, .top = 28},
		.width = 4,
		.height = 4,
		.output = bench->arguments.output,
	};
}

static void test_present(void **state)
{
	static const uint32_t packet[] = {0x03000009, 0xf0b00090, 1, 32, 0xdeadbeef, 0xdeadbeef, 128, 16, 4};
	static const struct pb_patch_location patches[] = {{1, 0, 1, 144, 4, 0}, {2, 1, 3, 3696, 16, 0}};
	static const struct pb_allocation list[] = {
		{0, 0, 0, 0, 0x100, 0}, {0x00b00000, 8, 256, 0, 2, 11}, {0, 0, 4096, 0, 1, 13}};
	const struct pb_render_record record = {0x44524250, 1, PB_FLAG_PRESENT, 0, 36, 36, 3, 2, 1};
	struct render_bench bench;

	(void)state;
	for (uint32_t node = PB_NODE_3D; node <= PB_NODE_COPY; node++) {
		struct pb_render_present present;

		render_bench_init(&bench);
		bench.device.node = node;
		present = good_present(&bench);
		render_expect("present", pb_render_present(&present), PB_RENDER_SUCCESS);
		bench.arguments.output = present.output;
		assert_int_equal(render_bench_written("present", &bench).words, 9);
		assert_int_equal(render_bench_written("present", &bench).locations, 2);
		assert_int_equal(render_bench_written("present", &bench).allocations, 3);
		assert_int_equal(render_bench_written("present", &bench).private_words, 9);
		assert_memory_equal(bench.dma, packet, sizeof(packet));
		assert_memory_equal(bench.locations, patches, sizeof(patches));
		assert_memory_equal(bench.allocations, list, sizeof(list));
		assert_memory_equal(bench.private_data, &record, sizeof(record));
		assert_memory_equal(&present.output.record, &record, sizeof(record));
	}
}

struct present_row {
	const char *name;
	enum pb_render_status status;
	struct pb_render_surface source;
	struct pb_render_surface destination;
	uint32_t width;
	uint32_t height;
};

static const struct present_row present_rows[] = {
	{"all of it", PB_RENDER_SUCCESS, {11, 32, 0, 0}, {12, 32, 0, 0}, 8, 8},
	{"nothing", PB_RENDER_SUCCESS, {11, 32, 0, 0}, {12, 32, 0, 0}, 0, 0},
	{"the same allocation", PB_RENDER_SUCCESS, {12, 32, 0, 0}, {12, 32, 0, 4}, 8, 4},
	{"unknown source", PB_RENDER_INVALID_HANDLE, {10, 32, 0, 0}, {12, 32, 0, 0}, 1, 1},
	{"unknown destination", PB_RENDER_INVALID_HANDLE, {11, 32, 0, 0}, {16, 32, 0, 0}, 1, 1},
	{"NULL source", PB_RENDER_INVALID_PARAMETER, {0, 32, 0, 0}, {12, 32, 0, 0}, 1, 1},
	{"NULL destination", PB_RENDER_INVALID_PARAMETER, {11, 32, 0, 0}, {0, 32, 0, 0}, 1, 1},
	{"source too high", PB_RENDER_INVALID_PARAMETER, {11, 32, 0, 1}, {12, 32, 0, 0}, 8, 8},
	{"destination too high", PB_RENDER_INVALID_PARAMETER, {11, 32, 0, 0}, {12, 32, 0, 1}, 8, 8},
	{"source too wide", PB_RENDER_INVALID_PARAMETER, {11, 32, 1, 0}, {12, 32, 0, 0}, 8, 1},
	{"destination too wide", PB_RENDER_INVALID_PARAMETER, {11, 32, 0, 0}, {12, 32, 8, 0}, 1, 1},
	{"odd source pitch", PB_RENDER_INVALID_PARAMETER, {11, 30, 0, 0}, {12, 32, 0, 0}, 1, 1},
	{"odd destination pitch", PB_RENDER_INVALID_PARAMETER, {11, 32, 0, 0}, {12, 33, 0, 0}, 1, 1},
	{"width that wraps",
	 PB_RENDER_INVALID_PARAMETER,
	 {14, 0xfffffffc, 0, 0},
	 {14, 4, 0, 0},
	 0x40000001,
	 1},
	{"right that wraps", PB_RENDER_INVALID_PARAMETER, {14, 64, 0xffffffff, 0}, {12, 32, 0, 0}, 1, 1},
	{"place that wraps", PB_RENDER_INVALID_PARAMETER, {14, 0x10000, 0, 0x10000}, {12, 32, 0, 0}, 1, 1},
	{"the last place", PB_RENDER_SUCCESS, {14, 0x10000, 0x3fff, 0xffff}, {12, 32, 0, 0}, 1, 1},
};

static void test_present_rows(void **state)
{
	struct render_bench bench;

	(void)state;
	for (size_t i = 0; i < sizeof(present_rows) / sizeof(present_rows[0]); i++) {
		const struct present_row *row = &present_rows[i];
		struct pb_render_present present;

		render_bench_init(&bench);
		present = (struct pb_render_present){
			.device = &bench.device,
			.source = row->source,
			.destination = row->destination,
			.width = row->width,
			.height = row->height,
			.output = bench.arguments.output,
		};
		render_expect(row->name, pb_render_present(&present), row->status);
		assert_int_equal(present.output.record.dma_bytes, row->status == PB_RENDER_SUCCESS ? 36 : 0);
	}
}

static void test_present_too_small(void **state)
{
	struct render_bench bench;
	struct pb_render_present present;

	(void)state;
	for (uint32_t which = 0; which < 4; which++) {
		render_bench_init(&bench);
		present = good_present(&bench);
		present.output.dma_size = 36 - (which == 0);
		present.output.locations_size = 2 - (which == 1);
		present.output.allocations_size = 3 - (which == 2);
		present.output.private_data_size = 36 - (which == 3);
		render_expect_nothing("present", &bench, pb_render_present(&present),
				      PB_RENDER_INSUFFICIENT_DMA_BUFFER);
		assert_int_equal(present.output.record.magic, 0);
	}
}

/** A fill: the first row, then that row to the others. Its source does not exist. */
static void test_fill(void **state)
{
	static const uint32_t packets[] = {0x01000005, 0xdeadbeef, 0xdeadbeef, 16, 0x55667788,
					   0x03000009, 0xdeadbeef, 0xdeadbeef, 0,  0xdeadbeef,
					   0xdeadbeef, 128,        16,         3};
	static const struct pb_patch_location patches[] = {
		{2, 1, 3, 3696, 4, 0}, {2, 0, 1, 3696, 24, 20}, {2, 1, 3, 3824, 36, 20}};
	static const struct pb_allocation list[] = {
		{0, 0, 0, 0, 0x100, 0}, {0, 0, 0, 0, 0x100, 0}, {0, 0, 4096, 0, 1, 13}};
	struct pb_render_present present;
	struct render_bench bench;

	(void)state;
	render_bench_init(&bench);
	present = good_present(&bench);
	present.fill = true;
	present.color = 0x55667788;
	present.source = (struct pb_render_surface){.handle = 0xffffffff, .pitch = 3};
	/* With room for the first half only, nothing is used. */
	present.output.dma_size = 20;
	render_expect("half", pb_render_present(&present), PB_RENDER_INSUFFICIENT_DMA_BUFFER);
	assert_ptr_equal(present.output.dma_buffer, bench.arguments.output.dma_buffer);
	assert_ptr_equal(present.output.private_data, bench.arguments.output.private_data);
	present.output.dma_size = sizeof(packets);
	render_expect("fill", pb_render_present(&present), PB_RENDER_SUCCESS);
	assert_int_equal(present.output.record.dma_bytes, sizeof(packets));
	assert_memory_equal(bench.dma, packets, sizeof(packets));
	assert_memory_equal(bench.locations, patches, sizeof(patches));
	assert_memory_equal(bench.allocations, list, sizeof(list));
	/* The second row would be behind 4 GiB. */
	present = good_present(&bench);
	present.fill = true;
	present.destination.pitch = 0x80000000;
	present.destination.top = 1;
	render_expect("4 GiB", pb_render_present(&present), PB_RENDER_INVALID_PARAMETER);
}

static void test_describe(void **state)
{
	const struct pb_render_record record = {
		.flags = PB_FLAG_PRESENT, .dma_bytes = 36, .allocation_count = 3, .patch_count = 2};
	struct pb_descriptor descriptor;
	struct pb_descriptor expected;

	(void)state;
	memset(&descriptor, 0x5a, sizeof(descriptor));
	expected = descriptor;
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	expected.flags = PB_FLAG_NULL_RENDERING | PB_FLAG_PRESENT;
	expected.dma_start = 0;
	expected.dma_end = 36;
	expected.private_start = 0;
	expected.private_end = 36;
	expected.allocation_count = 3;
	expected.patch_count = 2;
	expected.patch_start = 0;
	expected.patch_length = 2;
	expected.patch_encoding = 0;
	pb_render_describe(&record, &descriptor);
	assert_memory_equal(&descriptor, &expected, sizeof(expected));
}

UNIT_SUITE(test_render_present)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_present),           cmocka_unit_test(test_present_rows),
		cmocka_unit_test(test_present_too_small), cmocka_unit_test(test_fill),
		cmocka_unit_test(test_describe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
