/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The options that select a card, shared by all commands that need one.
 */
#ifndef PB_HOST_TOOL_CARD_ARGUMENTS_H
#define PB_HOST_TOOL_CARD_ARGUMENTS_H

#include <argp.h>

/**
 * A command's only argp child: --sim, --board, --card and --link, of which one may be given, once. Its input is a
 * struct pb_open_options, which the command passes at ARGP_KEY_INIT.
 */
extern const struct argp_child pb_card_arguments[];

#endif
