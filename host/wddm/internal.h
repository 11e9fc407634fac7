/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the files of the shim share and nobody else includes.
 */
#ifndef PB_HOST_WDDM_INTERNAL_H
#define PB_HOST_WDDM_INTERNAL_H

#include "host/internal.h"
#include "host/wddm/wddm.h"

/** Bytes of one slot's lists: allocations first. */
static inline uint32_t pb_wddm_slot_bytes(const struct pb_wddm_adapter *adapter)
{
	return adapter->config.allocations * (uint32_t)sizeof(struct pb_allocation) +
	       adapter->config.patches * (uint32_t)sizeof(struct pb_patch_location);
}

/** The submission at a position of the node's order. */
static inline struct pb_wddm_packet *pb_wddm_packet(struct pb_wddm_adapter *adapter,
						    struct pb_wddm_node *node, uint32_t position)
{
	return &node->packets[position & (adapter->config.queue_entries - 1)];
}

/** Marks a submission and its context as failed. */
void pb_wddm_fail(struct pb_wddm_packet *packet);
/** Reads the card's events: which submissions failed. */
void pb_wddm_take_events(struct pb_wddm_adapter *adapter);
/** The firmware is through with a submission. */
static inline void pb_wddm_release(struct pb_wddm_packet *packet)
{
	if (packet->slot != NULL)
		packet->slot->state = PB_WDDM_SLOT_FREE;
}

/** What the records say of a node. */
struct pb_wddm_look {
	uint32_t completed; /**< position behind the last one completed, or returned by a preemption */
	uint32_t done;      /**< position behind the last one completed */
	bool stopped; /**< the preemption is over: all before `completed` that is not done was returned */
};

/** Reads the records. */
enum pb_error pb_wddm_look_at(struct pb_wddm_adapter *adapter, struct pb_wddm_node *node,
			      struct pb_wddm_look *look);
/** All of `done` is reported: reports the preemption. @return whether it did */
bool pb_wddm_preempt_report(struct pb_wddm_adapter *adapter, uint32_t n, const struct pb_wddm_look *look);
/** Begins a preemption that is still to be begun, or answers it. @return whether there is news for the OS */
bool pb_wddm_preempt_go_on(struct pb_wddm_adapter *adapter, uint32_t n);

/** SegmentId of an entry of the kernel's allocation list. */
static inline uint32_t pb_wddm_segment(const struct pb_dxgk_allocationlist *entry)
{
	return (entry->Value & PB_DXGK_ALLOCATION_SEGMENT_MASK) >> PB_DXGK_ALLOCATION_SEGMENT_SHIFT;
}

#endif
