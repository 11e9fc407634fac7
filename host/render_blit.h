/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A rectangle of memory that is copied or filled, as commands of pb_render_km(). For Render's own files and the WDDM
 * shim.
 */
#ifndef PB_HOST_RENDER_BLIT_H
#define PB_HOST_RENDER_BLIT_H

#include <stdbool.h>
#include <stdint.h>

/** Largest number of words of a blit: a FILL of the first row, and a COPY_RECT of it to the others. */
#define PB_RENDER_BLIT_WORDS 14u

/** Size of a pixel of a surface. */
#define PB_RENDER_PIXEL_BYTES 4u

/** One side of a blit. */
struct pb_render_blit_side {
	uint32_t index;  /**< of the allocation */
	uint32_t offset; /**< of the rectangle's first byte in the allocation, multiple of 4 */
	uint32_t pitch;  /**< bytes from one row to the next, multiple of 4, at least a row */
};

/** A rectangle to copy or to fill. */
struct pb_render_blit {
	bool fill;                              /**< it is filled; else it is copied from `source` */
	uint32_t color;                         /**< value of each word that is filled */
	struct pb_render_blit_side source;      /**< of a copy; may not overlap the destination */
	struct pb_render_blit_side destination; /**< side that is written */
	uint32_t row_bytes;                     /**< bytes of a row, multiple of 4 */
	uint32_t rows;                          /**< number of rows */
};

/**
 * Finds the offset of a rectangle of pixels.
 * @param side in: pitch; out: offset
 * @param left first column of the rectangle
 * @param top first row of the rectangle
 * @param width pixels in a row
 * @return false: a row extends beyond the pitch, or the first byte lies beyond 4 GiB
 */
bool pb_render_blit_locate(struct pb_render_blit_side *side, uint32_t left, uint32_t top, uint32_t width);
/**
 * Writes the commands of a blit. Whether its sides lie in their allocations is checked where the commands are translated.
 * @param words out
 * @return number of words; 0: the rectangle does not lie in the first 4 GiB of its destination
 */
uint32_t pb_render_blit_commands(const struct pb_render_blit *blit, uint32_t words[PB_RENDER_BLIT_WORDS]);

#endif
