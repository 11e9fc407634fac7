/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The demo: the card renders frames of the scene while its images are paged in
 * and out; each frame is compared with the painter's.
 */
#ifndef PB_HOST_TOOL_DEMO_H
#define PB_HOST_TOOL_DEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/link.h"

/** Parameters of the demo. */
struct pb_demo_options {
	struct pb_link *link; /**< open link to the card */
	uint8_t *host_memory; /**< host memory that the card maps from this process; NULL: none */
	uint32_t frames;      /**< number of frames, at least 1 */
	/** Folder for frame-NNNN.png, frames.png and timeline.html; created if missing. */
	const char *output;
	bool without_patches; /**< submit empty patch lists: the demo must fail */
	bool wddm;            /**< as a WDDM kernel, through the functions of a miniport */
	bool quiet;           /**< print errors and the last line only */
};

/** Runs the demo and prints errors, a table and a result line. @return exit code: 0 success, 1 failure */
int pb_demo_run(const struct pb_demo_options *options);

/** `patchbay demo`. @return exit code: 0 success, 1 failure, 2 usage error */
int pb_demo_command(int argc, char **argv);

#endif
