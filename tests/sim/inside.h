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
/** Damages the firmware's state in a way that its own checks detect. */
void pb_inside_break(struct pb_firmware *firmware);

#endif
