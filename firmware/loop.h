/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The main loop: what is drained in a pass, in which order. The owner of struct
 * pb_core_loop. pb_firmware_pass() and pb_firmware_idle() are declared in
 * firmware/firmware.h, where a board sees them; pb_core_run_busy() and
 * pb_core_run_idle() are in run_node.c.
 */
#ifndef PB_FIRMWARE_LOOP_H
#define PB_FIRMWARE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/lines.h"

struct pb_firmware;
struct pb_core_node;

/** The state of this module. */
struct pb_core_loop {
	uint32_t heartbeat;  /**< passes since boot */
	uint32_t ended;      /**< heartbeat of the last pass that ended before it polled the channels */
	uint32_t node_lines; /**< mask of the lines of its nodes; set at boot */
	uint32_t
		retired_lines; /**< lines of nodes that are served when they are claimed: node_lines, or none while some are late */
	uint32_t
		late_nodes; /**< lines of nodes that are served first, as an expensive retirement went before them */
	uint32_t late_lines; /**< other lines of nodes that were claimed and are not yet served */
	uint32_t
		special; /**< 1 << PB_LINE_TICK while the card boots, and while a tick is under way: ORed into the pending lines */
	uint8_t ticked_nodes; /**< of a tick that is under way: the nodes before this one were polled */
	uint8_t first_node;   /**< the node to begin with: not 0 if a line was pending before all had run */
	uint8_t last_channel; /**< the channel that was served last, of several that had something to do */
	uint8_t last_turn;    /**< what the last pass did of what passes do in turns */
	uint8_t last_infrequent;  /**< bit of the infrequent work that was done last */
	uint8_t deferred_channel; /**< the channel whose deferred task had the last slice */
	bool settled_stop; /**< what was settled last is a stop request, not something that has drained */
};

/** Adds a node's line: the card boots. Once for each node, at boot. */
static inline void pb_core_loop_add_line(struct pb_core_loop *loop, uint32_t line)
{
	loop->special = 1u << PB_LINE_TICK;
	loop->node_lines |= 1u << line;
	loop->retired_lines = loop->node_lines;
}
/**
 * Runs a node that has a submission staged or in flight: advances the staged one by a slice, or feeds it. Then admits the
 * next one, and those behind it as long as the engine has room for them and no line is pending. @return whether there is
 * more to do now
 */
bool pb_core_run_busy(struct pb_firmware *firmware, struct pb_core_node *node);
/** Runs a node that has nothing staged or in flight: admits its next submission, and feeds that. @return whether there is more to do now */
bool pb_core_run_idle(struct pb_firmware *firmware, struct pb_core_node *node);

#endif
