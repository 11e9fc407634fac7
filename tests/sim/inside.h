/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a check reads of the firmware's private state, which no host can see.
 */
#ifndef PB_TESTS_SIM_INSIDE_H
#define PB_TESTS_SIM_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

struct pb_firmware;

/** Whether the node has a submission ready to be fed while the engine has a free slot and accepts it. */
bool pb_inside_idle_slot(const struct pb_firmware *firmware, uint32_t node);
/** Whether the node counts by priority and channel exactly what it has in flight. */
bool pb_inside_counts_in_flight(const struct pb_firmware *firmware, uint32_t node);
/** Whether the firmware counts a byte of card memory to a segment, also to one that is gone and not clear yet. */
bool pb_inside_owner(const struct pb_firmware *firmware, uint32_t offset);
/**
 * Finds memory of the pool that no segment has and that holds what a client left there. Memory that no segment had since the
 * boot may hold anything.
 * @return its offset in card memory; 0: there is none
 */
uint32_t pb_inside_dirty(const struct pb_firmware *firmware);
/** Damages the firmware's state in a way that its own checks detect. */
void pb_inside_break(struct pb_firmware *firmware);

#endif
