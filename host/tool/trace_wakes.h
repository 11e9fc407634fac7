/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which packet ended a wait of another one, as the records tell: from a signal, often of a paging buffer, to the
 * submission that it unblocks.
 */
#ifndef PB_HOST_TOOL_TRACE_WAKES_H
#define PB_HOST_TOOL_TRACE_WAKES_H

#include "host/tool/trace_timeline.h"

/** A wait that has ended. */
struct pb_wake {
	uint64_t since; /**< time of its WAIT; NEVER: it is not in the trace */
	uint64_t time;  /**< time of its WAKE */
	size_t mark;    /**< index of the WAKE in the timeline's marks */
	/** Packet of the queue waited for that completed last before the WAKE, since WAIT if that is known. */
	size_t from;
	size_t to; /**< packet that waited: the first of its queue that was patched or fed after the WAKE */
};

/** All of them. */
struct pb_wakes {
	struct pb_wake *wakes; /**< by time */
	size_t count; /**< number of wakes; one whose packets are not both in the trace is left out */
};

/** Finds them. @param wakes out: free wakes->wakes in any case @return false: out of memory */
bool pb_wakes_find(const struct pb_trace_data *data, const struct pb_timeline *timeline,
		   struct pb_wakes *wakes);

#endif
