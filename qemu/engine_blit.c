/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "qemu/engine_internal.h"

enum pb_model_status pb_model_fill(struct pb_engine_model *model, const uint32_t *words)
{
	uint32_t bytes = words[3];
	uint32_t value = words[4];
	uint32_t *to;

	if (!pb_model_access(model, pb_model_address(&words[1]), bytes, &to))
		return PB_MODEL_FAULTED;
	for (uint32_t i = 0; i < bytes / 4; i++)
		to[i] = value;
	model->statistics.bytes_moved += bytes;
	pb_model_touch(model, bytes / 4);
	return PB_MODEL_DONE;
}

static enum pb_model_status copy(struct pb_engine_model *model, uint64_t source, uint64_t destination,
				 uint32_t bytes)
{
	uint32_t *from;
	uint32_t *to;

	if (bytes == 0)
		return PB_MODEL_DONE;
	/* Either operand's alignment counts before either's address. */
	if (((source | destination) & 3u) != 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_ALIGNMENT);
	if (!pb_model_access(model, source, bytes, &from) || !pb_model_access(model, destination, bytes, &to))
		return PB_MODEL_FAULTED;
	memmove(to, from, bytes);
	model->statistics.bytes_moved += bytes;
	pb_model_touch(model, bytes / 4);
	return PB_MODEL_DONE;
}

enum pb_model_status pb_model_copy(struct pb_engine_model *model, const uint32_t *words)
{
	return copy(model, pb_model_address(&words[1]), pb_model_address(&words[3]), words[5]);
}

/* One row a call: a buffer may ask for 2^32 rows, and a step has to end. */
enum pb_model_status pb_model_copy_rect(struct pb_engine_model *model, const uint32_t *words)
{
	uint64_t row = model->cursor;
	uint32_t source_pitch = words[3];
	uint32_t destination_pitch = words[6];
	uint32_t bytes = words[7];
	uint32_t rows = words[8];
	uint64_t source = pb_model_address(&words[1]) + row * source_pitch;
	uint64_t destination = pb_model_address(&words[4]) + row * destination_pitch;

	if (((source_pitch | destination_pitch | bytes) & 3u) != 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_ALIGNMENT);
	if (rows == 0 || bytes == 0)
		return PB_MODEL_DONE;
	if (copy(model, source, destination, bytes) == PB_MODEL_FAULTED)
		return PB_MODEL_FAULTED;
	model->cursor = row + 1;
	return model->cursor < rows ? PB_MODEL_MORE : PB_MODEL_DONE;
}
