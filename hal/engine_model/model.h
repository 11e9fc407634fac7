/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Model of the reference engine (docs/engine.md): one node. It reads its
 * register block and ring from card memory and runs them in steps. This code
 * runs beside the emulated card and, as a soft engine, in the image of a board
 * that has no engines. No function blocks; the caller serialises the calls.
 */
#ifndef PB_HAL_ENGINE_MODEL_MODEL_H
#define PB_HAL_ENGINE_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

struct pb_engine_gl_node;
struct pb_engine_model;
struct pb_model_operation;

/** What a GL engine adds to the reference engine (hal/engine_model/gl.h): more packets. */
struct pb_engine_gl_ops {
	/** Returns the operation of a packet by its header; NULL: there is none. */
	const struct pb_model_operation *(*find)(uint32_t header);
	/** Called as the engine is reset: ends a renderer that works for this node. */
	void (*reset)(struct pb_engine_model *model);
};

/** What the model needs from the card around it. */
struct pb_engine_model_config {
	uint8_t *memory;       /**< card memory, aligned to 4 bytes */
	uint32_t memory_bytes; /**< its size */
	uint32_t
		host_offset; /**< where host memory begins, as hal/host_window.h has it; ranges may lie there */
	uint32_t host_bytes;   /**< 0: there is none, or it is a part of card memory */
	uint32_t outer_offset; /**< where outer memory begins (hal/outer_memory.h); ranges may lie there */
	uint32_t outer_bytes;  /**< 0: there is none */
	uint32_t registers_offset;        /**< this node's struct pb_engine_registers in it */
	uint32_t kind;                    /**< enum pb_node_kind */
	void (*interrupt)(void *context); /**< raises the node's line towards the MCU */
	void *context;
	const struct pb_engine_gl_ops
		*gl_ops;              /**< NULL: GL packets are unknown, as on the reference engine */
	struct pb_engine_gl_node *gl; /**< this node's part of the GL engine; with `gl_ops` only */
};

/** Counters for statistics; nothing depends on them. */
struct pb_engine_model_statistics {
	uint64_t slots;       /**< ring slots run */
	uint64_t packets;     /**< packets run */
	uint64_t bytes_moved; /**< bytes stored by FILL, COPY and COPY_RECT */
	uint64_t pixels;      /**< pixels stored by DRAW */
	uint64_t faults;
};

/**
 * Defects for tests; all 0: none. The engine still runs its ring. The defects
 * last, also over a reset, until others are set.
 */
struct pb_engine_model_defects {
	bool deaf_to_stop;  /**< STOP and STOP_INSIDE are ignored */
	bool deaf_to_reset; /**< RESET is ignored, unless by force */
	bool deaf_to_power; /**< the force is ignored: a RESET by force is an ordinary one */
	bool stuck;         /**< packets make no progress, as in HANG; time advances */
	uint32_t
		lose_interrupt; /**< number of the interrupt that is lost, from now: 1 is the next one; 0: none */
	uint32_t spurious_every; /**< steps between two spurious interrupts; 0: none */
	uint32_t late; /**< steps by which the line is raised late; interrupts in between are merged */
};

/** Starts a model in memory of the caller (state.h), whatever its contents. The configuration is copied. */
void pb_engine_model_init(struct pb_engine_model *model, const struct pb_engine_model_config *config);
/** Sets the defects; they are copied. */
void pb_engine_model_set_defects(struct pb_engine_model *model,
				 const struct pb_engine_model_defects *defects);
/**
 * Carries out a new command, then runs packets until at least `microseconds`
 * of engine time have passed, nothing is left to run, or the engine stops.
 * @return true: call again, as there is more to run. After false: call again when
 * the MCU has rung the node's doorbell.
 */
bool pb_engine_model_step(struct pb_engine_model *model, uint32_t microseconds);
/** Returns the engine time, in microseconds modulo 2^32. */
uint32_t pb_engine_model_time(const struct pb_engine_model *model);
/** Copies the counters to `statistics`. */
void pb_engine_model_statistics(const struct pb_engine_model *model,
				struct pb_engine_model_statistics *statistics);

#endif
