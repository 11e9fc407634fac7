/* SPDX-License-Identifier: MIT */
#include "qemu/card_engines.h"

#include <stdlib.h>
#include <string.h>

#include "hal/engine/registers.h"
#include "hal/shared.h"
#include "patchbay/abi/boot.h"

/* Engine time of one slice, in microseconds. */
#define SLICE_US 200u
/* An engine with no progress for this long gets a slice a millisecond, no more. */
#define HANGS_US 1000000u
/* That slice: engine time then advances about as fast as real time. */
#define HANGING_SLICE_US 1000u
_Static_assert(PB_CARD_NODES == 4 && PB_CARD_NODE_KIND(0) == PB_NODE_3D &&
		       PB_CARD_NODE_KIND(1) != PB_NODE_3D && PB_CARD_NODE_KIND(2) == PB_NODE_3D &&
		       PB_CARD_NODE_KIND(3) != PB_NODE_3D,
	       "PB_CARD_NODES_3D");
/* Resources of an owner of the GL engine. */
#define GL_RESOURCES 16384u

static bool hangs(const struct pb_card_engine *engine)
{
	return engine->idle >= HANGS_US;
}

static void interrupt(void *context)
{
	struct pb_card_engine *engine = context;

	engine->raised = true;
}

static uint32_t registers_offset(uint32_t node)
{
	return PB_CARD_ENGINE_OFFSET + node * PB_CARD_ENGINE_STRIDE;
}

/* @return whether there is one if there is to be one */
static bool create_gl(struct pb_card_engines *engines, const char *renderer, int epoll)
{
	static const struct pb_engine_gl_sizes sizes = {PB_RENDERERS_MAX, GL_RESOURCES, PB_GL_OBJECTS,
							PB_GL_SUB_CONTEXTS};
	const struct pb_boot_block *boot = (const void *)(engines->memory + PB_BOOT_OFFSET);

	if (renderer == NULL)
		return true;
	pb_renderers_init(&engines->renderers, renderer, epoll, &boot->clock);
	engines->gl = pb_engine_gl_create(&pb_process_renderers, &engines->renderers, &sizes);
	return engines->gl != NULL;
}

bool pb_card_engines_create(struct pb_card_engines *engines, const struct pb_card_files *files,
			    const char *renderer, int epoll, void (*raise)(void *context, uint32_t node),
			    void *context)
{
	bool made;

	*engines = (struct pb_card_engines){.interrupt = raise, .context = context};
	engines->memory = files->memory;
	made = create_gl(engines, renderer, epoll);
	engines->clear = (struct pb_clear_unit){.memory = files->memory,
						.registers_offset = PB_CARD_CLEAR_OFFSET,
						.outer_offset = files->outer_offset,
						.outer_bytes = files->outer_bytes};
	pb_clear_unit_start(&engines->clear);
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		struct pb_card_engine *engine = &engines->engine[n];
		const bool gl = engines->gl != NULL && PB_CARD_NODE_KIND(n) == PB_NODE_3D;
		struct pb_engine_model_config config = {
			.memory = engines->memory,
			.memory_bytes = PB_CARD_MEMORY_BYTES,
			.host_offset = files->host_offset,
			.host_bytes = files->host_bytes,
			.outer_offset = files->outer_offset,
			.outer_bytes = files->outer_bytes,
			.registers_offset = registers_offset(n),
			.kind = PB_CARD_NODE_KIND(n),
			.interrupt = interrupt,
			.context = engine,
		};

		*engine = (struct pb_card_engine){.engines = engines, .node = n};
		if (gl) {
			engine->gl = pb_engine_gl_node_create(engines->gl);
			config.gl_ops = engine->gl != NULL ? &pb_engine_gl_ops : NULL;
			config.gl = engine->gl;
		}
		engine->model = pb_engine_model_create(&config);
		made = made && engine->model != NULL && (!gl || engine->gl != NULL);
	}
	return made;
}

void pb_card_engines_destroy(struct pb_card_engines *engines)
{
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		if (engines->engine[n].model != NULL)
			pb_engine_model_destroy(engines->engine[n].model);
		engines->engine[n].model = NULL;
		free(engines->engine[n].gl);
		engines->engine[n].gl = NULL;
	}
	pb_engine_gl_destroy(engines->gl);
	engines->gl = NULL;
}

void pb_card_engines_renderer(struct pb_card_engines *engines, uint32_t index)
{
	pb_renderers_event(&engines->renderers, index);
}

void pb_card_engines_close(struct pb_card_engines *engines, uint32_t channel)
{
	if (engines->gl != NULL)
		pb_engine_gl_close(engines->gl, channel);
}

void pb_card_engines_died(struct pb_card_engines *engines)
{
	if (engines->gl != NULL)
		pb_engine_gl_close_all(engines->gl);
}

void pb_card_engines_ring(struct pb_card_engines *engines, uint32_t node)
{
	if (node < PB_CARD_NODES)
		engines->engine[node].running = true;
}

/* Whether it has nothing to do but to wait for a renderer, which wakes the card. */
static bool waits(const struct pb_card_engine *engine)
{
	return engine->gl != NULL && pb_engine_gl_waits(engine->gl);
}

/* @return whether it made progress */
static bool run(struct pb_card_engine *engine)
{
	const uint32_t slice = hangs(engine) ? HANGING_SLICE_US : SLICE_US;
	const struct pb_engine_registers *registers =
		(const void *)(engine->engines->memory + registers_offset(engine->node));
	uint32_t progress;
	bool advanced;

	engine->running = pb_engine_model_step(engine->model, slice);
	progress = pb_shared_read32(&registers->progress);
	/* What a renderer has done is no reason to ask it again at once. */
	advanced = engine->raised || (progress != engine->progress && !waits(engine));
	if (!engine->running || progress != engine->progress)
		engine->idle = 0;
	else if (!hangs(engine))
		engine->idle += slice;
	engine->progress = progress;
	/* Once for all that the slice has completed. */
	if (engine->raised)
		engine->engines->interrupt(engine->engines->context, engine->node);
	engine->raised = false;
	return advanced;
}

bool pb_card_engines_run(struct pb_card_engines *engines)
{
	bool advanced = false;

	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		if (engines->engine[n].running && run(&engines->engine[n]))
			advanced = true;
	}
	engines->clears = pb_clear_unit_step(&engines->clear);
	return advanced || engines->clears;
}

int pb_card_engines_sleep(const struct pb_card_engines *engines)
{
	int sleep = engines->clears ? 0 : -1;

	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		if (engines->engine[n].running && !hangs(&engines->engine[n]) && !waits(&engines->engine[n]))
			return 0;
		if (engines->engine[n].running)
			sleep = 1;
	}
	return sleep;
}
