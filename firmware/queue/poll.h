/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Polling of a queue's put index. Main loop only; this module has no state.
 */
#ifndef PB_FIRMWARE_QUEUE_POLL_H
#define PB_FIRMWARE_QUEUE_POLL_H

#include <stdint.h>

struct pb_firmware;
struct pb_core_queue;

/**
 * Reads the put index of the queue that a kick names, and has the queue admitted from if it holds new descriptors. A put
 * index that moved back or beyond the ring faults the queue. A handle that names no queue of the channel is reported by an
 * event. Each submission comes by here.
 */
void pb_core_poll_kicked(struct pb_firmware *firmware, uint32_t channel, uint32_t handle);
/** Polls a queue without a kick; no effect if the queue is free or closing. Compiled for size. */
void pb_core_poll_queue(struct pb_firmware *firmware, struct pb_core_queue *queue);
/** Polls a queue after a stop request or a suspension has ended; a faulted one goes on with what it had. */
void pb_core_poll_again(struct pb_firmware *firmware, struct pb_core_queue *queue);

#endif
