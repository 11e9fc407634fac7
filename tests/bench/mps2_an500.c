/* SPDX-License-Identifier: MIT */
#include "hal/mmio.h"
#include "tests/bench/bench_board.h"
#include "tests/bench/cmsdk.h"

#define TIMER0           0x40000000u
#define TIMER0_INTERRUPT 8u
#define TIMER_CONTROL    0x00u
#define TIMER_VALUE      0x04u
#define TIMER_RELOAD     0x08u
#define TIMER_CLEAR      0x0cu
#define TIMER_ENABLED    9u /* with its interrupt */
#define TIMER_MEGAHERTZ  25u

/**
 * Instructions between two alarms, and the increment of the first delay: primes, so that alarms come at all
 * points.
 */
#define ALARM_INSTRUCTIONS 1777u
#define ALARM_STEP         691u

static uint32_t alarmed;
static uint32_t alarms; /**< not yet reported; written by the interrupt */

static void ring_alarm(void)
{
	const uint32_t now = pb_bench_board_counter();

	pb_mmio_write32(TIMER0 + TIMER_CLEAR, 1u);
	if (alarms != 0)
		return;
	alarmed = now;
	alarms = 1;
}

const struct pb_bench_cmsdk pb_bench_cmsdk = {
	.uart = 0x40005000u,
	.receive_interrupt = 0,
	.megahertz = 25u,
	.alarm_interrupt = TIMER0_INTERRUPT,
	.alarm = ring_alarm,
};

static uint32_t ticks(uint32_t instructions)
{
	return instructions * PB_BENCH_INSTRUCTION_NS * TIMER_MEGAHERTZ / 1000u;
}

const uint32_t *pb_bench_board_alarms(void)
{
	return &alarms;
}

void pb_bench_board_alarm_start(void)
{
	static uint32_t first;

	first = (first + ALARM_STEP) % ALARM_INSTRUCTIONS;
	pb_cortex_m_interrupt_enable(TIMER0_INTERRUPT);
	pb_mmio_write32(TIMER0 + TIMER_RELOAD, ticks(ALARM_INSTRUCTIONS));
	pb_mmio_write32(TIMER0 + TIMER_VALUE, ticks(first + 1u));
	pb_mmio_write32(TIMER0 + TIMER_CONTROL, TIMER_ENABLED);
}

void pb_bench_board_alarm_stop(void)
{
	pb_mmio_write32(TIMER0 + TIMER_CONTROL, 0);
}

bool pb_bench_board_alarm_rang(uint32_t *counter)
{
	const uint32_t rang = __atomic_exchange_n(&alarms, 0, __ATOMIC_RELAXED);

	*counter = alarmed;
	return rang != 0;
}
