/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reads the trace of a card, for a while, into a file or onto the screen.
 */
#ifndef PB_HOST_TOOL_TRACE_RECORD_H
#define PB_HOST_TOOL_TRACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/link.h"
#include "host/tool/trace_file.h"

struct pb_trace_recording {
	const char *program; /**< who complains */
	FILE *file;          /**< what it goes to */
	bool text;           /**< for people; else a file of records */
	bool set;            /**< to `levels` while it lasts: takes a channel of the card */
	uint32_t levels;     /**< PB_TRACE_LEVELS_* */
	double seconds;      /**< 0: only what is there; less: until it is interrupted */
};

/** Does it. The link has only memory if that was saved: then what is there is all. @return exit code */
int pb_trace_record(const struct pb_trace_recording *recording, struct pb_link *link);

/** One record on a line of its own. */
void pb_trace_print(FILE *file, const struct pb_trace_schema *schema, const struct pb_trace_record *record,
		    uint64_t time);

#endif
