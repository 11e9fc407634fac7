/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Armv7-M: a boot loader executes its own code only.
 */
#ifndef PB_HAL_CORTEX_M_CONFINE_H
#define PB_HAL_CORTEX_M_CONFINE_H

#include <stdint.h>

/** Regions of the memory protection unit, from 0 on, that pb_hal_start_image() turns off. */
#define PB_CORTEX_M_LOADER_REGIONS 5

/**
 * From now on, an instruction that is fetched from outside a range faults: whatever a jump of chance hits, such as a staged
 * image, the flash or shared memory, does not run. Keeps the guard of the stack. Until pb_hal_start_image().
 * @param start of code, a multiple of `bytes`
 * @param bytes a power of two, at least 32
 */
void pb_cortex_m_confine(uintptr_t start, uint32_t bytes);

#endif
