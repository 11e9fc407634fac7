/* SPDX-License-Identifier: MIT */
/*
 * As mps2_an500.c: with -icount shift=10 an instruction takes 25.6 ticks of SysTick at 25 MHz. The timer rings when the
 * firmware has executed a number of instructions.
 */
#include <string.h>

#include "hal/cortex_m/cortex_m.h"
#include "hal/mmio.h"
#include "tests/bench/victim.h"

#define TIMER0           0x40000000u
#define TIMER0_INTERRUPT 8u
#define TIMER_CONTROL    0x00u
#define TIMER_VALUE      0x04u
#define TIMER_RELOAD     0x08u
#define TIMER_CLEAR      0x0cu
#define TIMER_ENABLED    9u /* with its interrupt */

#define VECTOR_TABLE_OFFSET 0xe000ed08u
#define MPU_CONTROL         0xe000ed94u
#define SYSTICK_CONTROL     0xe000e010u
#define SYSTICK_RELOAD      0xe000e014u
#define SYSTICK_VALUE       0xe000e018u
#define SYSTICK_MASK        0x00ffffffu

static struct pb_cortex_m_vectors vectors __attribute__((aligned(256)));
static void (*notify)(uint32_t counter);

void pb_victim_board_ring(void)
{
	const uint32_t now = pb_mmio_read32(SYSTICK_VALUE);

	pb_mmio_write32(TIMER0 + TIMER_CONTROL, 0);
	pb_mmio_write32(TIMER0 + TIMER_CLEAR, 1u);
	notify(now);
}

void pb_victim_board_start(void (*interrupt)(uint32_t counter))
{
	const void *table = (const void *)(uintptr_t)pb_mmio_read32(VECTOR_TABLE_OFFSET);

	notify = interrupt;
	/* The bench copies the vectors and has a timer that the board does not list. */
	pb_mmio_write32(MPU_CONTROL, 0);
	/* No tick: the counter uses SysTick. */
	pb_mmio_write32(SYSTICK_RELOAD, SYSTICK_MASK);
	pb_mmio_write32(SYSTICK_VALUE, 0);
	pb_mmio_write32(SYSTICK_CONTROL, 5u);
	memcpy(&vectors, table, sizeof(vectors));
	vectors.interrupts[TIMER0_INTERRUPT] = pb_victim_board_ring;
	pb_mmio_write32(VECTOR_TABLE_OFFSET, (uint32_t)(uintptr_t)&vectors);
	pb_cortex_m_interrupt_enable(TIMER0_INTERRUPT);
}

uint32_t pb_victim_board_counter(void)
{
	return pb_mmio_read32(SYSTICK_VALUE);
}

void pb_victim_board_ring_after(uint32_t instructions)
{
	const uint32_t counts = instructions * PB_VICTIM_BOARD_COUNTS / 10u;

	pb_mmio_write32(TIMER0 + TIMER_RELOAD, counts);
	pb_mmio_write32(TIMER0 + TIMER_VALUE, counts);
	pb_mmio_write32(TIMER0 + TIMER_CONTROL, TIMER_ENABLED);
}
