/* SPDX-License-Identifier: MIT */
#include "hal/cortex_m/local_lines.h"

#include "hal/cortex_m/cortex_m.h"
#include "hal/cpu.h"
#include "hal/shared.h"

void pb_local_lines_tick(struct pb_local_lines *lines)
{
	pb_shared_write32(&lines->ticks, lines->ticks + 1u);
	lines->pending |= 1u << PB_LINE_TICK;
}

/** Cycles since the timer was started, modulo 2^32. */
static uint32_t timer(const struct pb_local_lines *lines)
{
	uint32_t ticks, into;

	do {
		ticks = pb_shared_read32(&lines->ticks);
		into = pb_cortex_m_tick_cycles();
	} while (pb_shared_read32(&lines->ticks) != ticks);
	return ticks * lines->cycles_per_tick + into;
}

/** Moves the clock on by the time that has gone by since the last read. */
static void look_at_timer(struct pb_local_lines *lines)
{
	const uint32_t cycles = timer(lines) - lines->cycles;
	const uint32_t microseconds = cycles / lines->cycles_per_microsecond;

	/* The timer may have wrapped, with its interrupt still to come: then this is a little below 0. */
	if (cycles > INT32_MAX)
		return;
	lines->clock += microseconds;
	lines->cycles += microseconds * lines->cycles_per_microsecond;
}

static uint32_t run_engines(struct pb_local_lines *lines)
{
	uint32_t microseconds;
	const uint32_t raised = pb_soft_engines_step(lines->engines, &microseconds);

	lines->clock += microseconds;
	lines->cycles = timer(lines);
	return raised;
}

static uint32_t take(void *context)
{
	struct pb_local_lines *lines = context;
	uint32_t raised = 0;

	look_at_timer(lines);
	if (pb_soft_engines_running(lines->engines))
		raised = run_engines(lines);
	pb_shared_write32(&lines->boot->clock, lines->clock);
	pb_shared_write32(&lines->boot->heartbeat_clock, lines->clock);
	/* An interrupt between load and store makes the exclusive store fail, and this tries again. */
	raised |= __atomic_exchange_n(&lines->pending, 0, __ATOMIC_RELAXED);
	pb_shared_barrier();
	return raised;
}

static void raise(void *context, uint32_t line)
{
	const struct pb_local_lines *lines = context;

	if (line >= PB_LINE_NODE(0))
		pb_soft_engines_ring(lines->engines, line - PB_LINE_NODE(0));
}

static void idle_enter(void *context)
{
	struct pb_local_lines *lines = context;
	const bool host = lines->host != NULL && lines->host(lines->host_context);

	lines->awake = host || pb_soft_engines_running(lines->engines);
	pb_cpu_mask_interrupts();
}

static void idle_wait(void *context)
{
	const struct pb_local_lines *lines = context;

	if (!lines->awake && !pb_lines_waiting(&lines->pending))
		pb_cpu_wait();
}

static void idle_leave(void *context)
{
	(void)context;
	pb_cpu_unmask_interrupts();
}

const struct pb_lines_ops pb_local_lines_ops = {
	.take = take,
	.raise = raise,
	.idle_enter = idle_enter,
	.idle_wait = idle_wait,
	.idle_leave = idle_leave,
};
