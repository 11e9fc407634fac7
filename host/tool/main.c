/* SPDX-License-Identifier: MIT */
/*
 * The patchbay command: picks a subcommand and hands it the rest.
 */
#include <stdio.h>
#include <string.h>

#include "firmware/abi/base.h"
#include "host/tool/card_command.h"
#include "host/tool/crash_command.h"
#include "host/tool/demo.h"
#include "host/tool/image_command.h"
#include "host/tool/info_command.h"
#include "host/tool/replay_command.h"
#include "host/tool/sim_command.h"
#include "host/tool/stats_command.h"
#include "host/tool/top_command.h"
#include "host/tool/trace_command.h"
#include "host/tool/why_command.h"

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
	{"stats", (char[]){"patchbay stats"}, pb_stats_command,
	 "what the firmware of a card has counted, for people and for Prometheus"},
	{"sim", (char[]){"patchbay sim"}, pb_sim_command,
	 "try schedules by seed against a model of the contract"},
	{"top", (char[]){"patchbay top"}, pb_top_command, "what a running card does, again and again"},
	{"why", (char[]){"patchbay why"}, pb_why_command, "why a queue of a running card does not run"},
	{"crash", (char[]){"patchbay crash"}, pb_crash_command, "why the firmware of a card died last"},
	{"trace", (char[]){"patchbay trace"}, pb_trace_command, "what the firmware of a card did, and when"},
	{"image", (char[]){"patchbay image"}, pb_image_command,
	 "what a firmware image is, and whether it is good"},
	{"card", (char[]){"patchbay card"}, pb_card_command, "emulate a card for other processes"},
};

static void print_usage(FILE *stream)
{
	fprintf(stream, "Usage: patchbay COMMAND [ARGUMENT...]\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(stream, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fprintf(stream, "\npatchbay COMMAND --help says more; patchbay --version says which one this is.\n"
			"Exit code: 0 all is right; 1 something is not; 2 wrong arguments.\n");
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	}
	fprintf(stderr, "patchbay: there is no command %s\n\n", name);
	print_usage(stderr);
	return NULL;
}

static int print_help(const char *name)
{
	const struct command *command = find_command(name);

	if (command == NULL)
		return EXIT_USAGE;
	return command->run(2, (char *[]){command->full_name, (char[]){"--help"}, NULL});
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("patchbay %s, interface %u.%u\n", PB_VERSION, PB_ABI_MAJOR, PB_ABI_MINOR);
		return 0;
	}
	if (strcmp(argv[1], "help") == 0 && argc > 2)
		return print_help(argv[2]);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		print_usage(stdout);
		return 0;
	}
	command = find_command(argv[1]);
	if (command == NULL)
		return EXIT_USAGE;
	argv[1] = command->full_name;
	return command->run(argc - 1, argv + 1);
}
