/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The watchdog of a node's engine: completions whose interrupt was lost, used-up
 * timeslices, hangs, and answers that do not come. This module has no state;
 * main loop only.
 */
#ifndef PB_FIRMWARE_ENGINE_WATCHDOG_H
#define PB_FIRMWARE_ENGINE_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct pb_firmware;
struct pb_core_node;
struct pb_core_queue;

/** Checks one node. Called at each tick. */
void pb_core_watchdog(struct pb_firmware *firmware, struct pb_core_node *node);
/**
 * Polls one node while the card boots: only READY answers the reset of the boot. An engine that does not answer is
 * power-cycled, then given up, each after the time for an answer. @return whether the node is RUNNING or DEAD
 */
bool pb_core_watchdog_boot(struct pb_firmware *firmware, struct pb_core_node *node);

/**
 * Time that a queue asks for a stop of its submissions, within the admin's limit for its channel.
 * @return microseconds; 0: it asks for nothing, or its channel closes
 */
uint32_t pb_core_watchdog_stop_limit(const struct pb_firmware *firmware, const struct pb_core_queue *queue);

#endif
