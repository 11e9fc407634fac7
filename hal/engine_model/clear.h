/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Model of the unit that clears outer memory (hal/outer_memory.h): it carries
 * out the requests of struct pb_engine_clear in slices, beside the engines and
 * whatever they do. No function blocks; the caller serialises the calls.
 */
#ifndef PB_HAL_ENGINE_MODEL_CLEAR_H
#define PB_HAL_ENGINE_MODEL_CLEAR_H

#include <stdbool.h>
#include <stdint.h>

/** Bytes that a slice clears. */
#define PB_CLEAR_UNIT_SLICE 0x40000u

/** The unit. Its owner fills in the first four; the others are private and 0 at first. */
struct pb_clear_unit {
	uint8_t *memory;           /**< card memory, with outer memory at its offset; aligned to 4 bytes */
	uint32_t registers_offset; /**< of the struct pb_engine_clear in it */
	uint32_t outer_offset;     /**< of outer memory in it */
	uint32_t outer_bytes;      /**< 0: there is none; every request stays unanswered */
	uint32_t offset;           /**< of what is left to clear */
	uint32_t bytes;            /**< of it */
	uint32_t request;          /**< that is being carried out, or was last */
};

/** Publishes how much outer memory there is. Once, before the MCU starts; card memory is clear. */
void pb_clear_unit_start(struct pb_clear_unit *unit);
/** Takes a request, or clears a slice. @return whether there is more to clear */
bool pb_clear_unit_step(struct pb_clear_unit *unit);

#endif
