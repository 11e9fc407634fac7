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
/** The same for bytes. */
uint8_t pb_stepped_read8(const uint8_t *address);
void pb_stepped_write8(uint8_t *address, uint8_t value);

/* No access by LDM or LDRD, which is no call. */
#define PB_SHARED_NO_BURSTS
#define pb_shared_read32  pb_stepped_read32
#define pb_shared_read8   pb_stepped_read8
#define pb_shared_write32 pb_stepped_write32
#define pb_shared_write8  pb_stepped_write8

#endif
