/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Driver of the reference engines' memory management (docs/engine.md): the
 * range table, page tables and translation counters in card memory, which all
 * nodes share.
 */
#ifndef PB_HAL_ENGINE_REFERENCE_MEMORY_H
#define PB_HAL_ENGINE_REFERENCE_MEMORY_H

#include "hal/engine_memory.h"

/** The tables of a card. The board fills it in and keeps it constant; offsets are bytes from the start of card memory. */
struct pb_reference_memory {
	uint8_t *card_memory;        /**< its first byte */
	uint32_t range_offset;       /**< room for channels x PB_ENGINE_RANGES struct pb_engine_range_entry */
	uint32_t channels;           /**< rows of the range table */
	uint32_t dummy_offset;       /**< one page, see registers.h */
	uint32_t translation_offset; /**< struct pb_engine_translation */
	uint32_t clear_offset;       /**< struct pb_engine_clear; 0: there is none, nor outer memory */
};

/** Their context is a struct pb_reference_memory. */
extern const struct pb_engine_memory_ops pb_reference_memory_ops;

#endif
