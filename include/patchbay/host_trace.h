/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a host did, and when: the library notes submissions, interrupts and completions seen in memory that its user
 * provides; a program marks the ends of its frames there. Off unless a link's `trace` is set. On links of Linux processes (pb_link_open() and the functions that it
 * calls) the environment variable PATCHBAY_TRACE_HOST=FILE sets it, and the events are appended to FILE when the link is
 * closed, for `patchbay trace import`.
 */
#ifndef PB_HOST_HOST_TRACE_H
#define PB_HOST_HOST_TRACE_H

#include <stdint.h>

#include "patchbay/abi/errors.h"
#include "patchbay/lock.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pb_link;

/** Kinds of events. */
enum pb_host_event_kind {
	PB_HOST_SUBMITTED = 1, /**< a descriptor was written */
	PB_HOST_INTERRUPT = 2, /**< a wait of the library ended by an interrupt of the channel */
	PB_HOST_SEEN = 3,      /**< a higher consumer index was read */
	PB_HOST_FRAME = 4,     /**< the program has ended a frame: pb_host_trace_frame() */
};

/** One event. */
struct pb_host_event {
	uint64_t
		time_us; /**< clock of the link; of SUBMITTED: before the firmware could see the descriptor */
	uint64_t value;  /**< of SUBMITTED: the timeline value; else 0 */
	uint32_t kind;   /**< enum pb_host_event_kind */
	uint32_t queue;  /**< handle of the queue; of INTERRUPT and FRAME 0 */
	uint32_t node;   /**< node of the queue; of INTERRUPT and FRAME 0 */
	/** Of SUBMITTED the descriptor's, from 0; of SEEN the consumer index; of FRAME its number, from 1; modulo 2^32. */
	uint32_t index;
	uint32_t fence_id; /**< of SUBMITTED: SubmissionFenceId; else 0 */
	uint32_t reserved; /**< 0 */
};

/** A ring of events: the newest overwrite the oldest. The caller owns it and its array; only the library writes them. */
struct pb_host_trace {
	struct pb_host_event *events; /**< `entries` of them */
	uint32_t entries;             /**< room of the array: a power of two */
	uint32_t put;                 /**< events noted, modulo 2^32 */
	uint32_t get;                 /**< events read or lost, modulo 2^32 */
	uint64_t lost;                /**< events overwritten before they were read */
	uint32_t frames;              /**< frames that ended, modulo 2^32 */
	struct pb_lock *lock; /**< short lock of all fields; NULL: one thread uses links with this ring */
};

/**
 * Prepares a ring. Set the `trace` of a link to it afterwards, and to NULL before the ring's memory is reused.
 * Threads: none.
 * @param events array of `entries` events, a power of two
 * @param lock as the field
 * @return PB_ERROR_OK or PB_ERROR_BAD_ARGUMENT
 */
enum pb_error pb_host_trace_begin(struct pb_host_trace *trace, struct pb_host_event *events, uint32_t entries,
				  struct pb_lock *lock);
/**
 * Notes an event, as the library does. Never blocks but for the ring's lock.
 * Threads: none; interrupt.
 * @param event copied
 */
void pb_host_trace_add(struct pb_host_trace *trace, const struct pb_host_event *event);
/**
 * Marks the end of a frame of the program, for timelines: all that was submitted since the last call is of that frame. Does
 * nothing on a link without a ring. Never blocks but for the ring's lock.
 * Threads: none; interrupt.
 * @param link on which the program submits; its clock gives the time
 */
void pb_host_trace_frame(struct pb_link *link);
/**
 * Reads the oldest events that were not read yet, and removes them.
 * Threads: none; interrupt.
 * @param events out @param max room of `events`
 * @return number of events read
 */
uint32_t pb_host_trace_read(struct pb_host_trace *trace, struct pb_host_event *events, uint32_t max);

#ifdef __cplusplus
}
#endif

#endif
