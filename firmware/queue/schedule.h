/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which queue of a node is admitted from next: the mechanism around the
 * policies of queue/policy.h. The owner of struct pb_core_schedule and of the
 * channels that are held on all nodes; main loop only.
 */
#ifndef PB_FIRMWARE_QUEUE_SCHEDULE_H
#define PB_FIRMWARE_QUEUE_SCHEDULE_H

#include "firmware/queue/policy.h"
#include "firmware/queue_record.h"

/** A member of a node's record. */
struct pb_core_schedule {
	const struct pb_core_policy *policy; /**< by the node's mode */
};

/** What holds submissions back on all nodes. */
struct pb_core_holds {
	uint32_t closing;  /**< mask of channels that are being closed */
	uint16_t draining; /**< mask of channels that are held until nothing of them is in flight */
	bool suspended;    /**< the whole card is suspended, or is about to be */
};

/** Nothing is ready, and the policy is the fair one. Once a node, at boot. */
void pb_core_schedule_init(struct pb_core_node *node);
/** Sets the policy. Pre: the node has no queues. @param mode enum pb_node_mode */
void pb_core_schedule_set_mode(struct pb_core_node *node, uint32_t mode);
/** The node's mode, enum pb_node_mode. */
uint32_t pb_core_schedule_mode(const struct pb_core_node *node);

/** Lists a queue behind the others of its channel. Pre: it is in no list and has descriptors to admit. */
void pb_core_schedule_list(struct pb_firmware *firmware, struct pb_core_queue *queue,
			   struct pb_core_node *node);
/**
 * Has a queue admitted from again, in front of the others of its channel, or behind them if its timeslice expired: a
 * submission of it was recalled. Nothing happens if it is in a list. Pre: it does not wait for another queue.
 */
void pb_core_schedule_return(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** The queue to admit from next; its timeslice has begun. @return NULL: none */
struct pb_core_queue *pb_core_schedule_next(struct pb_firmware *firmware, struct pb_core_node *node);
/** As pb_core_schedule_next(), of a node whose engine is busy: most often other queues are ready there. */
struct pb_core_queue *pb_core_schedule_choose(struct pb_firmware *firmware, struct pb_core_node *node);

/** Holds or releases a channel that is being closed, on all nodes. */
void pb_core_schedule_hold_channel(struct pb_firmware *firmware, uint32_t channel, bool held);
/** Holds or releases a channel that is drained, on all nodes. */
void pb_core_schedule_drain_channel(struct pb_firmware *firmware, uint32_t channel, bool held);
/** Holds or releases all channels on all nodes: the card is suspended. */
void pb_core_schedule_hold_all(struct pb_firmware *firmware, bool held);
/** Halts a channel on one node, or releases it. */
void pb_core_schedule_halt(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t channel,
			   bool halted);

/** Whether a channel is being closed. */
static inline bool pb_core_schedule_is_closing(const struct pb_core_holds *holds, uint32_t channel)
{
	return (holds->closing >> channel & 1u) != 0;
}

/** Whether others wait for the end of a channel's submissions: it is being closed, or drained. */
static inline bool pb_core_schedule_is_ending(const struct pb_core_holds *holds, uint32_t channel)
{
	return ((holds->closing | holds->draining) >> channel & 1u) != 0;
}

#endif
