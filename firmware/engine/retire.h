/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Retirement: the engine is polled, and what it reports is completed, by its
 * position in the node's order. The report is the firmware's own sequence
 * number; fence ids come from private memory. This module has no state; main
 * loop only.
 */
#ifndef PB_FIRMWARE_ENGINE_RETIRE_H
#define PB_FIRMWARE_ENGINE_RETIRE_H

#include <stdbool.h>

struct pb_firmware;
struct pb_core_node;

/** Polls the node's engine: completes what it has finished, and deals with its faults and answers. */
void pb_core_retire(struct pb_firmware *firmware, struct pb_core_node *node);
/** Fails the next submission of a dead node. @return false: there is none */
bool pb_core_retire_dead(struct pb_firmware *firmware, struct pb_core_node *node);

#endif
