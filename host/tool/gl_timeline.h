/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The timeline of a card while a program runs.
 */
#ifndef PB_HOST_TOOL_GL_TIMELINE_H
#define PB_HOST_TOOL_GL_TIMELINE_H

#include <stdbool.h>

#include "host/tool/trace_keep.h"
#include "patchbay/link.h"

/** A recording. */
struct pb_gl_timeline {
	const char *program;           /**< name in messages */
	struct pb_link *link;          /**< to the card; takes one of its channels */
	struct pb_trace_keeper keeper; /**< what was recorded */
	bool good;                     /**< it can still be written */
};

/** Begins. @param socket of the card @return false: the error was printed */
bool pb_gl_timeline_begin(struct pb_gl_timeline *timeline, const char *program, const char *socket);
/** Keeps what has come since: call it often enough, the card overwrites its oldest records. */
void pb_gl_timeline_keep(struct pb_gl_timeline *timeline);
/** Writes the page, and ends the recording. @return false: the error was printed */
bool pb_gl_timeline_write(struct pb_gl_timeline *timeline, const char *path);

#endif
