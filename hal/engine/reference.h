/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Driver of the reference engine (docs/engine.md): registers and ring in card
 * memory, a line as its doorbell.
 */
#ifndef PB_HAL_ENGINE_REFERENCE_H
#define PB_HAL_ENGINE_REFERENCE_H

#include "hal/engine.h"
#include "hal/engine/reference_memory.h"
#include "hal/engine/registers.h"
#include "hal/lines.h"

/** One node. The board fills in what is not private; offsets are bytes from the start of card memory. */
struct pb_reference_engine {
	const struct pb_reference_memory *memory; /**< tables that all nodes share */
	uint32_t registers_offset;
	uint32_t ring_offset; /**< room for PB_ENGINE_SLOTS slots, then as many struct pb_engine_progress */
	uint32_t node;        /**< its number, which its doorbell carries */
	const struct pb_lines *lines;
	uint32_t command; /**< private: the last command given */
	bool asked;       /**< private: the engine was not seen to have answered that command */
	struct pb_engine_registers *registers; /**< private: computed at each reset */
	struct pb_engine_slot *ring;           /**< private: likewise */
};

/** Their context is a struct pb_reference_engine. */
extern const struct pb_engine_run_ops pb_reference_engine_run_ops;
extern const struct pb_engine_preempt_ops pb_reference_engine_preempt_ops;
extern const struct pb_engine_recover_ops pb_reference_engine_recover_ops;

/** Initialiser of a struct pb_engine over a struct pb_reference_engine. @param kind_ enum pb_node_kind */
#define PB_REFERENCE_ENGINE(driver, kind_)                                                                   \
	{                                                                                                    \
		.run = &pb_reference_engine_run_ops, .preempt = &pb_reference_engine_preempt_ops,            \
		.recover = &pb_reference_engine_recover_ops, .context = (driver), .kind = (kind_)            \
	}

#endif
