/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay stats`.
 */
#ifndef PB_HOST_TOOL_STATS_COMMAND_H
#define PB_HOST_TOOL_STATS_COMMAND_H

/** @param argv argv[0] is the name shown in messages @return exit code: 0, 1 it cannot be read or written, 2 usage */
int pb_stats_command(int argc, char **argv);

#endif
