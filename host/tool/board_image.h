/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Paths of a board's firmware image and of the renderers' program.
 */
#ifndef PB_HOST_TOOL_BOARD_IMAGE_H
#define PB_HOST_TOOL_BOARD_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/** Board of a card if the user names none. */
#define PB_DEFAULT_BOARD "mps2_an500"

/** Returns the name of a board that is given by its name, or by the path of its folder, which loses a slash at its end. */
char *pb_board_name(char *text);

/**
 * Finds the image that is installed with this program, or the one beside its build folder: build/BOARD/patchbay-BOARD.elf.
 * @param path out
 * @param bytes size of `path`
 * @return false: the image does not exist; the error has been printed, with the command that builds it
 */
bool pb_board_image(const char *board, char *path, size_t bytes);

/** As pb_board_image(), the board's loader: build/BOARD/patchbay-loader-BOARD.elf. */
bool pb_board_loader(const char *board, char *path, size_t bytes);

/**
 * Finds the renderers' program (qemu/gl/renderer.c) that is installed with this program, or that of its build folder.
 * @param path out; without such a program, where it was looked for last
 * @return false: this program's path is not known
 */
bool pb_renderer_program(char *path, size_t bytes);

#endif
