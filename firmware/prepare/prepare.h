/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Advances the job of a node's staged submission: compare, resolve, patch. This
 * module has no state; main loop only.
 */
#ifndef PB_FIRMWARE_PREPARE_PREPARE_H
#define PB_FIRMWARE_PREPARE_PREPARE_H

#include <stdint.h>

struct pb_firmware;
struct pb_core_job;
struct pb_core_node;

/**
 * Advances the node's job by one pass's slices; at its end the submission is ready. A list that is wrong fails the
 * submission: it is fed empty, and its context is lost. Pre: a job prepares the node's staged submission.
 */
void pb_core_prepare(struct pb_firmware *firmware, struct pb_core_node *node);
/**
 * Begins to prepare the node's next submission. One with brief lists is ready, or has failed, when this returns, unless a
 * line is pending or some queue waits for a job: no other pass has seen its job then, so that it was neither claimed nor
 * charged for. Any other submission is staged with the job. Pre: the job was filled and is free; nothing is staged.
 * @param length of the patch list: entries, or words
 */
void pb_core_prepare_begin(struct pb_firmware *firmware, struct pb_core_node *node, struct pb_core_job *job,
			   uint32_t length);

#endif
