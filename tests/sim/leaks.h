/* SPDX-License-Identifier: MIT */
/**
 * @file
 * After the last host has detached, all that hosts can have is free again.
 */
#ifndef PB_TESTS_SIM_LEAKS_H
#define PB_TESTS_SIM_LEAKS_H

#include "tests/sim/run.h"

/**
 * Takes every context, every queue and all memory of the card, and frees them. Runs in one schedule of
 * several.
 */
void pb_leaks_check(struct pb_run *run);

#endif
