/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Words of packets, of card memory and of the register block, as the files of the engine model read and write them.
 */
#ifndef PB_HAL_ENGINE_MODEL_WORDS_H
#define PB_HAL_ENGINE_MODEL_WORDS_H

#include "hal/engine_model/state.h"
#include "hal/shared.h"

/** A GPU address as it stands in a packet, low word first. */
static inline uint64_t pb_model_address(const uint32_t *words)
{
	return (uint64_t)words[1] << 32 | words[0];
}

/** The word at an offset of card memory, or of host memory behind it, which the caller has checked. */
static inline uint32_t *pb_model_words(const struct pb_engine_model *model, uint32_t offset)
{
	return (uint32_t *)(void *)(model->config.memory + offset);
}

/** Stores a word of the register block. */
static inline void pb_model_store(uint32_t *address, uint32_t value)
{
	pb_shared_write32(address, value);
}

#endif
