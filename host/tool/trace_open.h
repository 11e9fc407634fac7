/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The open packets of a queue while a timeline is built: those that are submitted and have not ended.
 */
#ifndef PB_HOST_TOOL_TRACE_OPEN_H
#define PB_HOST_TOOL_TRACE_OPEN_H

#include <stdint.h>

#include "host/tool/trace_timeline.h"

/** Largest number of open packets: the size of a ring. The records of older ones were lost. */
#define PB_OPEN_MAX 256u

/** The oldest first. Begins as 0; whoever has it frees `packets`. */
struct pb_open {
	uint32_t count, room;
	struct pb_packet *packets; /**< `room` of them: few, unless there are many at a time */
};

/**
 * Adds a packet of which nothing is known yet; the oldest one gives way if there are too many.
 * @return NULL: out of memory
 */
struct pb_packet *pb_open_add(struct pb_open *open, uint32_t lane);
/**
 * Finds the packet that a record is about, by its fence id, which several may have at a time: each packet has one KIND
 * and one PATCH, before PATCHED and FEED, and the oldest one completes first. A packet that no record has named yet takes the
 * fence id. Without PATCH records, a second packet of a fence id is taken for the first one that is fed once more.
 * @param event enum pb_trace_event of the record @return NULL: there is no such packet
 */
struct pb_packet *pb_open_find(struct pb_open *open, uint32_t event, uint32_t fence_id);

#endif
