/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay replay`.
 */
#ifndef PB_HOST_TOOL_REPLAY_COMMAND_H
#define PB_HOST_TOOL_REPLAY_COMMAND_H

/** @param argv argv[0] is the name shown in messages @return exit code: enum pb_replay_result */
int pb_replay_command(int argc, char **argv);

#endif
