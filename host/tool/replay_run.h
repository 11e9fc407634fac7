/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What every replay has: its options, its files, the rules of its submissions,
 * the channel, and its first failure. Functions that return false have recorded
 * the failure.
 */
#ifndef PB_HOST_TOOL_REPLAY_RUN_H
#define PB_HOST_TOOL_REPLAY_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/tool/replay.h"
#include "host/tool/replay_formats.h"
#include "host/tool/replay_job.h"
#include "patchbay/patchbay.h"

/** One run. Set `options` and `summary`, and the rest to 0. */
struct pb_replay_run {
	const struct pb_replay_options *options;
	struct pb_replay_summary *summary;
	int result; /**< enum pb_replay_result of the first failure */
	FILE *crc_out;
	struct pb_subm_reader reader;
	struct pb_replay_rules rules;
	struct pb_replay_formats formats;
	struct pb_channel channel;
};

/** Records a failure, unless there is one already. @return false, for the caller to return */
__attribute__((format(printf, 3, 4))) bool pb_replay_fail(struct pb_replay_run *run, int result,
							  const char *format, ...);
/** Records a failure of the card. @return false */
bool pb_replay_fail_card(struct pb_replay_run *run, const char *what, enum pb_error error);
/** Records a failure of a submission. @return false */
bool pb_replay_fail_submission(struct pb_replay_run *run, int result, uint32_t index, const char *message);

/** Opens the capture, and the file for CRCs if the options name one. */
bool pb_replay_open_files(struct pb_replay_run *run);
/** Closes the files. May be called after a failed start. */
void pb_replay_close_files(struct pb_replay_run *run);
/** Returns what segment 0 of so many bytes is: it lies above all targets, so that the segments' addresses do not overlap. */
struct pb_segment_request pb_replay_system(uint32_t bytes);
/** Sets the rules of all submissions. Pre: the channel is attached, and the capture is open. */
void pb_replay_set_rules(struct pb_replay_run *run, enum pb_patch_encoding encoding);
/** Shows which submission it is, now and then, if the options ask for progress. */
void pb_replay_show_progress(const struct pb_replay_run *run, uint32_t index);
/** Erases what pb_replay_show_progress() has shown. */
void pb_replay_clear_progress(const struct pb_replay_run *run);

#endif
