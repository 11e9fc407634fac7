/* SPDX-License-Identifier: MIT */
#include "firmware/loop.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "hal/bits.h"

/** All channels, as their lines and as bits of pb_core_marks.channels. */
#define EVERY_CHANNEL ((1u << PB_LIMIT_CHANNELS) - 1u)
PB_STATIC_ASSERT(PB_LINE_CHANNEL(0) == 0 && (EVERY_CHANNEL & ~PB_LINES_CHANNELS) == 0,
		 "a channel's bit is its line");

/** Infrequent work that the main loop does; and what has it run once more instead of sleeping. */
#define INFREQUENT                                                                                           \
	(PB_CORE_MARK_SETTLE | PB_CORE_MARK_WAKE | PB_CORE_MARK_DEFERRED | PB_CORE_MARK_TICK |               \
	 (uint32_t)PB_CORE_MARK_POWER)
#define ONE_MORE_PASS                                                                                        \
	(PB_CORE_MARK_SETTLE | PB_CORE_MARK_WAKE | PB_CORE_MARK_DEFERRED | PB_CORE_MARK_TICK |               \
	 (uint32_t)PB_CORE_MARK_LATE)

/** What passes do in turns while lines are pending at once again. */
enum turn {
	TURN_RETIRE,     /**< retirements, while PB_CORE_MARK_LATE is set */
	TURN_NODES,      /**< a slice of a node */
	TURN_INFREQUENT, /**< infrequent work */
};

static inline bool line_is_pending(const struct pb_firmware *firmware)
{
	return pb_lines_waiting(firmware->lines->pending);
}

/**
 * Settles what completions, recalls and wakes have left, one thing after another until a line is pending: stop
 * requests, and queues and channels that have drained, in turns: others may have either without end. Pre: it is marked.
 */
static PB_CORE_COLD void settle(struct pb_firmware *firmware)
{
	struct pb_core_marks *marks = &firmware->marks;
	struct pb_core_loop *loop = &firmware->loop;

	do {
		loop->settled_stop = marks->drained == 0 || (marks->stops != 0 && !loop->settled_stop);
		if (!loop->settled_stop)
			pb_core_lifecycle_settle(firmware);
		else if (!pb_core_stop_settle(firmware, marks->stops))
			pb_core_unmark_stops(marks, 1u << pb_bits_lowest(marks->stops));
		pb_core_mark(marks, PB_CORE_MARK_SETTLE, (marks->stops | marks->drained) != 0);
	} while (pb_core_is_marked(marks, PB_CORE_MARK_SETTLE) && !line_is_pending(firmware));
}

/** Polls as many of several channels as a pass serves, in rotation. The others are marked for the next passes. */
static PB_CORE_COLD void poll_some_channels(struct pb_firmware *firmware, uint32_t channels)
{
	pb_core_mark_channels(&firmware->marks, channels);
	for (uint32_t i = 0; i < PB_PASS_CHANNELS && channels != 0; i++) {
		const uint32_t channel = pb_bits_next(channels, firmware->loop.last_channel);

		firmware->loop.last_channel = (uint8_t)channel;
		channels &= ~(1u << channel);
		pb_core_unmark_channel(&firmware->marks, channel);
		pb_core_doorbell(firmware, channel);
	}
}

/** Polls channels: those whose doorbells have rung, and those that are marked. @param channels mask, not 0 */
static inline void poll_channels(struct pb_firmware *firmware, uint32_t channels)
{
	if ((channels & (channels - 1u)) != 0) {
		poll_some_channels(firmware, channels);
		return;
	}
	pb_core_unmark_channels(&firmware->marks);
	pb_core_doorbell(firmware, pb_bits_lowest(channels));
}

/** Gives a deferred task one slice: of the next channel in rotation that has one. */
static PB_CORE_COLD void do_deferred(struct pb_firmware *firmware)
{
	const uint32_t channel = pb_bits_next(firmware->marks.deferred, firmware->loop.deferred_channel);

	firmware->loop.deferred_channel = (uint8_t)channel;
	pb_core_waypoint(firmware, PB_WAYPOINT_CONTROL);
	if (pb_core_endpoint_is_closing(&firmware->channels[channel].endpoint))
		pb_core_channel_step(firmware, channel);
	else
		pb_core_segment_step(firmware, channel);
}

/** What a tick has beside the nodes: engines that it has asked to stop are served first. */
static PB_CORE_COLD void tick_card(struct pb_firmware *firmware)
{
	pb_core_mark(&firmware->marks, PB_CORE_MARK_TICK, false);
	pb_core_stop_tick(firmware);
	if (firmware->moderated != 0)
		pb_core_interrupt_tick(firmware);
	pb_core_revoke_tick(firmware);
	pb_core_waypoint(firmware, PB_WAYPOINT_TICK);
	PB_CORE_TRACE(firmware, TICK, PB_TRACE_NONE, 0, 0);
	pb_core_telemetry_tick(firmware);
	pb_core_trace_tick(firmware);
}

/** Does one kind of infrequent work. @param which enum pb_core_mark @return whether there is more to do now, although nothing is marked */
static PB_CORE_COLD bool do_one(struct pb_firmware *firmware, uint32_t which)
{
	if (which == PB_CORE_MARK_POWER)
		return pb_core_power_step(firmware);
	if (which == PB_CORE_MARK_TICK)
		tick_card(firmware);
	else if (which == PB_CORE_MARK_SETTLE)
		settle(firmware);
	else if (which == PB_CORE_MARK_WAKE)
		pb_core_wait_step(firmware);
	else
		do_deferred(firmware);
	return false;
}

/**
 * Does each kind of infrequent work that is marked, in rotation, until a line is pending.
 * @return whether there is more to do now, although nothing is marked
 */
static bool do_infrequent(struct pb_firmware *firmware)
{
	uint32_t left = firmware->marks.infrequent & INFREQUENT;
	bool enough = false;

	while (left != 0) {
		const uint32_t bit = pb_bits_next(left, firmware->loop.last_infrequent);

		firmware->loop.last_infrequent = (uint8_t)bit;
		left &= ~(1u << bit);
		enough |= do_one(firmware, 1u << bit);
		if (line_is_pending(firmware))
			break;
	}
	return enough;
}

/** How a pass goes on behind the expensive retirement of a node. */
enum retirement {
	RETIRE_OTHERS, /**< the other nodes are retired, too */
	POLL_CHANNELS, /**< the other nodes are left to a later pass; the channels are polled */
	END_PASS,      /**< the other nodes and the channels are left to later passes */
};

/** Runs one node. @return whether there is more to do now */
static inline bool run_node(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (pb_core_staged_any(&node->staged) || !pb_core_in_flight_is_empty(&node->flight))
		return pb_core_run_busy(firmware, node);
	return pb_core_run_idle(firmware, node);
}

/** Runs a node whose engine has answered and has nothing to run. @return false: the engine has not, or the node has nothing to do */
static PB_CORE_COLD bool feed_answered(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if ((firmware->marks.nodes & node->bit) == 0 || !pb_core_node_is_running(&node->machine) ||
	    !pb_core_in_flight_is_empty(&node->flight))
		return false;
	pb_core_unmark_node(&firmware->marks, node->bit);
	if (run_node(firmware, node))
		pb_core_mark_node(&firmware->marks, node->bit);
	return true;
}

/**
 * Decides what follows an expensive retirement. An engine that has answered is fed at once: until then it has nothing to
 * run. While a line is pending, a pass that has fed one ends, so that its cost is bounded, and those behind it feed none, so
 * that each channel is served within PB_PASS_CHANNEL_WAIT passes; the other nodes are left to a later pass.
 * @param rest lines of the other nodes
 */
static PB_CORE_COLD enum retirement end_retired(struct pb_firmware *firmware, struct pb_core_node *node,
						uint32_t rest)
{
	struct pb_core_loop *loop = &firmware->loop;
	const bool may_end = !pb_core_is_marked(&firmware->marks, PB_CORE_MARK_LATE) &&
			     loop->heartbeat - loop->ended >= PB_PASS_END_EVERY;

	if (!line_is_pending(firmware)) {
		(void)feed_answered(firmware, node);
		return RETIRE_OTHERS;
	}
	loop->late_nodes = rest;
	if (!may_end || !feed_answered(firmware, node))
		return POLL_CHANNELS;
	pb_core_mark(&firmware->marks, PB_CORE_MARK_COSTLY, false);
	loop->ended = loop->heartbeat;
	return END_PASS;
}

/** Retires what the engines have completed. @param lines the pending lines of nodes @return whether the pass ends */
static inline bool retire_nodes(struct pb_firmware *firmware, uint32_t lines)
{
	for (; lines != 0; lines &= lines - 1u) {
		struct pb_core_node *node = firmware->node_at[pb_bits_lowest(lines) - PB_LINE_NODE(0)];

		pb_core_retire(firmware, node);
		if (pb_core_is_marked(&firmware->marks, PB_CORE_MARK_COSTLY)) {
			const enum retirement next = end_retired(firmware, node, lines & (lines - 1u));

			if (next != RETIRE_OTHERS)
				return next == END_PASS;
		}
	}
	return false;
}

/** Retires nodes whose lines an earlier pass has claimed: first those that an expensive retirement has kept waiting. */
static void retire_late(struct pb_firmware *firmware)
{
	struct pb_core_loop *loop = &firmware->loop;
	const uint32_t lines = loop->late_nodes != 0 ? loop->late_nodes : loop->late_lines;

	loop->late_nodes = 0;
	loop->late_lines &= ~lines;
	(void)retire_nodes(firmware, lines);
	pb_core_mark(&firmware->marks, PB_CORE_MARK_COSTLY, false);
	if ((loop->late_nodes | loop->late_lines) != 0)
		return;
	pb_core_mark(&firmware->marks, PB_CORE_MARK_LATE, false);
	loop->retired_lines = loop->node_lines;
}

/** The rest of a pass whose retirement was expensive is left to the next passes, and so are the next retirements. */
static void begin_late(struct pb_firmware *firmware)
{
	firmware->loop.retired_lines = 0;
	firmware->loop.last_turn = TURN_RETIRE;
	pb_core_mark(&firmware->marks, PB_CORE_MARK_LATE, true);
}

/**
 * What a pass does between channels and nodes, if anything infrequent is marked. While lines are pending at once again,
 * each pass does one of three in turns: late retirements, infrequent work, or a node's slice. @param pending claimed lines
 * @return whether the pass ends here
 */
static PB_CORE_COLD bool pass_busy(struct pb_firmware *firmware, uint32_t pending)
{
	struct pb_core_loop *loop = &firmware->loop;
	const struct pb_core_marks *marks = &firmware->marks;
	const bool costly = pb_core_is_marked(marks, PB_CORE_MARK_COSTLY);
	const bool late = pb_core_is_marked(marks, PB_CORE_MARK_LATE);
	const uint32_t due = (late ? 1u << TURN_RETIRE : 0) | (marks->nodes != 0 ? 1u << TURN_NODES : 0) |
			     (pb_core_is_marked(marks, INFREQUENT) ? 1u << TURN_INFREQUENT : 0);

	pb_core_mark(&firmware->marks, PB_CORE_MARK_COSTLY, false);
	if (late)
		loop->late_lines |= pending & loop->node_lines;
	if (!line_is_pending(firmware)) {
		loop->last_turn = TURN_NODES;
		if (late)
			retire_late(firmware);
		return false;
	}
	if (costly && !late) {
		begin_late(firmware);
		return true;
	}
	if (due == 0)
		return true;
	loop->last_turn = (uint8_t)pb_bits_next(due, loop->last_turn);
	if (loop->last_turn == TURN_RETIRE)
		retire_late(firmware);
	else if (loop->last_turn == TURN_INFREQUENT)
		(void)do_infrequent(firmware);
	return loop->last_turn != TURN_NODES;
}

/** The end of a pass with infrequent work: behind the nodes, so that a host sees a report before its queue goes on. */
static PB_CORE_COLD bool pass_end(struct pb_firmware *firmware)
{
	const bool more = !line_is_pending(firmware) && do_infrequent(firmware);

	return more || (firmware->marks.nodes | firmware->marks.channels |
			(firmware->marks.infrequent & ONE_MORE_PASS)) != 0;
}

/** Runs each of several marked nodes once, until a line is pending; then the node behind is the first in the next pass. */
static PB_CORE_STEP void run_some_nodes(struct pb_firmware *firmware, uint32_t left)
{
	if (firmware->loop.first_node != 0 && left >> firmware->loop.first_node != 0)
		left &= ~((1u << firmware->loop.first_node) - 1u);
	pb_core_unmark_node(&firmware->marks, left);
	do {
		const uint32_t n = pb_bits_lowest(left);
		struct pb_core_node *node = firmware->node_at[n];

		left &= left - 1u;
		if (run_node(firmware, node))
			pb_core_mark_node(&firmware->marks, node->bit);
		if (line_is_pending(firmware)) {
			pb_core_mark_node(&firmware->marks, left);
			firmware->loop.first_node = (uint8_t)(n + 1u);
			return;
		}
	} while (left != 0);
	firmware->loop.first_node = 0;
}

/** As run_some_nodes(), of all that are marked; most often that is one. Pre: one is. */
static inline void run_nodes(struct pb_firmware *firmware)
{
	const uint32_t left = firmware->marks.nodes;
	uint32_t n;

	if ((left & (left - 1u)) != 0) {
		run_some_nodes(firmware, left);
		return;
	}
	n = pb_bits_lowest(left);
	pb_core_unmark_node(&firmware->marks, left);
	if (run_node(firmware, firmware->node_at[n]))
		pb_core_mark_node(&firmware->marks, left);
	firmware->loop.first_node = line_is_pending(firmware) ? (uint8_t)(n + 1u) : 0;
}

/**
 * Polls the nodes from one on, at a tick. Behind an expensive retirement the others are left to the next pass, if a line is
 * pending.
 */
static inline void tick(struct pb_firmware *firmware, uint32_t n)
{
	struct pb_core_loop *loop = &firmware->loop;

	do {
		struct pb_core_node *node = firmware->node_at[n];

		pb_core_watchdog(firmware, node);
		pb_core_fair_tick(firmware, node);
		n++;
	} while (n != firmware->config->node_count &&
		 !(pb_core_is_marked(&firmware->marks, PB_CORE_MARK_COSTLY) && line_is_pending(firmware)));
	pb_core_mark(&firmware->marks, PB_CORE_MARK_COSTLY, false);
	if (n != firmware->config->node_count) {
		loop->ticked_nodes = (uint8_t)n;
		loop->special = 1u << PB_LINE_TICK;
		return;
	}
	loop->ticked_nodes = 0;
	loop->special = 0;
	pb_core_mark(&firmware->marks, PB_CORE_MARK_TICK, true);
	/* A doorbell that was lost is found so, and one that this pass has claimed. */
	pb_core_mark_channels(&firmware->marks, EVERY_CHANNEL);
}

/** Before the rest of a tick: keeps the lines of nodes, as some were polled already. @param pending claimed lines */
static PB_CORE_COLD void keep_lines(struct pb_firmware *firmware, uint32_t pending)
{
	struct pb_core_loop *loop = &firmware->loop;

	if ((pending & loop->node_lines) == 0)
		return;
	loop->late_lines |= pending & loop->node_lines;
	begin_late(firmware);
}

static PB_CORE_COLD bool boot(struct pb_firmware *firmware)
{
	const bool running = pb_core_boot_step(firmware);

	if (running)
		firmware->loop.special = 0;
	return running;
}

/** A pass while booting, or at a tick, which finds what any other line could tell. @return whether there is more to do */
static PB_CORE_STEP bool pass_special(struct pb_firmware *firmware, uint32_t pending)
{
	uint32_t n = 0;

	if (firmware->loop.special != 0) {
		if (firmware->boot.booting)
			return boot(firmware);
		keep_lines(firmware, pending);
		n = firmware->loop.ticked_nodes;
	}
	tick(firmware, n);
	return true;
}

/** Leaves what a pass that ends behind its retirements has claimed to the next passes. @param pending claimed lines */
static PB_CORE_COLD void end_early(struct pb_firmware *firmware, uint32_t pending)
{
	pb_core_mark_channels(&firmware->marks, pending & EVERY_CHANNEL);
	if (firmware->loop.late_nodes != 0)
		begin_late(firmware);
}

bool pb_firmware_pass(struct pb_firmware *firmware)
{
	const struct pb_lines *lines = firmware->lines;
	const uint32_t pending = lines->ops->take(lines->context);
	const uint32_t nodes = pending & firmware->loop.retired_lines;
	uint32_t channels;

	pb_shared_write32(&firmware->boot.block->heartbeat, ++firmware->loop.heartbeat);
	if (((pending | firmware->loop.special) & 1u << PB_LINE_TICK) != 0)
		return pass_special(firmware, pending);
	if (nodes != 0 && retire_nodes(firmware, nodes)) {
		end_early(firmware, pending);
		return true;
	}
	channels = (pending & EVERY_CHANNEL) | firmware->marks.channels;
	if (channels != 0)
		poll_channels(firmware, channels);
	if (firmware->marks.infrequent != 0 && pass_busy(firmware, pending))
		return true;
	if (firmware->marks.nodes != 0)
		run_nodes(firmware);
	if (firmware->marks.infrequent != 0)
		return pass_end(firmware);
	return (firmware->marks.nodes | firmware->marks.channels) != 0;
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
	if (!line_is_pending(firmware) && !host_waits(firmware))
		lines->ops->idle_wait(lines->context);
	lines->ops->idle_leave(lines->context);
}
