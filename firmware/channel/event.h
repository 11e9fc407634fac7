/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The event ring of a channel. An event that finds no room is dropped and
 * counted: records and QUERY have the same facts. The owner of struct
 * pb_core_events; main loop only.
 */
#ifndef PB_FIRMWARE_CHANNEL_EVENT_H
#define PB_FIRMWARE_CHANNEL_EVENT_H

#include <stdint.h>

#include "patchbay/abi/channel.h"

struct pb_firmware;

/** A member of a channel's record. */
struct pb_core_events {
	uint32_t put;     /**< producer index */
	uint32_t get;     /**< the last consumer index that the host wrote */
	uint32_t number;  /**< of the next event, dropped ones included */
	uint32_t dropped; /**< events that found no room, since the channel was attached */
};

/** Writes an event and raises the host's interrupt, or counts the event as dropped. Fills in epoch and number. */
void pb_core_event(struct pb_firmware *firmware, uint32_t channel, const struct pb_event *event);
/** A channel is attached: its event ring is empty. */
void pb_core_event_open(struct pb_core_events *events, struct pb_channel_entry *entry);

#endif
