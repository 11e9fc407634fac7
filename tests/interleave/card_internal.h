/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the files of the card share.
 */
#ifndef PB_TESTS_INTERLEAVE_CARD_INTERNAL_H
#define PB_TESTS_INTERLEAVE_CARD_INTERNAL_H

#include "tests/interleave/card.h"

/* ---- card.c ---- */

/** The MCU begins anew, with no line pending. */
void pb_weave_mcu_start(void);

/* ---- supervisor.c ---- */

/** Before its agent runs. */
void pb_weave_supervisor_reset(void);
/** Its agent. */
void pb_weave_supervisor_run(void);
/** The admin channel's interrupt. */
void pb_weave_supervisor_interrupt(void);
/** Whether it has asked the firmware for something. */
bool pb_weave_supervisor_waits(void);
/** Whether the firmware is to die by its own hand. */
bool pb_weave_fatal_wanted(void);

#endif
