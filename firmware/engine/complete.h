/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Completion of submissions: fence records, host interrupts, and the charge for
 * engine time. What others have to do about a completion is left as a mark. The
 * owner of struct pb_core_retirement; main loop only.
 */
#ifndef PB_FIRMWARE_ENGINE_COMPLETE_H
#define PB_FIRMWARE_ENGINE_COMPLETE_H

#include <stdbool.h>
#include <stdint.h>

struct pb_firmware;
struct pb_core_node;
struct pb_core_queue;
struct pb_core_submission;

/** A member of a node's record. */
struct pb_core_retirement {
	uint32_t bytes;         /**< of completed submissions, since boot */
	uint32_t before_reset;  /**< submissions completed before the engine's last reset, since boot */
	uint32_t idles;         /**< times that nothing was left in flight, since boot */
	uint32_t idle_since;    /**< card clock in microseconds when that was so last */
	uint32_t time;          /**< runtime counter of the engine in microseconds, when it was last read */
	uint32_t charged_until; /**< card clock in microseconds up to which channels have been charged */
	bool uncharged; /**< nothing was charged since: nothing ran, or no other queue wanted the engine */
};

/** Completes the first submission in the engine's ring. Each report of an engine comes by here. Pre: there is one. */
void pb_core_complete_first(struct pb_firmware *firmware, struct pb_core_node *node);
/** As pb_core_complete_first(), for those behind it in the same report. Pre: there is one. */
void pb_core_complete_next(struct pb_firmware *firmware, struct pb_core_node *node);
/** Completes all submissions of the node up to a sequence number, small rather than quick. Pre: they are in flight. */
void pb_core_complete_to(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t sequence);
/** Leaves marks for the end of a closing queue, and of its channel, if the submission that has just left was their last. */
void pb_core_complete_drain(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Charges all elapsed time to the ring head. @param time runtime counter of the engine */
void pb_core_charge(struct pb_firmware *firmware, struct pb_core_node *node,
		    const struct pb_core_submission *head, uint32_t time);
/** As pb_core_charge(), at the end of a stop: the ring head for its runtime only, the rest to who asked for the stop. */
void pb_core_charge_stop(struct pb_firmware *firmware, struct pb_core_node *node,
			 const struct pb_core_submission *head, const struct pb_core_submission *asker,
			 uint32_t time);
/** Charges for what an engine's report covers, if another queue may want the engine, and notes that it is idle. */
void pb_core_charge_report(struct pb_firmware *firmware, struct pb_core_node *node,
			   const struct pb_core_submission *head, uint32_t time);
/**
 * Charges a submission that has been prepared, and is fed, for the time in which the engine had nothing to run for that,
 * unless its completion will be charged for that time. Pre: nothing was in flight.
 */
void pb_core_charge_prepared(struct pb_firmware *firmware, struct pb_core_node *node,
			     const struct pb_core_submission *submission);
/** Charges the staged submission for that time if it is unsubmitted or dropped before it is prepared. Pre: one is staged. */
void pb_core_charge_unsubmitted(struct pb_firmware *firmware, struct pb_core_node *node);
/**
 * At a tick: charges what has run while no other channel of its priority wanted the engine now, so that the
 * channel does not pay for it when another one comes before a long submission ends. Pre: something is in flight.
 * @param time runtime counter of the engine
 */
void pb_core_charge_alone(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t time);
/**
 * Has the time pass uncharged in which the engine had nothing to run. Pre: nothing is in flight. @param clock card clock
 * @return for how long it had, since that was asked or charged last
 */
uint32_t pb_core_charge_gap(struct pb_core_retirement *retirement, uint32_t clock);
/** Nothing runs, so that time passes uncharged. */
void pb_core_charge_pause(struct pb_core_retirement *retirement);
/** The engine counts from 1 again: keeps how many submissions it has completed. */
void pb_core_complete_restart(struct pb_core_retirement *retirement, uint32_t completed);

#endif
