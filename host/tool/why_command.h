/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay why`.
 */
#ifndef PB_HOST_TOOL_WHY_COMMAND_H
#define PB_HOST_TOOL_WHY_COMMAND_H

/** @param argv argv[0] is the name shown in messages @return exit code: 0, 1 no answer, 2 usage */
int pb_why_command(int argc, char **argv);

#endif
