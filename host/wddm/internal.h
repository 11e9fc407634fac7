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

/** SegmentId of an entry of the kernel's allocation list. */
static inline uint32_t pb_wddm_segment(const struct pb_dxgk_allocationlist *entry)
{
	return (entry->Value & PB_DXGK_ALLOCATION_SEGMENT_MASK) >> PB_DXGK_ALLOCATION_SEGMENT_SHIFT;
}

#endif
