/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The lanes of a timeline, one for each queue. A record of a queue has the slot of its handle only; QUEUE, HANDLE and
 * FREE tell which queue the slot has. What they do not tell, because records were lost, is unknown.
 */
#ifndef PB_HOST_TOOL_TRACE_LANE_H
#define PB_HOST_TOOL_TRACE_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PB_TRACE_UNKNOWN UINT32_MAX /**< a number that is not in the trace */
#define PB_LANE_NONE     UINT32_MAX /**< no lane */
/** Longest name of a lane with its zero, in bytes. */
#define PB_LANE_NAME_BYTES 120u

/** One queue. Each number but the slot may be PB_TRACE_UNKNOWN. */
struct pb_lane {
	uint32_t slot;        /**< index of its handle */
	uint32_t handle;      /**< PB_HANDLE: slot and generation */
	uint32_t channel;     /**< its owner */
	uint32_t node;        /**< where it runs */
	uint32_t priority;    /**< enum pb_priority */
	uint32_t incarnation; /**< of the firmware, if the trace has more than one boot */
	uint32_t
		same_as; /**< while a timeline is built: a lane that turned out to be the same queue, or NONE */
	size_t packets; /**< number of packets in it */
};

/** All lanes. */
struct pb_lanes {
	struct pb_lane *lanes; /**< the lanes */
	size_t count;          /**< number of lanes */
	uint32_t incarnation;  /**< of lanes that are opened now, or PB_TRACE_UNKNOWN */
};

/** Which queue a slot has, as far as the records tell. */
struct pb_lane_slot {
	uint32_t index; /**< of the slot */
	uint32_t
		current; /**< lane of its records, or NONE: no record since the slot was freed or records were lost */
	uint32_t last; /**< before records were lost: lane of its queue, which may still be there; or NONE */
};

/** Returns the lane of a slot's records, a new one of an unknown queue if there is none. NONE: out of memory. */
uint32_t pb_lane_of(struct pb_lanes *lanes, struct pb_lane_slot *slot);
/** Handles QUEUE: opens the lane of a new queue. @return false: out of memory */
bool pb_lane_created(struct pb_lanes *lanes, struct pb_lane_slot *slot, uint32_t channel, uint32_t node);
/** Whether a handle is that of another queue than the slot's, as far as that is known. */
bool pb_lane_is_other(const struct pb_lanes *lanes, const struct pb_lane_slot *slot, uint32_t handle,
		      uint32_t of);
/**
 * Handles HANDLE and FREE: the slot's queue has this handle. All records since the slot's lane was opened are of that
 * queue, as a record would tell that another one came. @param of PB_TRACE_OF @return false: out of memory
 */
bool pb_lane_identify(struct pb_lanes *lanes, struct pb_lane_slot *slot, uint32_t handle, uint32_t of);
/** A packet of the slot ran on a node. @return its lane: another one if the slot's queue has another node; or NONE */
uint32_t pb_lane_ran(struct pb_lanes *lanes, struct pb_lane_slot *slot, uint32_t node);
/** Records were lost: the slot's queue is unknown until a HANDLE. */
void pb_lane_lose(const struct pb_lanes *lanes, struct pb_lane_slot *slot);
/** The slot has no queue any more. */
void pb_lane_end(struct pb_lane_slot *slot);

/** The lane that a lane turned out to be, or the lane itself. */
uint32_t pb_lane_resolve(const struct pb_lanes *lanes, uint32_t lane);
/**
 * Drops lanes without packets and sorts the others by node and channel; those of a channel as they came.
 * @param places out: the new index of each lane, or NONE; room for `count`
 */
void pb_lanes_sort(struct pb_lanes *lanes, uint32_t *places);
/** Formats the name of a lane. @param text out: PB_LANE_NAME_BYTES */
void pb_lane_name(const struct pb_lane *lane, char *text);

#endif
