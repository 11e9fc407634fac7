/* SPDX-License-Identifier: MIT */
/* Preemption, suspension, reset. */
#include "tests/interleave/host.h"

/** The preempt record may be written before the reply. */
static bool read_preempt_record(struct pb_host *host, struct pb_host_lane *lane, uint32_t id)
{
	struct pb_preempt last;

	if (!pb_host_succeeded(host, pb_queue_preempted(&lane->queue, &last),
			       "a preemption's record is read"))
		return false;
	if (last.count != lane->queue.stop.last.count && last.preemption_id != id)
		pb_weave_fail("host %u: preemption %u is reported as %u", host->index, id,
			      last.preemption_id);
	return true;
}

/** Submits or reads the fence record while the preemption is in progress. */
static bool poll_preemption(struct pb_host *host, struct pb_host_lane *lane, uint32_t id)
{
	switch (pb_host_choose(6)) {
	case 0:
		return pb_host_check_fence(host, lane);
	case 1:
		return pb_host_submit(host, lane, PB_HOST_GOOD);
	case 2:
		return read_preempt_record(host, lane, id);
	case 3:
		(void)pb_host_events(host);
		return true;
	default:
		return pb_host_pause(host);
	}
}

bool pb_host_preempt(struct pb_host *host, struct pb_host_lane *lane)
{
	const uint32_t id = ++host->serial;
	struct pb_preempt report;
	enum pb_error error;

	lane->preemption = id;

	if (!pb_host_succeeded(host,
			       pb_queue_preempt_begin(&lane->queue, id, pb_host_choose(2) * PB_STOP_INSIDE),
			       "a preemption is requested"))
		return false;
	host->link->doing = "a preemption";
	while ((error = pb_queue_preempt_finish(&lane->queue, &report)) == PB_ERROR_TIMEOUT) {
		if (!poll_preemption(host, lane, id))
			return false;
	}
	if (!pb_host_succeeded(host, error, "a preemption is finished"))
		return false;
	if (report.preemption_id != id)
		pb_weave_fail("host %u: preemption %u ends as %u", host->index, id, report.preemption_id);
	pb_host_returned(lane, report.completed, report.returned, report.started);
	return pb_host_check_fence(host, lane);
}

bool pb_host_suspend(struct pb_host *host, struct pb_host_lane *lane, bool more)
{
	enum pb_error error;
	uint32_t tag;

	if (!pb_host_succeeded(host,
			       pb_queue_suspend_begin(&lane->queue, pb_host_choose(2) * PB_STOP_RECALL, &tag),
			       "a suspension is requested"))
		return false;
	host->link->doing = "a suspension";
	while ((error = pb_channel_finish(&host->channel, tag, NULL)) == PB_ERROR_TIMEOUT) {
		if (!(pb_host_choose(3) == 0 ? pb_host_check_fence(host, lane) : pb_host_pause(host)))
			return false;
	}
	if (!pb_host_succeeded(host, error, "a queue is suspended"))
		return false;
	if (more && pb_host_choose(2) == 0 && !pb_host_submit(host, lane, PB_HOST_GOOD))
		return false;
	host->link->doing = "a resume";
	return pb_host_succeeded(host, pb_queue_resume(&lane->queue), "a queue is resumed");
}

bool pb_host_reset_queue(struct pb_host *host, struct pb_host_lane *lane)
{
	const bool deaf =
		pb_host_is_alone() && pb_host_choose(2) == 0; /* other hosts would be blamed for it */
	const uint32_t node = lane->queue.node;
	struct pb_node_status status;
	struct pb_preempt report;
	bool succeeded;

	host->link->doing = "a reset";
	if (deaf)
		pb_weave_card_deafen(node, true);
	succeeded =
		pb_host_succeeded(host, pb_queue_reset(&lane->queue, &report), "a queue is reset") &&
		pb_host_succeeded(host, pb_node_query(&host->channel, node, &status), "a node is queried");
	if (deaf)
		pb_weave_card_deafen(node, false);
	if (succeeded && status.state == PB_NODE_STATE_DEAD)
		pb_weave_fail("host %u: node %u does not answer to power", host->index, node);
	return succeeded;
}
