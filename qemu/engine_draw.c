/* SPDX-License-Identifier: MIT */
#include "hal/shared.h"
#include "qemu/engine_internal.h"

/* Operands of TARGET and TEXTURE. */
static enum pb_model_status bind(struct pb_engine_model *model, const uint32_t *words,
				 struct pb_model_surface *surface)
{
	uint32_t width = words[3];
	uint32_t height = words[4];
	uint32_t pitch = words[5];
	uint32_t *pixels;

	if (width == 0 || width > PB_ENGINE_EXTENT_MAX || height == 0 || height > PB_ENGINE_EXTENT_MAX ||
	    pitch < 4 * width)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	if ((pitch & 3u) != 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_ALIGNMENT);
	if (!pb_model_access(model, pb_model_address(&words[1]), (uint64_t)pitch * (height - 1) + 4u * width,
			     &pixels))
		return PB_MODEL_FAULTED;
	*surface = (struct pb_model_surface){
		.pixels = pixels, .width = width, .height = height, .pitch = pitch / 4};
	return PB_MODEL_DONE;
}

enum pb_model_status pb_model_target(struct pb_engine_model *model, const uint32_t *words)
{
	return bind(model, words, &model->target);
}

enum pb_model_status pb_model_texture(struct pb_engine_model *model, const uint32_t *words)
{
	return bind(model, words, &model->texture);
}

static bool in_range(int32_t value, int32_t limit)
{
	return value >= -limit && value <= limit;
}

static int32_t read_signed(const uint32_t *word)
{
	return (int32_t)pb_shared_read32(word);
}

/* Buffers change under the engine's feet: a vertex is read once, then looked at. */
static bool read_triangle(const uint32_t *words, struct pb_vertex vertices[3])
{
	bool good = true;

	for (uint32_t i = 0; i < 3; i++) {
		struct pb_vertex *vertex = &vertices[i];

		vertex->x = read_signed(&words[4 * i]);
		vertex->y = read_signed(&words[4 * i + 1]);
		vertex->u = read_signed(&words[4 * i + 2]);
		vertex->v = read_signed(&words[4 * i + 3]);
		good = good && in_range(vertex->x, PB_ENGINE_POSITION_MAX) &&
		       in_range(vertex->y, PB_ENGINE_POSITION_MAX) &&
		       in_range(vertex->u, PB_ENGINE_TEXEL_MAX) && in_range(vertex->v, PB_ENGINE_TEXEL_MAX);
	}
	return good;
}

/* One triangle a call, so that a step ends even in a long list. */
enum pb_model_status pb_model_draw(struct pb_engine_model *model, const uint32_t *words)
{
	uint32_t count = words[3];
	struct pb_vertex vertices[3];
	uint32_t *memory;
	uint64_t walked;

	if (model->target.pixels == NULL || model->texture.pixels == NULL)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_STATE);
	if (count % 3 != 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	if (!pb_model_access(model, pb_model_address(&words[1]), (uint64_t)count * sizeof(struct pb_vertex),
			     &memory))
		return PB_MODEL_FAULTED;
	if (count == 0)
		return PB_MODEL_DONE;
	if (!read_triangle(memory + 4 * model->cursor, vertices))
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	model->statistics.pixels += pb_model_triangle(&model->target, &model->texture, vertices, &walked);
	pb_model_touch(model, sizeof(vertices) / 4 + walked);
	model->cursor += 3;
	return model->cursor < count ? PB_MODEL_MORE : PB_MODEL_DONE;
}
