/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a doorbell leads to. It names a channel; what to do stands in the
 * channel's words. Polling twice, or for nothing, is harmless. Main loop
 * only.
 */
#ifndef PB_FIRMWARE_COMMAND_DOORBELL_H
#define PB_FIRMWARE_COMMAND_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

struct pb_firmware;

/** Polls everything that the channel's host may have written. Marks the channel if it is to be polled again in the next pass. */
void pb_core_doorbell(struct pb_firmware *firmware, uint32_t channel);
/** Whether a doorbell would find anything, without doing it. */
bool pb_core_doorbell_pending(const struct pb_firmware *firmware, uint32_t channel);

#endif
