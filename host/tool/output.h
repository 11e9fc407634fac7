/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Standard output of the commands: what cannot be written is an error.
 */
#ifndef PB_HOST_TOOL_OUTPUT_H
#define PB_HOST_TOOL_OUTPUT_H

/**
 * Has the end of the program check that all of standard output was written, also when argp ends the program. If it was
 * not, the program says why on standard error and its exit code is 1.
 * @param program begins the message; stays valid
 */
void pb_output_check(const char *program);

#endif
