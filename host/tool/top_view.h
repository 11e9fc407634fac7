/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The screen of `patchbay top`.
 */
#ifndef PB_HOST_TOOL_TOP_VIEW_H
#define PB_HOST_TOOL_TOP_VIEW_H

#define NCURSES_NOMACROS 1
#include <curses.h>

#include "host/tool/top_model.h"
#include "host/tool/top_survey.h"

/** Contents of the screen. */
struct pb_top_picture {
	const struct pb_top_model *model;         /**< the card and its nodes */
	uint64_t uptime;                          /**< uptime of the firmware, in microseconds */
	const struct pb_top_queue *const *queues; /**< the busiest first */
	uint32_t queue_count;                     /**< number of queues */
	uint32_t scroll;                          /**< queues above the first one shown */
	const char *message;                      /**< present problem, or empty */
	bool old;                                 /**< the data are not up to date */
	bool paused;                              /**< the user has paused the refresh */
};

/**
 * Draws the screen into a window of any size. Lines without room are left out, the last queues first.
 * @return scroll position, reduced if it was beyond the last queue
 */
uint32_t pb_top_draw(WINDOW *window, const struct pb_top_picture *picture);
/**
 * Prints all lines of the screen but that of the keys, with all queues.
 * @param width of the lines, which have as many columns as a screen of that width; 0: all of them
 */
void pb_top_print(FILE *file, const struct pb_top_picture *picture, uint32_t width);

#endif
