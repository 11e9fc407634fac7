/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The interface of a board to the image: one function that sets up the drivers
 * and returns how they are wired. A board is the folder boards/NAME: board.c,
 * board.cmake, memory.ld; machine.c, if QEMU emulates it; flash.sh, if it can
 * be flashed; suites.cmake, if unit suites run on it; app/, an application.
 */
#ifndef PB_BOARDS_BOARD_H
#define PB_BOARDS_BOARD_H

#include "firmware/firmware.h"

/**
 * Starts the drivers; interrupts may come from then on. Called by main(), once.
 * @return the configuration, which lives as long as the firmware
 */
const struct pb_firmware_config *pb_board_start(void);

#endif
