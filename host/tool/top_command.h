/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay top`.
 */
#ifndef PB_HOST_TOOL_TOP_COMMAND_H
#define PB_HOST_TOOL_TOP_COMMAND_H

/**
 * Runs the command. @param argv argv[0] is the name in messages @return exit code: 0 success, 1 there is no card, 2
 * usage error
 */
int pb_top_command(int argc, char **argv);

#endif
