/* SPDX-License-Identifier: MIT */
#include "hal/cortex_m/barrier.h"
#include "hal/cortex_m/cortex_m.h"
#include "hal/halt.h"
#include "hal/mmio.h"
#include "hal/start.h"

#define COPROCESSOR_ACCESS     0xe000ed88u
#define COPROCESSORS_10_AND_11 0x00f00000u
#define FLOATING_POINT_CONTEXT 0xe000ef34u

/**
 * Enables vector instructions, and no room for their registers on the stack of an exception: handlers do not use them
 * (Armv8-M Architecture Reference Manual, FPCCR.ASPEN and LSPEN).
 */
static void enable_vectors(void)
{
	pb_mmio_write32(COPROCESSOR_ACCESS, COPROCESSORS_10_AND_11);
	pb_mmio_write32(FLOATING_POINT_CONTEXT, 0);
	pb_cortex_m_synchronise();
}

void pb_cortex_m_reset(void)
{
	pb_cortex_m_guard_stack();
	if (PB_CORTEX_M_VECTORS != 0)
		enable_vectors();
	pb_start();
}

void pb_hal_fault(void)
{
	__asm__ volatile("udf #0" ::: "memory");
}

#define SYSTICK_CONTROL 0xe000e010u
#define SYSTICK_RELOAD  0xe000e014u
#define SYSTICK_VALUE   0xe000e018u
#define NVIC_SET_ENABLE 0xe000e100u

#define DEBUG_CONTROL      0xe000edfcu /* DEMCR */
#define DEBUG_TRACE_ENABLE (1u << 24)  /* TRCENA: the DWT has its clock */
#define DWT_CONTROL        0xe0001000u
#define DWT_CYCLES_ENABLE  1u

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

void pb_cortex_m_cycles_start(void)
{
	pb_mmio_write32(DEBUG_CONTROL, pb_mmio_read32(DEBUG_CONTROL) | DEBUG_TRACE_ENABLE);
	pb_mmio_write32(DWT_CONTROL, pb_mmio_read32(DWT_CONTROL) | DWT_CYCLES_ENABLE);
}

void pb_cortex_m_interrupt_enable(uint32_t number)
{
	pb_mmio_write32(NVIC_SET_ENABLE + 4u * (number / 32u), 1u << number % 32u);
}
