/* SPDX-License-Identifier: MIT */
/**
 * @file
 * RISC-V: a boot loader decides in user mode, where physical memory protection lets it execute its own code only. No entry
 * is locked: machine mode stays free of them, and the image that is started finds them as after a reset. References: The
 * RISC-V Instruction Set Manual, volume II, version 20211203, sections 3.3.2 (MRET) and 3.7 (PMP).
 */
#ifndef PB_HAL_RISCV_CONFINE_H
#define PB_HAL_RISCV_CONFINE_H

#include <stdint.h>

#include "hal/protect.h"

/** Regions that a loader may have beside its code. */
#define PB_RISCV_LOADER_REGIONS 7u

/**
 * Called in machine mode, returns in user mode. From then on the loader executes its own code only, and reads and writes
 * its own code (read only) and the regions listed; all else faults, and a fault stops the CPU. Until pb_hal_start_image().
 * @param code    start of the loader's code, a multiple of `bytes`
 * @param bytes   a power of two, at least 32
 * @param regions stack and variables among them; as PMP has them, the smallest power of two that covers each
 * @param count   at most PB_RISCV_LOADER_REGIONS; more: the CPU stops
 */
void pb_riscv_confine(uintptr_t code, uint32_t bytes, const struct pb_region *regions, uint32_t count);

#endif
