/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Order between the host and the card: an anchor may be wrong by some microseconds, and no effect stands before its cause.
 */
#ifndef PB_HOST_TOOL_TRACE_CAUSE_H
#define PB_HOST_TOOL_TRACE_CAUSE_H

#include "host/tool/trace_timeline.h"

/** The lane of the kernel's queue on a node: the one with the most packets; PB_LANE_NONE: there is no such lane. */
uint32_t pb_trace_lane_on(const struct pb_timeline *timeline, uint32_t node);
/**
 * Moves DDI calls that name a packet: what the host does for it is not later than what the card does then, and what the
 * host is told not earlier than the packet's end. Calls that are in order stay where they are.
 */
void pb_trace_order_calls(struct pb_trace_data *data, const struct pb_timeline *timeline);

#endif
