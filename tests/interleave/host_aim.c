/* SPDX-License-Identifier: MIT */
/* Ranges that appear while work starts. */
#include "hal/shared.h"
#include "tests/interleave/host.h"

#define AIMED_SEGMENT 7u
#define AIMED_BYTES   0x1000u

static enum pb_error begin_segment(struct pb_host *host, uint32_t *tag)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		AIMED_SEGMENT, PB_SEGMENT_LINEAR, 0x900000u, 0, PB_HOST_AIM, 0, AIMED_BYTES, 0, AIMED_BYTES};

	return pb_channel_begin(&host->channel, PB_COMMAND_SEGMENT_CREATE, arguments, tag);
}

/** Its work has completed: it has stored into the segment, or it has faulted, as there was none. */
static bool judge(struct pb_host *host, struct pb_host_lane *lane, uint32_t offset)
{
	const struct pb_host_work *work = &lane->works[lane->queue.put - 1u];
	const uint32_t *word = (const uint32_t *)(const void *)((uint8_t *)pb_weave_card_memory() + offset);

	if (work->status == PB_ERROR_OK && pb_shared_read32(word) != work->value)
		pb_weave_fail("host %u: work %u has stored somewhere else: 0x%x", host->index,
			      lane->queue.put - 1u, pb_shared_read32(word));
	if (work->status == PB_ERROR_OK)
		return true;
	(void)pb_host_events(host);
	return pb_host_clear(host, lane);
}

bool pb_host_aim(struct pb_host *host, struct pb_host_lane *lane)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {AIMED_SEGMENT};
	uint32_t results[PB_REPLY_RESULTS];
	const uint32_t put = lane->queue.put;
	enum pb_error error;
	uint32_t tag;

	for (uint32_t l = 0; l < PB_HOST_LANES; l++) {
		if (!pb_host_settle(host, &host->lanes[l]))
			return false;
	}
	host->link->doing = "a segment";
	if (!pb_host_went(host, begin_segment(host, &tag), "a segment is begun") ||
	    !pb_host_submit(host, lane, PB_HOST_AIMED))
		return false;
	while ((error = pb_channel_finish(&host->channel, tag, results)) == PB_ERROR_TIMEOUT)
		(void)pb_host_pause(host);
	if (!pb_host_went(host, error, "a segment is made") || !pb_host_settle(host, lane))
		return false;
	if (lane->queue.put != put && !judge(host, lane, results[0]))
		return false;
	return pb_host_went(host,
			    pb_channel_command(&host->channel, PB_COMMAND_SEGMENT_DESTROY, arguments, NULL),
			    "a segment is removed");
}
