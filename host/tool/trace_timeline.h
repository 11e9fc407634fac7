/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a trace comes to: packets, each with the times of its way, and marks.
 */
#ifndef PB_HOST_TOOL_TRACE_TIMELINE_H
#define PB_HOST_TOOL_TRACE_TIMELINE_H

#include "host/tool/trace_file.h"

/** "It is not in the trace": a time, a channel, a node. */
#define PB_TRACE_NEVER   UINT64_MAX
#define PB_TRACE_UNKNOWN UINT32_MAX

/* X(NAME, number, what it is called) */
#define PB_PACKET_KINDS(X)                                                                                   \
	X(RENDER, 0, "render")                                                                               \
	X(PRESENT, 1, "present")                                                                             \
	X(PAGING, 2, "paging")                                                                               \
	X(PREEMPTED, 3, "preempted") /* given back to its host */                                            \
	X(FAILED, 4, "failed")                                                                               \
	X(OPEN, 5, "open") /* the trace ends before it does */

enum pb_packet_kind {
#define PB_PACKET_KIND_ENUM(name, number, text) PB_PACKET_##name = (number),
	PB_PACKET_KINDS(PB_PACKET_KIND_ENUM)
#undef PB_PACKET_KIND_ENUM
};

/** One submission. Times are microseconds since the first record. */
struct pb_packet {
	enum pb_packet_kind kind;
	uint32_t queue;   /**< index of its handle */
	uint32_t channel; /**< or PB_TRACE_UNKNOWN */
	uint32_t node;    /**< or PB_TRACE_UNKNOWN */
	uint32_t context; /**< index of its handle, or PB_TRACE_UNKNOWN */
	uint32_t fence_id;
	uint32_t flags; /**< PB_FLAG_* that a trace tells */
	uint32_t error; /**< enum pb_error */
	uint32_t patches;
	uint32_t feeds;   /**< times it was given to the engine: more than once if the engine was stopped */
	uint64_t submit;  /**< the firmware saw it; at the default levels NEVER */
	uint64_t patch;   /**< the patching begins, or NEVER */
	uint64_t patched; /**< and ends, or NEVER */
	uint64_t feed;    /**< to the engine's ring for the first time; NEVER if it was not */
	uint64_t again;   /**< and for the last time */
	uint64_t run;     /**< it is the first in its node's ring; NEVER if it was not */
	uint64_t end;     /**< completed, or given back */
};

/** When it was first seen. */
uint64_t pb_packet_begin(const struct pb_packet *packet);
/** What its kind is called. */
const char *pb_packet_kind_name(enum pb_packet_kind kind);

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

/** Free it with pb_timeline_free in any case. @return false: there is not enough memory */
bool pb_timeline_build(const struct pb_trace_data *data, struct pb_timeline *timeline);
void pb_timeline_free(struct pb_timeline *timeline);

#endif
