/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Included before everything else in a build of the firmware core whose every
 * access to card memory is seen by once.c.
 */
#ifndef PB_TESTS_UNIT_ONCE_HOOKS_H
#define PB_TESTS_UNIT_ONCE_HOOKS_H

#include "hal/shared.h"

uint32_t pb_once_read32(const uint32_t *address);
uint8_t pb_once_read8(const uint8_t *address);
void pb_once_write32(uint32_t *address, uint32_t value);
void pb_once_write8(uint8_t *address, uint8_t value);

#define pb_shared_read32  pb_once_read32
#define pb_shared_read8   pb_once_read8
#define pb_shared_write32 pb_once_write32
#define pb_shared_write8  pb_once_write8

#endif
