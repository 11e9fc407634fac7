/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the boards have in common that are cards by themselves, an MCU and
 * nothing else: card memory is part of the MCU's own, the engines are soft, the
 * board is its own supervisor. Such a board lists boards/mcu_card.c in its
 * board.cmake, defines pb_mcu_card_name, and pb_card_memory and
 * pb_card_memory_bytes in its memory.ld.
 */
#ifndef PB_BOARDS_MCU_CARD_H
#define PB_BOARDS_MCU_CARD_H

#include "firmware/firmware.h"
#include "hal/cortex_m/local_lines.h"

/** Card memory; symbols of the linker. */
extern uint8_t pb_card_memory[], pb_card_memory_bytes[];
#define PB_MCU_CARD_MEMORY_BYTES ((uint32_t)pb_card_memory_bytes)

/** Defined by the board: its name, at most 16 characters. */
extern const char pb_mcu_card_name[];

/** State of the lines. The board sets the cycles and the host before pb_mcu_card_start(). */
extern struct pb_local_lines pb_mcu_card_lines;

/**
 * Prepares card memory and starts the engines. Card memory is cleared unless
 * firmware has run in it since power came: then the incarnation counts on.
 * Called once by the board, in thread context, with protection set up.
 * @return the configuration of the firmware
 */
const struct pb_firmware_config *pb_mcu_card_start(void);

#endif
