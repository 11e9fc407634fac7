/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Recall: submissions return from an engine that was stopped or reset to their
 * queues' rings, as if they had not been read; the others are fed again. This
 * module has no state; main loop only.
 */
#ifndef PB_FIRMWARE_ENGINE_RECALL_H
#define PB_FIRMWARE_ENGINE_RECALL_H

struct pb_core_submission;
struct pb_firmware;
struct pb_core_node;

/** The first submission in flight that a host has asked to have back. @return NULL: there is none */
const struct pb_core_submission *pb_core_recall_first_wanted(struct pb_core_node *node);
/** Recalls what is to be recalled, and feeds the rest again. Pre: the engine's ring is empty. */
void pb_core_recall(struct pb_firmware *firmware, struct pb_core_node *node);

#endif
