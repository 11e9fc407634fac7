/* SPDX-License-Identifier: MIT */
/* Segments that appear while submissions start. */
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

/** The submission has completed: it has stored into the segment, or has faulted because there was none. */
static bool judge(struct pb_host *host, struct pb_host_lane *lane, uint32_t offset)
{
	const struct pb_host_submission *submission = &lane->submissions[lane->queue.put - 1u];
	const uint32_t *word = (const uint32_t *)(const void *)((uint8_t *)pb_weave_card_memory() + offset);

	if (submission->status == PB_ERROR_OK && pb_shared_read32(word) != submission->value)
		pb_weave_fail("host %u: submission %u has stored somewhere else: 0x%x", host->index,
			      lane->queue.put - 1u, pb_shared_read32(word));
	if (submission->status == PB_ERROR_OK)
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
	if (!pb_host_succeeded(host, begin_segment(host, &tag), "the creation of a segment is posted") ||
	    !pb_host_submit(host, lane, PB_HOST_AIMED))
		return false;
	while ((error = pb_channel_finish(&host->channel, tag, results)) == PB_ERROR_TIMEOUT)
		(void)pb_host_pause(host);
	if (!pb_host_succeeded(host, error, "a segment is created") || !pb_host_settle(host, lane))
		return false;
	if (lane->queue.put != put && !judge(host, lane, results[0]))
		return false;
	return pb_host_succeeded(
		host, pb_channel_command(&host->channel, PB_COMMAND_SEGMENT_DESTROY, arguments, NULL),
		"a segment is removed");
}
