/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The timeline of a trace: packets with their times, and marks.
 */
#ifndef PB_HOST_TOOL_TRACE_TIMELINE_H
#define PB_HOST_TOOL_TRACE_TIMELINE_H

#include "host/tool/trace_file.h"
#include "host/tool/trace_lane.h"

#define PB_TRACE_NEVER UINT64_MAX /**< a time that is not in the trace */

/* X(NAME, number, text) */
#define PB_PACKET_KINDS(X)                                                                                   \
	X(RENDER, 0, "render")                                                                               \
	X(PRESENT, 1, "present")                                                                             \
	X(PAGING, 2, "paging")                                                                               \
	X(PREEMPTED, 3, "preempted") /* returned to its host */                                              \
	X(FAILED, 4, "failed")                                                                               \
	X(OPEN, 5, "open") /* the trace has no end of the packet */

/** Kind of a packet: its flags, or how it ended. */
enum pb_packet_kind {
#define PB_PACKET_KIND_ENUM(name, number, text) PB_PACKET_##name = (number),
	PB_PACKET_KINDS(PB_PACKET_KIND_ENUM)
#undef PB_PACKET_KIND_ENUM
};

/** One submission. Times are microseconds since the first record. */
struct pb_packet {
	enum pb_packet_kind kind;
	uint32_t lane;     /**< its queue: an index of pb_timeline.lanes */
	uint32_t node;     /**< where it ran, or PB_TRACE_UNKNOWN */
	uint32_t context;  /**< index of its handle, or PB_TRACE_UNKNOWN */
	uint32_t fence_id; /**< SubmissionFenceId */
	uint32_t flags;    /**< PB_FLAG_*, as far as recorded */
	uint32_t error;    /**< enum pb_error */
	uint32_t patches;  /**< patches of the submission */
	uint32_t feeds;    /**< times fed to the engine: more than one if the engine was stopped */
	uint64_t submit;   /**< seen by the firmware; NEVER at the default levels */
	uint64_t patch;    /**< start of patching, or NEVER */
	uint64_t patched;  /**< end of patching, or NEVER */
	uint64_t feed;     /**< first fed to the engine's ring, or NEVER */
	uint64_t again;    /**< last fed to the engine's ring, or NEVER */
	uint64_t run;      /**< became the head of the engine's ring, or NEVER */
	uint64_t
		end; /**< completed or returned; of an open packet the last time that it is known to be open */
};

/** Returns the first time recorded of a packet. */
uint64_t pb_packet_begin(const struct pb_packet *packet);
/** Returns the name of a kind. */
const char *pb_packet_kind_name(enum pb_packet_kind kind);

/** A record that belongs to no packet. */
struct pb_mark {
	uint64_t time; /**< microseconds since the first record */
	uint32_t lane; /**< of a record about a queue that has packets: its lane; else PB_LANE_NONE */
	struct pb_trace_record record; /**< the record */
};

/** A timeline. */
struct pb_timeline {
	struct pb_lanes lanes;     /**< queues that have packets: by node and channel, unknown ones last */
	struct pb_packet *packets; /**< those that ended by end, then the open ones */
	size_t packet_count;       /**< number of packets */
	struct pb_mark *marks;     /**< by time */
	size_t mark_count;         /**< number of marks */
	uint64_t duration;         /**< time of the last record */
};

/**
 * Builds a timeline. @param timeline out: to be freed with pb_timeline_free() in any case @return false: out of memory
 */
bool pb_timeline_build(const struct pb_trace_data *data, struct pb_timeline *timeline);
/** Frees a timeline and clears it. */
void pb_timeline_free(struct pb_timeline *timeline);

#endif
