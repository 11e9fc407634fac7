/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The one look into the firmware's private state: what no host can see.
 */
#ifndef PB_TESTS_SIM_INSIDE_H
#define PB_TESTS_SIM_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

struct pb_firmware;

/** Whether a submission of the node is ready to be fed while the engine has room and would take it. */
bool pb_inside_idle_slot(const struct pb_firmware *firmware, uint32_t node);
/** Breaks it in such a way that the firmware notices. */
void pb_inside_break(struct pb_firmware *firmware);

#endif
