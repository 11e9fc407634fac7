/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A card for a WDDM kernel: the OS orders the work of its nodes, and finds hangs.
 */
#ifndef PB_HOST_TOOL_WDDM_CARD_H
#define PB_HOST_TOOL_WDDM_CARD_H

#include "patchbay/patchbay.h"

/**
 * Sets the first nodes to host order, and lets the firmware leave hangs to the OS. Takes the admin channel over for
 * this: the card must be the caller's own. Blocks.
 * @param link open, not attached
 * @param nodes how many
 */
enum pb_error pb_wddm_order_nodes(struct pb_link *link, uint32_t nodes);

#endif
