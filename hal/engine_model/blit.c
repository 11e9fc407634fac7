/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "hal/engine_model/internal.h"

/* One piece a call: an aperture may be much larger than card memory, and a step has to end. */
static enum pb_model_status fill(struct pb_engine_model *model, uint64_t address, uint32_t bytes,
				 uint32_t value)
{
	uint32_t done = (uint32_t)model->cursor;
	struct pb_model_piece piece;
	struct pb_model_span span;

	if (!pb_model_span(model, address, bytes, &span))
		return PB_MODEL_FAULTED;
	if (bytes == 0)
		return PB_MODEL_DONE;
	piece = pb_model_piece(model, &span, done, bytes - done);
	for (uint32_t i = 0; i < piece.bytes / 4; i++)
		pb_shared_put32(&piece.words[i], value);
	if (!piece.mapped)
		return pb_model_fault(model, PB_ENGINE_FAULT_PAGE, address + done);
	model->statistics.bytes_moved += piece.bytes;
	pb_model_touch(model, piece.bytes / 4);
	model->cursor = done + piece.bytes;
	return model->cursor < bytes ? PB_MODEL_MORE : PB_MODEL_DONE;
}

enum pb_model_status pb_model_fill(struct pb_engine_model *model, const uint32_t *words)
{
	return fill(model, pb_model_address(&words[1]), words[3], words[4]);
}

enum pb_model_status pb_model_discard(struct pb_engine_model *model, const uint32_t *words)
{
	return fill(model, pb_model_address(&words[1]), words[3], PB_ENGINE_POISON);
}

/* Bytes below `end` of a span that are sure to lie in a row, down to its first at most. */
static uint32_t below(const struct pb_model_span *span, uint32_t end)
{
	uint32_t in_page = (uint32_t)((span->address + end - 1) % PB_PAGE_BYTES) + 1;

	return span->window->paged && in_page < end ? in_page : end;
}

/*
 * A piece of a copy: bytes that lie in a row in card memory on both sides.
 * From the last one down where the destination begins inside the source, so
 * that nothing is overwritten before it is read.
 */
static enum pb_model_status copy_piece(struct pb_engine_model *model, const struct pb_model_span *source,
				       const struct pb_model_span *destination, uint32_t *done)
{
	bool down = destination->address > source->address &&
		    destination->address - source->address < source->bytes;
	uint32_t first = *done;
	uint32_t bytes = source->bytes - *done;
	struct pb_model_piece from;
	struct pb_model_piece to;

	if (down) {
		uint32_t end = bytes;
		uint32_t most = below(source, end);

		bytes = below(destination, end);
		bytes = most < bytes ? most : bytes;
		first = end - bytes;
	}
	from = pb_model_piece(model, source, first, bytes);
	if (!from.mapped)
		return pb_model_fault(model, PB_ENGINE_FAULT_PAGE, source->address + first);
	to = pb_model_piece(model, destination, first, from.bytes);
	memmove(to.words, from.words, to.bytes);
	if (!to.mapped)
		return pb_model_fault(model, PB_ENGINE_FAULT_PAGE, destination->address + first);
	model->statistics.bytes_moved += to.bytes;
	pb_model_touch(model, to.bytes / 4);
	*done += to.bytes;
	return *done < source->bytes ? PB_MODEL_MORE : PB_MODEL_DONE;
}

static enum pb_model_status copy(struct pb_engine_model *model, uint64_t source, uint64_t destination,
				 uint32_t bytes, uint32_t *done)
{
	struct pb_model_span from;
	struct pb_model_span to;

	/* Either operand's alignment counts before either's address. */
	if (((source | destination) & 3u) != 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_ALIGNMENT);
	if (!pb_model_span(model, source, bytes, &from) || !pb_model_span(model, destination, bytes, &to))
		return PB_MODEL_FAULTED;
	return copy_piece(model, &from, &to, done);
}

enum pb_model_status pb_model_copy(struct pb_engine_model *model, const uint32_t *words)
{
	uint32_t done = (uint32_t)model->cursor;
	enum pb_model_status status;

	if (words[5] == 0)
		return PB_MODEL_DONE;
	status = copy(model, pb_model_address(&words[1]), pb_model_address(&words[3]), words[5], &done);
	model->cursor = done;
	return status;
}

/* One piece of a row a call; the cursor is the row, and below it the bytes of that row that are done. */
enum pb_model_status pb_model_copy_rect(struct pb_engine_model *model, const uint32_t *words)
{
	uint64_t row = model->cursor >> 32;
	uint32_t done = (uint32_t)model->cursor;
	uint32_t source_pitch = words[3];
	uint32_t destination_pitch = words[6];
	uint32_t bytes = words[7];
	uint32_t rows = words[8];
	uint64_t source = pb_model_address(&words[1]) + row * source_pitch;
	uint64_t destination = pb_model_address(&words[4]) + row * destination_pitch;
	enum pb_model_status status;

	if (((source_pitch | destination_pitch | bytes) & 3u) != 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_ALIGNMENT);
	if (rows == 0 || bytes == 0)
		return PB_MODEL_DONE;
	status = copy(model, source, destination, bytes, &done);
	if (status != PB_MODEL_DONE) {
		model->cursor = row << 32 | done;
		return status;
	}
	model->cursor = (row + 1) << 32;
	return row + 1 < rows ? PB_MODEL_MORE : PB_MODEL_DONE;
}
