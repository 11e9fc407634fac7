/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Access to registers of the MCU's own peripherals.
 */
#ifndef PB_HAL_MMIO_H
#define PB_HAL_MMIO_H

#include <stdint.h>

/** Reads a register, 4-byte aligned, in one access. */
static inline uint32_t pb_mmio_read32(uintptr_t address)
{
	return *(const volatile uint32_t *)address;
}

/** Writes a register, 4-byte aligned, in one access. */
static inline void pb_mmio_write32(uintptr_t address, uint32_t value)
{
	*(volatile uint32_t *)address = value;
}

/** Reads a register that is one byte wide. */
static inline uint8_t pb_mmio_read8(uintptr_t address)
{
	return *(const volatile uint8_t *)address;
}

/** Writes a register that is one byte wide. */
static inline void pb_mmio_write8(uintptr_t address, uint8_t value)
{
	*(volatile uint8_t *)address = value;
}

#endif
