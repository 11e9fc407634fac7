/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card that `patchbay top` shows. A lost card is opened again, restarted firmware is attached to again.
 */
#ifndef PB_HOST_TOOL_TOP_CARD_H
#define PB_HOST_TOOL_TOP_CARD_H

#include "host/tool/top_model.h"
#include "host/tool/top_survey.h"
#include "host/tool/trace_file.h"

/** Size of a message, in bytes. */
#define PB_TOP_MESSAGE_BYTES 200u

/** State of the card. */
struct pb_top_card {
	const char *socket;   /**< path of the card's socket; NULL: a link that is lost is not opened again */
	struct pb_link *link; /**< NULL: the card is gone */
	struct pb_channel channel;   /**< for queries of queues */
	bool attached;               /**< `channel` is attached */
	bool old;                    /**< the firmware does not run: model and survey show its last state */
	struct pb_top_model model;   /**< card and nodes */
	struct pb_survey survey;     /**< queues */
	struct pb_trace_clock clock; /**< the card's clock in 64 bits */
	char message[PB_TOP_MESSAGE_BYTES]; /**< present problem, or empty */
};

/** Opens the card. @param card all 0 except `socket` @return as pb_link_open_socket() */
enum pb_error pb_top_card_open(struct pb_top_card *card);
/**
 * Reads the counters and starts a round of queue queries. Opens a lost card and attaches to restarted firmware again.
 * Blocks for at most 250 ms.
 */
void pb_top_card_refresh(struct pb_top_card *card);
/** Reads the replies that have come. Never blocks. @return true: more replies are expected */
bool pb_top_card_poll(struct pb_top_card *card);
/** Returns the uptime of the firmware in microseconds, by its ticks. */
uint64_t pb_top_card_uptime(const struct pb_top_card *card);
/** Closes the link. */
void pb_top_card_close(struct pb_top_card *card);

#endif
