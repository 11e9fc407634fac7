/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The state machine of the stop requests (PREEMPT, SUSPEND, RESET) of a queue that
 * is open or faulted. command/stop.c keeps the state and acts.
 */
#ifndef PB_FIRMWARE_COMMAND_STOP_MACHINE_H
#define PB_FIRMWARE_COMMAND_STOP_MACHINE_H

#include "firmware/queue_record.h"
#include "firmware/state_machine.h"

/* X(NAME, flags, meaning); the flags are those of struct pb_core_queue, PB_CORE_QUEUE_*. */
#define PB_CORE_STOPPING_STATES(X)                                                                           \
	X(RUNS, 0, "its submissions are admitted")                                                           \
	X(RECALLS, PB_CORE_QUEUE_STOPPING, "its submissions are being recalled")                             \
	X(DRAINS, PB_CORE_QUEUE_STOPPING | PB_CORE_QUEUE_DRAINING,                                           \
	  "some of its submissions are still to complete")                                                   \
	X(SUSPENDED, PB_CORE_QUEUE_SUSPENDED, "nothing of it is admitted")                                   \
	X(SUSPENDED_RECALLS, PB_CORE_QUEUE_SUSPENDED | PB_CORE_QUEUE_STOPPING,                               \
	  "as RECALLS, for a queue that was SUSPENDED")                                                      \
	X(SUSPENDED_DRAINS, PB_CORE_QUEUE_SUSPENDED | PB_CORE_QUEUE_STOPPING | PB_CORE_QUEUE_DRAINING,       \
	  "as DRAINS, for a queue that was SUSPENDED")

enum pb_core_stopping_state {
#define PB_CORE_STOPPING_ENUM(name, flags, meaning) PB_CORE_STOPPING_##name,
	PB_CORE_STOPPING_STATES(PB_CORE_STOPPING_ENUM)
#undef PB_CORE_STOPPING_ENUM
		PB_CORE_STOPPING_STATE_COUNT
};

/* X(NAME, meaning) */
#define PB_CORE_STOPPING_EVENTS(X)                                                                           \
	X(RECALL, "PREEMPT, RESET, or SUSPEND with RECALL")                                                  \
	X(DRAIN, "SUSPEND that lets the submissions before its cutoff complete")                             \
	X(FORCE, "RESET while a PREEMPT or SUSPEND is in progress")                                          \
	X(BEGUN, "its first submission was stopped inside, and must end before the others are returned")     \
	X(RETURN, "none of its submissions is left at the engine; the request was PREEMPT or RESET")         \
	X(STAY, "none of its submissions is left at the engine; the request was SUSPEND")                    \
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
	X(RECALL, "removes the queue from every list, and recalls its submissions from the engine")          \
	X(LIMIT, "limits the queue to the completions that the request allows")                              \
	X(RETURN, "returns what is before the cutoff, reports, and serves the queue again")                  \
	X(HOLD, "removes the queue from every list; what is in its ring will be patched anew")               \
	X(ADMIT, "polls its ring again")                                                                     \
	X(FORGET, "drops the request, and answers it with CANCELLED")

enum pb_core_stopping_action {
#define PB_CORE_STOPPING_ACTION_ENUM(name, meaning) PB_CORE_STOPPING_ACTION_##name,
	PB_CORE_STOPPING_ACTIONS(PB_CORE_STOPPING_ACTION_ENUM)
#undef PB_CORE_STOPPING_ACTION_ENUM
		PB_CORE_STOPPING_ACTION_COUNT
};

/*@
  predicate pb_core_stops(integer state) =
    state != PB_CORE_STOPPING_RUNS && state != PB_CORE_STOPPING_SUSPENDED;
  predicate pb_core_recalls(integer state) =
    state == PB_CORE_STOPPING_RECALLS || state == PB_CORE_STOPPING_SUSPENDED_RECALLS;
  predicate pb_core_was_suspended(integer state) = state >= PB_CORE_STOPPING_SUSPENDED;
*/
/*@
  requires state < PB_CORE_STOPPING_STATE_COUNT && event < PB_CORE_STOPPING_EVENT_COUNT;
  assigns \nothing;
  ensures \result.state < PB_CORE_STOPPING_STATE_COUNT;
  ensures impossible: \result.action == PB_CORE_STOPPING_ACTION_IMPOSSIBLE <==>
    PB_CORE_STOPPING_EVENT_FORCE <= event <= PB_CORE_STOPPING_EVENT_STAY &&
    (!pb_core_stops(state) || (event == PB_CORE_STOPPING_EVENT_BEGUN && !pb_core_recalls(state)));
  ensures one_at_a_time: \result.action == PB_CORE_STOPPING_ACTION_REFUSE <==>
    pb_core_stops(state) && (event <= PB_CORE_STOPPING_EVENT_DRAIN || event == PB_CORE_STOPPING_EVENT_RESUME);
  ensures refused: \result.action == PB_CORE_STOPPING_ACTION_REFUSE ||
    \result.action == PB_CORE_STOPPING_ACTION_NOTHING ==> \result.state == state;
  ensures recall: \result.action == PB_CORE_STOPPING_ACTION_RECALL ==> pb_core_recalls(\result.state);
  ensures limit: \result.action == PB_CORE_STOPPING_ACTION_LIMIT ==>
    pb_core_stops(\result.state) && !pb_core_recalls(\result.state);
  ensures returned: \result.action == PB_CORE_STOPPING_ACTION_RETURN <==>
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
#define REFUSED(state_) ON(RECALL, state_, REFUSE), ON(DRAIN, state_, REFUSE), ON(RESUME, state_, REFUSE)
	static const struct pb_core_step steps[PB_CORE_STOPPING_STATE_COUNT][PB_CORE_STOPPING_EVENT_COUNT] = {
		[PB_CORE_STOPPING_RUNS] = {ON(RECALL, RECALLS, RECALL), ON(DRAIN, DRAINS, LIMIT),
					   ON(RESUME, RUNS, ADMIT), ON(CLOSE, RUNS, NOTHING)},
		[PB_CORE_STOPPING_RECALLS] = {REFUSED(RECALLS), ON(FORCE, RECALLS, RECALL),
					      ON(BEGUN, DRAINS, LIMIT), ON(RETURN, RUNS, RETURN),
					      ON(STAY, SUSPENDED, HOLD), ON(CLOSE, RUNS, FORGET)},
		[PB_CORE_STOPPING_DRAINS] = {REFUSED(DRAINS), ON(FORCE, RECALLS, RECALL),
					     ON(RETURN, RUNS, RETURN), ON(STAY, SUSPENDED, HOLD),
					     ON(CLOSE, RUNS, FORGET)},
		[PB_CORE_STOPPING_SUSPENDED] = {ON(RECALL, SUSPENDED_RECALLS, RECALL),
						ON(DRAIN, SUSPENDED_DRAINS, LIMIT), ON(RESUME, RUNS, ADMIT),
						ON(CLOSE, SUSPENDED, NOTHING)},
		[PB_CORE_STOPPING_SUSPENDED_RECALLS] = {REFUSED(SUSPENDED_RECALLS),
							ON(FORCE, SUSPENDED_RECALLS, RECALL),
							ON(BEGUN, SUSPENDED_DRAINS, LIMIT),
							ON(RETURN, SUSPENDED, RETURN),
							ON(STAY, SUSPENDED, HOLD),
							ON(CLOSE, SUSPENDED, FORGET)},
		[PB_CORE_STOPPING_SUSPENDED_DRAINS] =
			{REFUSED(SUSPENDED_DRAINS), ON(FORCE, SUSPENDED_RECALLS, RECALL),
			 ON(RETURN, SUSPENDED, RETURN), ON(STAY, SUSPENDED, HOLD),
			 ON(CLOSE, SUSPENDED, FORGET)},
	};
#undef REFUSED
#undef ON

	return steps[state][event];
}

#endif
