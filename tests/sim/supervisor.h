/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card's supervisor, on the admin channel, like hal/card_admin/admin.c: closes channels whose hosts are gone,
 * restores their grants, suspends the card, and restarts the MCU.
 */
#ifndef PB_TESTS_SIM_SUPERVISOR_H
#define PB_TESTS_SIM_SUPERVISOR_H

#include "tests/sim/run.h"

/** Posts the close of a channel, unless that is in progress. After the reply its host may attach again. */
void pb_supervisor_close(struct pb_run *run, uint32_t channel);
/** Reads the firmware's replies. */
void pb_supervisor_poll(struct pb_run *run);
/**
 * Runs some passes, the last of which may be cut off, then restarts the MCU. All hosts are detached, and
 * fence records keep what had completed.
 */
void pb_supervisor_restart(struct pb_run *run);

#endif
