/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the loaders of boards with an emulated card have in common. Such a loader lists boards/emulated_loader.c, and
 * defines PB_CARD_MEMORY, PB_LOADER_FLASH, PB_LOADER_STAGE and PB_LOADER_STAGE_BYTES: addresses of card memory, of the
 * flash's window and of the room in which images are verified.
 */
#ifndef PB_BOARDS_EMULATED_LOADER_H
#define PB_BOARDS_EMULATED_LOADER_H

#include <stdint.h>

/** Defined by the board: its name, and where its images are loaded. */
extern const char pb_emulated_loader_board[];
extern const uint32_t pb_emulated_loader_load;

/** Defined by the board: starts the UART and opens card memory. */
void pb_emulated_loader_start(void);

#endif
