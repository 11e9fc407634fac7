/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card that `patchbay top` watches: found again when it was away, attached to again when its firmware was.
 */
#ifndef PB_HOST_TOOL_TOP_CARD_H
#define PB_HOST_TOOL_TOP_CARD_H

#include "host/tool/top_model.h"
#include "host/tool/top_survey.h"
#include "host/tool/trace_file.h"

#define PB_TOP_MESSAGE_BYTES 200u

struct pb_top_card {
	const char *socket;          /**< where it listens */
	struct pb_link *link;        /**< NULL: it is away */
	struct pb_channel channel;   /**< to ask after queues */
	bool attached;               /**< that works */
	bool old;                    /**< what is known is how it was: nothing runs that would change it */
	struct pb_top_model model;   /**< what is known of it */
	struct pb_survey survey;     /**< and of its queues */
	struct pb_trace_clock clock; /**< the card's, beyond 32 bits */
	char message[PB_TOP_MESSAGE_BYTES]; /**< what is wrong, or empty */
};

/** Opens it. @param card all 0 but its socket @return errors of pb_link_open_socket */
enum pb_error pb_top_card_open(struct pb_top_card *card);
/**
 * Looks at it, and begins to ask after its queues. Where it is away, or its firmware is another one, this tries to have
 * it again, for no longer than a moment.
 */
void pb_top_card_look(struct pb_top_card *card);
/** Takes the answers that have come. Never blocks. @return there may be more soon */
bool pb_top_card_poll(struct pb_top_card *card);
/** How long the firmware has been running, in microseconds, by its ticks. */
uint64_t pb_top_card_uptime(const struct pb_top_card *card);
/** Leaves it. */
void pb_top_card_close(struct pb_top_card *card);

#endif
