/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Control commands: the dispatcher. A channel's commands are carried out one a
 * pass, each bounded. A reply that must wait is deferred, and room for it is
 * kept in the reply ring. Main loop only.
 */
#ifndef PB_FIRMWARE_COMMAND_CONTROL_H
#define PB_FIRMWARE_COMMAND_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

struct pb_firmware;

/**
 * Carries out the channel's oldest command: a slice of its own. A put index that moved back or beyond the ring faults
 * the channel.
 * @param put the command ring's, not equal to its consumer index
 * @return whether to poll again in the next pass; false: the host rings when something can be done
 */
bool pb_core_control(struct pb_firmware *firmware, uint32_t channel, uint32_t put);

#endif
