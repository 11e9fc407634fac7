/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_cause.h"

uint32_t pb_trace_lane_on(const struct pb_timeline *timeline, uint32_t node)
{
	const struct pb_lanes *lanes = &timeline->lanes;
	uint32_t found = PB_LANE_NONE;

	for (uint32_t i = 0; i < lanes->count; i++) {
		if (lanes->lanes[i].node == node &&
		    (found == PB_LANE_NONE || lanes->lanes[i].packets > lanes->lanes[found].packets))
			found = i;
	}
	return found;
}

/** The packet that a call names; NULL: it is not in the trace, or is there twice. */
static const struct pb_packet *packet_of(const struct pb_timeline *timeline, const struct pb_ddi_call *call)
{
	const uint32_t lane = pb_trace_lane_on(timeline, call->node);
	const struct pb_packet *found = NULL;

	for (size_t i = 0; i < timeline->packet_count; i++) {
		const struct pb_packet *packet = &timeline->packets[i];

		if (packet->lane != lane || packet->fence_id != call->id || packet->kind == PB_PACKET_OPEN)
			continue;
		if (found != NULL)
			return NULL;
		found = packet;
	}
	return found;
}

/** The card's first act for a packet behind a call; NEVER: the trace has none. */
static uint64_t act_behind(const struct pb_packet *packet, uint32_t function)
{
	switch (function) {
	case PB_DDI_RENDER:
	case PB_DDI_BUILD_PAGING_BUFFER:
	case PB_DDI_PATCH:
	case PB_DDI_SUBMIT_COMMAND:
		return packet->patch != PB_TRACE_NEVER ? packet->patch : packet->feed;
	default:
		return PB_TRACE_NEVER;
	}
}

void pb_trace_order_calls(struct pb_trace_data *data, const struct pb_timeline *timeline)
{
	for (size_t i = 0; i < data->call_count; i++) {
		struct pb_trace_call *call = &data->calls[i];
		const struct pb_packet *packet = NULL;
		uint64_t act;

		if (call->call.names == PB_DDI_NAMES_PACKET)
			packet = packet_of(timeline, &call->call);
		if (packet == NULL)
			continue;
		act = act_behind(packet, call->call.function);
		if (act < call->time)
			call->time = act;
		if (call->call.function == PB_DDI_COMPLETED && call->time < packet->end)
			call->time = packet->end;
	}
}
