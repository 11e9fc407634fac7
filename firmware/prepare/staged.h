/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The staged submission of a node: the next one to be fed, with the job that
 * prepares it if it has patches. The owner of struct pb_core_staged; main loop
 * only.
 */
#ifndef PB_FIRMWARE_PREPARE_STAGED_H
#define PB_FIRMWARE_PREPARE_STAGED_H

#include "firmware/prepare/jobs.h"
#include "patchbay/abi/errors.h"

struct pb_firmware;
struct pb_core_node;
struct pb_core_queue;

/** What there is of a node's staged submission. */
enum pb_core_staged_kind {
	PB_CORE_STAGED_NONE = 0,  /**< none */
	PB_CORE_STAGED_JOB = 1,   /**< a job prepares it */
	PB_CORE_STAGED_READY = 2, /**< it is ready to be fed */
	PB_CORE_STAGED_FAILED =
		3, /**< it has failed; it is unsubmitted if one before it is recalled, until it can be fed at once */
};

/** A member of a node's record. */
struct pb_core_staged {
	uint8_t kind;            /**< enum pb_core_staged_kind */
	bool yielded;            /**< the job has let a pending line go first, and goes first itself now */
	struct pb_core_job *job; /**< JOB: what prepares the submission */
	uint32_t preparing;      /**< card clock in microseconds when a job last began */
	uint32_t
		starved; /**< microseconds in which the engine had nothing while a job prepared, since boot */
	uint32_t patches; /**< carried out in submissions that completed or were recalled, since boot */
};

/** Has a job prepare the node's next submission. Pre: pb_core_jobs_find() found it, and nothing is staged. */
void pb_core_staged_prepare(struct pb_firmware *firmware, struct pb_core_node *node, struct pb_core_job *job);
/** The node's next submission is ready to be fed; its job, if it has one, is free again. */
void pb_core_staged_ready(struct pb_firmware *firmware, struct pb_core_node *node);
/** As pb_core_staged_ready(), for a submission that has needed no job. Pre: nothing is staged. */
static inline void pb_core_staged_ready_at_once(struct pb_core_staged *staged)
{
	staged->kind = PB_CORE_STAGED_READY;
}
/**
 * The node's next submission was prepared by a job that was not claimed: it is ready, or has failed. Pre: nothing is
 * staged. @param status of the submission @param began card clock
 */
static inline void pb_core_staged_finish(struct pb_core_staged *staged, uint32_t status, uint32_t began)
{
	staged->kind = status == PB_ERROR_OK ? PB_CORE_STAGED_READY : PB_CORE_STAGED_FAILED;
	staged->preparing = began;
}
/** The node's next submission has failed; its job, if it has one, is free again. */
void pb_core_staged_fail(struct pb_firmware *firmware, struct pb_core_node *node);
/** The node's next submission was cancelled after it was prepared. Pre: it was ready. */
void pb_core_staged_cancel(struct pb_core_node *node);
/**
 * The staged submission that has failed is fed empty, and completes, whatever happens from here on: unless it was
 * cancelled, or a wait of it failed, its context is lost, or a paging buffer's channel is halted on the node. Pre: it can
 * be fed at once, and nothing of its queue is in flight.
 */
void pb_core_staged_settle_failed(struct pb_firmware *firmware, struct pb_core_node *node);
/** Whether the staged submission may be unsubmitted: it has not failed for good. */
bool pb_core_staged_may_unsubmit(struct pb_core_node *node);
/** Nothing is staged any more; the job, if there is one, is free again. */
void pb_core_staged_clear(struct pb_firmware *firmware, struct pb_core_node *node);
/** Unsubmits the staged submission: its descriptor is in its queue's ring as if it had not been read. Pre: pb_core_staged_may_unsubmit(). */
void pb_core_staged_unsubmit(struct pb_firmware *firmware, struct pb_core_node *node);
/** Drops the staged submission, if its queue or its channel is being closed. */
void pb_core_staged_drop_closing(struct pb_firmware *firmware, struct pb_core_node *node);
/** Whether the staged submission is this queue's. */
bool pb_core_staged_is_of(struct pb_core_node *node, const struct pb_core_queue *queue);
/** A bad paging buffer: nothing of its channel is admitted on the node until RESET, and what is staged of it fails. */
void pb_core_staged_halt(struct pb_firmware *firmware, struct pb_core_node *node,
			 const struct pb_core_submission *submission);
/** Sends the event of a halt, if that is what this submission led to. */
void pb_core_staged_report_halt(struct pb_firmware *firmware, const struct pb_core_submission *submission);
/** Counts the patches of a submission that completes or is recalled. */
void pb_core_staged_count_patches(struct pb_firmware *firmware, const struct pb_core_submission *submission);
/**
 * Counts the time in which the engine had nothing to run while the submission was prepared, up to now.
 * @param idle_since card clock @return microseconds
 */
uint32_t pb_core_staged_count_starved(struct pb_core_staged *staged, uint32_t idle_since, uint32_t clock);

/** Whether a submission is staged. */
static inline bool pb_core_staged_any(const struct pb_core_staged *staged)
{
	return staged->kind != PB_CORE_STAGED_NONE;
}

/** Whether a submission is ready to be fed. */
static inline bool pb_core_staged_is_ready(const struct pb_core_staged *staged)
{
	return staged->kind == PB_CORE_STAGED_READY;
}

/** Whether a submission is staged that has failed, and may still be unsubmitted. */
static inline bool pb_core_staged_has_failed(const struct pb_core_staged *staged)
{
	return staged->kind == PB_CORE_STAGED_FAILED;
}

/** The staged submission is fed: nothing is staged any more. Pre: it was ready. */
static inline void pb_core_staged_feed(struct pb_core_staged *staged)
{
	staged->kind = PB_CORE_STAGED_NONE;
}

/** Yields once to a pending line, never twice in a row. @return whether the job yields now */
static inline bool pb_core_staged_yields(struct pb_core_staged *staged, bool pending)
{
	staged->yielded = !staged->yielded && pending;
	return staged->yielded;
}

#endif
