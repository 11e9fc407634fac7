/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay stats`.
 */
#ifndef PB_HOST_TOOL_STATS_COMMAND_H
#define PB_HOST_TOOL_STATS_COMMAND_H

/**
 * Runs the command. @param argv argv[0] is the name in messages @return exit code: 0 success, 1 read or write failed, 2
 * usage error
 */
int pb_stats_command(int argc, char **argv);

#endif
