/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The account that the fair policy keeps of each node. The owner of struct
 * pb_core_fair is queue/policy_fair.c, but for repay_us and repays: queue/repay.c;
 * queue/policy_fair_tick.c ages deficits.
 */
#ifndef PB_FIRMWARE_QUEUE_POLICY_FAIR_H
#define PB_FIRMWARE_QUEUE_POLICY_FAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/limits.h"
#include "patchbay/abi/channel.h"

struct pb_firmware;
struct pb_core_node;
struct pb_core_queue;

/** Of one priority. */
struct pb_core_fair_level {
	uint8_t serving; /**< the channel that is being served */
	uint16_t
		charged; /**< mask of channels charged since a tick found no debt of theirs: no other has one */
	uint32_t repay_us; /**< runtime that higher priorities must get before this one may go first again */
	int32_t deficit
		[PB_LIMIT_CHANNELS]; /**< by channel: microseconds that it may still use; below 0: has used too much */
};

/** A member of a node's record. */
struct pb_core_fair {
	uint32_t repays; /**< mask of priorities that have something to repay: no other has */
	struct pb_core_fair_level at[PB_PRIORITIES]; /**< by priority */
};

/** Whether a channel has used more than a round's share in advance: it gets nothing before its turn then. */
bool pb_core_fair_is_in_debt(const struct pb_firmware *firmware, const struct pb_core_node *node,
			     uint32_t priority, uint32_t channel);
/** Whether no other channel uses the node at the queue's priority, or waits for it. */
bool pb_core_fair_is_alone(struct pb_core_node *node, const struct pb_core_queue *queue);
/** At a tick: what channels owe that neither use the node nor wait for it is less by their share of the time, by weight. */
void pb_core_fair_tick(struct pb_firmware *firmware, struct pb_core_node *node);

#endif
