/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Records the trace of a card into a file or prints it.
 */
#ifndef PB_HOST_TOOL_TRACE_RECORD_H
#define PB_HOST_TOOL_TRACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/tool/trace_file.h"
#include "patchbay/link.h"

/** Parameters of a recording. */
struct pb_trace_recording {
	const char *program; /**< name in error messages */
	FILE *file;          /**< output */
	const char *name;    /**< of the output, in error messages */
	bool text;           /**< print text; else write a trace file */
	bool set;            /**< set `levels` during the recording */
	uint32_t levels;     /**< PB_TRACE_LEVELS_* */
	double seconds;      /**< duration; 0: only the present records; negative: until interrupted */
};

/** Records. @param link open, or with ops NULL for saved card memory: then only its records @return exit code */
int pb_trace_record(const struct pb_trace_recording *recording, struct pb_link *link);

/** Prints one record on one line. @param time microseconds */
void pb_trace_print(FILE *file, const struct pb_trace_schema *schema, const struct pb_trace_record *record,
		    uint64_t time);

#endif
