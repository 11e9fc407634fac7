/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The seam between the scheduler's mechanism (queue/ready.h, queue/timeslice.h,
 * queue/schedule.h) and its policies. A policy is a table of five functions; a
 * node has one, by its mode. CONTRIBUTING.md shows how to add one.
 */
#ifndef PB_FIRMWARE_QUEUE_POLICY_H
#define PB_FIRMWARE_QUEUE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct pb_firmware;
struct pb_core_node;
struct pb_core_queue;
struct pb_core_submission;

/** What a policy decides. All functions are called from the main loop, and none may take longer than one slice. */
struct pb_core_policy {
	/**
	 * Chooses the queue from which the next submission is admitted, and begins its timeslice if it does not
	 * have it. The queue has descriptors to admit and its channel is not held.
	 * @return NULL: there is none
	 */
	struct pb_core_queue *(*next)(struct pb_firmware *firmware, struct pb_core_node *node);
	/** Charges engine time that a submission has used, or kept from others. @param microseconds of it */
	void (*charge)(struct pb_core_node *node, const struct pb_core_submission *submission,
		       uint32_t microseconds);
	/**
	 * Whether a queue's timeslice is over, as another queue waits for its end. The most frequent reason to stop the
	 * engine at a tick, and the first that is asked for: false does not say that there is no other.
	 * @param queue that of the first submission in the ring @param used microseconds of its timeslice
	 */
	bool (*is_over)(const struct pb_core_node *node, const struct pb_core_queue *queue, uint32_t used);
	/**
	 * Whether the engine is to be stopped now. Pre: something is in flight.
	 * @param next the staged submission, or NULL
	 * @param used 0: `next` is staged, and a submission of a lower priority is in flight; else a tick asks, and the
	 *        queue of the first submission in the ring has used so many microseconds of its timeslice
	 */
	bool (*should_preempt)(struct pb_core_node *node, const struct pb_core_submission *next,
			       uint32_t used);
	/** Whether a submission may be recalled by a stop that another queue is the reason for. */
	bool (*may_recall)(const struct pb_core_node *node, const struct pb_core_submission *submission);
};

/** Strict priority with starvation avoidance; deficit round robin by weight and quantum within a priority. */
extern const struct pb_core_policy pb_core_policy_fair;
/** The host arbitrates: one queue, in the order of its ring, without timeslices or preemption for others. */
extern const struct pb_core_policy pb_core_policy_fifo;

#endif
