/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The picture of `patchbay top`.
 */
#ifndef PB_HOST_TOOL_TOP_VIEW_H
#define PB_HOST_TOOL_TOP_VIEW_H

#define NCURSES_NOMACROS 1
#include <curses.h>

#include "host/tool/top_model.h"
#include "host/tool/top_survey.h"

/** What is to be seen. */
struct pb_top_picture {
	const struct pb_top_model *model;         /**< the card and its nodes */
	uint64_t uptime;                          /**< of the firmware, in microseconds */
	const struct pb_top_queue *const *queues; /**< the busiest first */
	uint32_t queue_count;                     /**< of them */
	uint32_t scroll;                          /**< queues above the first that is shown */
	const char *message;                      /**< what is wrong, or empty */
	bool old;                                 /**< it is how it was, not how it is */
	bool paused;                              /**< the user wants it so */
};

/**
 * Draws it into all of a window, however small: what there is no room for is left out, the end of the queues first.
 * @return scroll, less if it went beyond the last queue
 */
uint32_t pb_top_draw(WINDOW *window, const struct pb_top_picture *picture);

#endif
