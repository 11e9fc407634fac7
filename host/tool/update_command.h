/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay update`.
 */
#ifndef PB_HOST_TOOL_UPDATE_COMMAND_H
#define PB_HOST_TOOL_UPDATE_COMMAND_H

/** Runs the subcommand. @return exit code */
int pb_update_command(int argc, char **argv);

#endif
