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
	bool draining;   /**< a channel is held until nothing of it is in flight */
	uint8_t channel; /**< the channel that is held */
	uint32_t tag;    /**< of the command */
	uint32_t epoch;  /**< of the admin that asked: another admin gets no reply */
};

/** Ends a revocation whose channel has drained. Once in each tick. */
void pb_core_revoke_tick(struct pb_firmware *firmware);

#endif
