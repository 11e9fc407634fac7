/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The demo's scene: a wall of jacks with swinging cables, and a cube whose
 * faces show a second scene. Integers only, so that every machine makes the
 * same vertices and texels. The scene is independent of cards and addresses.
 */
#ifndef PB_HOST_TOOL_SCENE_H
#define PB_HOST_TOOL_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/engine/packets.h"

/** Frames of one period of the animation. */
#define PB_SCENE_PERIOD       72u
#define PB_SCENE_VERTICES_MAX 4608u
#define PB_SCENE_BATCHES_MAX  64u
#define PB_SCENE_PASSES       2u
/** Largest number of times that the sides of all pictures may be halved, for a card with little memory. */
#define PB_SCENE_SHRINK_MAX 4u
/** Largest number of vertices of a shrunk scene, which has fewer objects of fewer parts. */
#define PB_SCENE_VERTICES_SHRUNK 192u

/* X(NAME, width, height): everything that is sampled or drawn into. */
#define PB_SCENE_IMAGES_LIST(X)                                                                              \
	X(PANEL, 64, 64)                                                                                     \
	X(FLOOR, 64, 64)                                                                                     \
	X(WOOD, 64, 64)                                                                                      \
	X(JACK, 32, 32)                                                                                      \
	X(CABLE, 32, 64)                                                                                     \
	X(BANNER, 144, 24)                                                                                   \
	X(STRIPES, 48, 48)                                                                                   \
	X(PLASMA, 64, 64)                                                                                    \
	X(SCOPE, 80, 56)                                                                                     \
	X(INNER, 96, 96)                                                                                     \
	X(SCREEN, 320, 240)

enum pb_scene_image {
#define PB_SCENE_IMAGE_ENUM(name, width, height) PB_SCENE_##name,
	PB_SCENE_IMAGES_LIST(PB_SCENE_IMAGE_ENUM)
#undef PB_SCENE_IMAGE_ENUM
		PB_SCENE_IMAGES
};

/** Source of an image's pixels. */
enum pb_scene_source {
	PB_SCENE_FIXED,   /**< pb_scene_texels, once */
	PB_SCENE_CHANGES, /**< pb_scene_texels, in each frame */
	PB_SCENE_DRAWN,   /**< the target of a pass */
};

struct pb_scene_image_info {
	const char *name;
	uint32_t width;
	uint32_t height;
	enum pb_scene_source source;
};

/** Descriptions of the images, by enum pb_scene_image. */
extern const struct pb_scene_image_info pb_scene_images[PB_SCENE_IMAGES];

/** Consecutive triangles that sample one image. */
struct pb_scene_batch {
	enum pb_scene_image texture;
	uint32_t first; /**< index of its first vertex */
	uint32_t count; /**< vertices, a multiple of 3 */
};

/** Clears one target and draws batches into it, in order. */
struct pb_scene_pass {
	enum pb_scene_image target;
	uint32_t clear; /**< colour */
	uint32_t first; /**< index of its first batch */
	uint32_t count; /**< batches */
};

/** One frame: its passes, in order. */
struct pb_scene {
	uint32_t shrink; /**< set by the caller: number of times that the sides of all pictures are halved */
	uint32_t vertex_count;
	uint32_t batch_count;
	struct pb_scene_pass passes[PB_SCENE_PASSES];
	struct pb_scene_batch batches[PB_SCENE_BATCHES_MAX];
	struct pb_vertex vertices[PB_SCENE_VERTICES_MAX];
};

/** Returns a side of a shrunk image, at least 1. @param pixels side of the image at full size */
static inline uint32_t pb_scene_side(uint32_t pixels, uint32_t shrink)
{
	return pixels >> shrink != 0 ? pixels >> shrink : 1u;
}

/** Builds a frame. The last pass draws SCREEN. */
void pb_scene_make(struct pb_scene *scene, uint32_t frame);

/**
 * Computes an image's texels in a frame.
 * @param shrink as of struct pb_scene
 * @param texels out: width * height words, shrunk; unchanged for an image that is drawn
 */
void pb_scene_texels(enum pb_scene_image image, uint32_t frame, uint32_t shrink, uint32_t *texels);

/** Returns whether a pass draws into or samples an image. */
bool pb_scene_uses(const struct pb_scene *scene, uint32_t pass, enum pb_scene_image image);

#endif
