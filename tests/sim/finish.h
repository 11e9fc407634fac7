/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How a schedule ends: nothing breaks any more, so that all work ends and every channel closes.
 */
#ifndef PB_TESTS_SIM_FINISH_H
#define PB_TESTS_SIM_FINISH_H

#include "tests/sim/run.h"

void pb_finish(struct pb_run *run);

#endif
