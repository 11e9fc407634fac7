/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Copies whole records from and to memory that another processor accesses,
 * word by word. Wire structs are made of 32-bit words.
 */
#ifndef PB_HAL_SHARED_COPY_H
#define PB_HAL_SHARED_COPY_H

#include "hal/shared.h"

/** Copies words out of shared memory, each read once. @param bytes a multiple of 4 */
static inline void pb_shared_copy_in(void *to, const void *from, uint32_t bytes)
{
	uint32_t *words = to;
	const uint32_t *shared = from;

	for (uint32_t i = 0; i < bytes / sizeof(uint32_t); i++)
		words[i] = pb_shared_read32(&shared[i]);
}

/** Copies words into shared memory. @param bytes a multiple of 4 */
static inline void pb_shared_copy_out(void *to, const void *from, uint32_t bytes)
{
	uint32_t *shared = to;
	const uint32_t *words = from;

	for (uint32_t i = 0; i < bytes / sizeof(uint32_t); i++)
		pb_shared_write32(&shared[i], words[i]);
}

#endif
