/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the boards have in common whose card is emulated (qemu/): memory laid
 * out by qemu/mcu/layout.h, four reference engines, 4,096 queues. Such a board
 * lists boards/emulated_card.c in its board.cmake and defines there, as the CPU
 * sees them: PB_CARD_MEMORY, the address of card memory, and PB_CARD_COUNTER and
 * PB_CARD_COUNTER_HERTZ, the register that times the trace and its rate. The
 * machine opens that register to the program.
 */
#ifndef PB_BOARDS_EMULATED_CARD_H
#define PB_BOARDS_EMULATED_CARD_H

#include "firmware/firmware.h"

/** Defined by the board: its name, at most 16 characters. */
extern const char pb_emulated_card_name[];
/** Defined by the machine: the lines, by the UART that carries them. */
extern const struct pb_lines pb_emulated_card_lines;

/** Defined by the machine: host memory; complete when pb_board_start() returns. */
extern struct pb_host_window pb_emulated_card_host;

/** Card memory outside of the MCU's window; complete when pb_emulated_card_start() returns. */
extern struct pb_outer_memory pb_emulated_card_outer;

/** Reads how much card memory there is. Called by the machine's pb_board_start(), when card memory is accessible. */
void pb_emulated_card_start(void);

/** The configuration of the firmware, which the machine's pb_board_start() returns. */
extern const struct pb_firmware_config pb_emulated_card_config;

#endif
