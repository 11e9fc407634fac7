/* SPDX-License-Identifier: MIT */
/* What Render writes, word for word, and what it does when an output is full. */
#include <string.h>

#include "tests/unit/host/render_bench.h"

#define POISON 0xdeadbeef
/* Addresses of the bench, by hand: GPU addresses are 0x1f0000000 + (handle << 20). */
#define GPU_READ(offset)  0xf0b00000u + (offset), 1
#define GPU_WRITE(offset) 0xf0c00000u + (offset), 1

/* All commands, in an order that makes DRAW bring its state along twice. */
static const uint32_t commands[] = {
	0x01000005, 2, 4,          8,  0x77777777,                /* 0: FILL */
	0x02000006, 1, 8,          3,  12,         16,            /* 20: COPY to what is paged out */
	0x00000003, 1, 2,                                         /* 44: NOP */
	0x10000006, 2, 0,          8,  8,          32,            /* 56: TARGET */
	0x11000006, 1, 64,         4,  4,          16,            /* 80: TEXTURE */
	0x12000004, 3, 48,         3,                             /* 104: DRAW */
	0x03000009, 1, 4,          36, 2,          28, 60, 48, 4, /* 120: COPY_RECT */
	0x12000004, 4, 0xfffffffc, 6,                             /* 156: DRAW, from 4 GiB - 4 */
	0x00000001,                                               /* 172: NOP */
};
#define COMMAND_BYTES 176u

/* clang-format off */
static const uint32_t dma[] = {
	0x01000005, GPU_WRITE(4), 8, 0x77777777,               /* 0 */
	0x02000006, GPU_READ(8), POISON, POISON, 16,           /* 20 */
	0x10000006, GPU_WRITE(0), 8, 8, 32,                    /* 44 */
	0x11000006, GPU_READ(64), 4, 4, 16,                    /* 68 */
	0x12000004, POISON, POISON, 3,                         /* 92 */
	0x03000009, GPU_READ(4), 36, GPU_WRITE(28), 60, 48, 4, /* 108 */
	0x10000006, GPU_WRITE(0), 8, 8, 32,                    /* 144 */
	0x11000006, GPU_READ(64), 4, 4, 16,                    /* 168 */
	0x12000004, 0xf0dffffc, 2, 6,                          /* 192 */
};
/* clang-format on */
#define DMA_BYTES 208u

/* Index, slot, format, offset, patch, split. */
static const struct pb_patch_location locations[] = {
	{2, 1, 3, 4, 4, 0},
	{1, 0, 1, 8, 24, 20},
	{3, 1, 3, 12, 32, 20},
	{2, 2, 3, 0, 48, 44},
	{1, 3, 1, 64, 72, 44},
	{3, 4, 1, 48, 96, 44},
	{1, 0, 1, 4, 112, 108},
	{2, 1, 3, 28, 124, 108},
	{2, 2, 3, 0, 148, 144},
	{1, 3, 1, 64, 172, 144},
	{4, 4, 1, 0xfffffffc, 196, 144},
};
#define LOCATIONS 11u

static const struct pb_allocation allocations[] = {
	{0, 0, 0, 0, 0x100, 0},
	{0x00b00000, 8, 256, 0, 1u << 1, 11},
	{0x00c00000, 8, 256, 0, 1u << 1 | 1, 12},
	{0, 0, 4096, 0, 1, 13},
	{0x00e00000, 8, 0x40000000, 1, 1u << 1 | 1, 14},
	{0, 0, 3, 0, 31u << 1, 15},
};

/* Where each group begins: what stands for one command, in the command buffer and in the DMA buffer. */
struct boundary {
	uint32_t command;
	uint32_t dma;
	uint32_t locations;
};
/* A pass ends in front of a command that has no room; commands that become nothing are passed over. */
static const struct boundary boundaries[] = {
	{0, 0, 0}, {20, 20, 1}, {104, 44, 3}, {120, 108, 6}, {156, 144, 8}, {176, 208, 11},
};
#define GROUPS 5u

static void check_lists(const struct render_bench *bench)
{
	assert_memory_equal(bench->allocations, allocations, sizeof(allocations));
	assert_memory_equal(bench->private_data, &bench->arguments.output.record,
			    sizeof(struct pb_render_record));
}

static void check_record(const struct render_bench *bench, uint32_t start, uint32_t end, uint32_t dma_bytes,
			 uint32_t location_count, uint32_t unresolved)
{
	const struct pb_render_record expected = {
		0x44524250, 1, 0, start, end, dma_bytes, BENCH_LIST, location_count, unresolved};

	check_lists(bench);
	assert_memory_equal(&bench->arguments.output.record, &expected, sizeof(expected));
}

static void test_whole(void **state)
{
	struct render_bench bench;
	struct render_written written;

	(void)state;
	_Static_assert(sizeof(commands) == COMMAND_BYTES && sizeof(dma) == DMA_BYTES, "the tables fit");
	for (uint32_t kernel = 0; kernel < 2; kernel++) {
		render_bench_init(&bench);
		render_bench_commands(&bench, commands, COMMAND_BYTES / 4);
		render_expect("whole", kernel ? pb_render_km(&bench.arguments) : pb_render(&bench.arguments),
			      PB_RENDER_SUCCESS);
		written = render_bench_written("whole", &bench);
		assert_int_equal(written.words, DMA_BYTES / 4);
		assert_int_equal(written.private_words, 9);
		assert_int_equal(written.allocations, BENCH_LIST);
		assert_int_equal(written.locations, LOCATIONS);
		assert_memory_equal(bench.dma, dma, sizeof(dma));
		assert_memory_equal(bench.locations, locations, sizeof(locations));
		check_record(&bench, 0, COMMAND_BYTES, DMA_BYTES, LOCATIONS, 2);
	}
}

/* The kernel's own commands, and that the two words of an INDIRECT are an address as any other. */
static void the_kernel_has_commands_of_its_own(void **state)
{
	const uint32_t input[] = {0x20000004, 3, 8, 64, 0x30000001, 0x31000001, 0x32000002, 50};
	const uint32_t output[] = {0x20000004, POISON, POISON, 64, 0x30000001, 0x31000001, 0x32000002, 50};
	const struct pb_patch_location location = {3, 0, 1, 8, 4, 0};
	struct render_bench bench;

	(void)state;
	render_bench_init(&bench);
	render_bench_commands(&bench, input, 8);
	render_expect("kernel", pb_render_km(&bench.arguments), PB_RENDER_SUCCESS);
	assert_int_equal(render_bench_written("kernel", &bench).words, 8);
	assert_memory_equal(bench.dma, output, sizeof(output));
	assert_memory_equal(bench.locations, &location, sizeof(location));
	check_record(&bench, 0, 32, 32, 1, 1);
}

static void test_empty(void **state)
{
	static const uint32_t nops[] = {0x00000002, 5, 0x00000001};
	struct render_bench bench;

	(void)state;
	for (uint32_t words = 0; words <= 3; words += 3) {
		render_bench_init(&bench);
		render_bench_commands(&bench, nops, words);
		bench.arguments.output.dma_buffer = NULL;
		bench.arguments.output.dma_size = 0;
		bench.arguments.output.locations = NULL;
		bench.arguments.output.locations_size = 0;
		render_expect("empty", pb_render(&bench.arguments), PB_RENDER_SUCCESS);
		assert_null(bench.arguments.output.dma_buffer);
		assert_null(bench.arguments.output.locations);
		check_record(&bench, 0, 4 * words, 0, 0, 0);
	}
}

/* ---- full outputs ---- */

/* The private data and the allocation list have to be there as a whole. */
static void test_lists_too_small(void **state)
{
	struct render_bench bench;

	(void)state;
	for (uint32_t which = 0; which < 2; which++) {
		for (uint32_t missing = 1; missing != UINT32_MAX; missing = missing == 1 ? 0 : UINT32_MAX) {
			enum pb_render_status status;

			render_bench_init(&bench);
			render_bench_commands(&bench, commands, COMMAND_BYTES / 4);
			if (which == 0)
				bench.arguments.output.private_data_size = 36 - missing;
			else
				bench.arguments.output.allocations_size = BENCH_LIST - missing;
			status = pb_render(&bench.arguments);
			if (missing == 0) {
				render_expect("lists", status, PB_RENDER_SUCCESS);
				continue;
			}
			render_expect_nothing("lists", &bench, status, PB_RENDER_INSUFFICIENT_DMA_BUFFER);
			assert_int_equal(bench.arguments.multipass_offset, 0);
		}
	}
}

static uint32_t poisoned(uint32_t from, uint32_t to)
{
	uint32_t count = 0;

	for (uint32_t i = from; i < to; i++)
		count += locations[i].allocation_index == 3;
	return count;
}

/** Compares one pass with the part of the whole that it stands for. */
static void check_pass(const char *row, const struct render_bench *bench, const struct boundary *from,
		       const struct boundary *to, uint32_t command_start)
{
	const struct render_written written = render_bench_written(row, bench);

	assert_int_equal(written.words, (to->dma - from->dma) / 4);
	assert_int_equal(written.locations, to->locations - from->locations);
	assert_memory_equal(bench->dma, &dma[from->dma / 4], to->dma - from->dma);
	for (uint32_t i = 0; i < written.locations; i++) {
		struct pb_patch_location expected = locations[from->locations + i];

		expected.patch_offset -= from->dma;
		expected.split_offset -= from->dma;
		assert_memory_equal(&bench->locations[i], &expected, sizeof(expected));
	}
	check_record(bench, command_start, to->command, written.words * 4, written.locations,
		     poisoned(from->locations, to->locations));
}

/** The last boundary that fits. */
static uint32_t reach(uint32_t from, uint32_t dma_size, uint32_t location_size)
{
	uint32_t to = from;

	while (to < GROUPS && boundaries[to + 1].dma - boundaries[from].dma <= dma_size &&
	       boundaries[to + 1].locations - boundaries[from].locations <= location_size)
		to++;
	return to;
}

/** Runs all passes with outputs of these sizes; stops where one command does not fit. */
static void run_passes(uint32_t dma_size, uint32_t location_size)
{
	struct render_bench bench;
	uint32_t from = 0;

	render_bench_init(&bench);
	render_bench_commands(&bench, commands, COMMAND_BYTES / 4);
	for (;;) {
		const uint32_t to = reach(from, dma_size, location_size);
		const uint32_t start = bench.arguments.multipass_offset;
		enum pb_render_status status;

		render_bench_outputs(&bench);
		bench.arguments.output.dma_size = dma_size;
		bench.arguments.output.locations_size = location_size;
		status = pb_render(&bench.arguments);
		assert_int_equal(start, boundaries[from].command);
		assert_int_equal(bench.arguments.multipass_offset, boundaries[to].command);
		if (from == to) {
			render_expect_nothing("passes", &bench, status, PB_RENDER_INSUFFICIENT_DMA_BUFFER);
			assert_true(dma_size < 64 || location_size < 3);
			return;
		}
		render_expect("passes", status,
			      to == GROUPS ? PB_RENDER_SUCCESS : PB_RENDER_INSUFFICIENT_DMA_BUFFER);
		check_pass("passes", &bench, &boundaries[from], &boundaries[to], start);
		if (to == GROUPS)
			return;
		from = to;
	}
}

/* Each size of both, so each pass ends exactly full and one short at each boundary. */
static void test_passes(void **state)
{
	(void)state;
	for (uint32_t dma_size = 0; dma_size <= DMA_BYTES + 4; dma_size++) {
		for (uint32_t location_size = 0; location_size <= LOCATIONS + 1; location_size++)
			run_passes(dma_size, location_size);
	}
}

/* What follows a full output and becomes nothing still belongs to the pass. */
static void test_exactly_full(void **state)
{
	struct render_bench bench;

	(void)state;
	render_bench_init(&bench);
	render_bench_commands(&bench, commands, COMMAND_BYTES / 4);
	bench.arguments.output.dma_size = DMA_BYTES;
	bench.arguments.output.locations_size = LOCATIONS;
	bench.arguments.output.allocations_size = BENCH_LIST;
	bench.arguments.output.private_data_size = 36;
	render_expect("full", pb_render(&bench.arguments), PB_RENDER_SUCCESS);
}

/* A NOP at the start of a pass that has no room for what follows it. */
static void a_nop_alone_is_no_progress(void **state)
{
	const uint32_t input[] = {0x00000001, 0x01000005, 2, 0, 4, 7};
	struct render_bench bench;

	(void)state;
	render_bench_init(&bench);
	render_bench_commands(&bench, input, 6);
	bench.arguments.output.dma_size = 19;
	render_expect_nothing("nop", &bench, pb_render(&bench.arguments), PB_RENDER_INSUFFICIENT_DMA_BUFFER);
	assert_int_equal(bench.arguments.multipass_offset, 0);
	bench.arguments.output.dma_size = 20;
	render_expect("nop", pb_render(&bench.arguments), PB_RENDER_SUCCESS);
}

/* The process changes its commands between two passes: all of them are checked again. */
static void test_changed_between_passes(void **state)
{
	struct render_bench bench;

	(void)state;
	render_bench_init(&bench);
	render_bench_commands(&bench, commands, COMMAND_BYTES / 4);
	bench.arguments.output.dma_size = 64;
	render_expect("first", pb_render(&bench.arguments), PB_RENDER_INSUFFICIENT_DMA_BUFFER);
	assert_int_equal(bench.arguments.multipass_offset, 104);
	render_bench_outputs(&bench);
	memset(&bench.arguments.output.record, 0, sizeof(bench.arguments.output.record));
	bench.words[14] = 0x10000007; /* TARGET, before the place where the second pass begins */
	render_expect_nothing("second", &bench, pb_render(&bench.arguments), PB_RENDER_INVALID_PARAMETER);
	bench.words[14] = 0x00000006;
	render_expect_nothing("no target any more", &bench, pb_render(&bench.arguments),
			      PB_RENDER_INVALID_PARAMETER);
	bench.words[11] = 0x00000021;
	render_expect_nothing("a NOP over the place", &bench, pb_render(&bench.arguments),
			      PB_RENDER_INVALID_PARAMETER);
	assert_int_equal(bench.arguments.multipass_offset, 104);
}

UNIT_SUITE(test_render_outputs)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(the_kernel_has_commands_of_its_own),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_lists_too_small),
		cmocka_unit_test(test_passes),
		cmocka_unit_test(test_exactly_full),
		cmocka_unit_test(a_nop_alone_is_no_progress),
		cmocka_unit_test(test_changed_between_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
