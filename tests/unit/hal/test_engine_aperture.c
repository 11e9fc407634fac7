/* SPDX-License-Identifier: MIT */
/* Packets that reach memory through an aperture, whose pages lie anywhere. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define WORDS    20
#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))
#define VALUE    0x5a5aa5a5u
#define END      (BENCH_PAGES * 4096u)

static void fills_go_page_by_page(void **state)
{
	static const struct {
		uint32_t offset;
		uint32_t bytes;
	} cases[] = {
		{0, 4},           {0, 0x1000},
		{0xffc, 4},       {0xffc, 8},
		{0x1000, 4},      {0, BENCH_MAPPED},
		{0x804, 0x2000},  {0x7ffc, 4},
		{0x3000, 0x1004}, {BENCH_ISLAND, 0x1000},
		{0x10, 0},        {0x2ffc, 0x1008},
		{0x123c, 0x3dc0}, {BENCH_MAPPED - 0x1ffc, 0x1ffc},
	};
	static uint8_t expected[BENCH_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY(cases); i++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		bench_scatter(&bench);
		bench_keep(&bench, expected);
		bench_expect_fill(expected, cases[i].offset, cases[i].bytes, VALUE);
		SUBMIT(&bench, FILL(IN(cases[i].offset), cases[i].bytes, VALUE));
		bench_expect_done(&bench);
		bench_expect_memory(&bench, expected);
		bench_stop(&bench);
	}
}

static void expect_copy(uint8_t *memory, uint32_t from, uint32_t to, uint32_t bytes)
{
	static uint8_t before[BENCH_BYTES];

	memcpy(before, memory, BENCH_BYTES);
	for (uint32_t i = 0; i < bytes; i++)
		memory[bench_place(to + i)] = before[bench_place(from + i)];
}

static void copies_are_as_if_read_first(void **state)
{
	static const struct {
		uint32_t from;
		uint32_t to;
		uint32_t bytes;
	} cases[] = {
		{0, 0x4000, 0x4000},
		{0x4000, 0, 0x4000},
		{0, 4, 0x7ffc},
		{4, 0, 0x7ffc},
		{0, 0x1000, 0x7000},
		{0x1000, 0, 0x7000},
		{0, 0x1004, 0x6ff0},
		{0x1004, 0, 0x6ff0},
		{0x10, 0x100c, 0x5000},
		{0x100c, 0x10, 0x5000},
		{0x123c, 0x1ff8, 0x2468},
		{0x1ff8, 0x123c, 0x2468},
		{0, 0, BENCH_MAPPED},
		{0xffc, 0x2ffc, 8},
		{0x7ffc, 0x1000, 4},
		{0x3000, 0x4000, 0x1000},
		{0, 0x1000, 0x1000},
		{0x2000, 0x1ffc, 0x2000},
		{BENCH_LINEAR + 0x3000, 0x0, 0x1000},
		{BENCH_LINEAR + 0xb004, 0x1ff0, 0x1e00},
		{0x1ff0, BENCH_LINEAR + 0xb004, 0x1e00},
	};
	static uint8_t expected[BENCH_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY(cases); i++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		bench_scatter(&bench);
		bench_keep(&bench, expected);
		expect_copy(expected, cases[i].from, cases[i].to, cases[i].bytes);
		SUBMIT(&bench, COPY(BENCH_OF(cases[i].from), BENCH_OF(cases[i].to), cases[i].bytes));
		bench_expect_done(&bench);
		bench_expect_memory(&bench, expected);
		bench_stop(&bench);
	}
}

static void rectangles_go_page_by_page(void **state)
{
	static const struct {
		uint32_t from;
		uint32_t from_pitch;
		uint32_t to;
		uint32_t to_pitch;
		uint32_t bytes;
		uint32_t rows;
	} cases[] = {
		{0x10, 0x404, 0x4000, 0x3f8, 0x200, 16},       {0x4000, 0x1000, 0, 0x800, 0x700, 4},
		{0x800, 0x1800, 0x4ffc, 4, 0x1004, 3},         {0, 4, 0x1000, 4, 0x2000, 3},
		{BENCH_LINEAR + 0xb000, 64, 0xff0, 32, 32, 8}, {0xff0, 32, BENCH_LINEAR + 0xb000, 64, 32, 8},
	};
	static uint8_t expected[BENCH_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY(cases); i++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		bench_scatter(&bench);
		bench_keep(&bench, expected);
		for (uint32_t row = 0; row < cases[i].rows; row++)
			expect_copy(expected, cases[i].from + row * cases[i].from_pitch,
				    cases[i].to + row * cases[i].to_pitch, cases[i].bytes);
		SUBMIT(&bench, RECT(BENCH_OF(cases[i].from), cases[i].from_pitch, BENCH_OF(cases[i].to),
				    cases[i].to_pitch, cases[i].bytes, cases[i].rows));
		bench_expect_done(&bench);
		bench_expect_memory(&bench, expected);
		bench_stop(&bench);
	}
}

/* Each word of the longest packet is the first of its page once, in a buffer of the ring and in a nested one. */
static void buffers_cross_pages(void **state)
{
	static const uint32_t words[] = {RECT(AT(0x3000), 16, AT(0x3100), 8, 8, 2), FILL(AT(0x3200), 4, 7),
					 INDIRECT(IN(0x6000), 20)};
	static const uint32_t nested[] = {FILL(AT(0x3204), 4, 8)};

	(void)state;
	for (uint32_t split = 0; split <= ARRAY(words); split++) {
		uint32_t at = 0x3000 - 4 * split;
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		bench_scatter(&bench);
		bench_store_in(&bench, at, words, ARRAY(words));
		bench_store_in(&bench, 0x6000, nested, ARRAY(nested));
		if (split % 2 == 0) {
			bench_feed(&bench, 1, BENCH_APERTURE + at, sizeof(words));
			bench_run(&bench);
		} else {
			SUBMIT(&bench, INDIRECT(IN(at), sizeof(words)), NOP(1));
		}
		bench_expect_done(&bench);
		assert_memory_equal(bench.memory + 0x3100, bench.memory + 0x3000, 8);
		assert_memory_equal(bench.memory + 0x3108, bench.memory + 0x3010, 8);
		assert_int_equal(*bench_at(&bench, 0x3200), 7);
		assert_int_equal(*bench_at(&bench, 0x3204), 8);
		bench_stop(&bench);
	}
}

/* ---- drawing ---- */

#define SIDE      48u
#define TRIANGLES 20u
#define PARTS     3u /* target, texels, vertices */

static void random_triangles(struct pb_vertex *vertices, uint32_t count)
{
	uint32_t seed = 99;

	for (uint32_t i = 0; i < count; i++)
		vertices[i] = (struct pb_vertex){
			.x = (int32_t)(bench_random(&seed) % 1000) - 100,
			.y = (int32_t)(bench_random(&seed) % 1000) - 100,
			.u = (int32_t)(bench_random(&seed) % 40000) - 20000,
			.v = (int32_t)(bench_random(&seed) % 40000) - 20000,
		};
}

/* Where the parts lie in memory, and where in the aperture: each of them in several pages. */
static const uint32_t linear[PARTS] = {0x10000, 0x9000, 0xd000};
static const uint32_t paged[PARTS] = {0x0e10, 0x4804, 0x8000 - 500};
static const uint32_t sizes[PARTS] = {SIDE * 256, 40 * 256, TRIANGLES * 48};
static const uint32_t scattered[] = {0x3000, 0x8000, 0x6000, 0xe000, 0x5000, 0x14000, 0x7000, 0xf000, 0xc000};

static uint8_t *paged_byte(const struct bench *bench, uint32_t part, uint32_t byte)
{
	uint32_t offset = paged[part] + byte;

	return bench->memory + scattered[offset / 4096] + offset % 4096;
}

/* Draws with those parts in the aperture whose bit is set, and hands out the target. */
static void draw_through(uint32_t in_aperture, uint8_t drawn[SIDE * 256])
{
	struct pb_vertex vertices[3 * TRIANGLES];
	struct bench bench;
	uint64_t at[PARTS];

	bench_start(&bench, PB_NODE_3D);
	random_triangles(vertices, 3 * TRIANGLES);
	memset(bench.memory + linear[0], 0, sizes[0]);
	memcpy(bench.memory + linear[2], vertices, sizeof(vertices));
	for (uint32_t page = 0; page < ARRAY(scattered); page++)
		bench_map(&bench, page, scattered[page]);
	for (uint32_t part = 0; part < PARTS; part++) {
		at[part] = (in_aperture & 1u << part) != 0 ? BENCH_APERTURE + paged[part]
							   : BENCH_GPU + linear[part];
		for (uint32_t byte = 0; byte < sizes[part]; byte++)
			*paged_byte(&bench, part, byte) = bench.memory[linear[part] + byte];
	}
	SUBMIT(&bench, TARGET(ADDRESS(at[0]), SIDE, SIDE, 256), TEXTURE(ADDRESS(at[1]), 60, 40, 256),
	       DRAW(ADDRESS(at[2]), 3 * TRIANGLES));
	bench_expect_done(&bench);
	for (uint32_t byte = 0; byte < sizes[0]; byte++)
		drawn[byte] = (in_aperture & 1u) != 0 ? *paged_byte(&bench, 0, byte)
						      : bench.memory[linear[0] + byte];
	bench_stop(&bench);
}

static void triangles_are_the_same(void **state)
{
	static const uint8_t nothing[SIDE * 256];
	static uint8_t expected[SIDE * 256];
	static uint8_t drawn[SIDE * 256];

	(void)state;
	draw_through(0, expected);
	assert_memory_not_equal(expected, nothing, sizeof(expected));
	for (uint32_t in_aperture = 1; in_aperture < 1u << PARTS; in_aperture++) {
		draw_through(in_aperture, drawn);
		assert_memory_equal(drawn, expected, sizeof(expected));
	}
}

/* ---- time ---- */

/* All of a large aperture is one page of memory: the time is that of its words, and a step ends inside it. */
static void long_packets_are_done_in_steps(void **state)
{
	static const struct {
		uint32_t words[WORDS];
		uint32_t count;
	} cases[] = {
		{{FILL(IN(0), END, VALUE)}, 5},
		{{COPY(IN(0), IN(4096), END - 4096)}, 6},
		{{RECT(IN(0), 0, IN(4096), 0, END - 4096, 1)}, 9},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY(cases); i++) {
		struct bench bench;
		uint32_t time = i == 0 ? BENCH_PAGES : BENCH_PAGES - 1;

		bench_start(&bench, PB_NODE_COPY);
		for (uint32_t page = 0; page < BENCH_PAGES; page++)
			bench_map(&bench, page, 0x9000);
		bench_store(&bench, BENCH_BUFFER, cases[i].words, cases[i].count);
		bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 4 * cases[i].count);
		/* A page of 1024 words each; the packet's own microsecond comes with the first of them. */
		for (uint32_t step = 1; step <= 1 + time; step++) {
			assert_true(pb_engine_model_step(bench.model, 1));
			assert_int_equal(bench.registers->time, step == 1 ? 1 : step + 1);
			assert_int_equal(bench.registers->sequence, 0);
		}
		bench_run(&bench);
		bench_expect_done(&bench);
		assert_int_equal(bench.registers->time, 2 + time);
		bench_stop(&bench);
	}
}

UNIT_SUITE(test_engine_aperture)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_go_page_by_page),
		cmocka_unit_test(copies_are_as_if_read_first),
		cmocka_unit_test(rectangles_go_page_by_page),
		cmocka_unit_test(buffers_cross_pages),
		cmocka_unit_test(triangles_are_the_same),
		cmocka_unit_test(long_packets_are_done_in_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
