/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Preemption by the firmware's own choice: the policy of the node is asked, and
 * the engine is stopped. This module has no state; main loop only.
 */
#ifndef PB_FIRMWARE_ENGINE_PREEMPT_H
#define PB_FIRMWARE_ENGINE_PREEMPT_H

#include <stdbool.h>
#include <stdint.h>

struct pb_firmware;
struct pb_core_node;

/** Stops the engine if the staged submission is to go before what is in flight. Pre: one is ready, and the node is RUNNING. */
void pb_core_preempt_for_staged(struct pb_firmware *firmware, struct pb_core_node *node);
/**
 * Stops the engine if the timeslice of the queue at the ring head is used up. Called at each tick.
 * @param time runtime counter of the engine @return whether the engine was asked to stop
 */
bool pb_core_preempt_at_tick(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t time);
/** Returns the staged submission to its queue's ring, to be admitted again. Pre: one is staged, and it has not failed. */
void pb_core_preempt_return_staged(struct pb_firmware *firmware, struct pb_core_node *node);
/** Unsubmits the staged submission if a queue of a higher priority is ready. Pre: one is staged. */
void pb_core_preempt_staged(struct pb_firmware *firmware, struct pb_core_node *node);

#endif
