/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A picture in private memory, and its PNG file.
 */
#ifndef PB_HOST_TOOL_IMAGE_H
#define PB_HOST_TOOL_IMAGE_H

#include <stdint.h>

/** A picture. Rows follow each other without a gap. */
struct pb_image {
	uint32_t width;   /**< pixels in a row */
	uint32_t height;  /**< rows */
	uint32_t *pixels; /**< 0xAARRGGBB, row by row from the top left; the owner frees it */
};

/**
 * Writes an opaque RGB file; the alpha byte is ignored.
 * @return 0, or the errno value of the failure
 */
int pb_image_write_png(const struct pb_image *image, const char *path);

#endif
