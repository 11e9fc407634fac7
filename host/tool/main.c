/* SPDX-License-Identifier: MIT */
/*
 * The patchbay command: selects a subcommand and passes it the remaining arguments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/link_trace.h"
#include "host/tool/card_command.h"
#include "host/tool/crash_command.h"
#include "host/tool/demo.h"
#include "host/tool/dump_command.h"
#include "host/tool/gl_command.h"
#include "host/tool/image_command.h"
#include "host/tool/info_command.h"
#include "host/tool/output.h"
#include "host/tool/replay_command.h"
#include "host/tool/screenshot_command.h"
#include "host/tool/sim_command.h"
#include "host/tool/stats_command.h"
#include "host/tool/top_command.h"
#include "host/tool/trace_command.h"
#include "host/tool/update_command.h"
#include "host/tool/why_command.h"
#include "patchbay/abi/base.h"

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
	{"run", (char[]){"patchbay run"}, pb_run_command, "run an OpenGL program on a card"},
	{"gl", (char[]){"patchbay gl"}, pb_gl_command, "serve OpenGL programs on a running card"},
	{"replay", (char[]){"patchbay replay"}, pb_replay_command,
	 "patch captured submissions of real drivers"},
	{"info", (char[]){"patchbay info"}, pb_info_command,
	 "show what a card is and the state of its firmware"},
	{"stats", (char[]){"patchbay stats"}, pb_stats_command,
	 "show the counters of a card's firmware, for people and for Prometheus"},
	{"sim", (char[]){"patchbay sim"}, pb_sim_command,
	 "try schedules by seed against a model of the contract"},
	{"top", (char[]){"patchbay top"}, pb_top_command, "show what a running card does, refreshed"},
	{"why", (char[]){"patchbay why"}, pb_why_command,
	 "explain why a queue of a running card does not run"},
	{"dump", (char[]){"patchbay dump"}, pb_dump_command, "save a card to a file"},
	{"screenshot", (char[]){"patchbay screenshot"}, pb_screenshot_command,
	 "write what a display of a running card shows"},
	{"crash", (char[]){"patchbay crash"}, pb_crash_command,
	 "explain the last crash of a card's firmware"},
	{"trace", (char[]){"patchbay trace"}, pb_trace_command,
	 "record and show what the firmware of a card did, and when"},
	{"image", (char[]){"patchbay image"}, pb_image_command, "check a firmware image and show its header"},
	{"update", (char[]){"patchbay update"}, pb_update_command,
	 "write a signed firmware image to a card that boots by a loader"},
	{"card", (char[]){"patchbay card"}, pb_card_command, "emulate a card for other processes"},
};

static void print_usage(FILE *stream)
{
	fprintf(stream, "Usage: patchbay COMMAND [ARGUMENT...]\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fprintf(stream,
		"\npatchbay COMMAND --help describes a command; patchbay --version prints the version.\n"
		"Exit code: 0 success; 1 failure; 2 wrong arguments.\n");
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	}
	fprintf(stderr, "patchbay: unknown command %s\n\n", name);
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
	int code;

	pb_output_check("patchbay");
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
	pb_output_check(argv[1]);
	code = command->run(argc - 1, argv + 1);
	return code == 0 && pb_link_trace_has_failed() ? EXIT_FAILURE : code;
}
