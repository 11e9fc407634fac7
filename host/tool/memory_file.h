/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Card memory that was saved to a file, from its first byte on.
 */
#ifndef PB_HOST_TOOL_MEMORY_FILE_H
#define PB_HOST_TOOL_MEMORY_FILE_H

#include "host/tool/dump.h"

/**
 * Reads card memory from a file, with the answers of the firmware if `patchbay dump` wrote it.
 * @param program name for the error message
 * @param dump out; the caller frees its memory
 * @return false: the file cannot be read; the error has been printed
 */
bool pb_memory_file_open(const char *program, const char *path, struct pb_dump *dump);
/**
 * Reads card memory from a file.
 * @param program name for the error message
 * @param link out: only memory and memory_bytes are set; the caller frees the memory
 * @return false: the file cannot be read; the error has been printed
 */
bool pb_memory_file_read(const char *program, const char *path, struct pb_link *link);

#endif
