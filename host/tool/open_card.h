/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How the commands get at a card: one that runs already, one that they start
 * for themselves, one simulated in their own process, or a board at a debug probe.
 */
#ifndef PB_HOST_TOOL_OPEN_CARD_H
#define PB_HOST_TOOL_OPEN_CARD_H

#include <stdbool.h>

#include "host/link.h"
#include "host/link_gdb.h"
#include "host/patchbay.h"

/** What the user asked for. At most one is given. */
struct pb_open_options {
	const char *board;         /**< NULL, or the board whose card to start; there is one of that name */
	const char *socket;        /**< NULL, or where a running card listens */
	bool sim;                  /**< simulate a card */
	struct pb_gdb_place probe; /**< its stub NULL, or a board at a debug probe */
};

struct pb_open_card {
	struct pb_link *link; /**< for the caller */
	struct pb_sim *sim;   /**< NULL unless simulated */
	int pid;              /**< process of the card that was started; 0 if none */
	char socket[108];     /**< where that one listens */
};

/**
 * Opens a link to a card.
 * @return 0, or the exit code; the error has been printed then
 */
int pb_open_card(const struct pb_open_options *options, struct pb_open_card *card);
/** Closes the link and stops what was started. */
void pb_close_card(struct pb_open_card *card);
/** Reads the boot block; if the boot is under way, once it is over, or a second later. @return errors of pb_card_read */
enum pb_error pb_card_read_running(struct pb_link *link, struct pb_card_info *info);

#endif
