/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Model of the reference engine (docs/engine.md): one node. It reads its
 * register block and ring from card memory and runs them in steps. The same
 * code runs beside the emulated card and, as a soft engine, in the image of a
 * board that has no engines.
 */
#ifndef PB_HAL_ENGINE_MODEL_H
#define PB_HAL_ENGINE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/** What the model needs from the card around it. */
struct pb_engine_model_config {
	uint8_t *memory;                  /**< card memory, aligned to 4 bytes */
	uint32_t memory_bytes;            /**< its size */
	uint32_t registers_offset;        /**< this node's struct pb_engine_registers in it */
	uint32_t kind;                    /**< enum pb_node_kind */
	void (*interrupt)(void *context); /**< raises the node's line towards the MCU */
	void *context;
};

/** Counters for people; nothing depends on them. */
struct pb_engine_model_statistics {
	uint64_t slots;       /**< ring slots run */
	uint64_t packets;     /**< packets run */
	uint64_t bytes_moved; /**< bytes stored by FILL, COPY and COPY_RECT */
	uint64_t pixels;      /**< pixels stored by DRAW */
	uint64_t faults;
};

/**
 * What is broken; nothing, when all is 0. The engine still runs its ring, and
 * the defects stay, also over a reset, until others are set.
 */
struct pb_engine_model_defects {
	bool deaf_to_stop;       /**< STOP and STOP_INSIDE are not seen */
	bool deaf_to_reset;      /**< RESET is not seen, unless by force */
	bool deaf_to_power;      /**< the force is not seen: such a RESET is like any other */
	bool stuck;              /**< packets get no further, as in HANG: time goes by, progress does not */
	uint32_t lose_interrupt; /**< the one so many from now is lost: 1 the next; 0: none */
	uint32_t spurious_every; /**< steps from one interrupt for nothing to the next; 0: none */
	uint32_t late; /**< steps from an interrupt to its line being raised; what comes meanwhile joins it */
};

struct pb_engine_model;

/** Starts a model, whatever stands there; its room is the caller's (state.h). The configuration is copied. */
void pb_engine_model_init(struct pb_engine_model *model, const struct pb_engine_model_config *config);
void pb_engine_model_set_defects(struct pb_engine_model *model,
				 const struct pb_engine_model_defects *defects);
/**
 * Carries out a new command, then runs packets until at least `microseconds`
 * of engine time have gone by or there is nothing to run, or it has stopped.
 * @return true: there is more to do now. Call again when the MCU has rung the
 * node's doorbell, or at once after true.
 */
bool pb_engine_model_step(struct pb_engine_model *model, uint32_t microseconds);
/** Microseconds of engine time that have gone by, modulo 2^32. */
uint32_t pb_engine_model_time(const struct pb_engine_model *model);
void pb_engine_model_statistics(const struct pb_engine_model *model,
				struct pb_engine_model_statistics *statistics);

#endif
