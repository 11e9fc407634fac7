/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Waiting for other processes and threads, for UNIT_PATIENCE_US at most.
 */
#ifndef PB_TESTS_UNIT_PATIENCE_H
#define PB_TESTS_UNIT_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/unit.h"

/** Returns microseconds of a clock that all processes share and that never goes back. */
static inline uint64_t unit_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/** Sleeps a little. @return false: the patience that began at `start` is over */
static inline bool unit_patience(uint64_t start)
{
	usleep(100);
	return unit_now() - start < UNIT_PATIENCE_US;
}

/** Evaluates the condition until it holds. Fails the test when the patience is over. */
#define unit_await(condition)                                                                                \
	do {                                                                                                 \
		const uint64_t unit_start = unit_now();                                                      \
		while (!(condition)) {                                                                       \
			if (!unit_patience(unit_start))                                                      \
				fail_msg("this never comes: %s", #condition);                                \
		}                                                                                            \
	} while (false)

#endif
