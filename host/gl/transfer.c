/* SPDX-License-Identifier: MIT */
#include "host/gl/transfer.h"

#include <string.h>

#include "hal/engine/gl_packets.h"
#include "host/gl/formats.h"

enum { X, Y, Z, WIDTH, HEIGHT, DEPTH };

/* Sides and levels beyond these are no picture's. */
#define SIDE_MAX  0x40000000u
#define LEVEL_MAX 30u

static uint32_t in_blocks(uint32_t texels, uint32_t block)
{
	return texels / block + (texels % block != 0 ? 1u : 0u);
}

/** Returns a side of a level. */
static uint32_t side_of_level(uint32_t side, uint32_t level)
{
	const uint32_t small = side >> level;

	return small != 0 ? small : 1u;
}

static bool box_is_valid(const struct pb_gl_transfer_request *request)
{
	for (uint32_t i = 0; i < PB_GL_BOX_WORDS; i++) {
		if (request->box[i] > SIDE_MAX)
			return false;
	}
	return request->level <= LEVEL_MAX && request->box[WIDTH] != 0 && request->box[HEIGHT] != 0 &&
	       request->box[DEPTH] != 0 && request->template_words[PB_GL_TEMPLATE_WIDTH] <= SIDE_MAX &&
	       request->template_words[PB_GL_TEMPLATE_HEIGHT] <= SIDE_MAX;
}

/** Sets the strides: those of the request, else those of the whole level. */
static void set_strides(const struct pb_gl_transfer_request *request, struct pb_gl_transfer *transfer)
{
	const uint32_t width = side_of_level(request->template_words[PB_GL_TEMPLATE_WIDTH], request->level);
	const uint32_t height = side_of_level(request->template_words[PB_GL_TEMPLATE_HEIGHT], request->level);

	transfer->stride = request->stride != 0
				   ? request->stride
				   : (uint64_t)in_blocks(width, transfer->block[0]) * transfer->block_bytes;
	transfer->layer_stride = request->layer_stride != 0
					 ? request->layer_stride
					 : transfer->stride * in_blocks(height, transfer->block[1]);
}

/**
 * Returns whether all bytes of a transfer lie in the client's memory. No product here exceeds 64 bits: a side is at most
 * 2^30, a block 32 bytes, a stride 2^35, a layer's stride 2^65 in theory; so each is compared before it is used.
 */
static bool lies_inside(const struct pb_gl_transfer_request *request, const struct pb_gl_transfer *transfer)
{
	const uint64_t left = request->available - request->offset;
	const uint64_t rows = transfer->rows - 1u, layers = transfer->box[DEPTH] - 1u;

	if (request->offset > request->available || transfer->row_bytes > left)
		return false;
	if (rows != 0 && transfer->stride > (left - transfer->row_bytes) / rows)
		return false;
	return layers == 0 ||
	       transfer->layer_stride <= (left - transfer->row_bytes - rows * transfer->stride) / layers;
}

bool pb_gl_transfer_plan(const struct pb_gl_transfer_request *request, struct pb_gl_transfer *transfer,
			 const char **why)
{
	const struct pb_gl_block block = pb_gl_block_of(request->template_words[PB_GL_TEMPLATE_FORMAT]);

	*why = "a format whose size is not known";
	if (block.bytes == 0)
		return false;
	*why = "a box or a level out of range";
	if (!box_is_valid(request))
		return false;
	*transfer = (struct pb_gl_transfer){
		.level = request->level,
		.block = {block.width, block.height},
		.block_bytes = block.bytes,
		.row_bytes = (uint64_t)in_blocks(request->box[WIDTH], block.width) * block.bytes,
		.rows = in_blocks(request->box[HEIGHT], block.height),
		.offset = request->offset,
	};
	memcpy(transfer->box, request->box, sizeof(transfer->box));
	set_strides(request, transfer);
	*why = "a row that is longer than a stride";
	if ((transfer->rows > 1 && transfer->stride < transfer->row_bytes) ||
	    (transfer->box[DEPTH] > 1 && transfer->layer_stride < transfer->row_bytes))
		return false;
	*why = "bytes outside of the resource's memory";
	return lies_inside(request, transfer);
}

/** Returns how many of `left` parts of `bytes` each fit, at least one. */
static uint32_t that_fit(uint64_t bytes, uint32_t left, uint32_t room)
{
	const uint64_t fit = room / bytes;

	return fit < left ? (uint32_t)fit : left;
}

/** Takes a part of one row, because no whole row fits. */
static void take_columns(struct pb_gl_transfer *transfer, uint32_t room, struct pb_gl_piece *piece)
{
	const uint32_t columns = (uint32_t)(transfer->row_bytes / transfer->block_bytes);
	const uint32_t taken = that_fit(transfer->block_bytes, columns - transfer->column, room);
	const uint32_t first = transfer->column * transfer->block[0];
	const uint32_t texels = taken * transfer->block[0];
	const uint32_t left = transfer->box[WIDTH] - first;

	piece->box[X] += first;
	piece->box[WIDTH] = texels < left ? texels : left;
	piece->row_bytes = taken * transfer->block_bytes;
	piece->offset += (uint64_t)transfer->column * transfer->block_bytes;
	transfer->column += taken;
	if (transfer->column != columns)
		return;
	transfer->column = 0;
	transfer->row++;
}

/** Takes whole rows of one layer, or whole layers. */
static void take_rows(struct pb_gl_transfer *transfer, uint32_t room, struct pb_gl_piece *piece)
{
	const uint64_t layer = transfer->row_bytes * transfer->rows;

	piece->row_bytes = (uint32_t)transfer->row_bytes;
	if (transfer->row == 0 && layer <= room) {
		piece->rows = transfer->rows;
		piece->layers = that_fit(layer, transfer->box[DEPTH] - transfer->layer, room);
		transfer->layer += piece->layers - 1u;
	} else {
		piece->rows = that_fit(transfer->row_bytes, transfer->rows - transfer->row, room);
	}
	transfer->row += piece->rows;
}

/** Sets the rows of texels that a piece has. */
static void set_height(const struct pb_gl_transfer *transfer, uint32_t row, struct pb_gl_piece *piece)
{
	const uint32_t first = row * transfer->block[1];
	const uint32_t texels = piece->rows * transfer->block[1];
	const uint32_t left = transfer->box[HEIGHT] - first;

	piece->box[Y] += first;
	piece->box[HEIGHT] = texels < left ? texels : left;
}

bool pb_gl_transfer_next(struct pb_gl_transfer *transfer, uint32_t room, struct pb_gl_piece *piece)
{
	const uint32_t row = transfer->row;

	if (transfer->layer == transfer->box[DEPTH])
		return false;
	*piece = (struct pb_gl_piece){
		.rows = 1,
		.layers = 1,
		.offset =
			transfer->offset + transfer->layer * transfer->layer_stride + row * transfer->stride,
	};
	memcpy(piece->box, transfer->box, sizeof(piece->box));
	piece->box[Z] += transfer->layer;
	if (transfer->row_bytes > room)
		take_columns(transfer, room, piece);
	else
		take_rows(transfer, room, piece);
	set_height(transfer, row, piece);
	piece->box[DEPTH] = piece->layers;
	piece->bytes = piece->row_bytes * piece->rows * piece->layers;
	if (transfer->row == transfer->rows) {
		transfer->row = 0;
		transfer->layer++;
	}
	return true;
}

void pb_gl_piece_pack(const struct pb_gl_transfer *transfer, const struct pb_gl_piece *piece,
		      const uint8_t *memory, uint8_t *packed)
{
	for (uint32_t layer = 0; layer < piece->layers; layer++) {
		for (uint32_t row = 0; row < piece->rows; row++) {
			memcpy(packed,
			       memory + piece->offset + layer * transfer->layer_stride +
				       row * transfer->stride,
			       piece->row_bytes);
			packed += piece->row_bytes;
		}
	}
}

void pb_gl_piece_unpack(const struct pb_gl_transfer *transfer, const struct pb_gl_piece *piece,
			const uint8_t *packed, uint8_t *memory)
{
	for (uint32_t layer = 0; layer < piece->layers; layer++) {
		for (uint32_t row = 0; row < piece->rows; row++) {
			memcpy(memory + piece->offset + layer * transfer->layer_stride +
				       row * transfer->stride,
			       packed, piece->row_bytes);
			packed += piece->row_bytes;
		}
	}
}
