/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The demo: frames of the scene, rendered by the card while what they are made
 * of is paged in and out, each compared with what the painter draws.
 */
#ifndef PB_HOST_TOOL_DEMO_H
#define PB_HOST_TOOL_DEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "host/link.h"

struct pb_demo_options {
	struct pb_link *link;
	uint32_t frames; /**< at least 1 */
	const char *
		output; /**< folder for frame-NNNN.png, frames.png and timeline.html; made if it is not there */
	bool without_patches; /**< submit with empty patch lists: must fail */
	bool quiet;           /**< print errors and the last line only */
};

/** Runs it; prints errors, a table, and the last line. @return exit code: 0, or 1 if anything was wrong */
int pb_demo_run(const struct pb_demo_options *options);

/** `patchbay demo`. @return exit code */
int pb_demo_command(int argc, char **argv);

#endif
