/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay screenshot`.
 */
#ifndef PB_HOST_TOOL_SCREENSHOT_COMMAND_H
#define PB_HOST_TOOL_SCREENSHOT_COMMAND_H

/**
 * Runs the command. @param argv argv[0] is the name in messages @return exit code: 0 success, 1 failure, 2 usage error
 */
int pb_screenshot_command(int argc, char **argv);

#endif
