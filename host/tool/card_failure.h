/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What to tell the user when a card does not do what a command needs.
 */
#ifndef PB_HOST_TOOL_CARD_FAILURE_H
#define PB_HOST_TOOL_CARD_FAILURE_H

#include "host/patchbay.h"

/** Room for a text. */
#define PB_CARD_FAILURE_BYTES 320u

/**
 * Name and meaning of an error; of a dead firmware also where it died.
 * @param channel looked at if the error is PB_ERROR_FIRMWARE_DEAD: the one that returned it, attached or not
 */
void pb_card_failure(const struct pb_channel *channel, enum pb_error error, char *text);
/**
 * Instead of it, for a segment that was refused with PB_ERROR_NO_SPACE although it would fit an empty card.
 * @param bytes of memory behind the segment
 */
void pb_card_full(const struct pb_channel *channel, uint32_t bytes, char *text);
/** enum pb_mcu_state in words. */
const char *pb_card_mcu_state(uint32_t state);

#endif
