/* SPDX-License-Identifier: MIT */
#include "hal/engine_model/soft.h"

#include "hal/lines.h"

static void interrupt(void *context)
{
	const struct pb_soft_engine *engine = context;
	struct pb_soft_engines *engines = engine->engines;

	engines->raised |= 1u << PB_LINE_NODE(engine - engines->nodes);
}

void pb_soft_engines_start(struct pb_soft_engines *engines)
{
	for (uint32_t n = 0; n < engines->count; n++) {
		struct pb_soft_engine *engine = &engines->nodes[n];
		struct pb_engine_model_config config = engines->configs[n];

		config.interrupt = interrupt;
		config.context = engine;
		engine->engines = engines;
		engine->running = false;
		pb_engine_model_init(&engine->model, &config);
	}
	engines->raised = 0;
}

void pb_soft_engines_ring(struct pb_soft_engines *engines, uint32_t node)
{
	if (node < engines->count)
		engines->nodes[node].running = true;
}

bool pb_soft_engines_running(const struct pb_soft_engines *engines)
{
	bool running = false;

	for (uint32_t n = 0; n < engines->count; n++)
		running = running || engines->nodes[n].running;
	return running;
}

uint32_t pb_soft_engines_step(struct pb_soft_engines *engines, uint32_t *microseconds)
{
	uint32_t raised;

	*microseconds = 0;
	for (uint32_t n = 0; n < engines->count; n++) {
		struct pb_soft_engine *engine = &engines->nodes[n];
		const uint32_t before = pb_engine_model_time(&engine->model);
		uint32_t taken;

		if (!engine->running)
			continue;
		engine->running = pb_engine_model_step(&engine->model, PB_SOFT_ENGINE_STEP_US);
		taken = pb_engine_model_time(&engine->model) - before;
		if (taken > *microseconds)
			*microseconds = taken;
	}
	raised = engines->raised;
	engines->raised = 0;
	return raised;
}
