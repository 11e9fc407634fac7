/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Stop requests: PREEMPT, SUSPEND and RESET of a queue, from the request, over
 * the engine's stop if it has submissions of the queue, to the report when none
 * is left there. The owner of struct pb_core_stops and of
 * pb_core_queue.stop; main loop only.
 */
#ifndef PB_FIRMWARE_COMMAND_STOP_H
#define PB_FIRMWARE_COMMAND_STOP_H

#include <stdbool.h>

#include "firmware/channel/reply.h"
#include "firmware/command/stop_machine.h"
#include "firmware/limits.h"

struct pb_firmware;
struct pb_core_node;

/** The kinds of stop requests. */
enum pb_core_stop_kind {
	PB_CORE_STOP_NONE = 0, /**< the slot is free */
	PB_CORE_STOP_PREEMPT,
	PB_CORE_STOP_SUSPEND,
	PB_CORE_STOP_RESET,
};

/** A stop request that is under way. */
struct pb_core_stop {
	struct pb_core_queue *queue; /**< the queue that is to stop */
	uint32_t tag;                /**< of the command */
	uint32_t cutoff;             /**< the queue's put index when the host asked */
	uint32_t put;                /**< the queue's accepted put index when the request began */
	uint32_t
		id; /**< of PREEMPT: what the host calls it; of RESET: the fence id of the last submission aborted */
	uint32_t ticks; /**< that a submission that had begun may still run for, to its end; 0: none is to */
	uint8_t kind;   /**< enum pb_core_stop_kind */
	bool aborted;   /**< of RESET: id is valid */
	bool inside;    /**< of PREEMPT: the host wants submissions returned that have begun */
};

/** The state of this module. */
struct pb_core_stops {
	struct pb_core_stop at[PB_LIMIT_STOPS];
	uint8_t last; /**< index of the request that was answered last: the one behind it is checked first */
};

/** Resets what this module keeps of a queue that begins its life. */
void pb_core_stop_init(struct pb_core_queue *queue);
/** Whether a request may begin beside what is under way: a RESET beside a PREEMPT or SUSPEND, which it forces. */
bool pb_core_stop_may_begin(struct pb_firmware *firmware, const struct pb_core_stop *asked);
/**
 * Begins a request. Pre: it may begin, and the channel's quota was claimed for it. Its end, and the reply, are a slice of
 * their own, even if nothing of the queue is at the engine: pb_core_stop_settle(). @param flags PB_STOP_*
 */
void pb_core_stop_begin(struct pb_firmware *firmware, const struct pb_core_stop *asked, uint32_t flags);
/**
 * Answers one request that has come to its end, of a queue of one of the nodes; in rotation, so that none waits for requests
 * that others make again and again. @param nodes mask of nodes @return false: there is none
 */
bool pb_core_stop_settle(struct pb_firmware *firmware, uint32_t nodes);
/** At a tick: a submission that had begun, and has not ended after the time of a stop of the engine, fails. */
void pb_core_stop_tick(struct pb_firmware *firmware);
/** Ends a suspension. @return OK, or BUSY while a request is under way */
enum pb_error pb_core_stop_resume(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Answers all requests of a queue that closes with CANCELLED, if the host is still attached. */
void pb_core_stop_abandon(struct pb_firmware *firmware, struct pb_core_queue *queue);

#endif
