/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "hal/engine_model/internal.h"
#include "hal/shared_copy.h"
#include "patchbay/abi/boot.h"

static void store_words(uint32_t *to, const struct pb_engine_progress *progress)
{
	uint32_t words[PB_SAVE_WORDS];

	memcpy(words, progress, sizeof(words));
	for (uint32_t i = 0; i < PB_SAVE_WORDS; i++)
		pb_model_store(&to[i], words[i]);
}

static void save_surface(const struct pb_model_surface *surface, uint32_t operands[PB_ENGINE_SURFACE_WORDS])
{
	operands[0] = (uint32_t)surface->span.address;
	operands[1] = (uint32_t)(surface->span.address >> 32);
	operands[2] = surface->width;
	operands[3] = surface->height;
	operands[4] = surface->pitch;
}

void pb_model_save(struct pb_engine_model *model)
{
	struct pb_engine_progress progress = {
		.version = PB_ENGINE_PROGRESS_VERSION,
		.offset = model->frames[0].done,
	};

	save_surface(&model->target, progress.target);
	save_surface(&model->texture, progress.texture);
	store_words((uint32_t *)(void *)&model->registers->save, &progress);
}

/* Target or texture as the packet would have set it; none if all is 0. */
static enum pb_model_status restore_surface(struct pb_engine_model *model,
					    const uint32_t operands[PB_ENGINE_SURFACE_WORDS],
					    struct pb_model_surface *surface)
{
	uint32_t any = 0;

	for (uint32_t i = 0; i < PB_ENGINE_SURFACE_WORDS; i++)
		any |= operands[i];
	if (any == 0)
		return PB_MODEL_DONE;
	if (model->config.kind != PB_NODE_3D)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_NODE);
	return pb_model_bind(model, operands, surface);
}

void pb_model_restore(struct pb_engine_model *model, const struct pb_engine_progress *from, uint32_t bytes)
{
	struct pb_engine_progress progress;
	uint32_t reserved;

	pb_shared_copy_in(&progress, from, sizeof(progress));
	reserved = progress.reserved[0] | progress.reserved[1] | progress.reserved[2];

	/* What a slot before has left behind there: this one starts at its start. */
	if (progress.command != model->command_done)
		return;
	if (progress.version != PB_ENGINE_PROGRESS_VERSION || progress.offset > bytes || reserved != 0) {
		pb_model_fault_packet(model, PB_ENGINE_FAULT_VALUE);
		return;
	}
	if ((progress.offset & 3u) != 0) {
		pb_model_fault_packet(model, PB_ENGINE_FAULT_ALIGNMENT);
		return;
	}
	if (restore_surface(model, progress.target, &model->target) == PB_MODEL_DONE &&
	    restore_surface(model, progress.texture, &model->texture) == PB_MODEL_DONE)
		model->frames[0].done = progress.offset;
}
