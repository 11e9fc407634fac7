/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One schedule: its card, its agents, its verdict.
 */
#ifndef PB_TESTS_INTERLEAVE_SCHEDULE_H
#define PB_TESTS_INTERLEAVE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/** The result of a schedule. */
enum pb_schedule_end {
	PB_SCHEDULE_HELD,   /**< no rule was broken */
	PB_SCHEDULE_BROKEN, /**< a rule was broken: pb_weave_failure names it */
	PB_SCHEDULE_VOID,   /**< an early store that the program did not make: no result */
};

struct pb_schedule_options {
	const char *without; /**< file of a barrier that is left out, as in __FILE__, or NULL */
	uint32_t line;       /**< its line */
	bool verbose;        /**< print each access */
};

/** @return false: out of memory */
bool pb_schedule_create(void);
/** Runs the schedule of a seed. */
enum pb_schedule_end pb_schedule_run(uint64_t seed, const struct pb_schedule_options *options);

#endif
