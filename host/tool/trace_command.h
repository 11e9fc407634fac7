/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay trace`: what the firmware did. Records it, prints it, shows it.
 */
#ifndef PB_HOST_TOOL_TRACE_COMMAND_H
#define PB_HOST_TOOL_TRACE_COMMAND_H

/** @return exit code */
int pb_trace_command(int argc, char **argv);

#endif
