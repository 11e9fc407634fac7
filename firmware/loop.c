/* SPDX-License-Identifier: MIT */
#include "firmware/loop.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "hal/bits.h"

/** All channels, as their lines and as bits of pb_core_marks.channels. */
#define EVERY_CHANNEL ((1u << PB_LIMIT_CHANNELS) - 1u)
PB_STATIC_ASSERT(PB_LINE_CHANNEL(0) == 0 && (EVERY_CHANNEL & ~PB_LINES_CHANNELS) == 0,
		 "a channel's bit is its line");

/** Settles what completions, recalls and wakes have left: stop requests, then queues and channels that have drained. */
static PB_CORE_COLD void settle(struct pb_firmware *firmware)
{
	while (pb_core_is_marked(&firmware->marks, PB_CORE_MARK_SETTLE)) {
		pb_core_mark(&firmware->marks, PB_CORE_MARK_SETTLE, false);
		for (uint32_t left = pb_core_claim_stops(&firmware->marks); left != 0; left &= left - 1u)
			pb_core_stop_settle(firmware, &firmware->nodes[pb_bits_lowest(left)]);
		pb_core_lifecycle_settle(firmware);
	}
}

static void tick(struct pb_firmware *firmware)
{
	uint32_t n = 0;

	do {
		pb_core_watchdog(firmware, &firmware->nodes[n]);
		pb_core_fair_tick(firmware, &firmware->nodes[n]);
	} while (++n < firmware->config->node_count);
	pb_core_stop_tick(firmware);
	if (firmware->moderated != 0)
		pb_core_interrupt_tick(firmware);
	/* A doorbell that was lost is found here. */
	pb_core_waypoint(firmware, PB_WAYPOINT_TICK);
	PB_CORE_TRACE(firmware, TICK, PB_TRACE_NONE, 0, 0);
	pb_core_telemetry_tick(firmware);
	pb_core_trace_tick(firmware);
	pb_core_mark_channels(&firmware->marks, EVERY_CHANNEL);
	settle(firmware);
}

/** Polls channels: those whose doorbells have rung, and those that are marked. */
static void poll_channels(struct pb_firmware *firmware, uint32_t channels)
{
	pb_core_unmark_channels(&firmware->marks);
	for (; channels != 0; channels &= channels - 1u) {
		const uint32_t channel = pb_bits_lowest(channels);

		if (pb_core_doorbell(firmware, channel))
			pb_core_mark_channel(&firmware->marks, channel);
	}
}

/** Gives a deferred task one slice: of the next channel in turn that has one. */
static PB_CORE_COLD void do_deferred(struct pb_firmware *firmware)
{
	const uint32_t deferred = firmware->marks.deferred;
	const uint32_t behind = deferred & ~((2u << firmware->loop.deferred_channel) - 1u);
	const uint32_t channel = pb_bits_lowest(behind != 0 ? behind : deferred);

	firmware->loop.deferred_channel = channel;
	pb_core_waypoint(firmware, PB_WAYPOINT_CONTROL);
	if (pb_core_endpoint_is_closing(&firmware->channels[channel].endpoint))
		pb_core_channel_step(firmware, channel);
	else
		pb_core_segment_step(firmware, channel);
	pb_core_mark_channels(&firmware->marks, firmware->marks.deferred);
}

/** Runs each marked node once, until a line is pending; then the node behind is the first in the next pass. */
static inline void run_nodes(struct pb_firmware *firmware)
{
	uint32_t left = firmware->marks.nodes;

	if (firmware->loop.first_node != 0 && left >> firmware->loop.first_node != 0)
		left &= ~((1u << firmware->loop.first_node) - 1u);
	for (; left != 0; left &= left - 1u) {
		const uint32_t n = pb_bits_lowest(left);

		pb_core_unmark_node(&firmware->marks, 1u << n);
		if (!pb_core_run_node(firmware, &firmware->nodes[n]))
			continue;
		pb_core_mark_node(&firmware->marks, 1u << n);
		if (pb_lines_waiting(firmware->lines->pending)) {
			firmware->loop.first_node = n + 1u;
			return;
		}
	}
	firmware->loop.first_node = 0;
}

/** Leaves the nodes out of every other pass while channels have more to do: those have had a slice already. */
static PB_CORE_COLD bool nodes_wait(struct pb_firmware *firmware)
{
	firmware->loop.nodes_waited = !firmware->loop.nodes_waited;
	return firmware->loop.nodes_waited;
}

/** A pass while booting, or at a tick, which finds what any other line could tell. @return whether there is more to do */
static PB_CORE_STEP bool pass_special(struct pb_firmware *firmware)
{
	if (firmware->boot.booting != 0)
		return pb_core_boot_step(firmware);
	tick(firmware);
	return true;
}

/** Infrequent work. @param polled channels were polled in this pass @return whether the pass has used its budget */
static PB_CORE_COLD bool do_infrequent(struct pb_firmware *firmware, bool polled)
{
	const struct pb_core_marks *marks = &firmware->marks;
	bool enough;

	settle(firmware);
	enough = pb_core_is_marked(marks, PB_CORE_MARK_POWER) && pb_core_power_step(firmware);
	if (pb_core_is_marked(marks, PB_CORE_MARK_WAKE))
		pb_core_wait_step(firmware);
	if (polled && pb_core_is_marked(marks, PB_CORE_MARK_DEFERRED))
		do_deferred(firmware);
	settle(firmware);
	return (marks->channels != 0 && nodes_wait(firmware)) || enough;
}

/** Retires what the engines have completed. @param lines the pending lines of nodes, not 0 */
static inline void retire_nodes(struct pb_firmware *firmware, uint32_t lines)
{
	for (; lines != 0; lines &= lines - 1u)
		pb_core_retire(firmware, &firmware->nodes[pb_bits_lowest(lines) - PB_LINE_NODE(0)]);
	if (pb_core_is_marked(&firmware->marks, PB_CORE_MARK_SETTLE))
		settle(firmware);
}

bool pb_firmware_pass(struct pb_firmware *firmware)
{
	const struct pb_lines *lines = firmware->lines;
	const uint32_t pending = lines->ops->take(lines->context);
	uint32_t channels;

	pb_shared_write32(&firmware->boot.block->heartbeat, ++firmware->loop.heartbeat);
	if (((pending | firmware->boot.booting) & 1u << PB_LINE_TICK) != 0)
		return pass_special(firmware);
	if ((pending & firmware->loop.node_lines) != 0)
		retire_nodes(firmware, pending & firmware->loop.node_lines);
	channels = (pending & EVERY_CHANNEL) | firmware->marks.channels;
	if (channels != 0)
		poll_channels(firmware, channels);
	if ((firmware->marks.channels | firmware->marks.infrequent) != 0 &&
	    do_infrequent(firmware, channels != 0))
		return true;
	if (firmware->marks.nodes != 0)
		run_nodes(firmware);
	if (pb_core_is_marked(&firmware->marks, PB_CORE_MARK_SETTLE))
		settle(firmware);
	return (firmware->marks.nodes | firmware->marks.channels |
		(firmware->marks.infrequent & PB_CORE_MARK_WAKE)) != 0;
}

/** Whether a host has asked for something whose doorbell has not been seen. Marks its channel. */
static bool host_waits(struct pb_firmware *firmware)
{
	if (firmware->boot.stage != PB_BOOT_STAGE_RUNNING)
		return false;
	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++) {
		if (pb_core_doorbell_pending(firmware, channel)) {
			pb_core_mark_channel(&firmware->marks, channel);
			return true;
		}
	}
	return false;
}

void pb_firmware_idle(struct pb_firmware *firmware)
{
	const struct pb_lines *lines = firmware->lines;

	pb_core_waypoint(firmware, PB_WAYPOINT_IDLE);
	PB_CORE_TRACE(firmware, IDLE, PB_TRACE_NONE, 0, 0);
	lines->ops->idle_enter(lines->context);
	/* A host that stored before this barrier is seen below; one that stores after it rings afterwards. */
	pb_shared_barrier();
	if (!host_waits(firmware))
		lines->ops->idle_wait(lines->context);
	lines->ops->idle_leave(lines->context);
}
