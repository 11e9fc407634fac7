/* SPDX-License-Identifier: MIT */
/* TARGET, TEXTURE and DRAW: operands, state, faults and time. Pixels: test_engine_raster.c. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define WORDS     20
#define TARGET_AT 0x4000u
#define TEXELS_AT 0x9000u
#define VERTEX_AT 0xb000u

/* 16 x 16 pixels of target, one red texel. */
#define SMALL TARGET(AT(TARGET_AT), 16, 16, 64), TEXTURE(AT(TEXELS_AT), 1, 1, 4)

struct draw_case {
	const char *name;
	uint32_t words[WORDS];
	uint32_t count;
	uint32_t code;
	uint64_t address; /* 0: that of the packet, the last one of `from_end` words */
	uint32_t from_end;
};

#define DRAW_CASE(name, code, address, from_end, ...)                                                        \
	{                                                                                                    \
		name, {__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4, PB_ENGINE_FAULT_##code,    \
			address, from_end                                                                    \
	}

static const struct draw_case draw_cases[] = {
	DRAW_CASE("width 0", VALUE, 0, 6, TARGET(AT(TARGET_AT), 0, 1, 64)),
	DRAW_CASE("width 4097", VALUE, 0, 6, TARGET(AT(TARGET_AT), 4097, 1, 16388)),
	DRAW_CASE("width 4096", NONE, 0, 0, TARGET(AT(TARGET_AT), 4096, 1, 16384)),
	DRAW_CASE("width 2^30", VALUE, 0, 6, TARGET(AT(TARGET_AT), 0x40000000, 1, 0)),
	DRAW_CASE("height 0", VALUE, 0, 6, TARGET(AT(TARGET_AT), 1, 0, 64)),
	DRAW_CASE("height 4097", VALUE, 0, 6, TARGET(AT(TARGET_AT), 1, 4097, 4)),
	DRAW_CASE("height 4096", NONE, 0, 0, TARGET(AT(TARGET_AT), 1, 4096, 4)),
	DRAW_CASE("pitch too small", VALUE, 0, 6, TARGET(AT(TARGET_AT), 16, 16, 60)),
	DRAW_CASE("pitch too small and odd", VALUE, 0, 6, TARGET(AT(TARGET_AT), 16, 16, 62)),
	DRAW_CASE("pitch odd", ALIGNMENT, 0, 6, TARGET(AT(TARGET_AT), 16, 16, 66)),
	DRAW_CASE("address odd", ALIGNMENT, 0, 6, TARGET(AT(TARGET_AT + 1), 16, 16, 64)),
	DRAW_CASE("value before address", VALUE, 0, 6, TARGET(ADDRESS(2), 0, 16, 64)),
	DRAW_CASE("nowhere", ADDRESS, UINT64_C(0x400000000), 6, TARGET(ADDRESS(0x400000000), 16, 16, 64)),
	DRAW_CASE("last pixel in", NONE, 0, 0, TARGET(AT(0x10000 - 0x110), 4, 3, 128)),
	DRAW_CASE("last pixel out", ADDRESS, BENCH_GPU + 0xfef4, 6, TARGET(AT(0xfef4), 4, 3, 128)),
	DRAW_CASE("huge pitch", ADDRESS, BENCH_GPU + TARGET_AT, 6,
		  TARGET(AT(TARGET_AT), 1, 4096, 0xfffffffc)),
	DRAW_CASE("huge pitch, one row", NONE, 0, 0, TARGET(AT(TARGET_AT), 1, 1, 0xfffffffc)),
	DRAW_CASE("TEXTURE width 0", VALUE, 0, 6, TEXTURE(AT(TEXELS_AT), 0, 1, 64)),
	DRAW_CASE("TEXTURE height 4097", VALUE, 0, 6, TEXTURE(AT(TEXELS_AT), 1, 4097, 4)),
	DRAW_CASE("TEXTURE pitch", VALUE, 0, 6, TEXTURE(AT(TEXELS_AT), 8, 8, 28)),
	DRAW_CASE("TEXTURE pitch odd", ALIGNMENT, 0, 6, TEXTURE(AT(TEXELS_AT), 8, 8, 33)),
	DRAW_CASE("TEXTURE nowhere", ADDRESS, UINT64_C(4), 6, TEXTURE(ADDRESS(4), 8, 8, 32)),
	DRAW_CASE("no state", STATE, 0, 4, DRAW(AT(VERTEX_AT), 3)),
	DRAW_CASE("no state, no vertices", STATE, 0, 4, DRAW(AT(VERTEX_AT), 0)),
	DRAW_CASE("no texture", STATE, 0, 4, TARGET(AT(TARGET_AT), 16, 16, 64), DRAW(AT(VERTEX_AT), 3)),
	DRAW_CASE("no target", STATE, 0, 4, TEXTURE(AT(TEXELS_AT), 1, 1, 4), DRAW(AT(VERTEX_AT), 4)),
	DRAW_CASE("4 vertices", VALUE, 0, 4, SMALL, DRAW(AT(VERTEX_AT), 4)),
	DRAW_CASE("2 vertices nowhere", VALUE, 0, 4, SMALL, DRAW(ADDRESS(1), 2)),
	DRAW_CASE("vertices odd", ALIGNMENT, 0, 4, SMALL, DRAW(AT(VERTEX_AT + 2), 3)),
	DRAW_CASE("vertices nowhere", ADDRESS, UINT64_C(8), 4, SMALL, DRAW(ADDRESS(8), 3)),
	DRAW_CASE("vertices 2^32", ADDRESS, BENCH_GPU + VERTEX_AT, 4, SMALL,
		  DRAW(AT(VERTEX_AT), 0x10000002 / 3 * 3)),
	DRAW_CASE("last vertex in", NONE, 0, 0, SMALL, DRAW(AT(0x10000 - 48), 3)),
	DRAW_CASE("last vertex out", ADDRESS, BENCH_GPU + 0xffd4, 4, SMALL, DRAW(AT(0xffd4), 3)),
	DRAW_CASE("no vertices", NONE, 0, 0, SMALL, DRAW(ADDRESS(1), 0)),
};

static void operands_are_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(draw_cases) / sizeof(draw_cases[0]); i++) {
		const struct draw_case *at = &draw_cases[i];
		uint64_t packet = BENCH_GPU + BENCH_BUFFER + 4 * (at->count - at->from_end);
		struct bench bench;

		print_message("  %s\n", at->name);
		bench_start(&bench, PB_NODE_3D);
		memset(bench.memory + 0x10000 - 48, 0, 48);
		bench_submit(&bench, at->words, at->count);
		if (at->code == PB_ENGINE_FAULT_NONE)
			bench_expect_done(&bench);
		else
			bench_expect_fault(&bench, at->code, at->address == 0 ? packet : at->address);
		bench_stop(&bench);
	}
}

/* The 16 x 16 target holds `value` everywhere. */
static void expect_target(const struct bench *bench, uint32_t value)
{
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(*bench_at(bench, TARGET_AT + 4 * i), value);
}

/* A triangle over all of the 16 x 16 target; two of them at VERTEX_AT. */
static void start_small(struct bench *bench)
{
	static const struct pb_vertex triangle[] = {{0, 0, 0, 0}, {512, 0, 0, 0}, {0, 512, 0, 0}};

	bench_start(bench, PB_NODE_3D);
	memcpy(bench->memory + VERTEX_AT, triangle, sizeof(triangle));
	memcpy(bench->memory + VERTEX_AT + 48, triangle, sizeof(triangle));
	*bench_at(bench, TEXELS_AT) = 0x11223344;
	*bench_at(bench, TEXELS_AT + 4) = 0x55667788;
	memset(bench->memory + TARGET_AT, 0, 1024);
}

static void each_vertex_field_has_its_limit(void **state)
{
	static const int32_t limits[4] = {65536, 65536, 1048576, 1048576};
	static const int32_t far[] = {INT32_MIN, INT32_MAX};

	(void)state;
	for (uint32_t word = 0; word < 12; word++) {
		int32_t limit = limits[word % 4];
		const int32_t values[] = {limit, -limit, limit + 1, -limit - 1, far[0], far[1]};

		for (uint32_t i = 0; i < 6; i++) {
			struct bench bench;

			start_small(&bench);
			/* The second triangle is wrong: the first one is drawn, of the second nothing. */
			memcpy(bench.memory + VERTEX_AT + 48 + 4 * word, &values[i], 4);
			if (i < 2)
				memset(bench.memory + VERTEX_AT, 0, 48);
			SUBMIT(&bench, SMALL, DRAW(AT(VERTEX_AT), 6));
			if (i < 2) {
				bench_expect_done(&bench);
			} else {
				bench_expect_fault(&bench, PB_ENGINE_FAULT_VALUE,
						   BENCH_GPU + BENCH_BUFFER + 48);
				expect_target(&bench, 0x11223344);
			}
			bench_stop(&bench);
		}
	}
}

static void a_wrong_first_triangle_draws_nothing(void **state)
{
	struct bench bench;

	(void)state;
	start_small(&bench);
	*bench_at(&bench, VERTEX_AT + 32) = 70000;
	SUBMIT(&bench, SMALL, DRAW(AT(VERTEX_AT), 6));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_VALUE, BENCH_GPU + BENCH_BUFFER + 48);
	expect_target(&bench, 0);
	bench_stop(&bench);
}

static void state_lasts_as_long_as_the_slot(void **state)
{
	struct bench bench;

	(void)state;
	start_small(&bench);
	/* Set in a nested buffer, used outside it; the last TEXTURE counts. */
	STORE(&bench, BENCH_DATA, SMALL, TEXTURE(AT(TEXELS_AT + 4), 1, 1, 4));
	SUBMIT(&bench, INDIRECT(AT(BENCH_DATA), 72), DRAW(AT(VERTEX_AT), 3));
	bench_expect_done(&bench);
	expect_target(&bench, 0x55667788);
	/* Half of it anew is not enough, whichever half. */
	SUBMIT(&bench, TEXTURE(AT(TEXELS_AT), 1, 1, 4), DRAW(AT(VERTEX_AT), 3));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_STATE, BENCH_GPU + BENCH_BUFFER + 24);
	bench_command(&bench, PB_ENGINE_COMMAND_CONTINUE);
	SUBMIT(&bench, SMALL, DRAW(AT(VERTEX_AT), 3));
	bench_expect_done(&bench);
	SUBMIT(&bench, TARGET(AT(TARGET_AT), 16, 16, 64), DRAW(AT(VERTEX_AT), 3));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_STATE, BENCH_GPU + BENCH_BUFFER + 24);
	bench_stop(&bench);
}

static void time_is_vertices_and_bounding_boxes(void **state)
{
	static const struct {
		struct pb_vertex vertices[3];
		uint32_t width;
		uint32_t time; /* of the DRAW beside its own microsecond, for 8 of these triangles */
	} cases[] = {
		/* 8 * 12 words and 8 boxes */
		{{{0, 0, 0, 0}, {256, 0, 0, 0}, {0, 256, 0, 0}}, 32, (96 + 8 * 256) / 1024},
		{{{0, 0, 0, 0}, {512, 0, 0, 0}, {0, 512, 0, 0}}, 32, (96 + 8 * 1024) / 1024},
		{{{-4096, -4096, 0, 0}, {4096, 0, 0, 0}, {0, 4096, 0, 0}}, 32, (96 + 8 * 1024) / 1024},
		{{{8, 8, 0, 0}, {312, 392, 0, 0}, {8, 8, 0, 0}}, 32, (96 + 8 * 20 * 25) / 1024}, /* no area */
		{{{9, 0, 0, 0}, {23, 512, 0, 0}, {9, 512, 0, 0}}, 32, 0},      /* no column */
		{{{513, 0, 0, 0}, {600, 512, 0, 0}, {700, 512, 0, 0}}, 32, 0}, /* outside */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_3D);
		for (uint32_t copy = 0; copy < 8; copy++)
			memcpy(bench.memory + VERTEX_AT + 48 * copy, cases[i].vertices, 48);
		SUBMIT(&bench, TARGET(AT(TARGET_AT), 32, 32, 128), TEXTURE(AT(TEXELS_AT), 1, 1, 4),
		       DRAW(AT(VERTEX_AT), 24));
		bench_expect_done(&bench);
		assert_int_equal(bench.registers->time, 4 + cases[i].time);
		assert_int_equal(bench.registers->progress, 4 + cases[i].time);
		bench_stop(&bench);
	}
}

static void a_long_draw_is_done_in_steps(void **state)
{
	struct bench bench;
	uint32_t steps = 0;

	(void)state;
	start_small(&bench);
	for (uint32_t i = 0; i < 300; i++)
		memcpy(bench.memory + VERTEX_AT + 48 * i, bench.memory + VERTEX_AT, 48);
	STORE(&bench, BENCH_BUFFER, SMALL, DRAW(AT(VERTEX_AT), 900));
	bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 64);
	while (pb_engine_model_step(bench.model, 1)) {
		steps++;
		if (bench.registers->sequence == 0)
			assert_int_equal(bench.registers->progress, steps);
	}
	bench_expect_done(&bench);
	assert_int_equal(bench.registers->time, 4 + 300 * (12 + 256) / 1024);
	expect_target(&bench, 0x11223344);
	bench_stop(&bench);
}

UNIT_SUITE(test_engine_draw)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_are_checked),
		cmocka_unit_test(each_vertex_field_has_its_limit),
		cmocka_unit_test(a_wrong_first_triangle_draws_nothing),
		cmocka_unit_test(state_lasts_as_long_as_the_slot),
		cmocka_unit_test(time_is_vertices_and_bounding_boxes),
		cmocka_unit_test(a_long_draw_is_done_in_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
