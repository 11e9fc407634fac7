/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Sizes of the texel formats that a virgl stream names by number: how long a row of a picture is. The numbers are those
 * of the stream; formats of several planes are left out.
 */
#ifndef PB_HOST_GL_FORMATS_H
#define PB_HOST_GL_FORMATS_H

#include <stdint.h>

/** A block of texels: the unit in which a format is stored. */
struct pb_gl_block {
	uint32_t bytes;  /**< size; 0: the format is unknown */
	uint32_t width;  /**< texels in a row */
	uint32_t height; /**< rows of texels */
};

/** Returns the block of a format. */
struct pb_gl_block pb_gl_block_of(uint32_t format);

#endif
