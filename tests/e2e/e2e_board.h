/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The board that the end-to-end tests run on: the environment variable E2E_BOARD names it. Unset, it is the
 * default board.
 */
#ifndef PB_TESTS_E2E_E2E_BOARD_H
#define PB_TESTS_E2E_E2E_BOARD_H

#include <stddef.h>

#include "qemu/card.h"

/** The name of the board. */
const char *e2e_board(void);
/**
 * Path of the built firmware image, and of the image with hot loops in assembly. Valid until the next call of
 * either.
 */
const char *e2e_image(void);
const char *e2e_image_assembly(void);
/**
 * Options of a card with this board and image, or with those of another board. Valid as long as the image
 * paths.
 */
struct pb_card_options e2e_card_options(void);
struct pb_card_options e2e_card_options_of(const char *board);
/**
 * Appends the arguments that a patchbay command needs to start a card with this board. @return their number;
 * 0 if the command starts no card, chooses its board, or the board is the default one
 */
size_t e2e_board_arguments(const char *const *arguments, size_t count, const char *more[2]);

#endif
