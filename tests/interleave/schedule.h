/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One schedule: its world, its agents, its verdict.
 */
#ifndef PB_TESTS_INTERLEAVE_SCHEDULE_H
#define PB_TESTS_INTERLEAVE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/** What became of a schedule. */
enum pb_schedule_end {
	PB_SCHEDULE_HELD,   /**< no rule was broken */
	PB_SCHEDULE_BROKEN, /**< one was: pb_weave_failure says which */
	PB_SCHEDULE_VOID,   /**< a store came early that the program then did not make: it says nothing */
};

struct pb_schedule_options {
	const char *without; /**< file of a barrier that is left out, as it stands in __FILE__, or NULL */
	uint32_t line;       /**< its line */
	bool verbose;        /**< print each access */
};

/** @return false: out of memory */
bool pb_schedule_create(void);
/** Runs the schedule of a seed. */
enum pb_schedule_end pb_schedule_run(uint64_t seed, const struct pb_schedule_options *options);

#endif
