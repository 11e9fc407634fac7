/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Events of hosts in a trace: how programs write them, and of which submission they are.
 */
#ifndef PB_HOST_TOOL_TRACE_HOST_H
#define PB_HOST_TOOL_TRACE_HOST_H

#include "host/tool/trace_timeline.h"

/** What was read of a file that programs have written by PATCHBAY_TRACE_HOST. */
struct pb_trace_host {
	struct pb_guest_event *events; /**< heap memory, freed by pb_trace_host_free() */
	uint32_t *numbers;             /**< of each event: its section, from 0; freed with them */
	size_t count;                  /**< number of events */
	size_t room;                   /**< events that there is room for */
	uint32_t sections;             /**< number of sections: one for each link */
	uint64_t lost;                 /**< events that were overwritten in the programs */
};

/** Returns whether a file begins as one of a host. Leaves it at its begin. */
bool pb_trace_host_is(FILE *file);
/** Reads a file. @param host out: to be freed also after an error @return NULL, or the error */
const char *pb_trace_host_read(FILE *file, struct pb_trace_host *host);
/** Frees what was read. */
void pb_trace_host_free(struct pb_trace_host *host);

/**
 * Finds the submissions of hosts' events. `submitted` is the queue's first submission with its fence id that no earlier
 * event has and that has not ended before; `seen` has that of the last submission that was seen.
 * Pre: the events are sorted by time. @return false: out of memory
 */
bool pb_trace_host_find(struct pb_trace_data *data, const struct pb_timeline *timeline);
/** Begins submissions when their hosts have put them. Pre: pb_trace_host_find(). */
void pb_trace_host_begin(const struct pb_trace_data *data, struct pb_timeline *timeline);

#endif
