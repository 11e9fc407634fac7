/* SPDX-License-Identifier: MIT */
/* The painter against docs/engine.md, evaluated pixel by pixel as it is written there. */
#include <stdbool.h>

#include "host/tool/painter.h"
#include "tests/unit/unit.h"

#define WIDTH  29u
#define HEIGHT 23u
#define EMPTY  0x01020304u

static uint32_t random_state;

static uint32_t next_random(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state >> 8;
}

/* low..high */
static int32_t pick(int32_t low, int32_t high)
{
	return low + (int32_t)(next_random() % (uint32_t)(high - low + 1));
}

/* ---- the page, word by word ---- */

static int64_t edge(const struct pb_vertex *a, const struct pb_vertex *b, int64_t x, int64_t y)
{
	return ((int64_t)b->x - a->x) * (y - a->y) - ((int64_t)b->y - a->y) * (x - a->x);
}

static bool inside(int64_t w, const struct pb_vertex *a, const struct pb_vertex *b)
{
	bool top = b->y == a->y && b->x > a->x;
	bool left = b->y < a->y;

	return w > 0 || (w == 0 && (top || left));
}

static int64_t divide_down(int64_t a, int64_t b)
{
	int64_t q = a / b;

	while (q * b > a)
		q--;
	while ((q + 1) * b <= a)
		q++;
	return q;
}

static uint32_t wrap(int64_t fixed, uint32_t size)
{
	int64_t whole = divide_down(fixed, 256);

	return (uint32_t)((whole % size + size) % size);
}

static void draw_by_the_page(uint32_t *target, uint32_t width, uint32_t height,
			     const struct pb_image *texture, const struct pb_vertex *v)
{
	int64_t s = edge(&v[0], &v[1], v[2].x, v[2].y);
	const struct pb_vertex *v0 = &v[0];
	const struct pb_vertex *v1 = s < 0 ? &v[2] : &v[1];
	const struct pb_vertex *v2 = s < 0 ? &v[1] : &v[2];

	if (s == 0)
		return;
	s = s < 0 ? -s : s;
	for (uint32_t i = 0; i < width * height; i++) {
		int64_t x = 16 * (int64_t)(i % width) + 8;
		int64_t y = 16 * (int64_t)(i / width) + 8;
		int64_t w0 = edge(v1, v2, x, y);
		int64_t w1 = edge(v2, v0, x, y);
		int64_t w2 = edge(v0, v1, x, y);
		uint32_t column, row;

		if (!inside(w0, v1, v2) || !inside(w1, v2, v0) || !inside(w2, v0, v1))
			continue;
		column = wrap(divide_down(w0 * v0->u + w1 * v1->u + w2 * v2->u, s), texture->width);
		row = wrap(divide_down(w0 * v0->v + w1 * v1->v + w2 * v2->v, s), texture->height);
		target[i] = texture->pixels[row * texture->width + column];
	}
}

/* ---- both ways ---- */

/* Every texel another colour, so that a wrong one shows. */
static void number_texels(struct pb_image *texture)
{
	for (uint32_t i = 0; i < texture->width * texture->height; i++)
		texture->pixels[i] = 0xff000000u + i;
}

/* @return pixels covered */
static uint32_t check_triangles(const struct pb_vertex *vertices, uint32_t count, uint32_t width,
				uint32_t height)
{
	static uint32_t texels[13 * 7], expected[64 * 64], found[64 * 64];
	struct pb_image texture = {.width = 13, .height = 7, .pixels = texels};
	struct pb_image target = {.width = width, .height = height, .pixels = found};
	uint32_t covered = 0;

	number_texels(&texture);
	for (uint32_t i = 0; i < width * height; i++)
		expected[i] = EMPTY;
	for (uint32_t i = 0; i < count; i += 3)
		draw_by_the_page(expected, width, height, &texture, &vertices[i]);
	pb_paint_clear(&target, EMPTY);
	pb_paint_triangles(&target, &texture, vertices, count);
	assert_memory_equal(found, expected, (size_t)width * height * sizeof(uint32_t));
	for (uint32_t i = 0; i < width * height; i++)
		covered += found[i] != EMPTY ? 1u : 0u;
	return covered;
}

/* Ranges of random vertices, from/to. */
struct range {
	int32_t from, to; /* positions */
	int32_t grid;     /* positions are multiples of this */
	int32_t texel;    /* texture coordinates are in -texel..texel */
	uint32_t
		covered_min; /* pixels that all triangles together cover, at least: the case tests something */
};

static void random_triangles_match_the_rules(void **state)
{
	static const struct range ranges[] = {
		{.from = 0, .to = 470, .grid = 1, .texel = 20000, .covered_min = 100000},
		{.from = -300, .to = 800, .grid = 1, .texel = 3000, .covered_min = 100000},
		/* corners on pixel centres and on pixel borders: ties everywhere */
		{.from = 0, .to = 464, .grid = 8, .texel = 4096, .covered_min = 100000},
		{.from = -32, .to = 96, .grid = 8, .texel = 700, .covered_min = 5000},
		{.from = -PB_ENGINE_POSITION_MAX,
		 .to = PB_ENGINE_POSITION_MAX,
		 .grid = 1,
		 .texel = PB_ENGINE_TEXEL_MAX,
		 .covered_min = 10000},
	};

	(void)state;
	random_state = 1;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		const struct range *range = &ranges[i];
		uint32_t covered = 0;

		for (uint32_t round = 0; round < 2000; round++) {
			struct pb_vertex v[3];

			for (uint32_t j = 0; j < 3; j++) {
				v[j].x = pick(range->from, range->to) / range->grid * range->grid;
				v[j].y = pick(range->from, range->to) / range->grid * range->grid;
				v[j].u = pick(-range->texel, range->texel);
				v[j].v = pick(-range->texel, range->texel);
			}
			covered += check_triangles(v, 3, WIDTH, HEIGHT);
		}
		assert_true(covered >= range->covered_min);
	}
}

static void either_winding_covers_the_same_pixels(void **state)
{
	const struct pb_vertex a = {3, 5, 0, 0}, b = {400, 60, 3000, 10}, c = {170, 350, -900, 1700};

	(void)state;
	assert_int_equal(check_triangles((const struct pb_vertex[]){a, b, c}, 3, WIDTH, HEIGHT),
			 check_triangles((const struct pb_vertex[]){c, b, a}, 3, WIDTH, HEIGHT));
}

/* A fan around a point: neighbours share edges, and together they cover a rectangle once. */
static void shared_edges_are_covered_once(void **state)
{
	(void)state;
	random_state = 2;
	for (uint32_t round = 0; round < 500; round++) {
		static const int32_t corners[5][2] = {{16, 16}, {336, 16}, {336, 256}, {16, 256}, {16, 16}};
		int32_t x = 8 * pick(3, 40);
		int32_t y = 8 * pick(3, 31);
		struct pb_vertex v[12] = {{0}};
		uint32_t covered = 0;

		for (uint32_t i = 0; i < 4; i++) {
			v[3 * i] = (struct pb_vertex){.x = x, .y = y};
			v[3 * i + 1] = (struct pb_vertex){.x = corners[i][0], .y = corners[i][1]};
			v[3 * i + 2] = (struct pb_vertex){.x = corners[i + 1][0], .y = corners[i + 1][1]};
			covered += check_triangles(&v[3 * i], 3, WIDTH, HEIGHT);
		}
		assert_int_equal(covered, 20 * 15);
		assert_int_equal(check_triangles(v, 12, WIDTH, HEIGHT), 20 * 15);
	}
}

/* Counted by hand: which pixels a small triangle covers. */
static void test_known_coverage(void **state)
{
	static const struct {
		struct pb_vertex v[3];
		uint32_t covered;
	} cases[] = {
		{{{0, 0, 0, 0}, {16, 0, 0, 0}, {0, 16, 0, 0}}, 0},   /* centre on the slanting right edge */
		{{{16, 0, 0, 0}, {16, 16, 0, 0}, {0, 16, 0, 0}}, 1}, /* the same edge, seen from the right */
		{{{8, 8, 0, 0}, {40, 8, 0, 0}, {8, 40, 0, 0}}, 3}, /* top and left edges on centres are in */
		{{{40, 40, 0, 0}, {8, 40, 0, 0}, {40, 8, 0, 0}}, 1},    /* bottom and right ones are not */
		{{{0, 0, 0, 0}, {64, 64, 0, 0}, {32, 32, 0, 0}}, 0},    /* no area */
		{{{-64, 0, 0, 0}, {-16, 0, 0, 0}, {-64, 64, 0, 0}}, 0}, /* off to the left */
		{{{0, 0, 0, 0}, {65536, 0, 0, 0}, {0, 65536, 0, 0}}, WIDTH * HEIGHT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(check_triangles(cases[i].v, 3, WIDTH, HEIGHT), cases[i].covered);
}

static void test_small_targets(void **state)
{
	(void)state;
	random_state = 3;
	for (uint32_t round = 0; round < 500; round++) {
		struct pb_vertex v[6];

		for (uint32_t j = 0; j < 6; j++)
			v[j] = (struct pb_vertex){pick(-40, 90), pick(-40, 90), pick(-999, 999),
						  pick(-999, 999)};
		(void)check_triangles(v, 6, 1 + round % 4, 1 + round % 3);
	}
}

UNIT_SUITE(test_painter)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_triangles_match_the_rules),
		cmocka_unit_test(either_winding_covers_the_same_pixels),
		cmocka_unit_test(shared_edges_are_covered_once),
		cmocka_unit_test(test_known_coverage),
		cmocka_unit_test(test_small_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
