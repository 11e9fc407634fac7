/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The board that the end-to-end tests run on: the variable E2E_BOARD of their
 * environment names it, or it is the default one.
 */
#ifndef PB_TESTS_E2E_E2E_BOARD_H
#define PB_TESTS_E2E_E2E_BOARD_H

#include <stddef.h>

#include "qemu/card.h"

/** Its name. */
const char *e2e_board(void);
/** Its firmware image, as built; and the one with its hot loops in assembly. Valid until the next call of either. */
const char *e2e_image(void);
const char *e2e_image_assembly(void);
/** Options of a card with that board and that image, or with those of another board; valid as long. */
struct pb_card_options e2e_card_options(void);
struct pb_card_options e2e_card_options_of(const char *board);
/**
 * What a patchbay command needs behind its arguments to start a card with that
 * board. @return how many arguments it gives: 0 if the command starts none, or
 * says itself which, or if the board is the default one
 */
size_t e2e_board_arguments(const char *const *arguments, size_t count, const char *more[2]);

#endif
