/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lines inside one host process: the simulation raises them, or is told.
 */
#ifndef PB_HAL_HOST_HOST_LINES_H
#define PB_HAL_HOST_HOST_LINES_H

#include <stdbool.h>

#include "hal/lines.h"

/** The owner sets `pending` and clears what it has seen of `raised`. */
struct pb_host_lines {
	uint32_t pending; /**< into the firmware */
	uint32_t raised;  /**< out of the firmware */
	bool idle;        /**< the firmware has nothing to do until a line is raised */
};

extern const struct pb_lines_ops pb_host_lines_ops;

#endif
