/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A failing schedule made as short as it gets: fewer actions, hosts and faults, as long as the same invariant breaks.
 */
#ifndef PB_TESTS_SIM_SHRINK_H
#define PB_TESTS_SIM_SHRINK_H

#include "tests/sim/run.h"

/**
 * `run` has just broken an invariant. Leaves the shortest schedule found in run->options, and runs it once more, so
 * that run->what and run->step are its own.
 * @return how many schedules were tried
 */
uint32_t pb_shrink(struct pb_run *run);

#endif
