/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/unit/host/link_clock.h"

#include <sched.h>
#include <time.h>

#include "host/link_system.h"

/* The linker gives callers of the name without the prefix these functions (--wrap). */
uint64_t __real_pb_clock_us(void);
uint64_t __wrap_pb_clock_us(void);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);

uint32_t link_clock_slower = LINK_CLOCK_SLOWER;
static uint64_t passed_us;

void link_clock_pass(uint64_t us)
{
	(void)__atomic_fetch_add(&passed_us, us, __ATOMIC_RELAXED);
}

uint64_t __wrap_pb_clock_us(void)
{
	return __real_pb_clock_us() / link_clock_slower + __atomic_load_n(&passed_us, __ATOMIC_RELAXED);
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
	(void)rest;
	link_clock_pass((uint64_t)time->tv_sec * 1000000u + (uint64_t)time->tv_nsec / 1000u);
	return sched_yield();
}
