/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The bytes of a file, in order, whether it is compressed with zstd or not.
 */
#ifndef PB_HOST_TOOL_SUBM_SOURCE_H
#define PB_HOST_TOOL_SUBM_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct pb_subm_source;

/** NULL with `problem` set, a phrase that fits behind the file's name. */
struct pb_subm_source *pb_subm_source_open(const char *path, const char **problem);
/**
 * Reads up to `bytes` bytes; fewer only at the end of the file.
 * @param problem set to NULL, or to a phrase that says why the file cannot be read on
 * @return how many bytes were read
 */
size_t pb_subm_source_read(struct pb_subm_source *source, void *to, size_t bytes, const char **problem);
/** NULL is fine. */
void pb_subm_source_close(struct pb_subm_source *source);

#endif
