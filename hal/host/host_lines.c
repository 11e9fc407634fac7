/* SPDX-License-Identifier: MIT */
#include "hal/host/host_lines.h"

static uint32_t take(void *context)
{
	struct pb_host_lines *lines = context;
	const uint32_t pending = lines->pending;

	lines->pending = 0;
	lines->idle = false;
	return pending;
}

static void raise(void *context, uint32_t line)
{
	struct pb_host_lines *lines = context;

	lines->raised |= 1u << line;
}

static void idle_enter(void *context)
{
	(void)context;
}

/** Nothing sleeps in one process: the owner sees that it need not run the firmware. */
static void idle_wait(void *context)
{
	struct pb_host_lines *lines = context;

	lines->idle = lines->pending == 0;
}

static void idle_leave(void *context)
{
	(void)context;
}

const struct pb_lines_ops pb_host_lines_ops = {
	.take = take,
	.raise = raise,
	.idle_enter = idle_enter,
	.idle_wait = idle_wait,
	.idle_leave = idle_leave,
};
