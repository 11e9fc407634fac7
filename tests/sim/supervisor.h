/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card's supervisor, on the admin channel, as hal/card/admin.c is it: closes channels whose hosts are gone, gives
 * them their rights again, suspends the card, and starts the MCU again.
 */
#ifndef PB_TESTS_SIM_SUPERVISOR_H
#define PB_TESTS_SIM_SUPERVISOR_H

#include "tests/sim/run.h"

/** Asks for a channel to be closed, unless that is under way. When it is, its host may come back. */
void pb_supervisor_close(struct pb_run *run, uint32_t channel);
/** Takes the firmware's answers. */
void pb_supervisor_look(struct pb_run *run);
/**
 * Some passes, the last of which may be cut off, then the MCU starts again. All hosts are detached, and what had
 * completed stands where it stood.
 */
void pb_supervisor_restart(struct pb_run *run);

#endif
