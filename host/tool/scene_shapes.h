/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Shapes that the scene is put together from. Positions are 28.4 fixed point,
 * texture coordinates 24.8, angles 65536 to a turn.
 */
#ifndef PB_HOST_TOOL_SCENE_SHAPES_H
#define PB_HOST_TOOL_SCENE_SHAPES_H

#include <stdint.h>

#include "host/tool/scene.h"

/** What pb_scene_sine gives for a quarter turn. */
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

/** A cube to draw: six faces, +x -x +y -y +z -z. */
struct pb_scene_cube {
	int32_t x; /**< centre on the target */
	int32_t y;
	int32_t half;                 /**< half an edge, in 1/16 pixel */
	uint32_t yaw;                 /**< turn around the upright axis */
	uint32_t pitch;               /**< then around the axis from left to right */
	enum pb_scene_image faces[3]; /**< image on +-x, +-y, +-z */
};

/** A cable to draw: it hangs from one end to the other. */
struct pb_scene_cable {
	int32_t from_x;
	int32_t from_y;
	int32_t to_x;
	int32_t to_y;
	int32_t sag;     /**< how far its middle hangs below the line between the ends */
	int32_t sway;    /**< how far its middle is off to the right */
	uint32_t strand; /**< colour: which 8 rows of the CABLE image */
	int32_t flow;    /**< texels by which the pattern has run along it */
};

/** 16384 * sin(angle), the same on every machine. */
int32_t pb_scene_sine(uint32_t angle);
int32_t pb_scene_cosine(uint32_t angle);
/** length * factor / PB_SCENE_ONE */
int32_t pb_scene_scale(int32_t length, int32_t factor);

/** What is added from here on samples this image. */
void pb_scene_batch_begin(struct pb_scene *scene, enum pb_scene_image texture);
void pb_scene_add_triangle(struct pb_scene *scene, const struct pb_vertex *a, const struct pb_vertex *b,
			   const struct pb_vertex *c);
/** Corners in turn; the diagonal is from the first to the third. */
void pb_scene_add_quad(struct pb_scene *scene, const struct pb_vertex corners[4]);
/** An upright rectangle, from a corner and a size. */
void pb_scene_add_rectangle(struct pb_scene *scene, int32_t x, int32_t y, int32_t width, int32_t height,
			    const struct pb_texel_area *area);
/** A round disc with a round piece of the image on it, turned by an angle. */
void pb_scene_add_disc(struct pb_scene *scene, int32_t x, int32_t y, int32_t radius,
		       const struct pb_texel_area *area, uint32_t angle);
void pb_scene_add_cable(struct pb_scene *scene, const struct pb_scene_cable *cable);
/** Begins the batches that it needs. */
void pb_scene_add_cube(struct pb_scene *scene, const struct pb_scene_cube *cube);

#endif
