/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Shortens a failing schedule: fewer actions, hosts and faults, as long as the invariant still breaks.
 */
#ifndef PB_TESTS_SIM_SHRINK_H
#define PB_TESTS_SIM_SHRINK_H

#include "tests/sim/run.h"

/**
 * Leaves the shortest schedule found in run->options, and runs it once more, so that run->what and run->step
 * belong to it. Pre: `run` has just broken an invariant.
 * @return the number of schedules tried
 */
uint32_t pb_shrink(struct pb_run *run);

#endif
