/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Interrupt lines of the emulated card: what the MCU's driver
 * (qemu/mcu/uart_lines.h) and the card (qemu/) agree on.
 *
 * A UART stands for a bundle of lines in each direction: a byte is the number
 * of a line (hal/lines.h) that was raised. Beside it each line has two words in
 * card memory, so that at most one byte per line is ever on its way:
 *
 *   raise:  full barrier; if taken == bytes I sent: send, count it
 *   take:   taken += 1; full barrier; then read the state that the line announces
 *
 * A raise that finds a byte on its way sends none: the receiver reads the state
 * after its barrier, and so finds what the raiser stored.
 *
 * The card, while it is awake, does not take the bytes of nodes' lines, and
 * polls their engines instead: the MCU then rings an engine by reading one word.
 * The card takes the bytes before it sleeps, and polls once more after the
 * barrier.
 *
 * The MCU, while `mcu_polls` is not 0, polls `to_mcu_raises` in each pass of its
 * main loop, and if it has changed the count of each line: the card then counts a
 * raise, with a full barrier, and sends no byte. So it is from the first sleep on,
 * as long as the MCU is awake. Before it sleeps it stores 0, a full barrier, and
 * polls once more.
 *
 * `bytes I sent` is the raiser's private count. A raiser that restarts begins
 * with `taken`. The MCU's tick covers a byte that was lost between the two.
 */
#ifndef PB_QEMU_MCU_LINES_H
#define PB_QEMU_MCU_LINES_H

#include "patchbay/abi/base.h"

/** Lines in each direction; a byte of this or more is noise. */
#define PB_CARD_LINES 32u

/** Where the block lies in card memory, in bytes. */
#define PB_CARD_LINES_OFFSET 0x1000u

/** Both directions; each column is one writer's and starts a cache line. */
struct pb_card_line_block {
	uint32_t to_mcu_raised[PB_CARD_LINES]; /**< written by the card: counts raises */
	uint32_t to_mcu_taken[PB_CARD_LINES];  /**< written by the MCU: bytes taken */
	uint32_t reserved_sent[PB_CARD_LINES];
	uint32_t from_mcu_taken[PB_CARD_LINES]; /**< written by the card: bytes taken */
	uint32_t mcu_polls; /**< written by the MCU, cleared by the card before one starts; see above */
	uint32_t reserved[15];
	uint32_t to_mcu_raises; /**< written by the card, behind to_mcu_raised: counts raises of all lines */
	uint32_t reserved_raises[15];
};
PB_SIZE(pb_card_line_block, 640);
PB_AT(pb_card_line_block, to_mcu_raised, 0);
PB_AT(pb_card_line_block, to_mcu_taken, 128);
PB_AT(pb_card_line_block, reserved_sent, 256);
PB_AT(pb_card_line_block, from_mcu_taken, 384);
PB_AT(pb_card_line_block, mcu_polls, 512);
PB_AT(pb_card_line_block, to_mcu_raises, 576);

#endif
