/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The state machine of a channel: attached, faulted, closed step by step.
 * channel/endpoint.c keeps the state; command/lifecycle.c acts.
 */
#ifndef PB_FIRMWARE_CHANNEL_CHANNEL_MACHINE_H
#define PB_FIRMWARE_CHANNEL_CHANNEL_MACHINE_H

#include "firmware/state_machine.h"

/* X(NAME, shown, meaning); the host is shown enum pb_channel_state. Those that close it come last. */
#define PB_CORE_CHANNEL_STATES(X)                                                                            \
	X(CLOSED, CLOSED, "its rings are ignored")                                                           \
	X(OPEN, OPEN, "its rings are served")                                                                \
	X(FAULTED, FAULTED, "a ring index moved back, or beyond its ring; the rings are ignored")            \
	X(CLOSING_QUEUES, CLOSING, "its queues are being closed, some in each pass")                         \
	X(CLOSING_SUBMISSIONS, CLOSING, "waits for its submissions in flight")                               \
	X(CLOSING_CONTEXTS, CLOSING, "its contexts are being freed, some in each pass")                      \
	X(CLOSING_SEGMENTS, CLOSING, "its segments are being freed, one in each pass")

enum pb_core_channel_state {
#define PB_CORE_CHANNEL_ENUM(name, shown, meaning) PB_CORE_CHANNEL_##name,
	PB_CORE_CHANNEL_STATES(PB_CORE_CHANNEL_ENUM)
#undef PB_CORE_CHANNEL_ENUM
		PB_CORE_CHANNEL_STATE_COUNT
};

/* X(NAME, meaning) */
#define PB_CORE_CHANNEL_EVENTS(X)                                                                            \
	X(ATTACH, "a host asks for the channel, and the request is valid")                                   \
	X(DETACH, "a host leaves, or its request to attach is refused")                                      \
	X(CLOSE, "CHANNEL_CLOSE")                                                                            \
	X(FAULT, "a ring index of its host moved back, or beyond its ring")                                  \
	X(SWEPT, "the last queue, context or segment of this step was passed")                               \
	X(EMPTY, "none of its submissions is in flight")

enum pb_core_channel_event {
#define PB_CORE_CHANNEL_EVENT_ENUM(name, meaning) PB_CORE_CHANNEL_EVENT_##name,
	PB_CORE_CHANNEL_EVENTS(PB_CORE_CHANNEL_EVENT_ENUM)
#undef PB_CORE_CHANNEL_EVENT_ENUM
		PB_CORE_CHANNEL_EVENT_COUNT
};

/* X(NAME, meaning) */
#define PB_CORE_CHANNEL_ACTIONS(X)                                                                           \
	X(IMPOSSIBLE, "cannot happen")                                                                       \
	X(NOTHING, "nothing; a request of a host is answered when the channel is CLOSED")                    \
	X(OPEN, "empties the rings, begins a new epoch, and answers the host's request")                     \
	X(ANSWER, "answers the host's request")                                                              \
	X(REPORT, "publishes the error and interrupts the host")                                             \
	X(CLOSE, "ends the epoch, holds the channel, and begins to close its queues")                        \
	X(WAIT, "waits for EMPTY")                                                                           \
	X(SWEEP, "begins the next step with its first object")                                               \
	X(END, "sends the deferred reply, and polls the channel for a request to attach")

enum pb_core_channel_action {
#define PB_CORE_CHANNEL_ACTION_ENUM(name, meaning) PB_CORE_CHANNEL_ACTION_##name,
	PB_CORE_CHANNEL_ACTIONS(PB_CORE_CHANNEL_ACTION_ENUM)
#undef PB_CORE_CHANNEL_ACTION_ENUM
		PB_CORE_CHANNEL_ACTION_COUNT
};

/*@
  requires state < PB_CORE_CHANNEL_STATE_COUNT && event < PB_CORE_CHANNEL_EVENT_COUNT;
  assigns \nothing;
  ensures \result.state < PB_CORE_CHANNEL_STATE_COUNT;
  ensures open: \result.action == PB_CORE_CHANNEL_ACTION_OPEN <==>
    state == PB_CORE_CHANNEL_CLOSED && event == PB_CORE_CHANNEL_EVENT_ATTACH;
  ensures opens: \result.state == PB_CORE_CHANNEL_OPEN <==> \result.action == PB_CORE_CHANNEL_ACTION_OPEN;
  ensures fault: \result.action == PB_CORE_CHANNEL_ACTION_REPORT <==>
    state == PB_CORE_CHANNEL_OPEN && event == PB_CORE_CHANNEL_EVENT_FAULT;
  ensures faults: \result.action == PB_CORE_CHANNEL_ACTION_REPORT ==> \result.state == PB_CORE_CHANNEL_FAULTED;
  ensures close: \result.action == PB_CORE_CHANNEL_ACTION_CLOSE <==>
    (state == PB_CORE_CHANNEL_OPEN || state == PB_CORE_CHANNEL_FAULTED) && event <= PB_CORE_CHANNEL_EVENT_CLOSE;
  ensures closes: \result.action == PB_CORE_CHANNEL_ACTION_CLOSE ==>
    \result.state == PB_CORE_CHANNEL_CLOSING_QUEUES;
  ensures no_way_back: state >= PB_CORE_CHANNEL_CLOSING_QUEUES &&
    \result.action != PB_CORE_CHANNEL_ACTION_IMPOSSIBLE && \result.action != PB_CORE_CHANNEL_ACTION_END ==>
    state <= \result.state <= state + 1;
  ensures end: \result.action == PB_CORE_CHANNEL_ACTION_END <==>
    state == PB_CORE_CHANNEL_CLOSING_SEGMENTS && event == PB_CORE_CHANNEL_EVENT_SWEPT;
  ensures ends: \result.action == PB_CORE_CHANNEL_ACTION_END ==> \result.state == PB_CORE_CHANNEL_CLOSED;
  ensures impossible: \result.action == PB_CORE_CHANNEL_ACTION_IMPOSSIBLE <==>
    (event == PB_CORE_CHANNEL_EVENT_FAULT && state != PB_CORE_CHANNEL_OPEN) ||
    (event == PB_CORE_CHANNEL_EVENT_EMPTY && state != PB_CORE_CHANNEL_CLOSING_SUBMISSIONS) ||
    (event == PB_CORE_CHANNEL_EVENT_SWEPT &&
     (state < PB_CORE_CHANNEL_CLOSING_QUEUES || state == PB_CORE_CHANNEL_CLOSING_SUBMISSIONS));
*/
static inline struct pb_core_step pb_core_channel_next(enum pb_core_channel_state state,
						       enum pb_core_channel_event event)
{
#define ON(event_, state_, action_)                                                                          \
	[PB_CORE_CHANNEL_EVENT_##event_] = { PB_CORE_CHANNEL_##state_, PB_CORE_CHANNEL_ACTION_##action_ }
#define ASKED(state_, action_)                                                                               \
	ON(ATTACH, state_, action_), ON(DETACH, state_, action_), ON(CLOSE, state_, action_)
	static const struct pb_core_step steps[PB_CORE_CHANNEL_STATE_COUNT][PB_CORE_CHANNEL_EVENT_COUNT] = {
		[PB_CORE_CHANNEL_CLOSED] = {ON(ATTACH, OPEN, OPEN), ON(DETACH, CLOSED, ANSWER),
					    ON(CLOSE, CLOSED, NOTHING)},
		[PB_CORE_CHANNEL_OPEN] = {ASKED(CLOSING_QUEUES, CLOSE), ON(FAULT, FAULTED, REPORT)},
		[PB_CORE_CHANNEL_FAULTED] = {ASKED(CLOSING_QUEUES, CLOSE)},
		[PB_CORE_CHANNEL_CLOSING_QUEUES] = {ASKED(CLOSING_QUEUES, NOTHING),
						    ON(SWEPT, CLOSING_SUBMISSIONS, WAIT)},
		[PB_CORE_CHANNEL_CLOSING_SUBMISSIONS] = {ASKED(CLOSING_SUBMISSIONS, NOTHING),
							 ON(EMPTY, CLOSING_CONTEXTS, SWEEP)},
		[PB_CORE_CHANNEL_CLOSING_CONTEXTS] = {ASKED(CLOSING_CONTEXTS, NOTHING),
						      ON(SWEPT, CLOSING_SEGMENTS, SWEEP)},
		[PB_CORE_CHANNEL_CLOSING_SEGMENTS] = {ASKED(CLOSING_SEGMENTS, NOTHING),
						      ON(SWEPT, CLOSED, END)},
	};
#undef ASKED
#undef ON

	return steps[state][event];
}

#endif
