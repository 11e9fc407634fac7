/* SPDX-License-Identifier: MIT */
#include "host/tool/scene_shapes.h"

#include <assert.h>

#define DISC_SIDES        16u
#define DISC_SIDES_SHRUNK 6u

static const int16_t quarter_sine[65] = {
	0,     402,   804,   1205,  1606,  2006,  2404,  2801,  3196,  3590,  3981,  4370,  4756,
	5139,  5520,  5897,  6270,  6639,  7005,  7366,  7723,  8076,  8423,  8765,  9102,  9434,
	9760,  10080, 10394, 10702, 11003, 11297, 11585, 11866, 12140, 12406, 12665, 12916, 13160,
	13395, 13623, 13842, 14053, 14256, 14449, 14635, 14811, 14978, 15137, 15286, 15426, 15557,
	15679, 15791, 15893, 15986, 16069, 16143, 16207, 16261, 16305, 16340, 16364, 16379, 16384,
};

int32_t pb_scene_sine(uint32_t angle)
{
	uint32_t in_half = angle & 0x7fffu;
	uint32_t in_quarter = in_half <= 0x4000u ? in_half : 0x8000u - in_half;
	uint32_t index = in_quarter >> 8;
	int32_t part = (int32_t)(in_quarter & 0xffu);
	int32_t value = quarter_sine[index];

	if (part != 0)
		value += (quarter_sine[index + 1] - value) * part / 256;
	return (angle & 0x8000u) != 0 ? -value : value;
}

int32_t pb_scene_cosine(uint32_t angle)
{
	return pb_scene_sine(angle + 0x4000u);
}

void pb_scene_batch_begin(struct pb_scene *scene, enum pb_scene_image texture)
{
	struct pb_scene_batch *batch = &scene->batches[scene->batch_count];

	assert(scene->batch_count < PB_SCENE_BATCHES_MAX);
	*batch = (struct pb_scene_batch){.texture = texture, .first = scene->vertex_count};
	scene->batch_count++;
}

void pb_scene_add_triangle(struct pb_scene *scene, const struct pb_vertex *a, const struct pb_vertex *b,
			   const struct pb_vertex *c)
{
	struct pb_vertex *vertices = &scene->vertices[scene->vertex_count];

	assert(scene->vertex_count + 3u <= PB_SCENE_VERTICES_MAX);
	vertices[0] = *a;
	vertices[1] = *b;
	vertices[2] = *c;
	scene->vertex_count += 3;
	scene->batches[scene->batch_count - 1].count += 3;
}

void pb_scene_add_quad(struct pb_scene *scene, const struct pb_vertex corners[4])
{
	pb_scene_add_triangle(scene, &corners[0], &corners[1], &corners[2]);
	pb_scene_add_triangle(scene, &corners[0], &corners[2], &corners[3]);
}

void pb_scene_add_rectangle(struct pb_scene *scene, int32_t x, int32_t y, int32_t width, int32_t height,
			    const struct pb_texel_area *area)
{
	const struct pb_vertex corners[4] = {
		{x, y, area->u, area->v},
		{x + width, y, area->u + area->width, area->v},
		{x + width, y + height, area->u + area->width, area->v + area->height},
		{x, y + height, area->u, area->v + area->height},
	};

	pb_scene_add_quad(scene, corners);
}

int32_t pb_scene_scale(int32_t length, int32_t factor)
{
	return (int32_t)((int64_t)length * factor / PB_SCENE_ONE);
}

static struct pb_vertex disc_rim(int32_t x, int32_t y, int32_t radius, const struct pb_texel_area *area,
				 uint32_t at, uint32_t angle)
{
	int32_t u = area->u + area->width / 2;
	int32_t v = area->v + area->height / 2;

	return (struct pb_vertex){
		.x = x + pb_scene_scale(radius, pb_scene_cosine(at)),
		.y = y + pb_scene_scale(radius, pb_scene_sine(at)),
		.u = u + pb_scene_scale(area->width / 2, pb_scene_cosine(at - angle)),
		.v = v + pb_scene_scale(area->height / 2, pb_scene_sine(at - angle)),
	};
}

void pb_scene_add_disc(struct pb_scene *scene, int32_t x, int32_t y, int32_t radius,
		       const struct pb_texel_area *area, uint32_t angle)
{
	const uint32_t sides = scene->shrink == 0 ? DISC_SIDES : DISC_SIDES_SHRUNK;
	struct pb_vertex middle = {x, y, area->u + area->width / 2, area->v + area->height / 2};

	for (uint32_t side = 0; side < sides; side++) {
		struct pb_vertex a = disc_rim(x, y, radius, area, side * 0x10000u / sides, angle);
		struct pb_vertex b = disc_rim(x, y, radius, area, (side + 1) * 0x10000u / sides, angle);

		pb_scene_add_triangle(scene, &middle, &a, &b);
	}
}
