/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Included first in every source of an interleaving: each access to card memory and each barrier becomes a
 * call (weave.h).
 */
#ifndef PB_TESTS_INTERLEAVE_HOOKS_H
#define PB_TESTS_INTERLEAVE_HOOKS_H

#include "hal/shared.h"

uint32_t pb_weave_read32(const uint32_t *address);
void pb_weave_write32(uint32_t *address, uint32_t value);
uint8_t pb_weave_read8(const uint8_t *address);
void pb_weave_write8(uint8_t *address, uint8_t value);
void pb_weave_add32(uint32_t *address, uint32_t value);
/* A barrier is named by the file and line of its call. */
void pb_weave_acquire(const char *file, uint32_t line);
void pb_weave_release(const char *file, uint32_t line);
void pb_weave_barrier(const char *file, uint32_t line);

static inline void pb_weave_write_four(uint32_t *address, uint32_t first, uint32_t second, uint32_t third,
				       uint32_t fourth)
{
	pb_weave_write32(&address[0], first);
	pb_weave_write32(&address[1], second);
	pb_weave_write32(&address[2], third);
	pb_weave_write32(&address[3], fourth);
}

#define pb_shared_read32     pb_weave_read32
#define pb_shared_write32    pb_weave_write32
#define pb_shared_put32      pb_weave_write32
#define pb_shared_write_four pb_weave_write_four
#define pb_shared_read8      pb_weave_read8
#define pb_shared_write8     pb_weave_write8
#define pb_shared_add32      pb_weave_add32
#define pb_shared_acquire()  pb_weave_acquire(__FILE__, __LINE__)
#define pb_shared_release()  pb_weave_release(__FILE__, __LINE__)
#define pb_shared_barrier()  pb_weave_barrier(__FILE__, __LINE__)

#endif
