/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Advances the job of a node's staged submission: compare, resolve, patch. This
 * module has no state; main loop only.
 */
#ifndef PB_FIRMWARE_PREPARE_PREPARE_H
#define PB_FIRMWARE_PREPARE_PREPARE_H

struct pb_firmware;
struct pb_core_node;

/**
 * Advances the node's job by one pass's slices; at its end the submission is ready. A list that is wrong fails the
 * submission: it is fed empty, and its context is lost. Pre: a job prepares the node's staged submission.
 */
void pb_core_prepare(struct pb_firmware *firmware, struct pb_core_node *node);

#endif
