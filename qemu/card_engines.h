/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The engines of the emulated card, run in slices of its event loop.
 */
#ifndef PB_QEMU_CARD_ENGINES_H
#define PB_QEMU_CARD_ENGINES_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/engine_model/clear.h"
#include "qemu/card_files.h"
#include "qemu/engine.h"
#include "qemu/engine_gl.h"
#include "qemu/gl/renderers.h"
#include "qemu/mcu/layout.h"

/** Mask of the 3D nodes, as PB_CARD_NODE_KIND has them. */
#define PB_CARD_NODES_3D 5u

struct pb_card_engines;

/** One node's engine. */
struct pb_card_engine {
	struct pb_card_engines *engines;
	uint32_t node;
	struct pb_engine_model *model;
	struct pb_engine_gl_node *gl; /**< its part of a GL engine; NULL: it has none */
	bool running;                 /**< a submission runs */
	bool raised;                  /**< its interrupt, in this slice */
	uint32_t progress;            /**< its register as last seen */
	uint32_t idle;                /**< engine time since that moved, in microseconds */
};

/** The caller's, at a fixed address; only the functions below touch it. */
struct pb_card_engines {
	uint8_t *memory;
	void (*interrupt)(void *context, uint32_t node);
	void *context;
	struct pb_card_engine engine[PB_CARD_NODES];
	struct pb_clear_unit clear;    /**< of outer memory */
	bool clears;                   /**< it has more to clear */
	struct pb_engine_gl *gl;       /**< NULL: the 3D nodes are reference engines */
	struct pb_renderers renderers; /**< of the GL engine */
};

/**
 * Creates the engines of all nodes. @param files have the memory, mapped
 * @param renderer program of the renderers, for GL engines on the 3D nodes; NULL: reference engines
 * @param epoll watches the renderers @return false: out of memory; destroy them nevertheless
 */
bool pb_card_engines_create(struct pb_card_engines *engines, const struct pb_card_files *files,
			    const char *renderer, int epoll, void (*interrupt)(void *context, uint32_t node),
			    void *context);
void pb_card_engines_destroy(struct pb_card_engines *engines);
/** Something has come from a renderer. */
void pb_card_engines_renderer(struct pb_card_engines *engines, uint32_t index);
/** A channel was closed: nothing of it stays in a renderer. */
void pb_card_engines_close(struct pb_card_engines *engines, uint32_t channel);
/** The MCU has died: so have all contexts. */
void pb_card_engines_died(struct pb_card_engines *engines);
/** A node's doorbell. */
void pb_card_engines_ring(struct pb_card_engines *engines, uint32_t node);
/** Runs each engine that was rung, or has more to run, for a slice, and the unit that clears outer memory. @return whether one made progress */
bool pb_card_engines_run(struct pb_card_engines *engines);
/**
 * How long the event loop may sleep, in milliseconds: 0 while an engine makes
 * progress, 1 while one has submissions but hangs or waits for a renderer, -1
 * when none has any.
 */
int pb_card_engines_sleep(const struct pb_card_engines *engines);

#endif
