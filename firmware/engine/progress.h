/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Whether a node's engine makes progress. The owner of struct pb_core_progress;
 * main loop only.
 */
#ifndef PB_FIRMWARE_ENGINE_PROGRESS_H
#define PB_FIRMWARE_ENGINE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct pb_firmware;
struct pb_core_node;

/** A member of a node's record. */
struct pb_core_progress {
	uint32_t mark;    /**< what the engine reported as its progress when it last made some */
	uint32_t retired; /**< submissions retired by then */
	uint32_t since;   /**< card clock in microseconds then */
};

/** Checks the engine. @return whether it made progress since the last check, or has nothing to do */
bool pb_core_progress_check(struct pb_firmware *firmware, struct pb_core_node *node, uint32_t clock);
/** Starts the time without progress anew. @param clock the card's */
void pb_core_progress_restart(struct pb_core_progress *progress, uint32_t clock);

#endif
