/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay top`.
 */
#ifndef PB_HOST_TOOL_TOP_COMMAND_H
#define PB_HOST_TOOL_TOP_COMMAND_H

/** @param argv argv[0] is the name shown in messages @return exit code: 0, 1 there is no card, 2 usage */
int pb_top_command(int argc, char **argv);

#endif
