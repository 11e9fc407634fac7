/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patchbay/abi/trace.h"

/** Opens a lane of an unknown queue and makes it the slot's. @return its index, or NONE: out of memory */
static uint32_t open_lane(struct pb_lanes *lanes, struct pb_lane_slot *slot)
{
	/* Doubles whenever the count is a power of two. */
	if ((lanes->count & (lanes->count - 1u)) == 0) {
		const size_t room = lanes->count == 0 ? 1u : 2u * lanes->count;
		struct pb_lane *larger = realloc(lanes->lanes, room * sizeof(*larger));

		if (larger == NULL)
			return PB_LANE_NONE;
		lanes->lanes = larger;
	}
	lanes->lanes[lanes->count] = (struct pb_lane){.slot = slot->index,
						      .handle = PB_TRACE_UNKNOWN,
						      .channel = PB_TRACE_UNKNOWN,
						      .node = PB_TRACE_UNKNOWN,
						      .priority = PB_TRACE_UNKNOWN,
						      .incarnation = lanes->incarnation,
						      .same_as = PB_LANE_NONE};
	slot->current = (uint32_t)lanes->count++;
	return slot->current;
}

uint32_t pb_lane_of(struct pb_lanes *lanes, struct pb_lane_slot *slot)
{
	return slot->current != PB_LANE_NONE ? slot->current : open_lane(lanes, slot);
}

bool pb_lane_created(struct pb_lanes *lanes, struct pb_lane_slot *slot, uint32_t channel, uint32_t node)
{
	const uint32_t lane = open_lane(lanes, slot);

	slot->last = PB_LANE_NONE;
	if (lane == PB_LANE_NONE)
		return false;
	lanes->lanes[lane].channel = channel;
	lanes->lanes[lane].node = node;
	return true;
}

static bool is_equal_or_unknown(uint32_t known, uint32_t value)
{
	return known == PB_TRACE_UNKNOWN || known == value;
}

/** Whether a lane may be the queue of a handle. */
static bool may_be(const struct pb_lane *lane, uint32_t handle, uint32_t of)
{
	return is_equal_or_unknown(lane->handle, handle) &&
	       is_equal_or_unknown(lane->channel, PB_TRACE_OF_CHANNEL(of)) &&
	       is_equal_or_unknown(lane->node, PB_TRACE_OF_NODE(of));
}

bool pb_lane_is_other(const struct pb_lanes *lanes, const struct pb_lane_slot *slot, uint32_t handle,
		      uint32_t of)
{
	return slot->current != PB_LANE_NONE && !may_be(&lanes->lanes[slot->current], handle, of);
}

/** Goes on in the lane that the queue had before records were lost, if it is the same queue. */
static void rejoin(struct pb_lanes *lanes, struct pb_lane_slot *slot, uint32_t handle, uint32_t of)
{
	const uint32_t last = slot->last;

	slot->last = PB_LANE_NONE;
	if (last == PB_LANE_NONE || !may_be(&lanes->lanes[last], handle, of))
		return;
	if (slot->current != PB_LANE_NONE)
		lanes->lanes[slot->current].same_as = last;
	slot->current = last;
}

bool pb_lane_identify(struct pb_lanes *lanes, struct pb_lane_slot *slot, uint32_t handle, uint32_t of)
{
	struct pb_lane *lane;

	if (pb_lane_is_other(lanes, slot, handle, of))
		slot->current = PB_LANE_NONE;
	rejoin(lanes, slot, handle, of);
	if (pb_lane_of(lanes, slot) == PB_LANE_NONE)
		return false;
	lane = &lanes->lanes[slot->current];
	lane->handle = handle;
	lane->channel = PB_TRACE_OF_CHANNEL(of);
	lane->node = PB_TRACE_OF_NODE(of);
	lane->priority = PB_TRACE_OF_PRIORITY(of);
	return true;
}

uint32_t pb_lane_ran(struct pb_lanes *lanes, struct pb_lane_slot *slot, uint32_t node)
{
	uint32_t lane = pb_lane_of(lanes, slot);

	if (lane != PB_LANE_NONE && !is_equal_or_unknown(lanes->lanes[lane].node, node))
		lane = open_lane(lanes, slot);
	if (lane != PB_LANE_NONE)
		lanes->lanes[lane].node = node;
	return lane;
}

void pb_lane_lose(const struct pb_lanes *lanes, struct pb_lane_slot *slot)
{
	if (slot->current != PB_LANE_NONE && lanes->lanes[slot->current].handle != PB_TRACE_UNKNOWN)
		slot->last = slot->current;
	slot->current = PB_LANE_NONE;
}

void pb_lane_end(struct pb_lane_slot *slot)
{
	slot->current = PB_LANE_NONE;
	slot->last = PB_LANE_NONE;
}

uint32_t pb_lane_resolve(const struct pb_lanes *lanes, uint32_t lane)
{
	while (lane != PB_LANE_NONE && lanes->lanes[lane].same_as != PB_LANE_NONE)
		lane = lanes->lanes[lane].same_as;
	return lane;
}

/* Unknown numbers are the largest ones: they come last. While sorting, same_as is the lane's index. */
static int by_place(const void *left, const void *right)
{
	const struct pb_lane *const a = left, *const b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->channel != b->channel)
		return a->channel < b->channel ? -1 : 1;
	return (a->same_as > b->same_as) - (a->same_as < b->same_as);
}

void pb_lanes_sort(struct pb_lanes *lanes, uint32_t *places)
{
	size_t kept = 0;

	for (size_t i = 0; i < lanes->count; i++) {
		places[i] = PB_LANE_NONE;
		if (lanes->lanes[i].packets == 0)
			continue;
		lanes->lanes[kept] = lanes->lanes[i];
		lanes->lanes[kept++].same_as = (uint32_t)i;
	}
	lanes->count = kept;
	if (kept != 0)
		qsort(lanes->lanes, kept, sizeof(lanes->lanes[0]), by_place);
	for (size_t i = 0; i < kept; i++) {
		places[lanes->lanes[i].same_as] = (uint32_t)i;
		lanes->lanes[i].same_as = PB_LANE_NONE;
	}
}

void pb_lane_name(const struct pb_lane *lane, char *text)
{
	char channel[24] = "", queue[36], boot[28] = "", node[12] = "unknown";

	if (lane->channel != PB_TRACE_UNKNOWN)
		snprintf(channel, sizeof(channel), "channel %u, ", lane->channel);
	if (lane->handle != PB_TRACE_UNKNOWN)
		snprintf(queue, sizeof(queue), "queue 0x%08x", lane->handle);
	else
		snprintf(queue, sizeof(queue), "%squeue of slot %u",
			 lane->channel != PB_TRACE_UNKNOWN ? "" : "unknown ", lane->slot);
	if (lane->incarnation != PB_TRACE_UNKNOWN)
		snprintf(boot, sizeof(boot), ", incarnation %u", lane->incarnation);
	if (lane->node != PB_TRACE_UNKNOWN)
		snprintf(node, sizeof(node), "%u", lane->node);
	snprintf(text, PB_LANE_NAME_BYTES, "%s%s%s (node %s)", channel, queue, boot, node);
}
