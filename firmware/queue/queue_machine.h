/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The life of a queue: created, faulted, closed, freed. queue/table.c keeps the
 * state; command/lifecycle.c and queue/poll.c act.
 */
#ifndef PB_FIRMWARE_QUEUE_QUEUE_MACHINE_H
#define PB_FIRMWARE_QUEUE_QUEUE_MACHINE_H

#include "firmware/state_machine.h"

/* X(NAME, meaning) */
#define PB_CORE_QUEUE_STATES(X)                                                                              \
	X(FREE, "no queue: the slot is on the stack of free slots")                                          \
	X(OPEN, "its ring is served")                                                                        \
	X(FAULTED, "admits no new submissions; those accepted before continue")                              \
	X(CLOSING, "waits for its submissions in flight; its page is no longer written")

enum pb_core_queue_state {
#define PB_CORE_QUEUE_ENUM(name, meaning) PB_CORE_QUEUE_##name,
	PB_CORE_QUEUE_STATES(PB_CORE_QUEUE_ENUM)
#undef PB_CORE_QUEUE_ENUM
		PB_CORE_QUEUE_STATE_COUNT
};

/* X(NAME, meaning) */
#define PB_CORE_QUEUE_EVENTS(X)                                                                              \
	X(CREATE, "QUEUE_CREATE")                                                                            \
	X(FAULT, "its put index moved back, or beyond the ring")                                             \
	X(CLOSE, "QUEUE_DESTROY, or its channel closes")                                                     \
	X(EMPTY, "its last submission is gone, and no queue waits for it")

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
	X(OPEN, "pops a free slot and sets up the queue's record")                                           \
	X(REPORT, "writes the error into the fence record and sends an event")                               \
	X(CLOSE,                                                                                             \
	  "removes the queue from every list, drops what is not fed, and wakes the queues that wait for it") \
	X(FREE, "frees the slot, and sends the deferred reply")

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

#endif
