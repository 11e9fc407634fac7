/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Interrupt lines of the emulated card: what the MCU's driver
 * (hal/card/uart_lines.h) and the card (qemu/) agree on.
 *
 * A UART stands for a bundle of lines in each direction: a byte is the number
 * of a line (hal/lines.h) that was raised. Beside it each line has two words in
 * card memory, so that at most one byte per line is ever on its way:
 *
 *   raise:  full barrier; if taken == bytes I sent: send, count it
 *   take:   taken += 1; full barrier; then look at what the line stands for
 *
 * A raise that finds a byte on its way sends none: the taker has not looked
 * yet, or looks after its barrier. Either way it sees what the raiser stored.
 *
 * The card, while it is awake, leaves bytes of nodes' lines untaken, and looks
 * at their engines again and again instead: the MCU then rings an engine by a
 * look at one word. It takes the bytes before it sleeps, and looks once more
 * behind the barrier.
 *
 * The MCU, while `mcu_looks` is not 0, looks at the nodes' `to_mcu_raised`
 * again and again: the card then counts a raise of theirs, a full barrier, and
 * sends no byte. Before the MCU sleeps it stores 0, a full barrier, and looks
 * once more.
 *
 * `bytes I sent` is the raiser's private count. A raiser that starts anew takes
 * `taken` for it. The MCU's tick covers a byte that was lost between the two.
 */
#ifndef PB_HAL_CARD_LINES_H
#define PB_HAL_CARD_LINES_H

#include "firmware/abi/base.h"

/** Lines in each direction; a byte of this or more is noise. */
#define PB_CARD_LINES 32u

/** Where the block lies in card memory, in bytes. */
#define PB_CARD_LINES_OFFSET 0x1000u

/** Both directions; each column is one writer's and starts a cache line. */
struct pb_card_line_block {
	uint32_t to_mcu_raised[PB_CARD_LINES];  /**< written by the card: counts raises */
	uint32_t to_mcu_taken[PB_CARD_LINES];   /**< written by the MCU: bytes taken */
	uint32_t from_mcu_sent[PB_CARD_LINES];  /**< written by the MCU: for people, counts bytes */
	uint32_t from_mcu_taken[PB_CARD_LINES]; /**< written by the card: bytes taken */
	uint32_t mcu_looks; /**< written by the MCU, cleared by the card before one starts; see above */
	uint32_t reserved[15];
};
PB_SIZE(pb_card_line_block, 576);
PB_AT(pb_card_line_block, to_mcu_raised, 0);
PB_AT(pb_card_line_block, to_mcu_taken, 128);
PB_AT(pb_card_line_block, from_mcu_sent, 256);
PB_AT(pb_card_line_block, from_mcu_taken, 384);
PB_AT(pb_card_line_block, mcu_looks, 512);

#endif
