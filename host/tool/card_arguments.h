/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The options that select a card, shared by all commands that need one.
 */
#ifndef PB_HOST_TOOL_CARD_ARGUMENTS_H
#define PB_HOST_TOOL_CARD_ARGUMENTS_H

#include <argp.h>
#include <stdint.h>

/** Help of the option --card-memory. */
#define PB_CARD_MEMORY_HELP                                                                                  \
	"Card memory in bytes, or in MiB as in 64M: a power of two from 16M (default) to 256M. The MCU "     \
	"sees "                                                                                              \
	"16 MiB, engines and hosts all"

/** Reads the size of --card-memory. One that no card can have ends the program with the reason. @return bytes */
uint32_t pb_card_memory_argument(const char *text, struct argp_state *state);

/**
 * A command's only argp child: --sim, --board, --card and --link, of which one may be given, once, and --card-memory,
 * for a card that the command starts. Its input is a
 * struct pb_open_options, which the command passes at ARGP_KEY_INIT.
 */
extern const struct argp_child pb_card_arguments[];
/** As pb_card_arguments, for a card that exists: --card, --link and --memory, of which one may be given, once. */
extern const struct argp_child pb_running_card_arguments[];

/** For the parser of a command with one argument, FILE: handles that argument and the end. @param file out */
error_t pb_file_argument(int key, char *text, const struct argp_state *state, const char **file);

#endif
