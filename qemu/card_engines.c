/* SPDX-License-Identifier: MIT */
#include "qemu/card_engines.h"

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

bool pb_card_engines_create(struct pb_card_engines *engines, const struct pb_card_files *files,
			    void (*raise)(void *context, uint32_t node), void *context)
{
	bool made = true;

	*engines = (struct pb_card_engines){.interrupt = raise, .context = context};
	engines->memory = files->memory;
	engines->clear = (struct pb_clear_unit){.memory = files->memory,
						.registers_offset = PB_CARD_CLEAR_OFFSET,
						.outer_offset = files->outer_offset,
						.outer_bytes = files->outer_bytes};
	pb_clear_unit_start(&engines->clear);
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		struct pb_card_engine *engine = &engines->engine[n];
		const struct pb_engine_model_config config = {
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
		engine->model = pb_engine_model_create(&config);
		made = made && engine->model != NULL;
	}
	return made;
}

void pb_card_engines_destroy(struct pb_card_engines *engines)
{
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		if (engines->engine[n].model != NULL)
			pb_engine_model_destroy(engines->engine[n].model);
		engines->engine[n].model = NULL;
	}
}

void pb_card_engines_ring(struct pb_card_engines *engines, uint32_t node)
{
	if (node < PB_CARD_NODES)
		engines->engine[node].running = true;
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
	advanced = engine->raised || progress != engine->progress;
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
		if (engines->engine[n].running && !hangs(&engines->engine[n]))
			return 0;
		if (engines->engine[n].running)
			sleep = 1;
	}
	return sleep;
}
