/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay image`.
 */
#ifndef PB_HOST_TOOL_IMAGE_COMMAND_H
#define PB_HOST_TOOL_IMAGE_COMMAND_H

/** @param argv argv[0] is the name shown in messages @return exit code: 0, 1 the image is not good, 2 usage */
int pb_image_command(int argc, char **argv);

#endif
