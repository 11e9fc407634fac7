/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The replay as a WDDM kernel: each submission goes through Patch,
 * SubmitCommand, interrupt and DPC of the miniport.
 */
#ifndef PB_HOST_TOOL_REPLAY_WDDM_H
#define PB_HOST_TOOL_REPLAY_WDDM_H

#include "host/tool/replay.h"

/**
 * As pb_replay_run(). Takes the whole card. Some submissions run elsewhere first, and are patched again; some are
 * submitted again as they are, without Patch; the node is preempted now and then.
 */
int pb_replay_run_wddm(struct pb_link *link, const struct pb_replay_options *options,
		       struct pb_replay_summary *summary);

#endif
