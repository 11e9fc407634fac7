/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a driver asks of the MCU's CPU that C has no words for. For images only:
 * hosts have no such CPU.
 */
#ifndef PB_HAL_CPU_H
#define PB_HAL_CPU_H

/** From here on no interrupt is handled, but each stays pending. */
static inline void pb_cpu_mask_interrupts(void)
{
#ifdef __riscv
	__asm__ volatile("csrci mstatus, 8" ::: "memory");
#else
	__asm__ volatile("cpsid i" ::: "memory");
#endif
}

/** Handles what is pending, and from here on what comes. */
static inline void pb_cpu_unmask_interrupts(void)
{
#ifdef __riscv
	__asm__ volatile("csrsi mstatus, 8" ::: "memory");
#else
	__asm__ volatile("cpsie i" ::: "memory");
#endif
}

/** Sleeps until an interrupt is pending, masked or not. All stores are done before. */
static inline void pb_cpu_wait(void)
{
#ifdef __riscv
	__asm__ volatile("fence iorw, iorw\n\twfi" ::: "memory");
#else
	__asm__ volatile("dsb\n\twfi" ::: "memory");
#endif
}

#endif
