/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Included before everything else in a stepped build, of the core or of the
 * host library: every access to card memory becomes a step at which a test may
 * act. What of these a build calls, the test defines.
 */
#ifndef PB_TESTS_UNIT_STEPPED_H
#define PB_TESTS_UNIT_STEPPED_H

#include "hal/shared.h"

/** Lets the test act, then reads. */
uint32_t pb_stepped_read32(const uint32_t *address);
/** Lets the test act, then writes. */
void pb_stepped_write32(uint32_t *address, uint32_t value);
/** Lets the test act, then reads a byte. */
uint8_t pb_stepped_read8(const uint8_t *address);
/** Lets the test act, then writes a byte. */
void pb_stepped_write8(uint8_t *address, uint8_t value);

/** Four writes, each with its step. */
static inline void pb_stepped_write_four(uint32_t *address, uint32_t first, uint32_t second, uint32_t third,
					 uint32_t fourth)
{
	pb_stepped_write32(&address[0], first);
	pb_stepped_write32(&address[1], second);
	pb_stepped_write32(&address[2], third);
	pb_stepped_write32(&address[3], fourth);
}

/* No access by LDM or LDRD, which is no call. */
#define PB_SHARED_NO_BURSTS
#define pb_shared_read32     pb_stepped_read32
#define pb_shared_read8      pb_stepped_read8
#define pb_shared_write32    pb_stepped_write32
#define pb_shared_write8     pb_stepped_write8
#define pb_shared_write_four pb_stepped_write_four

#endif
