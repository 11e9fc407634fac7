/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The state machine of a node: what its engine was asked to do (stop, reset,
 * power cycle), and what the firmware does with the answer. The owner of struct
 * pb_core_machine; main loop only.
 */
#ifndef PB_FIRMWARE_ENGINE_NODE_H
#define PB_FIRMWARE_ENGINE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/engine/node_machine.h"
#include "hal/engine.h"
#include "patchbay/abi/errors.h"

struct pb_firmware;
struct pb_core_node;

/** Why a node's engine was asked to stop. */
enum pb_core_stop_reason {
	PB_CORE_STOP_FOR_HOST =
		0, /**< submissions of queues that are preempted, suspended or reset are recalled */
	PB_CORE_STOP_TO_SWITCH = 1, /**< all that the policy lets go is recalled: another queue goes first */
};

/** A member of a node's record. */
struct pb_core_machine {
	uint8_t state;  /**< enum pb_node_state */
	uint8_t reason; /**< enum pb_core_stop_reason of the stop or reset in progress */
	bool inside;    /**< the stop that is asked next may be inside a buffer */
	bool drained;   /**< the last stop was answered by an engine that cannot stop: its numbers go on */
	bool stuck;     /**< the submission that hung last had failed before: the engine runs nothing */
	uint32_t depth; /**< most submissions that may be fed and not retired */
	uint32_t hang_limit;   /**< microseconds of engine time without progress */
	uint32_t answer_limit; /**< microseconds for an answer */
	uint32_t asked; /**< card clock when the engine was last asked for an answer, or made progress */
	uint32_t asked_first; /**< card clock when the engine was asked, whatever progress it made */
	uint32_t stops;       /**< asked since boot */
	uint32_t resets;      /**< asked since boot */
	uint32_t faults;      /**< submissions that faulted or hung, since boot */
	uint32_t
		reaches; /**< channels whose memory the engine may still reach: it is dead, and could not be cut off */
};

/** Begins a node's life: its engine is asked to reset, and nothing else is known of it. Once a node, at boot. @param clock the card's */
void pb_core_node_init(struct pb_core_node *node, const struct pb_engine *engine, uint32_t clock);
/** Sets depth and limits of a node; 0 leaves one as it is. @param depth at most PB_LIMIT_IN_FLIGHT @param hang, answer in microseconds */
void pb_core_node_configure(struct pb_core_machine *machine, uint32_t depth, uint32_t hang, uint32_t answer);
/** Fails the first submission in flight, if it has not failed, loses its context, and cancels what is lost with it. */
void pb_core_node_blame(struct pb_firmware *firmware, struct pb_core_node *node, enum pb_error error,
			uint32_t detail);
/** Has the engine stop, so that submissions can be recalled. @param inside it may stop inside a buffer */
void pb_core_node_recall(struct pb_firmware *firmware, struct pb_core_node *node,
			 enum pb_core_stop_reason reason, bool inside);
/** Asks an engine to stop, if it can. Pre: its node is RUNNING. @param inside it may stop inside a buffer */
static inline void pb_core_engine_stop(const struct pb_engine *engine, bool inside)
{
	if (engine->preempt != NULL)
		engine->preempt->stop(engine->context, inside);
}
/** The node's engine was asked to stop by pb_core_engine_stop(), so that submissions can be recalled. Pre: the node is RUNNING. */
void pb_core_node_stopping(struct pb_firmware *firmware, struct pb_core_node *node,
			   enum pb_core_stop_reason reason, bool inside);
/** Has the engine reset. */
void pb_core_node_reset(struct pb_firmware *firmware, struct pb_core_node *node);
/** The engine has answered what it was asked. @param state what it reports */
void pb_core_node_answered(struct pb_firmware *firmware, struct pb_core_node *node,
			   enum pb_engine_state state);
/** The engine faulted, or with READY: reported what it was never fed. Blames the first submission, and resets. */
void pb_core_node_fault(struct pb_firmware *firmware, struct pb_core_node *node, enum pb_engine_state state);
/** The engine has had its time for an answer: the next step of the ladder. */
void pb_core_node_timeout(struct pb_firmware *firmware, struct pb_core_node *node);
/** The engine hangs: blames the first submission in flight, and resets. Pre: one is in flight. */
void pb_core_node_hang(struct pb_firmware *firmware, struct pb_core_node *node);
/** Starts the time for an answer anew: the engine made progress. @param first restarts asked_first, too, which progress does not extend */
void pb_core_node_extend(struct pb_core_machine *machine, uint32_t clock, bool first);

/** Whether an engine that was given up may still reach a channel's memory: then no other client may have it. */
bool pb_core_node_reaches(const struct pb_firmware *firmware, uint32_t channel);

/** Whether submissions can be fed. */
static inline bool pb_core_node_is_running(const struct pb_core_machine *machine)
{
	return machine->state == PB_NODE_STATE_RUNNING;
}

/** Whether the engine was given up. */
static inline bool pb_core_node_is_dead(const struct pb_core_machine *machine)
{
	return machine->state == PB_NODE_STATE_DEAD;
}

#endif
