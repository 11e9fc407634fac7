/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card's end of the interrupt lines to its MCU, as qemu/mcu/lines.h has
 * them. Raises what the card raises, hands on what the MCU raised. Never blocks.
 */
#ifndef PB_QEMU_CARD_LINES_H
#define PB_QEMU_CARD_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu/mcu/lines.h"

/** The caller's; only the functions below touch it. */
struct pb_card_lines {
	struct pb_card_line_block *block; /**< in card memory */
	void (*line)(void *context, uint32_t line);
	void *context;
	int socket; /**< to the MCU's UART; -1: it is not connected */
	bool held;  /**< the MCU's loader has the UART: no line is sent */
	/** NULL, or takes a byte of the MCU before the lines do. @return false: it is a line's */
	bool (*byte)(void *context, uint8_t byte);
	uint32_t unsent; /**< lines whose byte could not be sent yet */
	uint32_t here;   /**< nodes' lines whose byte has come and is not taken: the MCU sends no other */
	uint32_t raises; /**< of all lines */
	bool heard;      /**< a byte has come from this MCU */
	uint32_t raised[PB_CARD_LINES];
	uint32_t sent[PB_CARD_LINES];
	uint32_t taken[PB_CARD_LINES];
};

/** @param line called for each line that the MCU raised, from receive, poll and rest */
void pb_card_lines_init(struct pb_card_lines *lines, struct pb_card_line_block *block,
			void (*line)(void *context, uint32_t line), void *context);
/** Closes the connection and makes ready for an MCU that starts anew. None may run now. */
void pb_card_lines_restart(struct pb_card_lines *lines);
/** Has the lines wait, or sends what waited. */
void pb_card_lines_hold(struct pb_card_lines *lines, bool held);
/** Sends a byte that is no line's. Pre: the lines wait. */
void pb_card_lines_answer(struct pb_card_lines *lines, uint8_t byte);
/** Takes over the connection of a new MCU and sends what was raised before it came. */
void pb_card_lines_connect(struct pb_card_lines *lines, int socket);
/** Raises a line towards the MCU. What was stored before is visible to it. */
void pb_card_lines_raise(struct pb_card_lines *lines, uint32_t line);
/** Takes what has come from the MCU; bytes of nodes' lines it keeps. @return false: it has closed the connection */
bool pb_card_lines_receive(struct pb_card_lines *lines);
/**
 * Calls `line` for the nodes' lines of which a byte has come: until
 * pb_card_lines_rest the MCU raises them without one, so that the caller has to
 * look at the engines again and again.
 */
void pb_card_lines_poll(struct pb_card_lines *lines);
/**
 * Takes the bytes that were kept, for a card that is going to sleep: the next
 * raise sends one. @return whether there were any: their engines are to be
 * looked at once more
 */
bool pb_card_lines_rest(struct pb_card_lines *lines);

#endif
