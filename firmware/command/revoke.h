/* SPDX-License-Identifier: MIT */
/**
 * @file
 * HOST_REVOKE: host pages are taken from a channel, and the reply comes when
 * nothing reaches them for that channel any more. One at a time. The owner of
 * struct pb_core_revocation; main loop only.
 */
#ifndef PB_FIRMWARE_COMMAND_REVOKE_H
#define PB_FIRMWARE_COMMAND_REVOKE_H

#include <stdbool.h>
#include <stdint.h>

struct pb_firmware;

/** The state of this module. */
struct pb_core_revocation {
	uint32_t tag;    /**< of the command */
	uint16_t epoch;  /**< of the admin that asked, modulo 2^16: another admin gets no reply */
	uint8_t channel; /**< the channel that is held */
	bool draining;   /**< a channel is held until nothing of it is in flight */
};

/** Ends a revocation whose channel has drained. Once in each tick. */
void pb_core_revoke_tick(struct pb_firmware *firmware);

#endif
