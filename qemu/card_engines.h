/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The engines of the emulated card, run in slices of its event loop.
 */
#ifndef PB_QEMU_CARD_ENGINES_H
#define PB_QEMU_CARD_ENGINES_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/card/layout.h"
#include "qemu/engine.h"

struct pb_card_engines;

/** One node's engine. */
struct pb_card_engine {
	struct pb_card_engines *engines;
	uint32_t node;
	struct pb_engine_model *model;
	bool running;      /**< it has work */
	bool raised;       /**< its interrupt, in this slice */
	uint32_t progress; /**< its register as last seen */
	uint32_t idle;     /**< engine time since that moved, in microseconds */
};

/** The caller's, at a fixed address; only the functions below touch it. */
struct pb_card_engines {
	uint8_t *memory;
	void (*interrupt)(void *context, uint32_t node);
	void *context;
	struct pb_card_engine engine[PB_CARD_NODES];
};

/** @return false: out of memory; destroy it all the same */
bool pb_card_engines_create(struct pb_card_engines *engines, uint8_t *memory,
			    void (*interrupt)(void *context, uint32_t node), void *context);
void pb_card_engines_destroy(struct pb_card_engines *engines);
/** A node's doorbell. */
void pb_card_engines_ring(struct pb_card_engines *engines, uint32_t node);
/** Lets each engine that has work, or was rung, run for a slice. @return whether one got on */
bool pb_card_engines_run(struct pb_card_engines *engines);
/**
 * How long the event loop may sleep, in milliseconds: 0 while an engine gets
 * on, 1 while one has work but hangs, -1 when none has work.
 */
int pb_card_engines_sleep(const struct pb_card_engines *engines);

#endif
