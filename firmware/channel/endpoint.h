/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The endpoint of a channel: its entry in the directory, where its rings lie,
 * its state and epoch, and what the host is shown of them. The owner of struct
 * pb_core_endpoint; main loop only.
 */
#ifndef PB_FIRMWARE_CHANNEL_ENDPOINT_H
#define PB_FIRMWARE_CHANNEL_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/channel/channel_machine.h"
#include "firmware/limits.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"

struct pb_firmware;

/** The rings of a channel in card memory. Hosts read where each of them lies in the channel's entry. */
struct pb_core_rings {
	struct pb_command control[PB_LIMIT_CONTROL_ENTRIES]; /**< commands of the host */
	struct pb_reply replies[PB_LIMIT_CONTROL_ENTRIES];   /**< to those commands */
	struct pb_event events[PB_LIMIT_EVENT_ENTRIES];      /**< for the host */
	uint32_t kicks[PB_LIMIT_KICK_ENTRIES]; /**< handles of queues that have new descriptors */
};

/** A member of a channel's record. */
struct pb_core_endpoint {
	struct pb_channel_entry *entry; /**< shared, as are the rings */
	struct pb_core_rings *rings;
	const uint32_t *kicks; /**< those of the rings: each submission's doorbell reads one */
	uint32_t state;        /**< enum pb_core_channel_state */
	uint32_t attach_done;  /**< the last attach or detach request that was answered */
	uint32_t epoch;        /**< counts attaches and closes */
};

/** Channels that failed, for the telemetry. */
struct pb_core_endpoint_counts {
	uint32_t faults; /**< channels whose ring index broke its rule, since boot */
};

/** Lays out the directory and every channel's rings; every channel is closed. Once, at boot. */
void pb_core_endpoint_init(struct pb_firmware *firmware);
/** Moves the channel's state on. Pre: the event is possible in this state. @return enum pb_core_channel_action */
uint32_t pb_core_endpoint_step(struct pb_core_endpoint *endpoint, enum pb_core_channel_event event);
/** Shows state, epoch and error to the host. */
void pb_core_endpoint_show(struct pb_firmware *firmware, uint32_t channel, enum pb_error error);
/** Begins a new epoch. */
void pb_core_endpoint_new_epoch(struct pb_core_endpoint *endpoint);
/** Notes and shows that a host's attach or detach request was answered; `request` is what it wrote. */
void pb_core_endpoint_answer(struct pb_core_endpoint *endpoint, uint32_t request);
/**
 * Reads a consumer index of the host. One that moved back or beyond the ring faults the channel. Pre: the channel is open.
 * @param put the ring's producer index @param get the last consumer index; set to the one read, if that is good
 */
bool pb_core_endpoint_read_get(struct pb_firmware *firmware, uint32_t channel, const uint32_t *word,
			       uint32_t put, uint32_t *get);
/** Faults a channel, whose rings are ignored then: a ring index of its host moved back or beyond the ring. Pre: the channel is open. */
void pb_core_endpoint_fault(struct pb_firmware *firmware, uint32_t channel);

/** Whether the channel's rings are served. */
static inline bool pb_core_endpoint_is_open(const struct pb_core_endpoint *endpoint)
{
	return endpoint->state == PB_CORE_CHANNEL_OPEN;
}

/** Whether the channel is being closed. */
static inline bool pb_core_endpoint_is_closing(const struct pb_core_endpoint *endpoint)
{
	return endpoint->state >= PB_CORE_CHANNEL_CLOSING_QUEUES;
}

#endif
