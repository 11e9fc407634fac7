/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the judge must read inside the firmware.
 */
#ifndef PB_TESTS_INTERLEAVE_INSIDE_H
#define PB_TESTS_INTERLEAVE_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/firmware.h"

/** The request words of a host. */
struct pb_inside_asked {
	uint32_t attach_request;
	uint32_t kick_put;
	uint32_t rescan;
	uint32_t control_put;
};

/** Reads a host's request words from card memory. */
void pb_inside_look(const struct pb_firmware *firmware, uint32_t channel, struct pb_inside_asked *asked);
/** Number of resets of a node's engine by the firmware. */
uint32_t pb_inside_resets(const struct pb_firmware *firmware, uint32_t node);
/** Whether the request words contain a request that the firmware has not read. */
bool pb_inside_waits(const struct pb_firmware *firmware, uint32_t channel,
		     const struct pb_inside_asked *asked);

#endif
