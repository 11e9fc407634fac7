/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The private state of one queue, and the words that it is packed into: there
 * may be thousands.
 */
#ifndef PB_FIRMWARE_QUEUE_STATE_H
#define PB_FIRMWARE_QUEUE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/abi/submission.h"
#include "firmware/machine.h"

/** Where a queue stands with its node. `next` and `prev` belong to the list it is in, if any. */
enum pb_core_place {
	PB_CORE_PLACE_NONE = 0,    /**< nothing to admit, or it may not be */
	PB_CORE_PLACE_LISTED = 1,  /**< in its flow's list */
	PB_CORE_PLACE_CURRENT = 2, /**< it has its turn */
	PB_CORE_PLACE_WAITING = 3, /**< in the list of a queue that it waits for */
};

/* struct pb_core_queue.flags. Those of the first group make it more than ordinary to complete its work. */
#define PB_CORE_QUEUE_STOPPING                                                                               \
	0x01u /**< a PREEMPT, SUSPEND or RESET is under way: it is in pb_firmware.stops */
#define PB_CORE_QUEUE_AWAITED     0x02u /**< others wait for it */
#define PB_CORE_QUEUE_DRAINING    0x04u /**< the SUSPEND lets what is before its cutoff complete */
#define PB_CORE_QUEUE_CLOSING_IT  0x08u /**< its state is CLOSING */
#define PB_CORE_QUEUE_SPECIAL     0x0fu
#define PB_CORE_QUEUE_SUSPENDED   0x10u
#define PB_CORE_QUEUE_STARTED     0x20u /**< its first submission had begun: its progress is in the page */
#define PB_CORE_QUEUE_ERROR_SHOWN 0x40u /**< the record holds a first error */
#define PB_CORE_QUEUE_REPLY_OWED  0x80u /**< a QUEUE_DESTROY waits for its reply */

/** Unit of pb_core_queue.quantum, in microseconds. */
#define PB_CORE_QUANTUM_UNIT 256u

/** PB_FIRMWARE_QUEUE_BYTES. Descriptors admitted = completed + busy. */
struct pb_core_queue {
	struct pb_queue_page *page; /**< shared; the ring is right behind it */
	uint32_t put;               /**< the last that the host showed */
	uint64_t timeline;          /**< of the last descriptor accepted */
	uint64_t reached;           /**< of the last one completed */
	uint64_t
		error_timeline; /**< of the first one that failed since the error was cleared; all ones: none */
	uint64_t awaited;       /**< WAITING: the value; CLOSING: the tag of the QUEUE_DESTROY */
	uint32_t completed;     /**< descriptors completed or returned */
	uint16_t next;
	uint16_t prev;
	uint16_t waiters; /**< first of the queues that wait for this one */
	uint16_t generation;
	uint16_t awaits;  /**< WAITING: the queue that it waits for */
	uint16_t changes; /**< of the fence record, beside completions */
	uint8_t channel;
	uint8_t node;
	uint8_t mask;    /**< entries - 1 */
	uint8_t quantum; /**< in PB_CORE_QUANTUM_UNIT of engine time */
	uint8_t busy;    /**< submissions admitted and not retired */
	uint8_t patched; /**< of those to be admitted next, so many are patched: they were withdrawn */
	uint8_t flags;   /**< PB_CORE_QUEUE_* */
	uint8_t state;   /**< enum pb_core_queue_state, enum pb_core_place, enum pb_priority: see below */
};

/*
 * pb_core_queue.state:
 *
 *   7 6   4 3   2 1     0
 *  +-+-----+-----+-------+
 *  |W|level|place| state |   W: its waiters are to be looked at
 *  +-+-----+-----+-------+
 */
#define PB_CORE_QUEUE_WAKES 0x80u

/*@
  requires \valid_read(queue);
  assigns \nothing;
  ensures \result == queue->state % 4;
*/
static inline uint32_t pb_core_queue_state(const struct pb_core_queue *queue)
{
	return queue->state & 3u;
}

/*@
  requires \valid_read(queue);
  assigns \nothing;
  ensures \result == queue->state / 4 % 4;
*/
static inline uint32_t pb_core_queue_place(const struct pb_core_queue *queue)
{
	return queue->state >> 2 & 3u;
}

/*@
  requires \valid(queue) && state < PB_CORE_QUEUE_STATE_COUNT;
  assigns queue->state;
  ensures queue->state % 4 == state && queue->state / 4 == \old(queue->state) / 4;
*/
static inline void pb_core_queue_set_state(struct pb_core_queue *queue, enum pb_core_queue_state state)
{
	queue->state = (uint8_t)((queue->state & ~3u) | state);
}

/*@
  requires \valid(queue) && place <= PB_CORE_PLACE_WAITING;
  assigns queue->state;
  ensures queue->state / 4 % 4 == place;
  ensures queue->state % 4 == \old(queue->state) % 4 && queue->state / 16 == \old(queue->state) / 16;
*/
static inline void pb_core_queue_set_place(struct pb_core_queue *queue, enum pb_core_place place)
{
	queue->state = (uint8_t)((queue->state & ~0xcu) | (uint32_t)place << 2);
}

/*@
  predicate pb_core_ring_holds(struct pb_core_queue *queue) =
    queue->busy <= (uint32_t)(queue->put - queue->completed) <= queue->mask + 1;
*/

/** Whether it has descriptors that have not been admitted. */
/*@
  requires \valid_read(queue);
  assigns \nothing;
  ensures \result <==> (uint32_t)(queue->put - queue->completed) != queue->busy;
*/
static inline bool pb_core_queue_has_more(const struct pb_core_queue *queue)
{
	return queue->put != queue->completed + queue->busy;
}

/**
 * Whether an index that its host shows does not move forward, or goes further than one ring beyond what was completed.
 */
/*@
  requires \valid_read(queue) && pb_core_ring_holds(queue);
  assigns \nothing;
  ensures forward: \result <==> (uint32_t)(put - queue->put) >
    queue->mask + 1 - (uint32_t)(queue->put - queue->completed);
  ensures still_holds: !\result ==> queue->busy <= (uint32_t)(put - queue->completed) <= queue->mask + 1;
*/
static inline bool pb_core_queue_put_is_bad(const struct pb_core_queue *queue, uint32_t put)
{
	return put - queue->put > queue->mask + 1u - (queue->put - queue->completed);
}

/*@
  requires \valid_read(queue);
  assigns \nothing;
  ensures \result == queue->state / 16 % 8;
*/
static inline uint32_t pb_core_queue_level(const struct pb_core_queue *queue)
{
	return queue->state >> 4 & 7u;
}

#endif
