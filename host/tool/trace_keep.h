/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Keeps the trace of a card while a program of the host works with it: the
 * card overwrites its oldest records.
 */
#ifndef PB_HOST_TOOL_TRACE_KEEP_H
#define PB_HOST_TOOL_TRACE_KEEP_H

#include <stdbool.h>
#include <stdio.h>

#include "host/tool/trace_anchor.h"
#include "host/tool/trace_file.h"
#include "patchbay/trace.h"

/** A recording in progress. */
struct pb_trace_keeper {
	struct pb_link *link;                /**< of the card */
	struct pb_trace trace;               /**< its reader */
	struct pb_trace_anchoring anchoring; /**< when it was compared with the host's clock */
	FILE *file;                          /**< temporary trace file; NULL: the board has no trace */
	uint64_t lost;                       /**< records lost that the file has a piece for */
};

/**
 * Writes the start of a trace file of a card: schema, rate of the clock, number of nodes.
 * @param trace opened on `link` @return false: writing failed
 */
bool pb_trace_keep_head(FILE *file, const struct pb_trace *trace, const struct pb_link *link);
/**
 * Writes what this process has done on a link so far, if the environment has it traced (host/link_trace.h).
 * @return false: writing failed
 */
bool pb_trace_keep_host(FILE *file, const struct pb_link *link);
/** Begins with the oldest record that is there. @param keeper out @return false: a file cannot be written */
bool pb_trace_keep_begin(struct pb_trace_keeper *keeper, struct pb_link *link);
/** Adds the records since the last call. @return false: a file cannot be written */
bool pb_trace_keep(struct pb_trace_keeper *keeper);
/**
 * Adds the last records, the DDI calls and the events of this host, and reads all of the file.
 * @param data out: to be freed with pb_trace_data_free() in any case
 * @return false: a file cannot be written or read
 */
bool pb_trace_keep_read(struct pb_trace_keeper *keeper, const struct pb_ddi_record *calls,
			struct pb_trace_data *data);
/** Removes the file. */
void pb_trace_keep_end(struct pb_trace_keeper *keeper);

#endif
