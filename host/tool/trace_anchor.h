/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The anchors of a recording: moments of its clock beside the clocks of the host. A card whose MCU is emulated may stop
 * it for a moment; so a recording has an anchor every quarter of a second.
 */
#ifndef PB_HOST_TOOL_TRACE_ANCHOR_H
#define PB_HOST_TOOL_TRACE_ANCHOR_H

#include "host/tool/trace_file.h"
#include "patchbay/trace.h"

/** When a recording had its last anchor. Begins as 0. */
struct pb_trace_anchoring {
	uint64_t last_us; /**< on the clock of the link */
};

/**
 * Measures an anchor at the begin or the end of a recording and writes it. Of saved card memory, and of firmware that does
 * not run, there is none, and nothing is written. Blocks for at most 80 ms if the firmware ticks, and for 2 s if it
 * does not and the card's supervisor has not reported its death.
 * @param trace opened on `link` @return false: writing failed
 */
bool pb_trace_anchor_end(struct pb_trace_anchoring *anchoring, FILE *file, const struct pb_trace *trace,
			 struct pb_link *link);
/** As pb_trace_anchor_end(), if it is time for another one during the recording. Blocks for at most 40 ms. */
bool pb_trace_anchor_between(struct pb_trace_anchoring *anchoring, FILE *file, const struct pb_trace *trace,
			     struct pb_link *link);

/**
 * The time of a moment on the clock of the host's link, by the anchors around it.
 * @param time out: microseconds since the first record, negative before it @return false: no anchor has that clock
 */
bool pb_trace_time_of(const struct pb_trace_data *data, uint64_t host_us, int64_t *time);
/**
 * By how much the clock of the host's link is faster than the records' clock, in parts of 10^9, stops of the MCU included.
 * @param drift out @return false: there are no two anchors, a tenth of a second apart
 */
bool pb_trace_drift(const struct pb_trace_data *data, int64_t *drift);

#endif
