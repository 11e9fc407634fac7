/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay crash`.
 */
#ifndef PB_HOST_TOOL_CRASH_COMMAND_H
#define PB_HOST_TOOL_CRASH_COMMAND_H

/** @param argv argv[0] is the name shown in messages @return exit code: 0, 1 no crash or no answer, 2 usage */
int pb_crash_command(int argc, char **argv);

#endif
