/* SPDX-License-Identifier: MIT */
/**
 * @file
 * HOST_WITHDRAW: host pages are taken from a channel, and the reply comes when
 * nothing reaches them for that channel any more. One at a time. The owner of
 * struct pb_core_withdrawal; main loop only.
 */
#ifndef PB_FIRMWARE_COMMAND_WITHDRAW_H
#define PB_FIRMWARE_COMMAND_WITHDRAW_H

#include <stdbool.h>
#include <stdint.h>

struct pb_firmware;

/** The state of this module. */
struct pb_core_withdrawal {
	bool draining;   /**< a channel is held until nothing of it is in flight */
	bool reply;      /**< the admin waits for the reply then */
	uint8_t channel; /**< the channel that is held */
	uint32_t tag;    /**< of the command */
};

/** Ends a withdrawal whose channel has drained. Once in each tick. */
void pb_core_withdraw_tick(struct pb_firmware *firmware);
/** The admin that asked is gone: the pages stay withdrawn, no reply is sent. */
void pb_core_withdraw_abandon(struct pb_core_withdrawal *withdrawal);

#endif
