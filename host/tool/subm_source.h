/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Sequential reads of a file, plain or compressed with zstd.
 */
#ifndef PB_HOST_TOOL_SUBM_SOURCE_H
#define PB_HOST_TOOL_SUBM_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct pb_subm_source;

/** Opens a file. @param problem out: NULL, or the error in one phrase @return NULL: see `problem` */
struct pb_subm_source *pb_subm_source_open(const char *path, const char **problem);
/**
 * Reads up to `bytes` bytes; fewer only at the end of the file.
 * @param problem out: NULL, or the error in one phrase
 * @return number of bytes read
 */
size_t pb_subm_source_read(struct pb_subm_source *source, void *to, size_t bytes, const char **problem);
/** Closes a file. @param source may be NULL */
void pb_subm_source_close(struct pb_subm_source *source);

#endif
