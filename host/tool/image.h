/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A picture in the host's own memory, and a PNG file made of it.
 */
#ifndef PB_HOST_TOOL_IMAGE_H
#define PB_HOST_TOOL_IMAGE_H

#include <stdint.h>

/** Rows follow each other without a gap. */
struct pb_image {
	uint32_t width;
	uint32_t height;
	uint32_t *pixels; /**< 0xAARRGGBB, row by row from the top left; the owner frees it */
};

/**
 * Writes an opaque RGB file; the alpha byte is left out.
 * @return 0, or the errno value of what went wrong
 */
int pb_image_write_png(const struct pb_image *image, const char *path);

#endif
