/* SPDX-License-Identifier: MIT */
#include "hal/engine_model/internal.h"

/* The vertices of one triangle. */
#define TRIANGLE_WORDS 12u

enum pb_model_status pb_model_bind(struct pb_engine_model *model, const uint32_t *operands,
				   struct pb_model_surface *surface)
{
	uint32_t width = operands[2];
	uint32_t height = operands[3];
	uint32_t pitch = operands[4];
	struct pb_model_span span;

	if (width == 0 || width > PB_ENGINE_EXTENT_MAX || height == 0 || height > PB_ENGINE_EXTENT_MAX ||
	    pitch < 4 * width)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	if ((pitch & 3u) != 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_ALIGNMENT);
	if (!pb_model_span(model, pb_model_address(operands), (uint64_t)pitch * (height - 1) + 4u * width,
			   &span))
		return PB_MODEL_FAULTED;
	*surface = (struct pb_model_surface){.span = span, .width = width, .height = height, .pitch = pitch};
	return PB_MODEL_DONE;
}

enum pb_model_status pb_model_target(struct pb_engine_model *model, const uint32_t *words)
{
	return pb_model_bind(model, &words[1], &model->target);
}

enum pb_model_status pb_model_texture(struct pb_engine_model *model, const uint32_t *words)
{
	return pb_model_bind(model, &words[1], &model->texture);
}

static bool in_range(int32_t value, int32_t limit)
{
	return value >= -limit && value <= limit;
}

static bool set_vertices(const uint32_t words[TRIANGLE_WORDS], struct pb_vertex vertices[3])
{
	bool good = true;

	for (uint32_t i = 0; i < 3; i++) {
		struct pb_vertex *vertex = &vertices[i];

		vertex->x = (int32_t)words[4 * i];
		vertex->y = (int32_t)words[4 * i + 1];
		vertex->u = (int32_t)words[4 * i + 2];
		vertex->v = (int32_t)words[4 * i + 3];
		good = good && in_range(vertex->x, PB_ENGINE_POSITION_MAX) &&
		       in_range(vertex->y, PB_ENGINE_POSITION_MAX) &&
		       in_range(vertex->u, PB_ENGINE_TEXEL_MAX) && in_range(vertex->v, PB_ENGINE_TEXEL_MAX);
	}
	return good;
}

/* The next triangle of a list, read once: buffers change under the engine's feet. */
static enum pb_model_status read_triangle(struct pb_engine_model *model, const struct pb_model_span *list,
					  struct pb_vertex vertices[3])
{
	uint32_t offset = (uint32_t)model->cursor * (uint32_t)sizeof(struct pb_vertex);
	uint32_t words[TRIANGLE_WORDS];
	uint32_t got = pb_model_read(model, list, offset, words, TRIANGLE_WORDS);

	if (got < TRIANGLE_WORDS)
		return pb_model_fault(model, PB_ENGINE_FAULT_PAGE, list->address + offset + 4 * got);
	if (!set_vertices(words, vertices))
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	return PB_MODEL_DONE;
}

/* One triangle a call, so that a step ends even in a long list. */
enum pb_model_status pb_model_draw(struct pb_engine_model *model, const uint32_t *words)
{
	uint32_t count = words[3];
	struct pb_vertex vertices[3];
	struct pb_model_span list;
	uint64_t walked;

	if (model->target.span.bytes == 0 || model->texture.span.bytes == 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_STATE);
	if (count % 3 != 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
	if (!pb_model_span(model, pb_model_address(&words[1]), (uint64_t)count * sizeof(struct pb_vertex),
			   &list))
		return PB_MODEL_FAULTED;
	if (count == 0)
		return PB_MODEL_DONE;
	if (read_triangle(model, &list, vertices) == PB_MODEL_FAULTED ||
	    pb_model_triangle(model, vertices, &walked) == PB_MODEL_FAULTED)
		return PB_MODEL_FAULTED;
	pb_model_touch(model, TRIANGLE_WORDS + walked);
	model->cursor += 3;
	return model->cursor < count ? PB_MODEL_MORE : PB_MODEL_DONE;
}
