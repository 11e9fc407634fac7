/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Shapes of the scene. Positions are 28.4 fixed point,
 * texture coordinates 24.8, angles 65536 to a turn.
 */
#ifndef PB_HOST_TOOL_SCENE_SHAPES_H
#define PB_HOST_TOOL_SCENE_SHAPES_H

#include <stdint.h>

#include "host/tool/scene.h"

/** Value of pb_scene_sine() for a quarter turn. */
#define PB_SCENE_ONE 16384

#define PB_PIXELS(n) ((n)*16)
#define PB_TEXELS(n) ((n)*256)

/** A rectangle of texels. */
struct pb_texel_area {
	int32_t u;
	int32_t v;
	int32_t width;
	int32_t height;
};

/** A cube: six faces, +x -x +y -y +z -z. */
struct pb_scene_cube {
	int32_t x; /**< centre on the target */
	int32_t y;
	int32_t half;                 /**< half an edge, in 1/16 pixel */
	uint32_t yaw;                 /**< rotation around the upright axis */
	uint32_t pitch;               /**< second rotation, around the axis from left to right */
	enum pb_scene_image faces[3]; /**< image on +-x, +-y, +-z */
};

/** A cable that hangs between two ends. */
struct pb_scene_cable {
	int32_t from_x;
	int32_t from_y;
	int32_t to_x;
	int32_t to_y;
	int32_t sag;     /**< distance of its middle below the line between the ends */
	int32_t sway;    /**< displacement of its middle to the right */
	uint32_t strand; /**< colour: which 8 rows of the CABLE image */
	int32_t flow;    /**< displacement of the pattern along the cable, in texels */
};

/** Returns 16384 * sin(angle), identical on every machine. */
int32_t pb_scene_sine(uint32_t angle);
int32_t pb_scene_cosine(uint32_t angle);
/** Returns length * factor / PB_SCENE_ONE. */
int32_t pb_scene_scale(int32_t length, int32_t factor);

/** Starts a batch: shapes added from now on sample this image. */
void pb_scene_batch_begin(struct pb_scene *scene, enum pb_scene_image texture);
void pb_scene_add_triangle(struct pb_scene *scene, const struct pb_vertex *a, const struct pb_vertex *b,
			   const struct pb_vertex *c);
/** Adds a quad. Corners in order; the diagonal is from the first to the third. */
void pb_scene_add_quad(struct pb_scene *scene, const struct pb_vertex corners[4]);
/** Adds an upright rectangle, from a corner and a size. */
void pb_scene_add_rectangle(struct pb_scene *scene, int32_t x, int32_t y, int32_t width, int32_t height,
			    const struct pb_texel_area *area);
/** Adds a disc with a round piece of the image, rotated by an angle. */
void pb_scene_add_disc(struct pb_scene *scene, int32_t x, int32_t y, int32_t radius,
		       const struct pb_texel_area *area, uint32_t angle);
void pb_scene_add_cable(struct pb_scene *scene, const struct pb_scene_cable *cable);
/** Adds a cube, in batches of its own. */
void pb_scene_add_cube(struct pb_scene *scene, const struct pb_scene_cube *cube);

#endif
