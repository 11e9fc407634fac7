/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a board is to the image: one function that sets up its drivers and
 * tells the core how they are wired. A board is what lies in boards/NAME:
 * board.c, board.cmake, memory.ld; machine.c, if QEMU has it; flash.sh, if it
 * can be written; suites.cmake, if unit suites run on it; files of its own.
 */
#ifndef PB_BOARDS_BOARD_H
#define PB_BOARDS_BOARD_H

#include "firmware/firmware.h"

/** Starts the drivers; interrupts may come from here on. Thread context, once. */
const struct pb_firmware_config *pb_board_start(void);

#endif
