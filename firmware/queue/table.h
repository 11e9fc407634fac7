/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The table of all queues: which slots are free, which queue a handle names,
 * and where a queue stands in its life. The owner of struct pb_core_table and
 * of pb_core_queue.page, generation, channel, mask, quantum and identity; main
 * loop only.
 */
#ifndef PB_FIRMWARE_QUEUE_TABLE_H
#define PB_FIRMWARE_QUEUE_TABLE_H

#include "firmware/limits.h"
#include "firmware/queue/queue_machine.h"
#include "firmware/queue_record.h"
#include "patchbay/abi/errors.h"

struct pb_firmware;

/** Slots of a cell: a search for the queues of a channel passes over the cells in which the channel has none. At most 255. */
#define PB_CORE_CELL_SLOTS (2u * PB_SLICE_SEARCH)
/** Cells of the greatest table. */
#define PB_CORE_CELLS ((PB_LIMIT_QUEUES + PB_CORE_CELL_SLOTS - 1u) / PB_CORE_CELL_SLOTS)

/** The state of this module. */
struct pb_core_table {
	struct pb_core_queue *queues; /**< config->queues */
	uint32_t count;               /**< of them */
	uint16_t free;                /**< stack of free slots */
	/** Of each channel: stack of closing queues that are empty and not freed yet. */
	uint16_t drained[PB_LIMIT_CHANNELS];
	uint8_t cells[PB_LIMIT_CHANNELS][PB_CORE_CELLS]; /**< how many queues each channel has in each cell */
};

/** Claims the board's memory for queues; all of them are free. Once, at boot. */
void pb_core_table_init(struct pb_firmware *firmware);
/** What a queue is made of, checked by command/lifecycle.c. */
struct pb_core_queue_plan {
	struct pb_queue_page *page; /**< shared */
	uint32_t channel;           /**< index */
	uint32_t node;              /**< index */
	uint32_t entries;           /**< of the ring: a power of two, at most 256 */
	uint32_t priority;          /**< enum pb_priority */
	uint32_t quantum;           /**< in PB_CORE_QUANTUM_UNIT, 1..255 */
};

/** Opens a free slot as a queue. The other owners of its record reset their fields. Pre: the channel's quota has a queue for it. */
struct pb_core_queue *pb_core_table_open(struct pb_firmware *firmware, const struct pb_core_queue_plan *plan);
/** The queue of this channel that a handle names, open or faulted. @return NULL: there is none */
struct pb_core_queue *pb_core_table_find(struct pb_firmware *firmware, uint32_t channel, uint32_t handle);
/**
 * Finds the next queue of a channel that is open, faulted or closing, from a slot on, up to the next multiple of
 * PB_SLICE_SEARCH.
 * @param at the slot; set to where the search goes on: behind the queue, at that multiple, or from there on at the first slot
 *        of the next cell in which the channel has queues. The table's count if there is none
 * @return NULL: there is none up to that multiple
 */
struct pb_core_queue *pb_core_table_next(const struct pb_core_table *table, uint32_t channel, uint16_t *at);
/** The handle of a queue. */
uint32_t pb_core_table_handle(const struct pb_firmware *firmware, const struct pb_core_queue *queue);
/** Moves the queue's life on. Pre: the event is possible in its state. @return enum pb_core_queue_action */
/*@
  requires \valid(queue) && event < PB_CORE_QUEUE_EVENT_COUNT;
  requires create: event == PB_CORE_QUEUE_EVENT_CREATE ==> queue->identity / 64 == PB_CORE_QUEUE_FREE;
  requires fault: event == PB_CORE_QUEUE_EVENT_FAULT ==> queue->identity / 64 == PB_CORE_QUEUE_OPEN;
  requires close: event == PB_CORE_QUEUE_EVENT_CLOSE ==> queue->identity / 64 != PB_CORE_QUEUE_FREE;
  requires empty: event == PB_CORE_QUEUE_EVENT_EMPTY ==> queue->identity / 64 == PB_CORE_QUEUE_CLOSING;
  assigns queue->identity;
  ensures kept: queue->identity % 64 == \old(queue->identity) % 64;
  ensures opens: event == PB_CORE_QUEUE_EVENT_CREATE ==> queue->identity / 64 == PB_CORE_QUEUE_OPEN;
  ensures faults: event == PB_CORE_QUEUE_EVENT_FAULT ==> queue->identity / 64 == PB_CORE_QUEUE_FAULTED;
  ensures closes: event == PB_CORE_QUEUE_EVENT_CLOSE ==> queue->identity / 64 == PB_CORE_QUEUE_CLOSING;
  ensures frees: event == PB_CORE_QUEUE_EVENT_EMPTY ==> queue->identity / 64 == PB_CORE_QUEUE_FREE;
  ensures again: \result == PB_CORE_QUEUE_ACTION_NOTHING <==>
    \old(queue->identity) / 64 == PB_CORE_QUEUE_CLOSING && event == PB_CORE_QUEUE_EVENT_CLOSE;
*/
uint32_t pb_core_table_step(struct pb_core_queue *queue, enum pb_core_queue_event event);
/** A closing queue is empty: it is put on its channel's stack of drained queues, to be settled. */
void pb_core_table_drain(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Claims a drained queue of a channel. @return NULL: there is none */
struct pb_core_queue *pb_core_table_claim_drained(struct pb_firmware *firmware, uint32_t channel);
/** Frees a closing queue: its slot may be given out again. Pre: it is in no list, and no queue waits for it. */
void pb_core_table_free(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Keeps that a QUEUE_DESTROY waits for its reply. @param tag of the command */
void pb_core_table_defer_reply(struct pb_core_queue *queue, uint32_t tag);
/** No reply is due when the queue is freed: its host has left. */
void pb_core_table_forget_reply(struct pb_core_queue *queue);

/** Whether a QUEUE_DESTROY of the queue waits for its reply. */
static inline bool pb_core_table_reply_is_due(const struct pb_core_queue *queue)
{
	return (queue->identity & PB_CORE_QUEUE_REPLY_DEFERRED) != 0;
}

/** Whether the queue is open or faulted. */
static inline bool pb_core_table_is_alive(const struct pb_core_queue *queue)
{
	return pb_core_queue_state(queue) - PB_CORE_QUEUE_OPEN <= PB_CORE_QUEUE_FAULTED - PB_CORE_QUEUE_OPEN;
}

/** Whether the queue is closing. */
static inline bool pb_core_table_is_closing(const struct pb_core_queue *queue)
{
	return pb_core_queue_state(queue) == PB_CORE_QUEUE_CLOSING;
}

/** Index of a queue in the table. */
static inline uint16_t pb_core_table_index(const struct pb_core_table *table,
					   const struct pb_core_queue *queue)
{
	return (uint16_t)(queue - table->queues);
}

#endif
