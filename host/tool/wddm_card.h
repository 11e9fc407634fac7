/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A card for a WDDM kernel: the OS orders the work of its nodes, and finds hangs.
 */
#ifndef PB_HOST_TOOL_WDDM_CARD_H
#define PB_HOST_TOOL_WDDM_CARD_H

#include "patchbay/patchbay.h"

/** Host address of the host memory that pb_wddm_take_card() grants, where a card reaches any. */
#define PB_WDDM_HOST_ADDRESS UINT64_C(0x180000000)

/**
 * Sets the first nodes to host order, lets the firmware leave hangs to the OS, and grants the link's channel all host
 * memory that the card reaches, at PB_WDDM_HOST_ADDRESS. Takes the admin channel over for this: the card must be the
 * caller's own. Blocks.
 * @param link open, not attached
 * @param nodes how many
 */
enum pb_error pb_wddm_take_card(struct pb_link *link, uint32_t nodes);
/**
 * Creates segment 0 in the host memory that pb_wddm_take_card() granted; it is named by host addresses. In card memory,
 * as `request` says, if the card reaches no host memory, or too little.
 * @param host_memory the granted memory, where this process has it; NULL: it is a part of the link's memory
 */
enum pb_error pb_wddm_create_system(struct pb_segment *segment, struct pb_channel *channel,
				    uint8_t *host_memory, const struct pb_segment_request *request);

#endif
