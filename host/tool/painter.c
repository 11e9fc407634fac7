/* SPDX-License-Identifier: MIT */
#include "host/tool/painter.h"

#include <stdbool.h>
#include <stddef.h>

/* All values are in 1/16 pixel and exact: |numerators| are below 2^58. */

static int64_t floor_divide(int64_t value, int64_t divisor)
{
	int64_t quotient = value / divisor;

	return value % divisor < 0 ? quotient - 1 : quotient;
}

static int64_t ceil_divide(int64_t value, int64_t divisor)
{
	return -floor_divide(-value, divisor);
}

static int64_t centre(int64_t pixel)
{
	return 16 * pixel + 8;
}

/** Pixels [first, end) of one row. */
struct span {
	int64_t first;
	int64_t end;
};

/*
 * Cuts the span to the inner side of the edge from a to b: the right-hand side, with y pointing down. The edge's line
 * crosses the row at one x. An upward edge bounds the triangle on the left and owns pixels whose centre lies exactly on
 * the line; a downward edge does not. Both therefore cut at the first centre at or behind the crossing.
 */
static void cut(struct span *span, const struct pb_vertex *a, const struct pb_vertex *b, int64_t y)
{
	int64_t rise = (int64_t)b->y - a->y;
	int64_t height = rise < 0 ? -rise : rise;
	int64_t run = ((int64_t)b->x - a->x) * (y - a->y);
	int64_t pixel;

	if (rise == 0) {
		bool top = b->x > a->x;

		if (top ? y < a->y : y >= a->y)
			span->end = span->first;
		return;
	}
	pixel = ceil_divide((rise < 0 ? -run : run) + height * (a->x - 8), 16 * height);
	if (rise < 0 && pixel > span->first)
		span->first = pixel;
	if (rise > 0 && pixel < span->end)
		span->end = pixel;
}

/** A value over the plane of a triangle: (by_x * x + by_y * y + constant) / area, area > 0. */
struct plane {
	int64_t by_x;
	int64_t by_y;
	int64_t constant;
	int64_t area;
};

/* The plane through three (x, y, value); area is twice the triangle's. */
static struct plane plane_through(const struct pb_vertex *const corner[3], const int32_t value[3],
				  int64_t area)
{
	int64_t x1 = (int64_t)corner[1]->x - corner[0]->x;
	int64_t y1 = (int64_t)corner[1]->y - corner[0]->y;
	int64_t x2 = (int64_t)corner[2]->x - corner[0]->x;
	int64_t y2 = (int64_t)corner[2]->y - corner[0]->y;
	int64_t rise1 = (int64_t)value[1] - value[0];
	int64_t rise2 = (int64_t)value[2] - value[0];
	struct plane plane = {.by_x = rise1 * y2 - rise2 * y1, .by_y = rise2 * x1 - rise1 * x2, .area = area};

	plane.constant = value[0] * area - plane.by_x * corner[0]->x - plane.by_y * corner[0]->y;
	return plane;
}

/** Walks floor(plane) from pixel to pixel: quotient + remainder / area, 0 <= remainder < area. */
struct walk {
	int64_t quotient;
	int64_t remainder;
	int64_t step_quotient;
	int64_t step_remainder;
	int64_t area;
};

static struct walk walk_from(const struct plane *plane, int64_t x, int64_t y)
{
	int64_t value = plane->by_x * x + plane->by_y * y + plane->constant;
	int64_t step = 16 * plane->by_x;
	struct walk walk = {.quotient = floor_divide(value, plane->area),
			    .step_quotient = floor_divide(step, plane->area),
			    .area = plane->area};

	walk.remainder = value - walk.quotient * plane->area;
	walk.step_remainder = step - walk.step_quotient * plane->area;
	return walk;
}

/* Moves to the next pixel. */
static void walk_step(struct walk *walk)
{
	walk->quotient += walk->step_quotient;
	walk->remainder += walk->step_remainder;
	if (walk->remainder >= walk->area) {
		walk->quotient++;
		walk->remainder -= walk->area;
	}
}

/* Texel column or row of a coordinate in 1/256 texel, repeated in both directions. */
static uint32_t texel(int64_t coordinate, uint32_t size)
{
	int64_t index = floor_divide(coordinate, 256);

	return (uint32_t)(index - floor_divide(index, size) * size);
}

static void paint_span(struct pb_image *target, const struct pb_image *texture, const struct span *span,
		       int64_t row, const struct plane *u, const struct plane *v)
{
	uint32_t *pixels = target->pixels + row * target->width;
	struct walk at_u = walk_from(u, centre(span->first), centre(row));
	struct walk at_v = walk_from(v, centre(span->first), centre(row));

	for (int64_t x = span->first; x < span->end; x++) {
		uint32_t column = texel(at_u.quotient, texture->width);
		uint32_t line = texel(at_v.quotient, texture->height);

		pixels[x] = texture->pixels[(size_t)line * texture->width + column];
		walk_step(&at_u);
		walk_step(&at_v);
	}
}

static int32_t lowest(int32_t a, int32_t b, int32_t c)
{
	int32_t low = a < b ? a : b;

	return low < c ? low : c;
}

static int32_t highest(int32_t a, int32_t b, int32_t c)
{
	return -lowest(-a, -b, -c);
}

static void paint_rows(struct pb_image *target, const struct pb_image *texture,
		       const struct pb_vertex *const corner[3], int64_t area)
{
	struct plane u = plane_through(corner, (int32_t[]){corner[0]->u, corner[1]->u, corner[2]->u}, area);
	struct plane v = plane_through(corner, (int32_t[]){corner[0]->v, corner[1]->v, corner[2]->v}, area);
	int64_t first = floor_divide(lowest(corner[0]->y, corner[1]->y, corner[2]->y), 16);
	int64_t last = floor_divide(highest(corner[0]->y, corner[1]->y, corner[2]->y), 16);

	if (first < 0)
		first = 0;
	if (last >= target->height)
		last = (int64_t)target->height - 1;
	for (int64_t row = first; row <= last; row++) {
		struct span span = {.first = 0, .end = target->width};

		for (uint32_t i = 0; i < 3; i++)
			cut(&span, corner[i], corner[(i + 1) % 3], centre(row));
		if (span.first < span.end)
			paint_span(target, texture, &span, row, &u, &v);
	}
}

void pb_paint_clear(struct pb_image *target, uint32_t colour)
{
	for (size_t i = 0; i < (size_t)target->width * target->height; i++)
		target->pixels[i] = colour;
}

void pb_paint_triangles(struct pb_image *target, const struct pb_image *texture,
			const struct pb_vertex *vertices, uint32_t count)
{
	for (uint32_t i = 0; i + 2 < count; i += 3) {
		const struct pb_vertex *a = &vertices[i];
		const struct pb_vertex *b = &vertices[i + 1];
		const struct pb_vertex *c = &vertices[i + 2];
		int64_t area = ((int64_t)b->x - a->x) * ((int64_t)c->y - a->y) -
			       ((int64_t)b->y - a->y) * ((int64_t)c->x - a->x);

		if (area > 0)
			paint_rows(target, texture, (const struct pb_vertex *const[]){a, b, c}, area);
		else if (area < 0)
			paint_rows(target, texture, (const struct pb_vertex *const[]){a, c, b}, -area);
	}
}
