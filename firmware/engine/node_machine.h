/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The state machine of a node: what the firmware has asked of its engine, and
 * what the firmware does when the engine answers, or does not. The states are
 * PB_NODE_STATES; engine/node.c keeps the state and acts.
 */
#ifndef PB_FIRMWARE_ENGINE_NODE_MACHINE_H
#define PB_FIRMWARE_ENGINE_NODE_MACHINE_H

#include "firmware/state_machine.h"
#include "patchbay/abi/channel.h"

#define PB_CORE_NODE_STATES 5u

/* X(NAME, meaning): what happens to a node. */
#define PB_CORE_NODE_EVENTS(X)                                                                               \
	X(RECALL, "submissions are to be recalled from the engine")                                          \
	X(RESET,                                                                                             \
	  "the engine faulted, hangs, or reported what it was never fed; or a host asked for a reset")       \
	X(ANSWER, "the engine has done what the firmware asked")                                             \
	X(TIMEOUT, "the time for an answer is over")

enum pb_core_node_event {
#define PB_CORE_NODE_EVENT_ENUM(name, meaning) PB_CORE_NODE_EVENT_##name,
	PB_CORE_NODE_EVENTS(PB_CORE_NODE_EVENT_ENUM)
#undef PB_CORE_NODE_EVENT_ENUM
		PB_CORE_NODE_EVENT_COUNT
};

/* X(NAME, meaning): what the firmware does then. */
#define PB_CORE_NODE_ACTIONS(X)                                                                              \
	X(IMPOSSIBLE, "cannot happen")                                                                       \
	X(NOTHING, "nothing")                                                                                \
	X(STOP, "asks the engine to stop")                                                                   \
	X(RESET, "asks the engine to reset itself")                                                          \
	X(CYCLE, "power-cycles the node")                                                                    \
	X(REBUILD, "recalls submissions, and feeds the others again")                                        \
	X(DIE, "gives the engine up: fails every submission in flight, and every later one")

enum pb_core_node_action {
#define PB_CORE_NODE_ACTION_ENUM(name, meaning) PB_CORE_NODE_ACTION_##name,
	PB_CORE_NODE_ACTIONS(PB_CORE_NODE_ACTION_ENUM)
#undef PB_CORE_NODE_ACTION_ENUM
		PB_CORE_NODE_ACTION_COUNT
};

/*@
  requires state < PB_CORE_NODE_STATES && event < PB_CORE_NODE_EVENT_COUNT;
  assigns \nothing;
  ensures \result.state < PB_CORE_NODE_STATES;
  ensures impossible: \result.action == PB_CORE_NODE_ACTION_IMPOSSIBLE <==>
    (event >= PB_CORE_NODE_EVENT_ANSWER && state == PB_NODE_STATE_RUNNING) ||
    (event == PB_CORE_NODE_EVENT_TIMEOUT && state == PB_NODE_STATE_DEAD);
  ensures dead_for_good: state == PB_NODE_STATE_DEAD && \result.action != PB_CORE_NODE_ACTION_IMPOSSIBLE ==>
    \result.state == PB_NODE_STATE_DEAD && \result.action == PB_CORE_NODE_ACTION_NOTHING;
  ensures dies_of_this_only: \result.action == PB_CORE_NODE_ACTION_DIE <==>
    state == PB_NODE_STATE_CYCLING && event == PB_CORE_NODE_EVENT_TIMEOUT;
  ensures dies: \result.state == PB_NODE_STATE_DEAD && state != PB_NODE_STATE_DEAD ==>
    \result.action == PB_CORE_NODE_ACTION_DIE;
  ensures answered: event == PB_CORE_NODE_EVENT_ANSWER && PB_NODE_STATE_RUNNING < state < PB_NODE_STATE_DEAD ==>
    \result.state == PB_NODE_STATE_RUNNING && \result.action == PB_CORE_NODE_ACTION_REBUILD;
  ensures asked_once: \result.state == state ==>
    \result.action == PB_CORE_NODE_ACTION_NOTHING || \result.action == PB_CORE_NODE_ACTION_IMPOSSIBLE;
  ensures urgency_grows: event != PB_CORE_NODE_EVENT_ANSWER && \result.action != PB_CORE_NODE_ACTION_IMPOSSIBLE ==>
    state <= \result.state;
  ensures stop: \result.action == PB_CORE_NODE_ACTION_STOP <==>
    \result.state == PB_NODE_STATE_STOPPING && state == PB_NODE_STATE_RUNNING;
  ensures reset: \result.action == PB_CORE_NODE_ACTION_RESET <==>
    \result.state == PB_NODE_STATE_RESETTING && state < PB_NODE_STATE_RESETTING;
  ensures cycle: \result.action == PB_CORE_NODE_ACTION_CYCLE <==>
    state == PB_NODE_STATE_RESETTING && event == PB_CORE_NODE_EVENT_TIMEOUT;
*/
static inline struct pb_core_step pb_core_node_next(enum pb_node_state state, enum pb_core_node_event event)
{
#define ON(event_, state_, action_)                                                                          \
	[PB_CORE_NODE_EVENT_##event_] = { PB_NODE_STATE_##state_, PB_CORE_NODE_ACTION_##action_ }
	static const struct pb_core_step steps[PB_CORE_NODE_STATES][PB_CORE_NODE_EVENT_COUNT] = {
		[PB_NODE_STATE_RUNNING] = {ON(RECALL, STOPPING, STOP), ON(RESET, RESETTING, RESET)},
		[PB_NODE_STATE_STOPPING] = {ON(RECALL, STOPPING, NOTHING), ON(RESET, RESETTING, RESET),
					    ON(ANSWER, RUNNING, REBUILD), ON(TIMEOUT, RESETTING, RESET)},
		[PB_NODE_STATE_RESETTING] = {ON(RECALL, RESETTING, NOTHING), ON(RESET, RESETTING, NOTHING),
					     ON(ANSWER, RUNNING, REBUILD), ON(TIMEOUT, CYCLING, CYCLE)},
		[PB_NODE_STATE_CYCLING] = {ON(RECALL, CYCLING, NOTHING), ON(RESET, CYCLING, NOTHING),
					   ON(ANSWER, RUNNING, REBUILD), ON(TIMEOUT, DEAD, DIE)},
		[PB_NODE_STATE_DEAD] = {ON(RECALL, DEAD, NOTHING), ON(RESET, DEAD, NOTHING),
					ON(ANSWER, DEAD, NOTHING)},
	};
#undef ON

	return steps[state][event];
}

#endif
