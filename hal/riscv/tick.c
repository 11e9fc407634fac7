/* SPDX-License-Identifier: MIT */
#include "hal/mmio.h"
#include "hal/riscv/riscv.h"

/** Its halves are two registers: the high one must not have gone on meanwhile. */
static uint64_t now(const struct pb_riscv_tick *tick)
{
	uint32_t high, low;

	do {
		high = pb_mmio_read32(tick->time + 4u);
		low = pb_mmio_read32(tick->time);
	} while (pb_mmio_read32(tick->time + 4u) != high);
	return (uint64_t)high << 32 | low;
}

/** In this order it is never due too early in between. */
static void ask(const struct pb_riscv_tick *tick)
{
	pb_mmio_write32(tick->compare, UINT32_MAX);
	pb_mmio_write32(tick->compare + 4u, (uint32_t)(tick->next >> 32));
	pb_mmio_write32(tick->compare, (uint32_t)tick->next);
}

void pb_riscv_tick_start(struct pb_riscv_tick *tick)
{
	tick->next = now(tick) + tick->period;
	ask(tick);
}

void pb_riscv_tick_next(struct pb_riscv_tick *tick)
{
	const uint64_t time = now(tick);

	tick->next += tick->period;
	/* A hart that was not run for long does not make up for ticks. */
	if (tick->next <= time)
		tick->next = time + tick->period;
	ask(tick);
}
