/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The last step of the loader.
 */
#ifndef PB_LOADER_START_H
#define PB_LOADER_START_H

#include "loader/loader.h"

/** Defined by the board: sets up the hardware and returns the board's loader. Called once, before all else. */
const struct pb_loader *pb_loader_board(void);
/** Defined by the board: tells hosts that no image may run, and halts. */
_Noreturn void pb_loader_refuse(void);
/**
 * Locks the flash and starts the staged image, if both verdicts say so; else refuses.
 */
_Noreturn void pb_loader_start(const struct pb_loader *loader, const struct pb_loader_choice *choice);

#endif
