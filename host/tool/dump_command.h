/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay dump`: saves card memory, and what the firmware answers about its queues.
 */
#ifndef PB_HOST_TOOL_DUMP_COMMAND_H
#define PB_HOST_TOOL_DUMP_COMMAND_H

/** Runs the command. @param argv argv[0] is the full name of the command @return exit code */
int pb_dump_command(int argc, char **argv);

#endif
