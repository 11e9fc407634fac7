/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay crash`.
 */
#ifndef PB_HOST_TOOL_CRASH_COMMAND_H
#define PB_HOST_TOOL_CRASH_COMMAND_H

/**
 * Runs the command. @param argv argv[0] is the name in messages @return exit code: 0 success, 1 no crash record or
 * failure, 2 usage error
 */
int pb_crash_command(int argc, char **argv);

#endif
