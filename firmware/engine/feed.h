/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Feeding: submissions go into the engine's ring. One that failed is fed empty,
 * so that its fence completes in order. This module has no state; main loop only.
 */
#ifndef PB_FIRMWARE_ENGINE_FEED_H
#define PB_FIRMWARE_ENGINE_FEED_H

#include <stdint.h>

struct pb_firmware;
struct pb_core_node;
struct pb_core_submission;

/** Feeds the staged submission. Pre: it is ready, the node is RUNNING and has room. @param submission the node's next */
void pb_core_feed(struct pb_firmware *firmware, struct pb_core_node *node,
		  struct pb_core_submission *submission);
/** Feeds the next submission, which is not staged: it has no patches and has not begun. Pre: the node is RUNNING and has room. */
void pb_core_feed_at_once(struct pb_firmware *firmware, struct pb_core_node *node);
/** Feeds a submission that is in flight once more. Pre: the engine's ring does not hold it. */
void pb_core_feed_again(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t sequence);

#endif
