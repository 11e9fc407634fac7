/* SPDX-License-Identifier: MIT */
/*
 * Triangles against docs/engine.md, pixel by pixel: expect_triangle below is the
 * page's formulas for one pixel at a time, with nothing carried from one pixel
 * to the next.
 */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define TARGET_AT    0x4000u
#define TARGET_WORDS 0x1000u
#define TEXELS_AT    0x8000u
#define VERTEX_AT    0xb000u
#define UNTOUCHED    0xeeeeeeeeu

struct extent {
	uint32_t width;
	uint32_t height;
	uint32_t pitch;
};

struct scene {
	struct extent target;
	struct extent texture;
	struct pb_vertex vertices[3];
};

static int64_t edge(const struct pb_vertex *a, const struct pb_vertex *b, int64_t x, int64_t y)
{
	return (int64_t)(b->x - a->x) * (y - a->y) - (int64_t)(b->y - a->y) * (x - a->x);
}

static bool edge_covers(const struct pb_vertex *a, const struct pb_vertex *b, int64_t w)
{
	bool top = b->y == a->y && b->x > a->x;
	bool left = b->y < a->y;

	return w > 0 || (w == 0 && (top || left));
}

static int64_t floor_of(int64_t a, int64_t b)
{
	int64_t down = a >= 0 ? a / b : -((-a + b - 1) / b);

	assert_true(down * b <= a && a < (down + 1) * b);
	return down;
}

static uint32_t texel_at(int64_t sum, int64_t area, uint32_t size)
{
	int64_t texel = floor_of(floor_of(sum, area), 256);

	return (uint32_t)(texel - floor_of(texel, size) * size);
}

static uint32_t texel_value(uint32_t column, uint32_t row)
{
	return row << 16 | column;
}

/* @return false: not covered */
static bool expect_pixel(const struct scene *scene, uint32_t px, uint32_t py, uint32_t *value)
{
	const struct pb_vertex *v[3] = {&scene->vertices[0], &scene->vertices[1], &scene->vertices[2]};
	int64_t area = edge(v[0], v[1], v[2]->x, v[2]->y);
	int64_t x = 16 * (int64_t)px + 8;
	int64_t y = 16 * (int64_t)py + 8;
	int64_t w[3];

	if (area == 0)
		return false;
	if (area < 0) {
		v[1] = &scene->vertices[2];
		v[2] = &scene->vertices[1];
		area = -area;
	}
	w[0] = edge(v[1], v[2], x, y);
	w[1] = edge(v[2], v[0], x, y);
	w[2] = edge(v[0], v[1], x, y);
	if (!edge_covers(v[1], v[2], w[0]) || !edge_covers(v[2], v[0], w[1]) ||
	    !edge_covers(v[0], v[1], w[2]))
		return false;
	*value = texel_value(
		texel_at(w[0] * v[0]->u + w[1] * v[1]->u + w[2] * v[2]->u, area, scene->texture.width),
		texel_at(w[0] * v[0]->v + w[1] * v[1]->v + w[2] * v[2]->v, area, scene->texture.height));
	return true;
}

/* @return pixels covered */
static uint32_t expect_triangle(const struct scene *scene, uint32_t *target)
{
	uint32_t covered = 0;

	for (uint32_t py = 0; py < scene->target.height; py++) {
		for (uint32_t px = 0; px < scene->target.width; px++) {
			if (expect_pixel(scene, px, py, &target[py * scene->target.pitch / 4 + px]))
				covered++;
		}
	}
	return covered;
}

static void clear_target(const struct bench *bench)
{
	memset(bench->memory + TARGET_AT, (int)(UNTOUCHED & 0xffu), 4 * TARGET_WORDS);
}

static void store_texture(const struct bench *bench, const struct extent *texture)
{
	for (uint32_t row = 0; row < texture->height; row++) {
		for (uint32_t column = 0; column < texture->width; column++)
			*bench_at(bench, TEXELS_AT + row * texture->pitch + 4 * column) =
				texel_value(column, row);
	}
}

static void draw(struct bench *bench, const struct scene *scene)
{
	memcpy(bench->memory + VERTEX_AT, scene->vertices, sizeof(scene->vertices));
	SUBMIT(bench, TARGET(AT(TARGET_AT), scene->target.width, scene->target.height, scene->target.pitch),
	       TEXTURE(AT(TEXELS_AT), scene->texture.width, scene->texture.height, scene->texture.pitch),
	       DRAW(AT(VERTEX_AT), 3));
	bench_expect_done(bench);
}

/* Draws a scene and compares it with the formulas; each pixel is stored once. @return pixels covered */
static uint32_t check(struct bench *bench, const struct scene *scene)
{
	static uint32_t expected[TARGET_WORDS];
	struct pb_engine_model_statistics before;
	struct pb_engine_model_statistics after;
	uint32_t covered;

	clear_target(bench);
	store_texture(bench, &scene->texture);
	memset(expected, (int)(UNTOUCHED & 0xffu), sizeof(expected));
	covered = expect_triangle(scene, expected);
	pb_engine_model_statistics(bench->model, &before);
	draw(bench, scene);
	pb_engine_model_statistics(bench->model, &after);
	assert_memory_equal(bench->memory + TARGET_AT, expected, sizeof(expected));
	assert_true(after.pixels - before.pixels == covered);
	return covered;
}

#define TARGET_16                                                                                            \
	{                                                                                                    \
		16, 16, 64                                                                                   \
	}
#define TEXTURE_16                                                                                           \
	{                                                                                                    \
		16, 16, 64                                                                                   \
	}

static void chosen_triangles(void **state)
{
	static const struct {
		const char *name;
		struct scene scene;
		uint32_t covered;
	} cases[] = {
		{"upper left half",
		 {TARGET_16, TEXTURE_16, {{0, 0, 0, 0}, {256, 0, 4096, 0}, {0, 256, 0, 4096}}},
		 120},
		{"other winding",
		 {TARGET_16, TEXTURE_16, {{0, 0, 0, 0}, {0, 256, 0, 4096}, {256, 0, 4096, 0}}},
		 120},
		{"lower right half",
		 {TARGET_16, TEXTURE_16, {{256, 0, 0, 0}, {256, 256, 0, 0}, {0, 256, 0, 9}}},
		 136},
		{"a point", {TARGET_16, TEXTURE_16, {{8, 8, 0, 0}, {8, 8, 0, 0}, {8, 8, 0, 0}}}, 0},
		{"a line", {TARGET_16, TEXTURE_16, {{0, 0, 0, 0}, {64, 64, 0, 0}, {200, 200, 0, 0}}}, 0},
		{"between centres", {TARGET_16, TEXTURE_16, {{9, 9, 0, 0}, {23, 9, 0, 0}, {9, 23, 0, 0}}}, 0},
		{"top left corner on a centre",
		 {TARGET_16, TEXTURE_16, {{8, 8, 0, 0}, {24, 8, 0, 0}, {8, 24, 0, 0}}},
		 1},
		{"bottom right corner on a centre",
		 {TARGET_16, TEXTURE_16, {{24, 24, 0, 0}, {8, 24, 0, 0}, {24, 8, 0, 0}}},
		 0},
		{"left of the target",
		 {TARGET_16, TEXTURE_16, {{-99, 0, 0, 0}, {-1, 9, 0, 0}, {-99, 99, 0, 0}}},
		 0},
		{"below the target",
		 {TARGET_16, TEXTURE_16, {{0, 257, 0, 0}, {99, 400, 0, 0}, {9, 500, 0, 0}}},
		 0},
		{"all of it and more",
		 {TARGET_16, TEXTURE_16, {{-65536, -65536, 0, 0}, {65536, 0, 9, 99}, {0, 65536, 99, 9}}},
		 256},
		{"largest texels",
		 {TARGET_16,
		  {3, 5, 12},
		  {{-65536, -65536, -1048576, 1048576},
		   {65536, -65536, 1048576, -1048576},
		   {0, 65536, -1048576, -7}}},
		 256},
		{"negative texels",
		 {TARGET_16, {7, 3, 28}, {{0, 0, -1, -1}, {512, 0, -8192, -255}, {0, 512, -256, -9999}}},
		 256},
		{"one texel",
		 {TARGET_16, {1, 1, 4}, {{0, 0, -77, 5}, {512, 0, 8, 3}, {0, 512, -256, -9999}}},
		 256},
		{"pitch of the target",
		 {{5, 7, 40}, TEXTURE_16, {{0, 0, 0, 0}, {512, 0, 256, 0}, {0, 512, 0, 256}}},
		 35},
		{"widest",
		 {{4096, 1, 16384}, {9, 9, 36}, {{-9, 0, 0, 0}, {65536, -3, 99999, 0}, {65536, 99, 0, 99}}},
		 3766},
		{"highest",
		 {{1, 4096, 4}, {9, 9, 36}, {{0, -9, 0, 0}, {-3, 65536, 99999, 0}, {99, 65536, 0, 99}}},
		 3766},
	};
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_3D);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("  %s\n", cases[i].name);
		assert_int_equal(check(&bench, &cases[i].scene), cases[i].covered);
	}
	bench_stop(&bench);
}

/* A number of -limit..limit, often a multiple of `grid` off by `shift`. */
static int32_t pick(uint32_t *seed, int32_t limit, int32_t grid, int32_t shift)
{
	int32_t value = (int32_t)(bench_random(seed) % (uint32_t)(2 * limit + 1)) - limit;

	if (bench_random(seed) % 2 == 0)
		value = value / grid * grid + shift;
	return value < -limit ? -limit : value > limit ? limit : value;
}

static struct extent pick_extent(uint32_t *seed, uint32_t limit)
{
	uint32_t width = 1 + bench_random(seed) % limit;
	uint32_t height = 1 + bench_random(seed) % limit;

	return (struct extent){width, height, 4 * (width + bench_random(seed) % 4)};
}

static void random_triangles(void **state)
{
	static const int32_t positions[] = {40, 400, 1000, 65536};
	static const int32_t texels[] = {300, 20000, 1048576};
	struct bench bench;
	uint32_t seed = 20240607;
	uint32_t covered = 0;

	(void)state;
	bench_start(&bench, PB_NODE_3D);
	for (uint32_t i = 0; i < 4000; i++) {
		int32_t position = positions[bench_random(&seed) % 4];
		int32_t texel = texels[bench_random(&seed) % 3];
		struct scene scene = {pick_extent(&seed, 28), pick_extent(&seed, 20), {{0}}};

		for (uint32_t vertex = 0; vertex < 3; vertex++)
			scene.vertices[vertex] =
				(struct pb_vertex){pick(&seed, position, 16, 8), pick(&seed, position, 16, 8),
						   pick(&seed, texel, 256, 0), pick(&seed, texel, 256, 0)};
		covered += check(&bench, &scene);
	}
	assert_true(covered > 100000); /* the cases are not all empty */
	bench_stop(&bench);
}

#define CELLS  5
#define PIXELS 20u

/* Corners of a net over the target, moved about inside; often onto the centres of pixels. */
static void pick_net(uint32_t *seed, struct pb_vertex net[CELLS + 1][CELLS + 1])
{
	for (int32_t y = 0; y <= CELLS; y++) {
		for (int32_t x = 0; x <= CELLS; x++) {
			net[y][x] = (struct pb_vertex){64 * x, 64 * y, 0, 0};
			if (x > 0 && x < CELLS)
				net[y][x].x += pick(seed, 15, 8, 0);
			if (y > 0 && y < CELLS)
				net[y][x].y += pick(seed, 15, 8, 0);
		}
	}
}

static void draw_counting(struct bench *bench, const struct pb_vertex *a, const struct pb_vertex *b,
			  const struct pb_vertex *c, uint32_t counts[PIXELS * PIXELS])
{
	struct scene scene = {{PIXELS, PIXELS, 4 * PIXELS}, {1, 1, 4}, {*a, *b, *c}};

	clear_target(bench);
	draw(bench, &scene);
	for (uint32_t i = 0; i < PIXELS * PIXELS; i++)
		counts[i] += *bench_at(bench, TARGET_AT + 4 * i) != UNTOUCHED;
}

static void each_pixel_of_a_net_is_drawn_once(void **state)
{
	struct bench bench;
	uint32_t seed = 77;

	(void)state;
	bench_start(&bench, PB_NODE_3D);
	*bench_at(&bench, TEXELS_AT) = 1;
	for (uint32_t round = 0; round < 40; round++) {
		struct pb_vertex net[CELLS + 1][CELLS + 1];
		uint32_t counts[PIXELS * PIXELS] = {0};

		pick_net(&seed, net);
		for (uint32_t cell = 0; cell < CELLS * CELLS; cell++) {
			const struct pb_vertex *upper = &net[cell / CELLS][cell % CELLS];
			const struct pb_vertex *lower = &net[cell / CELLS + 1][cell % CELLS];

			/* The second with the other winding every other time. */
			draw_counting(&bench, upper, upper + 1, lower, counts);
			draw_counting(&bench, lower, cell % 2 == 0 ? upper + 1 : lower + 1,
				      cell % 2 == 0 ? lower + 1 : upper + 1, counts);
		}
		for (uint32_t i = 0; i < PIXELS * PIXELS; i++)
			assert_int_equal(counts[i], 1);
	}
	bench_stop(&bench);
}

static void later_triangles_cover_earlier_ones(void **state)
{
	static const struct pb_vertex vertices[6] = {{0, 0, 0, 0},   {512, 0, 0, 0},   {0, 512, 0, 0},
						     {0, 0, 256, 0}, {256, 0, 256, 0}, {0, 256, 256, 0}};
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_3D);
	memcpy(bench.memory + VERTEX_AT, vertices, sizeof(vertices));
	*bench_at(&bench, TEXELS_AT) = 1;
	*bench_at(&bench, TEXELS_AT + 4) = 2;
	SUBMIT(&bench, TARGET(AT(TARGET_AT), 16, 16, 64), TEXTURE(AT(TEXELS_AT), 2, 1, 8),
	       DRAW(AT(VERTEX_AT), 6));
	bench_expect_done(&bench);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(*bench_at(&bench, TARGET_AT + 4 * i), i / 16 + i % 16 < 15 ? 2 : 1);
	bench_stop(&bench);
}

UNIT_SUITE(test_engine_raster)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(chosen_triangles),
		cmocka_unit_test(random_triangles),
		cmocka_unit_test(each_pixel_of_a_net_is_drawn_once),
		cmocka_unit_test(later_triangles_cover_earlier_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
