/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The options that say which card to use, the same for all commands that need
 * one.
 */
#ifndef PB_HOST_TOOL_CARD_ARGUMENTS_H
#define PB_HOST_TOOL_CARD_ARGUMENTS_H

#include <argp.h>

/**
 * A command's only argp child: --sim, --board, --card and --link, of which one may be
 * given, once. Its input is a struct pb_open_options; the command hands it over
 * at ARGP_KEY_INIT.
 */
extern const struct argp_child pb_card_arguments[];

#endif
