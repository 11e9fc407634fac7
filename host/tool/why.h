/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Why a queue of any channel does not run: the question to the firmware, and
 * its answer in words.
 */
#ifndef PB_HOST_TOOL_WHY_H
#define PB_HOST_TOOL_WHY_H

#include "host/patchbay.h"

/** Which queue is meant. */
struct pb_why_queue {
	uint32_t channel; /**< its owner; 0: whichever channel has it */
	uint32_t handle;  /**< generation 0: whatever queue has the index */
};

/**
 * Reads a queue's name: a handle, or CHANNEL:INDEX.
 * @return false: it is neither
 */
bool pb_why_parse(const char *text, struct pb_why_queue *queue);
/**
 * Asks the firmware.
 * @param queue channel and handle are filled in as far as the answer tells them
 * @retval PB_ERROR_BAD_HANDLE there is no such queue
 * @retval PB_ERROR_NO_PERMISSION the card lets this channel not ask about others
 */
enum pb_error pb_why_ask(struct pb_channel *channel, struct pb_why_queue *queue,
			 struct pb_queue_state *state);

/** Room for a sentence. */
#define PB_WHY_BYTES 512u

/** One sentence for a person. */
void pb_why_sentence(const struct pb_why_queue *queue, const struct pb_queue_state *state, char *text);
/** One JSON object, from malloc; NULL: out of memory. */
char *pb_why_json(const struct pb_why_queue *queue, const struct pb_queue_state *state);

#endif
