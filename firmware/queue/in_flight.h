/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The submissions of a node that are in flight, by the sequence numbers that
 * its engine reports, how many there are of each priority and channel, and the
 * slot of the next one. The owner of struct pb_core_in_flight; main loop only. A
 * submission itself is written by the step that has it: prepare/ until it is
 * fed, then engine/.
 */
#ifndef PB_FIRMWARE_QUEUE_IN_FLIGHT_H
#define PB_FIRMWARE_QUEUE_IN_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/limits.h"
#include "firmware/queue_record.h"
#include "hal/engine.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"

/** An admitted submission: all that is needed to feed it, to feed it again, and to retire it. */
struct pb_core_submission {
	struct pb_engine_submission engine; /**< as the engine gets it */
	uint32_t fence_id;                  /**< of its descriptor */
	uint32_t timeline_low;              /**< its timeline value */
	uint32_t timeline_high;             /**< its timeline value */
	uint32_t status;                    /**< enum pb_error; OK while nothing went wrong */
	uint32_t patches;                   /**< entries carried out for it */
	struct pb_core_queue *queue;        /**< whose it is */
	uint16_t context;                   /**< index, PB_CORE_CONTEXT_NONE or PB_CORE_CONTEXT_PAGING */
	bool protected; /**< from preemption for a higher priority: it was fed because its priority starved */
	bool resumes;   /**< it continues from the progress that its queue's page has saved */
	uint32_t index; /**< with a status other than OK: the list entry that is wrong, or PB_INDEX_NONE */
	uint32_t detail;   /**< with a status other than OK: engine fault code, or 0 */
	uint32_t doorbell; /**< card clock at its doorbell in microseconds; 0: not measured */
	uint32_t fed;      /**< card clock in microseconds when its engine was last given it */
	uint32_t unused;   /**< makes it 64 bytes on a 32-bit MCU, so that its address is a shift */
};

/** Submissions of a node: those in flight and the next one. A power of two. */
#define PB_CORE_SUBMISSIONS (PB_LIMIT_IN_FLIGHT + 1u)

/** Pairs of a priority and a channel, with room so that the index of one takes no multiplication. */
#define PB_CORE_FLOWS (PB_PRIORITIES * 16u)

/** A member of a node's record. */
struct pb_core_in_flight {
	uint32_t fed;        /**< sequence number of the last submission fed since the engine's reset */
	uint32_t retired;    /**< sequence number of the last submission retired */
	uint32_t priorities; /**< mask of priorities that have some in flight */
	uint16_t channels[PB_PRIORITIES]; /**< by priority: mask of channels that have some in flight */
	uint8_t counts[PB_CORE_FLOWS];    /**< how many are in flight, by pb_core_in_flight_flow() */
	struct pb_core_submission at[PB_CORE_SUBMISSIONS]; /**< by sequence number modulo their count */
};

/** The submission with a sequence number: one in flight, or with the number behind the last, the next one. */
static inline struct pb_core_submission *pb_core_in_flight_at(struct pb_core_in_flight *flight,
							      uint32_t sequence)
{
	return &flight->at[sequence % PB_CORE_SUBMISSIONS];
}

/** The slot of the next submission. */
static inline struct pb_core_submission *pb_core_in_flight_next(struct pb_core_in_flight *flight)
{
	return pb_core_in_flight_at(flight, flight->fed + 1u);
}

/** The first submission in the engine's ring. Pre: there is one. */
static inline struct pb_core_submission *pb_core_in_flight_head(struct pb_core_in_flight *flight)
{
	return pb_core_in_flight_at(flight, flight->retired + 1u);
}

/** How many submissions are fed and not retired. */
static inline uint32_t pb_core_in_flight_count(const struct pb_core_in_flight *flight)
{
	return flight->fed - flight->retired;
}

/** Whether nothing is in flight. */
static inline bool pb_core_in_flight_is_empty(const struct pb_core_in_flight *flight)
{
	return flight->fed == flight->retired;
}

/** Whether a sequence number that an engine reports is one that it was fed. Nothing else may be believed. */
static inline bool pb_core_in_flight_holds(const struct pb_core_in_flight *flight, uint32_t sequence)
{
	return sequence - flight->retired <= flight->fed - flight->retired;
}

/** Counts the next submission as fed. @return its sequence number */
static inline uint32_t pb_core_in_flight_feed(struct pb_core_in_flight *flight)
{
	return ++flight->fed;
}

/** Index of a queue's priority and channel in pb_core_in_flight.counts. */
static inline uint32_t pb_core_in_flight_flow(const struct pb_core_queue *queue)
{
	/* The priority, in place, is four times its number. */
	return (queue->identity & 7u << PB_CORE_QUEUE_PRIORITY_SHIFT) * 4u + queue->channel;
}

/** The first submission of a priority and channel is in flight. */
static inline void pb_core_in_flight_begin(struct pb_core_in_flight *flight, uint32_t priority,
					   uint32_t channel)
{
	flight->channels[priority] |= (uint16_t)(1u << channel);
	flight->priorities |= 1u << priority;
}

/** The last submission of a priority and channel is not in flight any more. */
static inline void pb_core_in_flight_end(struct pb_core_in_flight *flight, uint32_t priority,
					 uint32_t channel)
{
	flight->channels[priority] &= (uint16_t) ~(1u << channel);
	if (flight->channels[priority] == 0)
		flight->priorities &= ~(1u << priority);
}

/** Adds a submission that was fed to the counts. Once for each that is fed. */
static inline void pb_core_in_flight_enter(struct pb_core_in_flight *flight,
					   const struct pb_core_queue *queue)
{
	if (flight->counts[pb_core_in_flight_flow(queue)]++ == 0)
		pb_core_in_flight_begin(flight, pb_core_queue_priority(queue), queue->channel);
}

/** Removes a retired submission from the counts. Once for each that is retired, before a decision reads the counts. */
static inline void pb_core_in_flight_leave(struct pb_core_in_flight *flight,
					   const struct pb_core_queue *queue)
{
	if (--flight->counts[pb_core_in_flight_flow(queue)] == 0)
		pb_core_in_flight_end(flight, pb_core_queue_priority(queue), queue->channel);
}

/** Whether a submission of a lower priority is in flight. */
static inline bool pb_core_in_flight_has_lower(const struct pb_core_in_flight *flight, uint32_t priority)
{
	return (flight->priorities & ((1u << priority) - 1u)) != 0;
}

/** Retires the first submission in the engine's ring. Its slot stays as it is until the next one is admitted. */
static inline struct pb_core_submission *pb_core_in_flight_retire(struct pb_core_in_flight *flight)
{
	return pb_core_in_flight_at(flight, ++flight->retired);
}

/** The engine counts from 1 again: nothing is in flight. Slots and counts stay; pb_core_in_flight_recount() follows. */
static inline void pb_core_in_flight_restart(struct pb_core_in_flight *flight)
{
	flight->fed = 0;
	flight->retired = 0;
}

/** Counts anew what is in flight by priority and channel, from the slots. */
void pb_core_in_flight_recount(struct pb_core_in_flight *flight);

/** The first submission of a queue that is in flight. @return its position from the ring's head, from 1 on, or 0 */
uint32_t pb_core_in_flight_first_of(struct pb_core_in_flight *flight, const struct pb_core_queue *queue);

/** The timeline value of the last submission of a queue that is in flight, or else of the last one completed. */
uint64_t pb_core_in_flight_timeline(struct pb_core_in_flight *flight, const struct pb_core_queue *queue);

/** A submission will not be executed; its fence completes in order with this error. */
static inline void pb_core_submission_fail(struct pb_core_submission *submission, enum pb_error error,
					   uint32_t index, uint32_t detail)
{
	submission->status = error;
	submission->index = index;
	submission->detail = detail;
	submission->engine.bytes = 0;
}

#endif
