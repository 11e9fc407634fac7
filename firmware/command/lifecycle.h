/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The life of queues and channels: created or attached, closed, drained, freed.
 * A channel is closed in slices, a deferred task. The owner of struct
 * pb_core_closing; main loop only.
 */
#ifndef PB_FIRMWARE_COMMAND_LIFECYCLE_H
#define PB_FIRMWARE_COMMAND_LIFECYCLE_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/errors.h"

struct pb_firmware;
struct pb_core_queue;

/** A member of a channel's record. */
struct pb_core_closing {
	uint16_t at; /**< how far its closing is in this state: index of a queue, a context or a segment */
	bool reply_is_due; /**< the admin waits for the reply to the command that closed it */
	uint8_t command;   /**< that command: CHANNEL_CLOSE or HOST_REVOKE */
	uint32_t tag;      /**< of that command */
};

/**
 * QUEUE_CREATE.
 * @param arguments of the command @param handle set to the queue's handle
 * @return OK, BAD_ARGUMENT, NO_PERMISSION (its priority is above the channel's cap) or NO_SPACE
 */
enum pb_error pb_core_queue_create(struct pb_firmware *firmware, uint32_t channel, const uint32_t *arguments,
				   uint32_t *handle);
/** Closes a queue: nothing more of it is admitted, and it is freed at once if nothing of it is left. */
void pb_core_queue_close(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Answers an attach or detach request of a host. */
void pb_core_channel_request(struct pb_firmware *firmware, uint32_t channel, uint32_t request);
/** Closes a channel for a command of the admin. @return whether the reply is deferred; if not, the channel is closed */
bool pb_core_channel_close(struct pb_firmware *firmware, uint32_t channel, uint32_t tag, uint32_t command);
/**
 * Closes a slice of a closing channel's queues, or frees a slice of what it had. Memory that an engine may still reach
 * is not freed.
 */
void pb_core_channel_step(struct pb_firmware *firmware, uint32_t channel);
/**
 * Frees a queue that has drained, of the next channel in rotation; or moves that channel on, if none of its queues has. Pre:
 * a channel is marked.
 */
void pb_core_lifecycle_settle(struct pb_firmware *firmware);

#endif
