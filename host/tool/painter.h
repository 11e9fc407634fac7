/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Draws the pictures expected from the engine, by docs/engine.md alone. The
 * painter shares no code with the engine: it computes each row's span instead of
 * testing pixels, and works on images instead of addresses.
 */
#ifndef PB_HOST_TOOL_PAINTER_H
#define PB_HOST_TOOL_PAINTER_H

#include <stdint.h>

#include "hal/engine/packets.h"
#include "host/tool/image.h"

/** Sets every pixel to a colour. */
void pb_paint_clear(struct pb_image *target, uint32_t colour);

/**
 * Draws textured triangles in order. The vertices must lie within
 * PB_ENGINE_POSITION_MAX and PB_ENGINE_TEXEL_MAX; target and texture are
 * different images of 1 to PB_ENGINE_EXTENT_MAX pixels each way.
 * @param count vertices, a multiple of 3
 */
void pb_paint_triangles(struct pb_image *target, const struct pb_image *texture,
			const struct pb_vertex *vertices, uint32_t count);

#endif
