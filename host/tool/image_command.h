/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay image`.
 */
#ifndef PB_HOST_TOOL_IMAGE_COMMAND_H
#define PB_HOST_TOOL_IMAGE_COMMAND_H

/**
 * Runs the command. @param argv argv[0] is the name in messages @return exit code: 0 success, 1 the image is not good,
 * 2 usage error
 */
int pb_image_command(int argc, char **argv);

#endif
