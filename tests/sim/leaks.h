/* SPDX-License-Identifier: MIT */
/**
 * @file
 * After the last host has gone: all that hosts can have is there again.
 */
#ifndef PB_TESTS_SIM_LEAKS_H
#define PB_TESTS_SIM_LEAKS_H

#include "tests/sim/run.h"

/** Takes every context, every queue and all memory of the card in one schedule of several, and gives them back. */
void pb_leaks_check(struct pb_run *run);

#endif
