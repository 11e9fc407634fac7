/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a trace comes to: packets, each with the times of its way, and marks.
 */
#ifndef PB_HOST_TOOL_TRACE_TIMELINE_H
#define PB_HOST_TOOL_TRACE_TIMELINE_H

#include "host/tool/trace_file.h"

/** "It is not in the trace." */
#define PB_TRACE_NEVER UINT64_MAX

enum pb_packet_kind {
	PB_PACKET_RENDER = 0,
	PB_PACKET_PAGING,
	PB_PACKET_FAILED,
	PB_PACKET_PREEMPTED, /**< given back to its host */
	PB_PACKET_OPEN,      /**< the trace ends before it does */
};

/** One submission. Times are microseconds since the first record. */
struct pb_packet {
	enum pb_packet_kind kind;
	uint32_t queue; /**< index of its handle */
	uint32_t channel; /**< UINT32_MAX: not in the trace */
	uint32_t node;    /**< UINT32_MAX: likewise */
	uint32_t context;
	uint32_t fence_id;
	uint32_t error;   /**< enum pb_error */
	uint32_t patches;
	uint64_t submit;  /**< when the firmware saw it; at the default levels NEVER */
	uint64_t patch;   /**< the patching begins, or NEVER */
	uint64_t patched; /**< and ends, or NEVER */
	uint64_t feed;    /**< to the engine's ring, for the first time; NEVER if it was not */
	uint64_t run;     /**< it is the first in its node's ring */
	uint64_t end;     /**< completed, or given back */
};

/** Something at one moment: any other record. */
struct pb_mark {
	uint64_t time;
	struct pb_trace_record record;
};

struct pb_timeline {
	struct pb_packet *packets; /**< in the order in which they ended */
	size_t packet_count;
	struct pb_mark *marks;
	size_t mark_count;
	uint64_t duration;
};

/** @return false: there is not enough memory */
bool pb_timeline_build(const struct pb_trace_data *data, struct pb_timeline *timeline);
void pb_timeline_free(struct pb_timeline *timeline);

#endif
