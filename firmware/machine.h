/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What becomes of a node, as a pure function: the ladder from a request to
 * stop, over a reset of the engine and of the node, to a dead node. It ends
 * even if the engine never answers. docs/machines.md has the picture.
 */
#ifndef PB_FIRMWARE_MACHINE_H
#define PB_FIRMWARE_MACHINE_H

#include <stdint.h>

#include "firmware/abi/channel.h"

/* X(NAME, meaning): what happens to a node. */
#define PB_CORE_NODE_EVENTS(X)                                                                               \
	X(WITHDRAW, "work is to be taken back from the engine")                                              \
	X(RESET, "its engine faulted, hangs, lies, or a host wants it reset")                                \
	X(ANSWER, "the engine has done what it was asked")                                                   \
	X(TIMEOUT, "it has had the time for that")

enum pb_core_node_event {
#define PB_CORE_NODE_EVENT_ENUM(name, meaning) PB_CORE_NODE_EVENT_##name,
	PB_CORE_NODE_EVENTS(PB_CORE_NODE_EVENT_ENUM)
#undef PB_CORE_NODE_EVENT_ENUM
		PB_CORE_NODE_EVENT_COUNT
};

/* X(NAME, meaning): what the firmware does then. */
#define PB_CORE_NODE_ACTIONS(X)                                                                              \
	X(NOTHING, "nothing")                                                                                \
	X(STOP, "asks the engine to stop")                                                                   \
	X(RESET, "asks the engine to reset itself")                                                          \
	X(CYCLE, "resets the node as a whole")                                                               \
	X(REBUILD, "withdraws what is to be withdrawn, and feeds the rest again")                            \
	X(DIE, "fails all that it has, and all that comes")

enum pb_core_node_action {
#define PB_CORE_NODE_ACTION_ENUM(name, meaning) PB_CORE_NODE_ACTION_##name,
	PB_CORE_NODE_ACTIONS(PB_CORE_NODE_ACTION_ENUM)
#undef PB_CORE_NODE_ACTION_ENUM
		PB_CORE_NODE_ACTION_COUNT
};

struct pb_core_node_step {
	uint8_t state;  /**< enum pb_node_state */
	uint8_t action; /**< enum pb_core_node_action */
};

/** States of enum pb_node_state. */
#define PB_CORE_NODE_STATES 5u

/** The step from a state on an event. Both are in range. */
static inline struct pb_core_node_step pb_core_node_next(enum pb_node_state state,
							 enum pb_core_node_event event)
{
#define TO(state_, action_)                                                                                  \
	{                                                                                                    \
		PB_NODE_STATE_##state_, PB_CORE_NODE_ACTION_##action_                                        \
	}
	/* By event: WITHDRAW, RESET, ANSWER, TIMEOUT. */
	static const struct pb_core_node_step steps[PB_CORE_NODE_STATES][PB_CORE_NODE_EVENT_COUNT] = {
		[PB_NODE_STATE_RUNNING] = {TO(STOPPING, STOP), TO(RESETTING, RESET), TO(RUNNING, NOTHING),
					   TO(RUNNING, NOTHING)},
		[PB_NODE_STATE_STOPPING] = {TO(STOPPING, NOTHING), TO(RESETTING, RESET), TO(RUNNING, REBUILD),
					    TO(RESETTING, RESET)},
		[PB_NODE_STATE_RESETTING] = {TO(RESETTING, NOTHING), TO(RESETTING, NOTHING),
					     TO(RUNNING, REBUILD), TO(CYCLING, CYCLE)},
		[PB_NODE_STATE_CYCLING] = {TO(CYCLING, NOTHING), TO(CYCLING, NOTHING), TO(RUNNING, REBUILD),
					   TO(DEAD, DIE)},
		[PB_NODE_STATE_DEAD] = {TO(DEAD, NOTHING), TO(DEAD, NOTHING), TO(DEAD, NOTHING),
					TO(DEAD, NOTHING)},
	};
#undef TO

	return steps[state][event];
}

#endif
