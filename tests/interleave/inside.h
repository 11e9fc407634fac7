/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the judge must look up inside the firmware.
 */
#ifndef PB_TESTS_INTERLEAVE_INSIDE_H
#define PB_TESTS_INTERLEAVE_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/firmware.h"

/** The words by which a host asks for something. */
struct pb_inside_asked {
	uint32_t attach_request;
	uint32_t kick_put;
	uint32_t rescan;
	uint32_t control_put;
};

/** What stands in memory. */
void pb_inside_look(const struct pb_firmware *firmware, uint32_t channel, struct pb_inside_asked *asked);
/** How often the firmware has reset a node's engine. */
uint32_t pb_inside_resets(const struct pb_firmware *firmware, uint32_t node);
/** Whether these words ask for anything that the firmware has not seen. */
bool pb_inside_waits(const struct pb_firmware *firmware, uint32_t channel,
		     const struct pb_inside_asked *asked);

#endif
