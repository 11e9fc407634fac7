/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How a schedule begins: what the firmware can do, what the seed puts into the schedule, and its hosts.
 */
#ifndef PB_TESTS_SIM_SETUP_H
#define PB_TESTS_SIM_SETUP_H

#include "tests/sim/run.h"

/** Boots a card and finds out what its firmware can do. */
void pb_setup_features(struct pb_run *run);
/** Boots a card and opens its hosts. */
void pb_setup(struct pb_run *run);
/** Steps until the firmware has booted, attaches the admin anew, and has it set the nodes and give each channel its rights. */
void pb_setup_card(struct pb_run *run);

#endif
