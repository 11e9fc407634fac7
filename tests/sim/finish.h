/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The end of a schedule: no more faults, so that all submissions end and every channel closes.
 */
#ifndef PB_TESTS_SIM_FINISH_H
#define PB_TESTS_SIM_FINISH_H

#include "tests/sim/run.h"

void pb_finish(struct pb_run *run);

#endif
