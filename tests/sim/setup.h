/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The start of a schedule: what the firmware supports, what the seed puts into the schedule, and its hosts.
 */
#ifndef PB_TESTS_SIM_SETUP_H
#define PB_TESTS_SIM_SETUP_H

#include "tests/sim/run.h"

/** Boots a card and finds out what its firmware supports. */
void pb_setup_features(struct pb_run *run);
/** Boots a card and attaches its hosts. */
void pb_setup(struct pb_run *run);
/** Steps until the firmware has booted. Attaches the admin, which sets up the nodes and each channel's grants. */
void pb_setup_card(struct pb_run *run);

#endif
