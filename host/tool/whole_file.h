/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A file that others read while it is replaced: they find the old one or the new one, whole.
 */
#ifndef PB_HOST_TOOL_WHOLE_FILE_H
#define PB_HOST_TOOL_WHOLE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct pb_whole_file {
	FILE *stream;             /**< what goes into it */
	const char *path;         /**< the caller's, until the end */
	char temporary[PATH_MAX]; /**< beside it */
};

/** Begins a new one. @return false: see errno; nothing is left behind */
bool pb_whole_file_begin(struct pb_whole_file *file, const char *path);
/**
 * Puts it, readable by all, where the old one is, once it is on the disk.
 * @return false: see errno; the old one is there as it was, and nothing is left behind
 */
bool pb_whole_file_end(struct pb_whole_file *file);

#endif
