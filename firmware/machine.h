/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The state machines of the core, as pure functions: which state comes next on
 * an event, and what the firmware does then. docs/machines.md has their
 * pictures, drawn from these tables. What a table does not name is impossible,
 * and who finds it asserts.
 */
#ifndef PB_FIRMWARE_MACHINE_H
#define PB_FIRMWARE_MACHINE_H

#include <stdint.h>

#include "firmware/abi/channel.h"

struct pb_core_step {
	uint8_t state;
	uint8_t action; /**< 0: impossible */
};

/* ---- a node: what its engine was asked. node.c; the states are PB_NODE_STATES ---- */

#define PB_CORE_NODE_STATES 5u

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
	X(IMPOSSIBLE, "cannot happen")                                                                       \
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
		[PB_NODE_STATE_RUNNING] = {ON(WITHDRAW, STOPPING, STOP), ON(RESET, RESETTING, RESET)},
		[PB_NODE_STATE_STOPPING] = {ON(WITHDRAW, STOPPING, NOTHING), ON(RESET, RESETTING, RESET),
					    ON(ANSWER, RUNNING, REBUILD), ON(TIMEOUT, RESETTING, RESET)},
		[PB_NODE_STATE_RESETTING] = {ON(WITHDRAW, RESETTING, NOTHING), ON(RESET, RESETTING, NOTHING),
					     ON(ANSWER, RUNNING, REBUILD), ON(TIMEOUT, CYCLING, CYCLE)},
		[PB_NODE_STATE_CYCLING] = {ON(WITHDRAW, CYCLING, NOTHING), ON(RESET, CYCLING, NOTHING),
					   ON(ANSWER, RUNNING, REBUILD), ON(TIMEOUT, DEAD, DIE)},
		[PB_NODE_STATE_DEAD] = {ON(WITHDRAW, DEAD, NOTHING), ON(RESET, DEAD, NOTHING),
					ON(ANSWER, DEAD, NOTHING)},
	};
#undef ON

	return steps[state][event];
}

/* ---- a queue: queue.c ---- */

/* X(NAME, meaning) */
#define PB_CORE_QUEUE_STATES(X)                                                                              \
	X(FREE, "there is none: its place is in the list of free ones")                                      \
	X(OPEN, "its ring is served")                                                                        \
	X(FAULTED, "takes no more work; what it had goes on")                                                \
	X(CLOSING, "waits for its fed work; its page is not written any more")

enum pb_core_queue_state {
#define PB_CORE_QUEUE_ENUM(name, meaning) PB_CORE_QUEUE_##name,
	PB_CORE_QUEUE_STATES(PB_CORE_QUEUE_ENUM)
#undef PB_CORE_QUEUE_ENUM
		PB_CORE_QUEUE_STATE_COUNT
};

/* X(NAME, meaning) */
#define PB_CORE_QUEUE_EVENTS(X)                                                                              \
	X(CREATE, "QUEUE_CREATE")                                                                            \
	X(FAULT, "its put index broke its rule")                                                             \
	X(CLOSE, "QUEUE_DESTROY, or its channel closes")                                                     \
	X(EMPTY, "its last work is gone, and nobody waits for it")

enum pb_core_queue_event {
#define PB_CORE_QUEUE_EVENT_ENUM(name, meaning) PB_CORE_QUEUE_EVENT_##name,
	PB_CORE_QUEUE_EVENTS(PB_CORE_QUEUE_EVENT_ENUM)
#undef PB_CORE_QUEUE_EVENT_ENUM
		PB_CORE_QUEUE_EVENT_COUNT
};

/* X(NAME, meaning) */
#define PB_CORE_QUEUE_ACTIONS(X)                                                                             \
	X(IMPOSSIBLE, "cannot happen")                                                                       \
	X(NOTHING, "nothing")                                                                                \
	X(OPEN, "takes its place from the list and sets up its record")                                      \
	X(REPORT, "writes the error into its record and sends an event")                                     \
	X(CLOSE, "takes it out of all lists, drops what is not fed, and wakes those that wait for it")       \
	X(FREE, "puts its place back into the list, and sends the reply owed")

enum pb_core_queue_action {
#define PB_CORE_QUEUE_ACTION_ENUM(name, meaning) PB_CORE_QUEUE_ACTION_##name,
	PB_CORE_QUEUE_ACTIONS(PB_CORE_QUEUE_ACTION_ENUM)
#undef PB_CORE_QUEUE_ACTION_ENUM
		PB_CORE_QUEUE_ACTION_COUNT
};

/*@
  requires state < PB_CORE_QUEUE_STATE_COUNT && event < PB_CORE_QUEUE_EVENT_COUNT;
  assigns \nothing;
  ensures \result.state < PB_CORE_QUEUE_STATE_COUNT;
  ensures create: \result.action == PB_CORE_QUEUE_ACTION_OPEN <==>
    state == PB_CORE_QUEUE_FREE && event == PB_CORE_QUEUE_EVENT_CREATE;
  ensures fault: \result.action == PB_CORE_QUEUE_ACTION_REPORT <==>
    state == PB_CORE_QUEUE_OPEN && event == PB_CORE_QUEUE_EVENT_FAULT;
  ensures close: \result.action == PB_CORE_QUEUE_ACTION_CLOSE <==>
    (state == PB_CORE_QUEUE_OPEN || state == PB_CORE_QUEUE_FAULTED) && event == PB_CORE_QUEUE_EVENT_CLOSE;
  ensures again: \result.action == PB_CORE_QUEUE_ACTION_NOTHING <==>
    state == PB_CORE_QUEUE_CLOSING && event == PB_CORE_QUEUE_EVENT_CLOSE;
  ensures empty: \result.action == PB_CORE_QUEUE_ACTION_FREE <==>
    state == PB_CORE_QUEUE_CLOSING && event == PB_CORE_QUEUE_EVENT_EMPTY;
  ensures opens: \result.action == PB_CORE_QUEUE_ACTION_OPEN ==> \result.state == PB_CORE_QUEUE_OPEN;
  ensures faults: \result.action == PB_CORE_QUEUE_ACTION_REPORT ==> \result.state == PB_CORE_QUEUE_FAULTED;
  ensures frees: \result.action == PB_CORE_QUEUE_ACTION_FREE ==> \result.state == PB_CORE_QUEUE_FREE;
  ensures closes: \result.action == PB_CORE_QUEUE_ACTION_CLOSE || \result.action == PB_CORE_QUEUE_ACTION_NOTHING ==>
    \result.state == PB_CORE_QUEUE_CLOSING;
*/
static inline struct pb_core_step pb_core_queue_next(enum pb_core_queue_state state,
						     enum pb_core_queue_event event)
{
#define ON(event_, state_, action_)                                                                          \
	[PB_CORE_QUEUE_EVENT_##event_] = { PB_CORE_QUEUE_##state_, PB_CORE_QUEUE_ACTION_##action_ }
	static const struct pb_core_step steps[PB_CORE_QUEUE_STATE_COUNT][PB_CORE_QUEUE_EVENT_COUNT] = {
		[PB_CORE_QUEUE_FREE] = {ON(CREATE, OPEN, OPEN)},
		[PB_CORE_QUEUE_OPEN] = {ON(FAULT, FAULTED, REPORT), ON(CLOSE, CLOSING, CLOSE)},
		[PB_CORE_QUEUE_FAULTED] = {ON(CLOSE, CLOSING, CLOSE)},
		[PB_CORE_QUEUE_CLOSING] = {ON(CLOSE, CLOSING, NOTHING), ON(EMPTY, FREE, FREE)},
	};
#undef ON

	return steps[state][event];
}

/* ---- what a host has asked of a queue that is open or faulted: stop.c ---- */

/* X(NAME, flags, meaning); the flags are those of struct pb_core_queue, PB_CORE_QUEUE_*. */
#define PB_CORE_STOPPING_STATES(X)                                                                           \
	X(RUNS, 0, "its work is admitted")                                                                   \
	X(WITHDRAWS, PB_CORE_QUEUE_STOPPING, "its work is being taken back")                                 \
	X(DRAINS, PB_CORE_QUEUE_STOPPING | PB_CORE_QUEUE_DRAINING, "some of its work is still to complete")  \
	X(SUSPENDED, PB_CORE_QUEUE_SUSPENDED, "its work is not admitted")                                    \
	X(SUSPENDED_WITHDRAWS, PB_CORE_QUEUE_SUSPENDED | PB_CORE_QUEUE_STOPPING,                             \
	  "as WITHDRAWS, from SUSPENDED")                                                                    \
	X(SUSPENDED_DRAINS, PB_CORE_QUEUE_SUSPENDED | PB_CORE_QUEUE_STOPPING | PB_CORE_QUEUE_DRAINING,       \
	  "as DRAINS, from SUSPENDED")

enum pb_core_stopping_state {
#define PB_CORE_STOPPING_ENUM(name, flags, meaning) PB_CORE_STOPPING_##name,
	PB_CORE_STOPPING_STATES(PB_CORE_STOPPING_ENUM)
#undef PB_CORE_STOPPING_ENUM
		PB_CORE_STOPPING_STATE_COUNT
};

/* X(NAME, meaning) */
#define PB_CORE_STOPPING_EVENTS(X)                                                                           \
	X(WITHDRAW, "PREEMPT, RESET, or SUSPEND with WITHDRAW")                                              \
	X(DRAIN, "SUSPEND that lets the work before its cutoff complete")                                    \
	X(FORCE, "RESET while a PREEMPT is under way")                                                       \
	X(BEGUN, "its first work was stopped inside, and must end before the host may have the rest")        \
	X(RETURN, "none of its work is left at the engine, and it was PREEMPT or RESET")                     \
	X(STAY, "the same, and it was SUSPEND")                                                              \
	X(RESUME, "RESUME")                                                                                  \
	X(CLOSE, "the queue closes")

enum pb_core_stopping_event {
#define PB_CORE_STOPPING_EVENT_ENUM(name, meaning) PB_CORE_STOPPING_EVENT_##name,
	PB_CORE_STOPPING_EVENTS(PB_CORE_STOPPING_EVENT_ENUM)
#undef PB_CORE_STOPPING_EVENT_ENUM
		PB_CORE_STOPPING_EVENT_COUNT
};

/* X(NAME, meaning) */
#define PB_CORE_STOPPING_ACTIONS(X)                                                                          \
	X(IMPOSSIBLE, "cannot happen")                                                                       \
	X(NOTHING, "nothing")                                                                                \
	X(REFUSE, "replies BUSY")                                                                            \
	X(TAKE, "takes it out of all lists, and its work from the engine")                                   \
	X(LET, "lets so many of its submissions through")                                                    \
	X(GIVE, "gives back what is before the cutoff, reports, and goes on")                                \
	X(HOLD, "takes it out of all lists; what is in its ring will be patched anew")                       \
	X(ADMIT, "looks at its ring again")                                                                  \
	X(FORGET, "forgets the request, and answers it with CANCELLED")

enum pb_core_stopping_action {
#define PB_CORE_STOPPING_ACTION_ENUM(name, meaning) PB_CORE_STOPPING_ACTION_##name,
	PB_CORE_STOPPING_ACTIONS(PB_CORE_STOPPING_ACTION_ENUM)
#undef PB_CORE_STOPPING_ACTION_ENUM
		PB_CORE_STOPPING_ACTION_COUNT
};

/*@
  predicate pb_core_stops(integer state) =
    state != PB_CORE_STOPPING_RUNS && state != PB_CORE_STOPPING_SUSPENDED;
  predicate pb_core_withdraws(integer state) =
    state == PB_CORE_STOPPING_WITHDRAWS || state == PB_CORE_STOPPING_SUSPENDED_WITHDRAWS;
  predicate pb_core_was_suspended(integer state) = state >= PB_CORE_STOPPING_SUSPENDED;
*/
/*@
  requires state < PB_CORE_STOPPING_STATE_COUNT && event < PB_CORE_STOPPING_EVENT_COUNT;
  assigns \nothing;
  ensures \result.state < PB_CORE_STOPPING_STATE_COUNT;
  ensures impossible: \result.action == PB_CORE_STOPPING_ACTION_IMPOSSIBLE <==>
    PB_CORE_STOPPING_EVENT_FORCE <= event <= PB_CORE_STOPPING_EVENT_STAY &&
    (!pb_core_stops(state) || (event == PB_CORE_STOPPING_EVENT_BEGUN && !pb_core_withdraws(state)));
  ensures one_at_a_time: \result.action == PB_CORE_STOPPING_ACTION_REFUSE <==>
    pb_core_stops(state) && (event <= PB_CORE_STOPPING_EVENT_DRAIN || event == PB_CORE_STOPPING_EVENT_RESUME);
  ensures refused: \result.action == PB_CORE_STOPPING_ACTION_REFUSE ||
    \result.action == PB_CORE_STOPPING_ACTION_NOTHING ==> \result.state == state;
  ensures take: \result.action == PB_CORE_STOPPING_ACTION_TAKE ==> pb_core_withdraws(\result.state);
  ensures let: \result.action == PB_CORE_STOPPING_ACTION_LET ==>
    pb_core_stops(\result.state) && !pb_core_withdraws(\result.state);
  ensures give: \result.action == PB_CORE_STOPPING_ACTION_GIVE <==>
    pb_core_stops(state) && event == PB_CORE_STOPPING_EVENT_RETURN;
  ensures hold: \result.action == PB_CORE_STOPPING_ACTION_HOLD <==>
    pb_core_stops(state) && event == PB_CORE_STOPPING_EVENT_STAY;
  ensures held: \result.action == PB_CORE_STOPPING_ACTION_HOLD ==> \result.state == PB_CORE_STOPPING_SUSPENDED;
  ensures forgotten: event == PB_CORE_STOPPING_EVENT_CLOSE ==> !pb_core_stops(\result.state);
  ensures suspension_stays: \result.action != PB_CORE_STOPPING_ACTION_IMPOSSIBLE &&
    event != PB_CORE_STOPPING_EVENT_STAY && event != PB_CORE_STOPPING_EVENT_RESUME ==>
    (pb_core_was_suspended(state) <==> pb_core_was_suspended(\result.state));
  ensures admit: \result.action == PB_CORE_STOPPING_ACTION_ADMIT <==>
    !pb_core_stops(state) && event == PB_CORE_STOPPING_EVENT_RESUME;
  ensures admitted: \result.action == PB_CORE_STOPPING_ACTION_ADMIT ==> \result.state == PB_CORE_STOPPING_RUNS;
*/
static inline struct pb_core_step pb_core_stopping_next(enum pb_core_stopping_state state,
							enum pb_core_stopping_event event)
{
#define ON(event_, state_, action_)                                                                          \
	[PB_CORE_STOPPING_EVENT_##event_] = { PB_CORE_STOPPING_##state_, PB_CORE_STOPPING_ACTION_##action_ }
#define REFUSED(state_) ON(WITHDRAW, state_, REFUSE), ON(DRAIN, state_, REFUSE), ON(RESUME, state_, REFUSE)
	static const struct pb_core_step steps[PB_CORE_STOPPING_STATE_COUNT][PB_CORE_STOPPING_EVENT_COUNT] = {
		[PB_CORE_STOPPING_RUNS] = {ON(WITHDRAW, WITHDRAWS, TAKE), ON(DRAIN, DRAINS, LET),
					   ON(RESUME, RUNS, ADMIT), ON(CLOSE, RUNS, NOTHING)},
		[PB_CORE_STOPPING_WITHDRAWS] = {REFUSED(WITHDRAWS), ON(FORCE, WITHDRAWS, TAKE),
						ON(BEGUN, DRAINS, LET), ON(RETURN, RUNS, GIVE),
						ON(STAY, SUSPENDED, HOLD), ON(CLOSE, RUNS, FORGET)},
		[PB_CORE_STOPPING_DRAINS] = {REFUSED(DRAINS), ON(FORCE, WITHDRAWS, TAKE),
					     ON(RETURN, RUNS, GIVE), ON(STAY, SUSPENDED, HOLD),
					     ON(CLOSE, RUNS, FORGET)},
		[PB_CORE_STOPPING_SUSPENDED] = {ON(WITHDRAW, SUSPENDED_WITHDRAWS, TAKE),
						ON(DRAIN, SUSPENDED_DRAINS, LET), ON(RESUME, RUNS, ADMIT),
						ON(CLOSE, SUSPENDED, NOTHING)},
		[PB_CORE_STOPPING_SUSPENDED_WITHDRAWS] =
			{REFUSED(SUSPENDED_WITHDRAWS), ON(FORCE, SUSPENDED_WITHDRAWS, TAKE),
			 ON(BEGUN, SUSPENDED_DRAINS, LET), ON(RETURN, SUSPENDED, GIVE),
			 ON(STAY, SUSPENDED, HOLD), ON(CLOSE, SUSPENDED, FORGET)},
		[PB_CORE_STOPPING_SUSPENDED_DRAINS] = {REFUSED(SUSPENDED_DRAINS),
						       ON(FORCE, SUSPENDED_WITHDRAWS, TAKE),
						       ON(RETURN, SUSPENDED, GIVE), ON(STAY, SUSPENDED, HOLD),
						       ON(CLOSE, SUSPENDED, FORGET)},
	};
#undef REFUSED
#undef ON

	return steps[state][event];
}

/* ---- a channel: channel.c ---- */

/* X(NAME, shown, meaning); the host is shown enum pb_channel_state. Those that close it come last. */
#define PB_CORE_CHANNEL_STATES(X)                                                                            \
	X(CLOSED, CLOSED, "its rings are ignored")                                                           \
	X(OPEN, OPEN, "its rings are served")                                                                \
	X(FAULTED, FAULTED, "a ring index broke its rule; nothing is read from its rings")                   \
	X(CLOSING_QUEUES, CLOSING, "its queues are closed, some in each pass")                               \
	X(CLOSING_WORK, CLOSING, "waits for what is fed")                                                    \
	X(CLOSING_CONTEXTS, CLOSING, "its contexts are freed, some in each pass")                            \
	X(CLOSING_SEGMENTS, CLOSING, "its segments are freed, one in each pass")

enum pb_core_channel_state {
#define PB_CORE_CHANNEL_ENUM(name, shown, meaning) PB_CORE_CHANNEL_##name,
	PB_CORE_CHANNEL_STATES(PB_CORE_CHANNEL_ENUM)
#undef PB_CORE_CHANNEL_ENUM
		PB_CORE_CHANNEL_STATE_COUNT
};

/* X(NAME, meaning) */
#define PB_CORE_CHANNEL_EVENTS(X)                                                                            \
	X(ATTACH, "a host asks for it, and may have it")                                                     \
	X(DETACH, "a host asks to leave, or for what it cannot have")                                        \
	X(CLOSE, "CHANNEL_CLOSE")                                                                            \
	X(FAULT, "a ring index of its host broke its rule")                                                  \
	X(SWEPT, "all queues, contexts or segments were looked at")                                          \
	X(EMPTY, "nothing of it is fed any more")

enum pb_core_channel_event {
#define PB_CORE_CHANNEL_EVENT_ENUM(name, meaning) PB_CORE_CHANNEL_EVENT_##name,
	PB_CORE_CHANNEL_EVENTS(PB_CORE_CHANNEL_EVENT_ENUM)
#undef PB_CORE_CHANNEL_EVENT_ENUM
		PB_CORE_CHANNEL_EVENT_COUNT
};

/* X(NAME, meaning) */
#define PB_CORE_CHANNEL_ACTIONS(X)                                                                           \
	X(IMPOSSIBLE, "cannot happen")                                                                       \
	X(NOTHING, "nothing; a host's request is answered once it is CLOSED")                                \
	X(OPEN, "empties its rings, begins a new epoch, and answers")                                        \
	X(ANSWER, "answers")                                                                                 \
	X(REPORT, "shows the error and interrupts")                                                          \
	X(CLOSE, "ends its epoch, admits none of its work, and begins with its queues")                      \
	X(WAIT, "leaves it alone until it is EMPTY")                                                         \
	X(SWEEP, "begins with the first one of the next kind")                                               \
	X(END, "sends the reply owed, and looks for a host that wants it")

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
    (event == PB_CORE_CHANNEL_EVENT_EMPTY && state != PB_CORE_CHANNEL_CLOSING_WORK) ||
    (event == PB_CORE_CHANNEL_EVENT_SWEPT &&
     (state < PB_CORE_CHANNEL_CLOSING_QUEUES || state == PB_CORE_CHANNEL_CLOSING_WORK));
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
						    ON(SWEPT, CLOSING_WORK, WAIT)},
		[PB_CORE_CHANNEL_CLOSING_WORK] = {ASKED(CLOSING_WORK, NOTHING),
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
