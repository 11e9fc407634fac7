/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Interrupt lines inside one host process, as words that the simulation sets
 * and reads.
 */
#ifndef PB_HAL_HOST_HOST_LINES_H
#define PB_HAL_HOST_HOST_LINES_H

#include <stdbool.h>

#include "hal/lines.h"

/** State of the lines. The simulation sets bits of `pending`, and clears those of `raised` that it has handled. */
struct pb_host_lines {
	uint32_t pending; /**< into the firmware */
	uint32_t raised;  /**< out of the firmware */
	bool idle;        /**< the firmware has nothing to do until a line is raised */
};

/** Their context is a struct pb_host_lines. */
extern const struct pb_lines_ops pb_host_lines_ops;

#endif
