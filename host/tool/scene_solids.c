/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "host/tool/scene_shapes.h"

#define CABLE_PARTS       18
#define CABLE_HALF_WIDTH  48
#define CABLE_STRAND_ROWS 8
#define FACE_PARTS        4
/* Distance of the eye from the middle of a cube, in half edges. */
#define EYE_DISTANCE 5

/* Returns floor(sqrt(value)) for values below 2^42. */
static int32_t square_root(int64_t value)
{
	int64_t root = 0;

	for (int64_t bit = 1 << 20; bit != 0; bit >>= 1) {
		if ((root + bit) * (root + bit) <= value)
			root += bit;
	}
	return (int32_t)root;
}

/* Returns a point of the parabola that approximates a hanging cable. */
static struct pb_vertex cable_point(const struct pb_scene_cable *cable, int32_t part)
{
	int32_t bulge = 4 * part * (CABLE_PARTS - part);
	int32_t square = CABLE_PARTS * CABLE_PARTS;

	return (struct pb_vertex){
		.x = cable->from_x + (cable->to_x - cable->from_x) * part / CABLE_PARTS +
		     cable->sway * bulge / square,
		.y = cable->from_y + (cable->to_y - cable->from_y) * part / CABLE_PARTS +
		     cable->sag * bulge / square,
		.u = PB_TEXELS(part * 8 - cable->flow),
		.v = PB_TEXELS((int32_t)cable->strand * CABLE_STRAND_ROWS),
	};
}

/* Computes both sides of the cable at one point, perpendicular to its direction there. */
static void cable_sides(const struct pb_scene_cable *cable, int32_t part, struct pb_vertex sides[2])
{
	struct pb_vertex before = cable_point(cable, part > 0 ? part - 1 : part);
	struct pb_vertex behind = cable_point(cable, part < CABLE_PARTS ? part + 1 : part);
	int32_t x = behind.x - before.x;
	int32_t y = behind.y - before.y;
	int32_t length = square_root((int64_t)x * x + (int64_t)y * y) + 1;

	sides[0] = cable_point(cable, part);
	sides[1] = sides[0];
	sides[0].x += y * CABLE_HALF_WIDTH / length;
	sides[0].y -= x * CABLE_HALF_WIDTH / length;
	sides[1].x -= y * CABLE_HALF_WIDTH / length;
	sides[1].y += x * CABLE_HALF_WIDTH / length;
	/* The last 1/256 texel of the last row: the strand below must not be sampled. */
	sides[1].v += PB_TEXELS(CABLE_STRAND_ROWS) - 1;
}

void pb_scene_add_cable(struct pb_scene *scene, const struct pb_scene_cable *cable)
{
	struct pb_vertex last[2];
	struct pb_vertex next[2];

	cable_sides(cable, 0, last);
	for (int32_t part = 1; part <= CABLE_PARTS; part++) {
		cable_sides(cable, part, next);
		pb_scene_add_quad(scene, (const struct pb_vertex[]){last[0], next[0], next[1], last[1]});
		last[0] = next[0];
		last[1] = next[1];
	}
}

/** One face of a cube: its normal axis, and the axes of its image. */
struct face {
	uint32_t axis;
	int32_t side; /* 1 or -1 */
	uint32_t u_axis;
	int32_t u_side;
	uint32_t v_axis;
	int32_t v_side;
};

/* x to the right, y down, z away from the eye; images stand upright and are not mirrored, seen from outside. */
static const struct face faces[6] = {
	{.axis = 0, .side = 1, .u_axis = 2, .u_side = 1, .v_axis = 1, .v_side = 1},
	{.axis = 0, .side = -1, .u_axis = 2, .u_side = -1, .v_axis = 1, .v_side = 1},
	{.axis = 1, .side = 1, .u_axis = 0, .u_side = 1, .v_axis = 2, .v_side = 1},
	{.axis = 1, .side = -1, .u_axis = 0, .u_side = 1, .v_axis = 2, .v_side = -1},
	{.axis = 2, .side = 1, .u_axis = 0, .u_side = -1, .v_axis = 1, .v_side = 1},
	{.axis = 2, .side = -1, .u_axis = 0, .u_side = 1, .v_axis = 1, .v_side = 1},
};

/* Returns the corner at column and row 0..FACE_PARTS of a face's grid, rotated and projected. */
static struct pb_vertex face_point(const struct pb_scene_cube *cube, const struct face *face, int32_t column,
				   int32_t row)
{
	const struct pb_scene_image_info *image = &pb_scene_images[cube->faces[face->axis]];
	int32_t point[3];
	int32_t sine, cosine, x, y, z, eye;

	point[face->axis] = face->side * cube->half;
	point[face->u_axis] = face->u_side * (2 * column - FACE_PARTS) * cube->half / FACE_PARTS;
	point[face->v_axis] = face->v_side * (2 * row - FACE_PARTS) * cube->half / FACE_PARTS;
	sine = pb_scene_sine(cube->yaw);
	cosine = pb_scene_cosine(cube->yaw);
	x = pb_scene_scale(point[0], cosine) + pb_scene_scale(point[2], sine);
	z = pb_scene_scale(point[2], cosine) - pb_scene_scale(point[0], sine);
	sine = pb_scene_sine(cube->pitch);
	cosine = pb_scene_cosine(cube->pitch);
	y = pb_scene_scale(point[1], cosine) - pb_scene_scale(z, sine);
	z = pb_scene_scale(z, cosine) + pb_scene_scale(point[1], sine);
	eye = EYE_DISTANCE * cube->half;
	return (struct pb_vertex){
		.x = cube->x + x * eye / (eye + z),
		.y = cube->y + y * eye / (eye + z),
		.u = PB_TEXELS((int32_t)image->width) * column / FACE_PARTS,
		.v = PB_TEXELS((int32_t)image->height) * row / FACE_PARTS,
	};
}

static bool face_visible(const struct pb_scene_cube *cube, const struct face *face)
{
	struct pb_vertex a = face_point(cube, face, 0, 0);
	struct pb_vertex b = face_point(cube, face, FACE_PARTS, 0);
	struct pb_vertex c = face_point(cube, face, FACE_PARTS, FACE_PARTS);

	return (b.x - a.x) * (c.y - a.y) > (b.y - a.y) * (c.x - a.x);
}

/* Adds a face in parts, because the engine's sampling is affine: a single quad would be distorted. */
static void add_face(struct pb_scene *scene, const struct pb_scene_cube *cube, const struct face *face)
{
	const int32_t step = scene->shrink == 0 ? 1 : FACE_PARTS;

	pb_scene_batch_begin(scene, cube->faces[face->axis]);
	for (int32_t i = 0; i < FACE_PARTS * FACE_PARTS / (step * step); i++) {
		int32_t column = i * step % FACE_PARTS;
		int32_t row = i * step / FACE_PARTS;
		struct pb_vertex corners[4] = {
			face_point(cube, face, column, row),
			face_point(cube, face, column + step, row),
			face_point(cube, face, column + step, row + step),
			face_point(cube, face, column, row + step),
		};

		pb_scene_add_quad(scene, corners);
	}
}

void pb_scene_add_cube(struct pb_scene *scene, const struct pb_scene_cube *cube)
{
	for (uint32_t i = 0; i < 6; i++) {
		if (face_visible(cube, &faces[i]))
			add_face(scene, cube, &faces[i]);
	}
}
