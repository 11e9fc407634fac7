/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where the firmware image of a board is.
 */
#ifndef PB_HOST_TOOL_BOARD_IMAGE_H
#define PB_HOST_TOOL_BOARD_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/** The board of a card when none is named. */
#define PB_DEFAULT_BOARD "mps2_an500"

/**
 * Finds the image beside this program's own build folder (build/BOARD/patchbay-BOARD.elf).
 * @return false: it is not there; the error has been printed, with how to build it
 */
bool pb_board_image(const char *board, char *path, size_t bytes);

#endif
