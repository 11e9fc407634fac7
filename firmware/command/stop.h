/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Stop requests: PREEMPT, SUSPEND and RESET of a queue, from the request, over
 * the engine's stop if it has submissions of the queue, to the report when none
 * is left there. The owner of struct pb_core_stops, of pb_core_queue.stop and
 * of a channel's count of requests; main loop only.
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
	uint32_t preemption_id;      /**< of PREEMPT */
	uint32_t fence_id;           /**< of RESET: the last submission aborted, if any */
	uint16_t ticks; /**< that a submission that had begun may still run for, to its end; 0: none is to */
	uint8_t kind;   /**< enum pb_core_stop_kind */
	bool aborted;   /**< of RESET: fence_id is valid */
	bool inside;    /**< of PREEMPT: the host wants submissions returned that have begun */
};

/** The state of this module. */
struct pb_core_stops {
	struct pb_core_stop at[PB_LIMIT_STOPS];
	uint32_t free;     /**< of them */
	uint32_t channels; /**< channels that have a request under way */
};

/** No request is under way. Once, at boot. */
void pb_core_stop_boot(struct pb_core_stops *stops);
/** Resets what this module keeps of a queue that begins its life. */
void pb_core_stop_init(struct pb_core_queue *queue);
/**
 * Whether a channel may have one more request under way. One slot is kept for each channel that has none: a channel
 * that holds many keeps no other from its first.
 */
bool pb_core_stop_has_room(const struct pb_firmware *firmware, uint32_t channel);
/** Whether a request may begin beside what is under way: a RESET beside a PREEMPT, which it forces. */
bool pb_core_stop_may_begin(struct pb_firmware *firmware, const struct pb_core_stop *asked);
/**
 * Begins a request. Pre: it may begin, and there is room.
 * @param flags PB_STOP_* @param outcome set if the request is complete
 * @return whether the request is complete; if not, the reply is deferred
 */
bool pb_core_stop_begin(struct pb_firmware *firmware, const struct pb_core_stop *asked, uint32_t flags,
			struct pb_core_outcome *outcome);
/** Settles all requests of queues of a node: those that have come to their end are answered. */
void pb_core_stop_settle(struct pb_firmware *firmware, const struct pb_core_node *node);
/** At a tick: a submission that had begun, and has not ended after PB_STOP_MICROSECONDS more of the engine, fails. */
void pb_core_stop_tick(struct pb_firmware *firmware);
/** Ends a suspension. @return OK, or BUSY while a request is under way */
enum pb_error pb_core_stop_resume(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Answers all requests of a queue that closes with CANCELLED, if the host is still attached. */
void pb_core_stop_abandon(struct pb_firmware *firmware, struct pb_core_queue *queue);

#endif
