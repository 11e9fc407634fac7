/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Soft engines: the nodes of a card that has no others, run by its MCU in
 * steps between the passes of the firmware. They are the reference engine
 * (docs/engine.md), by the very code that runs beside the emulated card; the
 * firmware drives them through hal/engine/reference.h, as it drives those.
 */
#ifndef PB_HAL_ENGINE_MODEL_SOFT_H
#define PB_HAL_ENGINE_MODEL_SOFT_H

#include "hal/engine_model/state.h"

/** Engine time of a step, in microseconds; one packet may take longer. */
#define PB_SOFT_ENGINE_STEP_US 10u

struct pb_soft_engines;

/** Room for one node; private. */
struct pb_soft_engine {
	struct pb_engine_model model;
	struct pb_soft_engines *engines; /**< of which this is one */
	bool running;                    /**< its doorbell was rung, or it has more to run */
};

/** All nodes of a card. Their owner fills in the first three. */
struct pb_soft_engines {
	const struct pb_engine_model_config *configs; /**< one a node; interrupt and context are not used */
	struct pb_soft_engine *nodes;                 /**< as many */
	uint32_t count;
	uint32_t raised; /**< private: lines raised in the present step, as a mask of 1 << PB_LINE_NODE */
};

/** Starts the models. Called once, in thread context. Pre: card memory is accessible. */
void pb_soft_engines_start(struct pb_soft_engines *engines);
/** Rings a node's doorbell; a node that does not exist is ignored. Thread context. */
void pb_soft_engines_ring(struct pb_soft_engines *engines, uint32_t node);
/** Returns whether a step would run anything. */
bool pb_soft_engines_running(const struct pb_soft_engines *engines);
/**
 * Runs one step of each node that has something to run, as if in parallel. Thread context.
 * @param microseconds set to the engine time of the longest of these steps
 * @return the lines that the nodes have raised, as a mask of 1 << PB_LINE_NODE
 */
uint32_t pb_soft_engines_step(struct pb_soft_engines *engines, uint32_t *microseconds);

#endif
