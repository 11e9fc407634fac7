/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Driver of the reference engine (docs/engine.md): registers and ring in card
 * memory, a line as its doorbell.
 */
#ifndef PB_HAL_ENGINE_REFERENCE_H
#define PB_HAL_ENGINE_REFERENCE_H

#include "hal/engine.h"
#include "hal/engine/registers.h"
#include "hal/lines.h"

/** One node. The board fills it in; `memory` is card memory, offsets are bytes from its start. */
struct pb_reference_engine {
	uint8_t *memory;
	uint32_t registers_offset;
	uint32_t ring_offset;  /**< room for PB_ENGINE_SLOTS slots, then as many struct pb_engine_progress */
	uint32_t range_offset; /**< shared by all nodes; room for channels x PB_ENGINE_RANGES entries */
	uint32_t channels;
	uint32_t dummy_offset;       /**< one page, see registers.h */
	uint32_t translation_offset; /**< struct pb_engine_translation, shared by all nodes */
	uint32_t node;
	const struct pb_lines *lines;
	uint32_t command;                      /**< private, as are the others: the last one given */
	struct pb_engine_registers *registers; /**< worked out at each reset */
	struct pb_engine_slot *ring;
};

extern const struct pb_engine_ops pb_reference_engine_ops;

#endif
