/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Transfers between a client's memory and a resource: which bytes of the client's memory they use, and how they divide
 * into pieces that fit in a staging buffer. A piece is packed: its rows follow each other.
 *
 * A transfer comes from a client that is not trusted. Behind pb_gl_transfer_plan() all bytes of it lie in the memory
 * that the client has, whatever its numbers are; whether its box lies in the resource is the engine's to check.
 */
#ifndef PB_HOST_GL_TRANSFER_H
#define PB_HOST_GL_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

/** A box: x, y, z, width, height, depth. */
#define PB_GL_BOX_WORDS 6u

/** A transfer as the client asks for it. */
struct pb_gl_transfer_request {
	const uint32_t
		*template_words; /**< of the resource: PB_GL_TEMPLATE_WORDS words (hal/engine/gl_packets.h) */
	uint32_t level;          /**< mipmap level */
	uint32_t box[PB_GL_BOX_WORDS]; /**< part of the level */
	uint32_t stride; /**< bytes from row to row in the client's memory; 0: that of the whole level */
	uint32_t layer_stride; /**< bytes from layer to layer; 0: that of the whole level */
	uint64_t offset;       /**< first byte in the client's memory */
	uint64_t available;    /**< bytes of the client's memory */
};

/** A transfer that was checked, and how far it went. Rows are rows of blocks. */
struct pb_gl_transfer {
	uint32_t level;                /**< mipmap level */
	uint32_t box[PB_GL_BOX_WORDS]; /**< part of the level */
	uint32_t block[2];             /**< texels of a block: width, height */
	uint32_t block_bytes;          /**< bytes of a block */
	uint64_t row_bytes;            /**< bytes of a row of the box */
	uint32_t rows;                 /**< rows in a layer */
	uint64_t stride;               /**< bytes from row to row in the client's memory */
	uint64_t layer_stride;         /**< bytes from layer to layer in the client's memory */
	uint64_t offset;               /**< first byte in the client's memory */
	uint32_t layer;                /**< first layer of the next piece */
	uint32_t row;                  /**< first row of the next piece */
	uint32_t column;               /**< first block of the next piece */
};

/** One piece: rows of one layer, or several whole layers, or a part of one row. */
struct pb_gl_piece {
	uint32_t box[PB_GL_BOX_WORDS]; /**< part of the level */
	uint32_t row_bytes;            /**< bytes of a row, in the client's memory and in the piece */
	uint32_t rows;                 /**< rows in each layer */
	uint32_t layers;               /**< layers */
	uint64_t offset;               /**< first byte in the client's memory */
	uint32_t bytes;                /**< row_bytes * rows * layers */
};

/** Checks a transfer. @return false: it is refused; @p why says what is wrong */
bool pb_gl_transfer_plan(const struct pb_gl_transfer_request *request, struct pb_gl_transfer *transfer,
			 const char **why);
/**
 * Takes the next piece of a transfer.
 * @param room bytes that the piece may have; at least 64
 * @return false: there is none left
 */
bool pb_gl_transfer_next(struct pb_gl_transfer *transfer, uint32_t room, struct pb_gl_piece *piece);
/** Copies a piece's bytes from the client's memory. @param memory all of it @param packed piece->bytes bytes */
void pb_gl_piece_pack(const struct pb_gl_transfer *transfer, const struct pb_gl_piece *piece,
		      const uint8_t *memory, uint8_t *packed);
/** Copies a piece's bytes to the client's memory. */
void pb_gl_piece_unpack(const struct pb_gl_transfer *transfer, const struct pb_gl_piece *piece,
			const uint8_t *packed, uint8_t *memory);

#endif
