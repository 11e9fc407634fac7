/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Operations of an M-profile core on its protection that C cannot express.
 */
#ifndef PB_HAL_CORTEX_M_BARRIER_H
#define PB_HAL_CORTEX_M_BARRIER_H

#include <stdint.h>

/** Completes all earlier accesses, also to the system control space. What follows is fetched and accessed anew. */
static inline void pb_cortex_m_synchronise(void)
{
	__asm__ volatile("dsb\n\tisb" ::: "memory");
}

#if __ARM_ARCH >= 8
/** Has the CPU fault when the stack pointer gets below an address. */
static inline void pb_cortex_m_limit_stack(const uint32_t *bottom)
{
	__asm__ volatile("msr msplim, %0\n\tisb" ::"r"(bottom) : "memory");
}
#endif

#endif
