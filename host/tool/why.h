/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Why a queue of any channel does not run: the query of the firmware, and its
 * answer in words.
 */
#ifndef PB_HOST_TOOL_WHY_H
#define PB_HOST_TOOL_WHY_H

#include "patchbay/patchbay.h"

/** Names a queue. */
struct pb_why_queue {
	uint32_t channel; /**< number of the owner's channel; 0: search all channels */
	uint32_t handle;  /**< with generation 0: the queue that has this index now */
};

/**
 * Parses a queue's name: a handle, or CHANNEL:INDEX.
 * @param queue out
 * @return false: the text has neither form
 */
bool pb_why_parse(const char *text, struct pb_why_queue *queue);
/**
 * Queries the state of a queue.
 * @param queue its channel is filled in if it was 0
 * @param state out
 * @retval PB_ERROR_BAD_HANDLE the queue does not exist
 * @retval PB_ERROR_NO_PERMISSION the channel may not query other channels
 */
enum pb_error pb_why_ask(struct pb_channel *channel, struct pb_why_queue *queue,
			 struct pb_queue_state *state);

/** Size of the buffer for a sentence, in bytes. */
#define PB_WHY_BYTES 512u

/** Formats the answer as one sentence. @param text out: PB_WHY_BYTES */
void pb_why_sentence(const struct pb_why_queue *queue, const struct pb_queue_state *state, char *text);
/** Formats the answer as one JSON object. @return text that the caller frees; NULL: out of memory */
char *pb_why_json(const struct pb_why_queue *queue, const struct pb_queue_state *state);

#endif
