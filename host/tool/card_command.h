/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay card`.
 */
#ifndef PB_HOST_TOOL_CARD_COMMAND_H
#define PB_HOST_TOOL_CARD_COMMAND_H

/** @param argv argv[0] is the name shown in messages @return exit code: 0 asked to stop, 1 failed, 2 usage */
int pb_card_command(int argc, char **argv);

#endif
