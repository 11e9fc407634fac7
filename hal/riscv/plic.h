/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Platform-level interrupt controller, for machine mode of hart 0 (context 0).
 * Reference: RISC-V Platform-Level Interrupt Controller Specification 1.0.0,
 * sections 3 to 9.
 */
#ifndef PB_HAL_RISCV_PLIC_H
#define PB_HAL_RISCV_PLIC_H

#include "hal/mmio.h"

#define PB_PLIC_ENABLE    0x002000u
#define PB_PLIC_THRESHOLD 0x200000u
#define PB_PLIC_CLAIM     0x200004u

/** Enables a source. @param source 1..1023 */
static inline void pb_plic_enable(uintptr_t plic, uint32_t source)
{
	const uintptr_t word = plic + PB_PLIC_ENABLE + 4u * (source / 32u);

	pb_mmio_write32(plic + 4u * source, 1u); /* its priority: above the threshold */
	pb_mmio_write32(word, pb_mmio_read32(word) | 1u << source % 32u);
	pb_mmio_write32(plic + PB_PLIC_THRESHOLD, 0);
}

/** Claims the pending source of the highest priority. @return 0: none is pending */
static inline uint32_t pb_plic_claim(uintptr_t plic)
{
	return pb_mmio_read32(plic + PB_PLIC_CLAIM);
}

/** Completes a claimed source: it may be pending again. */
static inline void pb_plic_complete(uintptr_t plic, uint32_t source)
{
	pb_mmio_write32(plic + PB_PLIC_CLAIM, source);
}

#endif
