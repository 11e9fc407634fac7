/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How far a channel's kick ring and command ring have been read. Opened here
 * when a channel is attached; then command/doorbell.c advances the kicks and
 * command/control.c the commands. Main loop only.
 */
#ifndef PB_FIRMWARE_COMMAND_RINGS_H
#define PB_FIRMWARE_COMMAND_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/shared.h"
#include "patchbay/abi/channel.h"

/** A member of a channel's record. */
struct pb_core_kicks {
	uint32_t get;          /**< consumer index of the kick ring */
	uint32_t rescan;       /**< the last rescan request that was carried out */
	uint32_t rescan_asked; /**< the one being carried out */
	uint16_t rescan_at;    /**< its next queue */
	bool repeated;         /**< the oldest command was begun, and is carried out again */
	uint8_t part; /**< what had the last slice while the host asked for several things: a bit; kicks are the first */
};

/** A member of a channel's record. */
struct pb_core_commands {
	uint32_t put; /**< the last producer index that the host wrote */
	uint32_t get; /**< consumer index */
};

/** A channel is attached: its kick ring is empty, and no rescan is asked for. */
static inline void pb_core_kicks_open(struct pb_core_kicks *kicks, struct pb_channel_entry *entry)
{
	kicks->get = 0;
	kicks->rescan = pb_shared_read32(&entry->rescan);
	kicks->rescan_asked = kicks->rescan;
	kicks->part = 0;
	kicks->repeated = false;
	pb_shared_write32(&entry->kick_get, 0);
}

/** Notes whether the channel's oldest command is to be carried out again. Here, where a byte is free. */
static inline void pb_core_control_repeat(struct pb_core_kicks *kicks, bool repeated)
{
	kicks->repeated = repeated;
}

/** A channel is attached: its command ring is empty. */
static inline void pb_core_control_open(struct pb_core_commands *commands, struct pb_channel_entry *entry)
{
	*commands = (struct pb_core_commands){0};
	pb_shared_write32(&entry->control_get, 0);
}

#endif
