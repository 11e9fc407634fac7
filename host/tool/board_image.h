/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Path of a board's firmware image.
 */
#ifndef PB_HOST_TOOL_BOARD_IMAGE_H
#define PB_HOST_TOOL_BOARD_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/** Board of a card if the user names none. */
#define PB_DEFAULT_BOARD "mps2_an500"

/**
 * Finds the image beside this program's build folder: build/BOARD/patchbay-BOARD.elf.
 * @param path out
 * @param bytes size of `path`
 * @return false: the image does not exist; the error has been printed, with the command that builds it
 */
bool pb_board_image(const char *board, char *path, size_t bytes);

#endif
