/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Shared by the card's files.
 */
#ifndef PB_TESTS_INTERLEAVE_CARD_INTERNAL_H
#define PB_TESTS_INTERLEAVE_CARD_INTERNAL_H

#include "tests/interleave/card.h"

/* ---- card.c ---- */

/** Starts the MCU again, with no interrupt line pending. */
void pb_weave_mcu_start(void);

/* ---- supervisor.c ---- */

/** Sets the initial state. Pre: the supervisor's agent does not run yet. */
void pb_weave_supervisor_reset(void);
/** The supervisor's agent. */
void pb_weave_supervisor_run(void);
/** The admin channel's interrupt. */
void pb_weave_supervisor_interrupt(void);
/** Whether the supervisor has a command without a reply. */
bool pb_weave_supervisor_waits(void);
/** Whether the firmware is to stop itself. */
bool pb_weave_fatal_wanted(void);

#endif
