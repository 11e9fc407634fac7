/* SPDX-License-Identifier: MIT */
/*
 * The patchbay command: picks a subcommand and hands it the rest.
 */
#include <stdio.h>
#include <string.h>

#include "host/tool/card_command.h"
#include "host/tool/demo.h"
#include "host/tool/info_command.h"
#include "host/tool/replay_command.h"

/** Exit code of a usage error, in every subcommand. */
#define EXIT_USAGE 2

static const struct command {
	const char *name;
	char *full_name; /**< argv[0] of the subcommand */
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"demo", (char[]){"patchbay demo"}, pb_demo_command,
	 "render an animation whose parts move in memory"},
	{"replay", (char[]){"patchbay replay"}, pb_replay_command,
	 "patch captured submissions of real drivers"},
	{"info", (char[]){"patchbay info"}, pb_info_command, "what a card is and how its firmware fares"},
	{"card", (char[]){"patchbay card"}, pb_card_command, "emulate a card for other processes"},
};

static void print_usage(FILE *stream)
{
	fprintf(stream, "Usage: patchbay COMMAND [ARGUMENT...]\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(stream, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fprintf(stream, "\npatchbay COMMAND --help says more.\n");
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
		print_usage(stdout);
		return 0;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		argv[1] = commands[i].full_name;
		return commands[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "patchbay: there is no command %s\n\n", argv[1]);
	print_usage(stderr);
	return EXIT_USAGE;
}
