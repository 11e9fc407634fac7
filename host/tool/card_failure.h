/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Messages for the user when an operation of a card fails.
 */
#ifndef PB_HOST_TOOL_CARD_FAILURE_H
#define PB_HOST_TOOL_CARD_FAILURE_H

#include "patchbay/patchbay.h"

/** Size of the buffer for a message, in bytes. */
#define PB_CARD_FAILURE_BYTES 320u

/**
 * Formats name and meaning of an error and, for dead firmware, where it died.
 * @param channel the channel whose function returned the error, attached or not
 * @param text out: PB_CARD_FAILURE_BYTES
 */
void pb_card_failure(const struct pb_channel *channel, enum pb_error error, char *text);
/**
 * Formats the message for a segment that was refused with PB_ERROR_NO_SPACE although it fits an empty card.
 * @param bytes backing memory of the segment
 * @param text out: PB_CARD_FAILURE_BYTES
 */
void pb_card_full(const struct pb_channel *channel, uint32_t bytes, char *text);
/** Returns an enum pb_mcu_state in words. */
const char *pb_card_mcu_state(uint32_t state);

#endif
