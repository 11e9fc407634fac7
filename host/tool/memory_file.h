/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Card memory as it was saved to a file, from its first byte on.
 */
#ifndef PB_HOST_TOOL_MEMORY_FILE_H
#define PB_HOST_TOOL_MEMORY_FILE_H

#include <stdbool.h>

#include "host/link.h"

/**
 * Reads it. Of the link only its memory is there, which the caller frees.
 * @return false: it has been said, with the program's name, why not
 */
bool pb_memory_file_read(const char *program, const char *path, struct pb_link *link);

#endif
