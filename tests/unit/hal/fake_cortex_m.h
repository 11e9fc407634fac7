/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Included before everything else in a build of hal/cortex_m/protect.c for this
 * host: the registers of the system control space are the test's.
 */
#ifndef PB_TESTS_UNIT_HAL_FAKE_CORTEX_M_H
#define PB_TESTS_UNIT_HAL_FAKE_CORTEX_M_H

#include <stdint.h>

#include "hal/mmio.h"

/* In place of hal/cortex_m/barrier.h. */
#define PB_HAL_CORTEX_M_BARRIER_H

uint32_t fake_read32(uintptr_t address);
void fake_write32(uintptr_t address, uint32_t value);

#define pb_mmio_read32  fake_read32
#define pb_mmio_write32 fake_write32

static inline void pb_cortex_m_synchronise(void)
{
}

static inline void pb_cortex_m_limit_stack(const uint32_t *bottom)
{
	(void)bottom;
}

#endif
