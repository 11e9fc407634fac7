/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "hal/cortex_m/cortex_m.h"
#include "hal/halt.h"
#include "hal/mmio.h"

/* From linker/sections.ld; words, so that nothing is taken apart into bytes. */
extern uint32_t pb_data_start[], pb_data_end[], pb_data_load[], pb_bss_start[], pb_bss_end[];
extern uint32_t pb_stack_bottom[];

int main(void);

#if __ARM_ARCH >= 8
/**
 * Running over the end of the stack must fault. Here the CPU compares each new stack pointer: the protection unit of
 * Armv8-M has no region that is closed to privileged code.
 */
static void guard_stack(void)
{
	__asm__ volatile("msr msplim, %0\n\tisb" ::"r"(pb_stack_bottom) : "memory");
}
#else
#define MPU_CONTROL          0xe000ed94u
#define MPU_NUMBER           0xe000ed98u
#define MPU_BASE             0xe000ed9cu
#define MPU_ATTRIBUTES       0xe000eda0u
#define CONTROL_ENABLE       1u
#define CONTROL_DEFAULT_MAP  4u /* everything else as without the unit */
#define GUARD_BYTES          (1u << 20)
#define ATTRIBUTES_NO_ACCESS (1u << 28 | 19u << 1 | 1u) /* not executed, 2^(19 + 1) bytes, on */

/** Running over the end of the stack must fault; what lies below it may well swallow stores. */
static void guard_stack(void)
{
	pb_mmio_write32(MPU_NUMBER, 0);
	pb_mmio_write32(MPU_BASE, (uint32_t)(uintptr_t)pb_stack_bottom - GUARD_BYTES);
	pb_mmio_write32(MPU_ATTRIBUTES, ATTRIBUTES_NO_ACCESS);
	pb_mmio_write32(MPU_CONTROL, CONTROL_ENABLE | CONTROL_DEFAULT_MAP);
	__asm__ volatile("dsb\n\tisb" ::: "memory");
}
#endif

void pb_cortex_m_reset(void)
{
	guard_stack();
	memcpy(pb_data_start, pb_data_load, (size_t)(pb_data_end - pb_data_start) * sizeof(uint32_t));
	memset(pb_bss_start, 0, (size_t)(pb_bss_end - pb_bss_start) * sizeof(uint32_t));
	(void)main();
	pb_hal_halt();
}

_Noreturn void pb_hal_halt(void)
{
	__asm__ volatile("cpsid i" ::: "memory");
	for (;;)
		__asm__ volatile("wfi");
}

#define SYSTICK_CONTROL 0xe000e010u
#define SYSTICK_RELOAD  0xe000e014u
#define SYSTICK_VALUE   0xe000e018u
#define NVIC_SET_ENABLE 0xe000e100u

void pb_cortex_m_tick_start(uint32_t cycles)
{
	pb_mmio_write32(SYSTICK_RELOAD, cycles - 1u);
	pb_mmio_write32(SYSTICK_VALUE, 0);
	pb_mmio_write32(SYSTICK_CONTROL, 7u); /* core clock, interrupt, run */
}

/* It counts down, from the reload value. */
uint32_t pb_cortex_m_tick_cycles(void)
{
	return pb_mmio_read32(SYSTICK_RELOAD) - pb_mmio_read32(SYSTICK_VALUE);
}

void pb_cortex_m_interrupt_enable(uint32_t number)
{
	pb_mmio_write32(NVIC_SET_ENABLE + 4u * (number / 32u), 1u << number % 32u);
}
