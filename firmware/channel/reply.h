/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The reply ring of a channel. A reply that cannot be sent yet is deferred:
 * room for it is kept until it is. The owner of struct pb_core_replies; main
 * loop only.
 */
#ifndef PB_FIRMWARE_CHANNEL_REPLY_H
#define PB_FIRMWARE_CHANNEL_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/limits.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"

struct pb_firmware;

/** Words of a reply; cleared and written four at a time. */
#define PB_CORE_REPLY_WORDS (sizeof(struct pb_reply) / sizeof(uint32_t))
PB_STATIC_ASSERT(PB_CORE_REPLY_WORDS % 4u == 0, "a reply is whole groups of four words");

/** A member of a channel's record. */
struct pb_core_replies {
	uint32_t put;      /**< producer index */
	uint32_t get;      /**< the last consumer index that the host wrote */
	uint32_t deferred; /**< replies that are still to come: room is kept for them */
};

/** The first results of a deferred reply. */
struct pb_core_outcome {
	uint32_t words[5]; /**< result[0..4] */
};

/** Whether one more reply fits beside the deferred ones, as far as the host has read. */
/*@
  requires \valid_read(replies);
  requires (uint32_t)(replies->put - replies->get) <= PB_LIMIT_CONTROL_ENTRIES;
  requires replies->deferred <= PB_LIMIT_QUEUES;
  assigns \nothing;
  ensures \result <==>
    (uint32_t)(replies->put - replies->get) + replies->deferred + 1 <= PB_LIMIT_CONTROL_ENTRIES;
*/
static inline bool pb_core_reply_fits(const struct pb_core_replies *replies)
{
	return replies->put - replies->get + replies->deferred < PB_LIMIT_CONTROL_ENTRIES;
}

/** Reads how far the host has read. A read index that moved back or beyond the ring faults the channel. @return whether one more reply fits */
bool pb_core_reply_has_room(struct pb_firmware *firmware, uint32_t channel);
/** Writes a reply and raises the host's interrupt. Pre: it fits. */
void pb_core_reply_write(struct pb_firmware *firmware, uint32_t channel, const struct pb_reply *reply);
/** Keeps room for a reply that comes later. */
void pb_core_reply_defer(struct pb_core_replies *replies);
/** Sends a deferred reply, if the host that asked is still attached. @param outcome its first results, or NULL: all are 0 */
void pb_core_reply_deferred(struct pb_firmware *firmware, uint32_t channel, uint32_t code, uint32_t tag,
			    enum pb_error error, const struct pb_core_outcome *outcome);
/** A channel is attached: its reply ring is empty, and no reply is deferred. */
void pb_core_reply_open(struct pb_core_replies *replies, struct pb_channel_entry *entry);

#endif
