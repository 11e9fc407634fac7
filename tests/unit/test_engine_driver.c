/* SPDX-License-Identifier: MIT */
/* The driver's half of apertures, with engines that run behind it. */
#include <string.h>

#include "firmware/abi/boot.h"
#include "hal/engine/reference.h"
#include "tests/unit/engine_bench.h"
#include "tests/unit/unit.h"

#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))

static void ignore_line(void *context, uint32_t line)
{
	(void)context;
	(void)line;
}

static const struct pb_lines_ops lines_ops = {.raise = ignore_line};
static const struct pb_lines lines = {.ops = &lines_ops};

static struct pb_reference_engine driver_of(const struct bench *bench)
{
	return (struct pb_reference_engine){
		.memory = bench->memory,
		.registers_offset = BENCH_REGISTERS,
		.ring_offset = BENCH_RING,
		.range_offset = BENCH_RANGES,
		.channels = BENCH_CHANNELS,
		.dummy_offset = BENCH_DUMMY,
		.translation_offset = BENCH_TRANSLATION,
		.lines = &lines,
	};
}

static void a_reset_sets_the_registers(void **state)
{
	struct pb_reference_engine driver;
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	driver = driver_of(&bench);
	memset(bench.registers, 0, 64);
	pb_reference_engine_ops.reset(&driver);
	assert_int_equal(bench.registers->ring_offset, BENCH_RING);
	assert_int_equal(bench.registers->range_offset, BENCH_RANGES);
	assert_int_equal(bench.registers->channels, BENCH_CHANNELS);
	assert_int_equal(bench.registers->dummy_offset, BENCH_DUMMY);
	assert_int_equal(bench.registers->translation_offset, BENCH_TRANSLATION);
	bench_stop(&bench);
}

static void ranges_are_written_as_the_engine_reads_them(void **state)
{
	static const struct pb_engine_range ranges[] = {
		{BENCH_APERTURE + 0x100000, 0x3000, BENCH_TABLE, true},
		{BENCH_APERTURE + 0x100000, 0x3000, 0x1a000, false},
		{0, 0, 0, false},
	};
	static const uint32_t words[][4] = {
		{0x100000, 7, 0x3000, BENCH_TABLE + 1},
		{0x100000, 7, 0x3000, 0x1a000},
		{0, 0, 0, 0},
	};
	struct pb_reference_engine driver;
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	driver = driver_of(&bench);
	for (size_t i = 0; i < ARRAY(ranges); i++) {
		pb_reference_engine_ops.set_range(&driver, 2, 31, &ranges[i]);
		assert_memory_equal(bench.memory + BENCH_RANGES + 2 * BENCH_ROW_BYTES + 31 * 16, words[i],
				    16);
	}
	bench_stop(&bench);
}

static void pages_are_read_as_the_engine_reads_them(void **state)
{
	static const struct {
		uint32_t entry;
		uint32_t page;
	} cases[] = {
		{0, 0},      {0x9001, 0x9000}, {0x9000, 0}, {0x9003, 0},
		{0x9801, 0}, {1, 0},           {2, 0},      {0xfffff001, 0xfffff000},
	};
	struct pb_reference_engine driver;
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	driver = driver_of(&bench);
	for (size_t i = 0; i < ARRAY(cases); i++) {
		*bench_at(&bench, BENCH_TABLE + 4 * 70) = cases[i].entry;
		assert_int_equal(pb_reference_engine_ops.page(&driver, BENCH_TABLE, 70), cases[i].page);
	}
	bench_stop(&bench);
}

/* Words in the middle of the table go, and both nodes forget them. */
static void cleared_pages_are_gone_for_all_nodes(void **state)
{
	static uint8_t expected[BENCH_BYTES];
	struct pb_reference_engine driver;
	struct bench bench;
	struct bench other;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	bench_start_other(&other, &bench, PB_NODE_3D);
	driver = driver_of(&bench);
	for (uint32_t page = 0; page < 6; page++)
		bench_map(&bench, page, 0x9000);
	SUBMIT(&bench, FILL(IN(0x1000), 0x4000, 1));
	bench_expect_done(&bench);
	SUBMIT(&other, FILL(IN(0x1000), 0x4000, 1));
	bench_expect_done(&other);
	bench_keep(&bench, expected);
	memset(expected + BENCH_TABLE + 8, 0, 12);
	pb_reference_engine_ops.page_clear(&driver, BENCH_TABLE, 2, 3);
	bench_expect_memory(&bench, expected);
	SUBMIT(&bench, FILL(IN(0x1000), 4, 1), FILL(IN(0x5000), 4, 1), FILL(IN(0x4000), 4, 1));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE + 0x4000);
	SUBMIT(&other, FILL(IN(0x1000), 4, 1), FILL(IN(0x5000), 4, 1), FILL(IN(0x2000), 4, 1));
	bench_expect_fault(&other, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE + 0x2000);
	bench_stop_other(&other);
	bench_stop(&bench);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reset_sets_the_registers),
		cmocka_unit_test(ranges_are_written_as_the_engine_reads_them),
		cmocka_unit_test(pages_are_read_as_the_engine_reads_them),
		cmocka_unit_test(cleared_pages_are_gone_for_all_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
