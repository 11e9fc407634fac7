/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The open packets of a queue while a timeline is built: those that are submitted and have not ended.
 */
#ifndef PB_HOST_TOOL_TRACE_OPEN_H
#define PB_HOST_TOOL_TRACE_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "host/tool/trace_timeline.h"

/** Largest number of open packets: the size of a ring. The records of older ones were lost. */
#define PB_OPEN_MAX 256u

/** The oldest first. Begins as 0; whoever has it frees `packets`. */
struct pb_open {
	uint32_t count, room;
	bool counted;              /**< the trace has SUBMIT records: each packet was added by one */
	struct pb_packet *packets; /**< `room` of them: few, unless there are many at a time */
};

/**
 * Adds a packet of which nothing is known yet; the oldest one gives way if there are too many.
 * @return NULL: out of memory
 */
struct pb_packet *pb_open_add(struct pb_open *open, uint32_t lane);
/**
 * Finds the packet that a record is about, by its fence id, which several may have at a time. The firmware admits the
 * packets of a queue one by one: what it writes of an admission, PATCH, PATCHED and KIND in any order, is about the first
 * packet that has no FEED. A packet with the engine is admitted or fed once more only after a stop of its node. The
 * oldest packet completes first. A packet that no record has named yet takes the fence id.
 * @param event enum pb_trace_event of the record
 * @param arguments both of the record: fence id, and of KIND the flags
 * @param stopped one more than the time of the last stop of the queue's node; 0: there was none; NEVER: it is not known
 * @return NULL: there is no such packet
 */
struct pb_packet *pb_open_find(struct pb_open *open, uint32_t event, const uint32_t *arguments,
			       uint64_t stopped);

#endif
