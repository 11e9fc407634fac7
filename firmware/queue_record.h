/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The private record of one queue. A card may have thousands, so that it is
 * packed into PB_FIRMWARE_QUEUE_BYTES. Each field has one owner, named in front
 * of its group: no other file writes it.
 */
#ifndef PB_FIRMWARE_QUEUE_RECORD_H
#define PB_FIRMWARE_QUEUE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/submission.h"

/** "No queue" in a list of queues. */
#define PB_CORE_NO_QUEUE 0xffffu

/** Unit of pb_core_queue.quantum, in microseconds. */
#define PB_CORE_QUANTUM_UNIT 256u

/** One queue. Descriptors admitted so far: completed + in_flight. */
struct pb_core_queue {
	/* Bytes come first: Thumb instructions for bytes have short offsets. */

	/* Four bytes that one load reads; bit 7 of each asks for the slow path when a submission completes. */
	uint8_t identity; /**< queue/table.c: node, priority, state */
	uint8_t stop;     /**< command/stop.c: PB_CORE_QUEUE_STOPPING and others */
	uint8_t links;    /**< queue/links.c: PB_CORE_QUEUE_AWAITED and others, enum pb_core_place */
	uint8_t prepared; /**< queue/ring.c: what is known of the submissions to be admitted next */

	/* queue/table.c */
	uint8_t channel; /**< index of its owner */
	uint8_t mask;    /**< ring entries - 1 */
	uint8_t quantum; /**< length of its timeslice, in PB_CORE_QUANTUM_UNIT of engine time */

	/* queue/ring.c */
	uint8_t in_flight; /**< submissions admitted and not retired */

	/* queue/table.c */
	struct pb_queue_page *page; /**< shared; the descriptor ring is right behind it */

	/* queue/ring.c */
	uint32_t put;      /**< the last put index that was read and accepted */
	uint64_t timeline; /**< timeline value of the last descriptor accepted */
	uint64_t reached;  /**< timeline value of the last submission completed */

	/* channel/fence_record.c */
	uint64_t
		error_timeline; /**< of the first submission that failed since the error was cleared; all ones: none */

	/* queue/wait.c; while the queue closes: queue/table.c */
	uint64_t
		awaited; /**< the timeline value that it waits for; of a closing queue the tag of its QUEUE_DESTROY */

	/* queue/ring.c */
	uint32_t completed; /**< descriptors completed or returned */

	/* queue/links.c */
	uint16_t next; /**< in the list that it stands in, if any */
	uint16_t prev; /**< in the list that it stands in, if any */
	uint16_t
		waiters; /**< first of the ring of queues that wait for this one and need not be checked, or PB_CORE_NO_QUEUE */

	/* queue/table.c */
	uint16_t generation; /**< how often the slot was given out, 1..65535 */

	/* queue/wait.c */
	uint16_t awaits; /**< index of the queue that it waits for */

	/* channel/fence_record.c */
	uint16_t
		changes; /**< of the fence record, other than completions; bit 0: the record shows an error */
};

/*
 * pb_core_queue.identity:
 *
 *    7 6     5   4      2 1    0
 *  +-------+---+----------+------+
 *  | state | R | priority | node |   R: a QUEUE_DESTROY waits for its reply
 *  +-------+---+----------+------+
 */
#define PB_CORE_QUEUE_STATE_SHIFT    6u
#define PB_CORE_QUEUE_REPLY_DEFERRED 0x20u
#define PB_CORE_QUEUE_PRIORITY_SHIFT 2u

/* pb_core_queue.stop: what a PREEMPT, SUSPEND or RESET has asked of the queue. */
#define PB_CORE_QUEUE_STOPPING  0x80u /**< a stop request is under way: it is in the table of stop requests */
#define PB_CORE_QUEUE_DRAINING  0x40u /**< the SUSPEND lets what is before its cutoff complete */
#define PB_CORE_QUEUE_SUSPENDED 0x01u /**< nothing of it is admitted until RESUME */

/* pb_core_queue.links */
#define PB_CORE_QUEUE_AWAITED 0x80u /**< other queues wait for it that need not be checked: `waiters` */
#define PB_CORE_QUEUE_WAKES   0x40u /**< waiters of it stand in their channel's ring of waiters to check */
#define PB_CORE_QUEUE_AGAIN   0x20u /**< then its other waiters are to be checked, too */
#define PB_CORE_QUEUE_SUSPECT 0x10u /**< it waits, and may have closed a cycle: a search is to begin */
#define PB_CORE_QUEUE_PASSED  0x08u /**< it has waited without a break since a search for a cycle passed it */
#define PB_CORE_QUEUE_NEXT    0x04u /**< that search is one of the next in its channel */
#define PB_CORE_QUEUE_PLACE   0x03u /**< enum pb_core_place */

/** The list in which a queue stands; `next` and `prev` belong to that list. */
enum pb_core_place {
	PB_CORE_PLACE_NONE = 0,    /**< in none: it has nothing to admit, or may not */
	PB_CORE_PLACE_LISTED = 1,  /**< in the ready list of its channel and priority */
	PB_CORE_PLACE_CURRENT = 2, /**< in none: it has the timeslice of its node */
	PB_CORE_PLACE_WAITING =
		3, /**< in the ring of waiters of the queue that it waits for, or in its channel's to check */
};

/* pb_core_queue.prepared */
#define PB_CORE_QUEUE_STARTED                                                                                \
	0x40u /**< its first submission has begun: its progress is in the queue's page */
#define PB_CORE_QUEUE_DEADLOCK 0x20u /**< its first submission closed a cycle of waits, and is to fail */
#define PB_CORE_QUEUE_PREPARED                                                                               \
	0x1fu /**< of those to be admitted next, so many are patched: they were recalled */

/* pb_core_queue.changes */
#define PB_CORE_QUEUE_ERROR_SHOWN 1u      /**< the fence record shows an error */
#define PB_CORE_QUEUE_CHANGES     0xfffeu /**< twice their number, as the record's sequence number counts */

/** The slow path of completion is taken if any of these bits is set in the first four bytes. */
#define PB_CORE_QUEUE_SPECIAL 0x80808080u

/*@
  requires \valid_read(queue);
  assigns \nothing;
  ensures \result == queue->identity / 64;
*/
static inline uint32_t pb_core_queue_state(const struct pb_core_queue *queue)
{
	return queue->identity >> PB_CORE_QUEUE_STATE_SHIFT;
}

/** Index of the queue's node. */
/*@
  requires \valid_read(queue);
  assigns \nothing;
  ensures \result == queue->identity % 4;
*/
static inline uint32_t pb_core_queue_node(const struct pb_core_queue *queue)
{
	return queue->identity & 3u;
}

/** The queue's priority, enum pb_priority. */
/*@
  requires \valid_read(queue);
  assigns \nothing;
  ensures \result == queue->identity / 4 % 8;
*/
static inline uint32_t pb_core_queue_priority(const struct pb_core_queue *queue)
{
	return queue->identity >> PB_CORE_QUEUE_PRIORITY_SHIFT & 7u;
}

/** The list in which the queue stands, enum pb_core_place. */
/*@
  requires \valid_read(queue);
  assigns \nothing;
  ensures \result == queue->links % 4;
*/
static inline uint32_t pb_core_queue_place(const struct pb_core_queue *queue)
{
	return queue->links & PB_CORE_QUEUE_PLACE;
}

/** Whether a stop request of the queue is under way. */
static inline bool pb_core_queue_is_stopping(const struct pb_core_queue *queue)
{
	return (queue->stop & PB_CORE_QUEUE_STOPPING) != 0;
}

/** Whether a submission of the queue that completes takes the slow path: the queue closes, faulted, is awaited or stops. */
static inline bool pb_core_queue_is_special(const struct pb_core_queue *queue)
{
	/* Side by side in the record, so that one load reads all four. */
	const uint32_t bytes = queue->identity | (uint32_t)queue->stop << 8 | (uint32_t)queue->links << 16 |
			       (uint32_t)queue->prepared << 24;

	return (bytes & PB_CORE_QUEUE_SPECIAL) != 0;
}

#endif
