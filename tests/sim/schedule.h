/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Schedules by seed: one seed is one card with a few hosts, some dozens of actions, and the faults among them.
 */
#ifndef PB_TESTS_SIM_SCHEDULE_H
#define PB_TESTS_SIM_SCHEDULE_H

#include "tests/sim/run.h"

/** @return NULL: out of memory, or the firmware does not boot */
struct pb_run *pb_schedule_create(void);
void pb_schedule_destroy(struct pb_run *run);
/**
 * Runs one schedule. Totals are added to run->totals.
 * @return true: every invariant held; false: run->what names the one that did not, at run->step
 */
bool pb_schedule_run(struct pb_run *run, uint64_t seed, enum pb_mutation_kind mutation);
/**
 * Runs `what` on the run's card, for tests that decide themselves what happens. It may break an invariant or stop the
 * firmware. @return true: it ended normally; false: run->what names the invariant
 */
bool pb_schedule_try(struct pb_run *run, uint64_t seed, void (*what)(struct pb_run *run));

#endif
