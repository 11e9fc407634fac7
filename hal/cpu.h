/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Operations of the MCU's CPU that C cannot express. For firmware images only.
 */
#ifndef PB_HAL_CPU_H
#define PB_HAL_CPU_H

/** Masks interrupts: none is handled until pb_cpu_unmask_interrupts(), each stays pending. */
static inline void pb_cpu_mask_interrupts(void)
{
#ifdef __riscv
	__asm__ volatile("csrci mstatus, 8" ::: "memory");
#else
	__asm__ volatile("cpsid i" ::: "memory");
#endif
}

/** Unmasks interrupts: pending ones are handled at once. */
static inline void pb_cpu_unmask_interrupts(void)
{
#ifdef __riscv
	__asm__ volatile("csrsi mstatus, 8" ::: "memory");
#else
	__asm__ volatile("cpsie i" ::: "memory");
#endif
}

/** Sleeps until an interrupt is pending, masked or not. All earlier stores are complete before the sleep. */
static inline void pb_cpu_wait(void)
{
#ifdef __riscv
	__asm__ volatile("fence iorw, iorw\n\twfi" ::: "memory");
#else
	__asm__ volatile("dsb\n\twfi" ::: "memory");
#endif
}

#endif
