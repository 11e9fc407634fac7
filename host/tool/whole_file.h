/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Atomic replacement of a file: its readers see the complete old file or the complete new one.
 */
#ifndef PB_HOST_TOOL_WHOLE_FILE_H
#define PB_HOST_TOOL_WHOLE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/** A replacement in progress. */
struct pb_whole_file {
	FILE *stream;             /**< receives the new contents */
	const char *path;         /**< the caller's; must exist until pb_whole_file_end() */
	char temporary[PATH_MAX]; /**< path of the new file, in the same folder */
};

/** Begins a replacement. @return false: failed, see errno; no file is left behind */
bool pb_whole_file_begin(struct pb_whole_file *file, const char *path);
/**
 * Syncs the new file to disk and renames it over the old one, readable by all users.
 * @return false: failed, see errno; the old file is unchanged, and no file is left behind
 */
bool pb_whole_file_end(struct pb_whole_file *file);

#endif
