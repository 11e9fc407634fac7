/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Declarations that the files of the WDDM shim share. Not a public header.
 */
#ifndef PB_HOST_WDDM_INTERNAL_H
#define PB_HOST_WDDM_INTERNAL_H

#include "host/internal.h"
#include "patchbay/wddm/wddm.h"

/** Returns the bytes of one slot's lists: the allocation list, then the patch list. */
static inline uint32_t pb_wddm_slot_bytes(const struct pb_wddm_adapter *adapter)
{
	return adapter->config.allocations * (uint32_t)sizeof(struct pb_allocation) +
	       adapter->config.patches * (uint32_t)sizeof(struct pb_patch_location);
}

/** Returns the submission of a number: position in the node's order, modulo 2^32. */
static inline struct pb_wddm_packet *pb_wddm_packet(struct pb_wddm_adapter *adapter,
						    struct pb_wddm_node *node, uint32_t position)
{
	return &node->packets[position & (adapter->config.queue_entries - 1)];
}

/** Marks a submission and its context as failed. */
void pb_wddm_fail(struct pb_wddm_packet *packet);
/** Consumes the card's events and marks the submissions that they report as failed. */
void pb_wddm_read_events(struct pb_wddm_adapter *adapter);
/** Frees the lists of a submission that the firmware has finished. */
static inline void pb_wddm_release(struct pb_wddm_packet *packet)
{
	if (packet->slot != NULL)
		packet->slot->state = PB_WDDM_SLOT_FREE;
}

/** Progress of a node, read from the card's records. */
struct pb_wddm_position {
	uint32_t completed; /**< number behind the last submission completed, or returned by a preemption */
	uint32_t done;      /**< number behind the last submission completed */
	bool stopped; /**< the preemption is over: submissions from `done` to `completed` were returned */
};

/** Reads the records of a node's queue. Never blocks for long: see pb_queue_fence(). */
enum pb_error pb_wddm_read_position(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node,
				    struct pb_wddm_position *position);
/** Whether the firmware has refused a preemption for want of a free stop request: it may be asked for again. */
static inline bool pb_wddm_is_refusal(enum pb_error error)
{
	return error == PB_ERROR_NO_SPACE || error == PB_ERROR_NO_QUOTA;
}

/** Reports a preemption that is over, once all of `done` is reported. @return true: the OS was notified */
bool pb_wddm_preempt_report(struct pb_wddm_adapter *adapter, uint32_t n,
			    const struct pb_wddm_position *position);
/** Begins a pending preemption, or answers it if no submission is in flight. @return true: the OS was notified */
bool pb_wddm_preempt_advance(struct pb_wddm_adapter *adapter, uint32_t n);

/** Returns the SegmentId of an entry of the kernel's allocation list. */
static inline uint32_t pb_wddm_segment(const struct pb_dxgk_allocationlist *entry)
{
	return (entry->Value & PB_DXGK_ALLOCATION_SEGMENT_MASK) >> PB_DXGK_ALLOCATION_SEGMENT_SHIFT;
}

#endif
