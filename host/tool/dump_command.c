/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/dump_command.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/tool/card_arguments.h"
#include "host/tool/dump.h"
#include "host/tool/open_card.h"

/** Time for firmware that may be dead or booting, in microseconds. */
#define ATTACH_US 2000000u

struct arguments {
	struct pb_open_options card;
	const char *file;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	if (key != ARGP_KEY_INIT)
		return pb_file_argument(key, text, state, &arguments->file);
	state->child_inputs[0] = &arguments->card;
	return 0;
}

static int complain(const char *program, const char *path)
{
	fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
	return 1;
}

/** Saves the card. Firmware that does not answer leaves the answers out. @return exit code */
static int save(const char *program, struct pb_link *link, void *context)
{
	const char *path = ((const struct arguments *)context)->file;
	FILE *file = fopen(path, "wb");
	struct pb_dump_figures figures;
	struct pb_channel channel;
	enum pb_error asked;
	bool good;

	if (file == NULL)
		return complain(program, path);
	asked = pb_channel_attach(&channel, link, ATTACH_US);
	good = pb_dump_write(file, link, asked == PB_ERROR_OK ? &channel : NULL, &figures);
	if (asked == PB_ERROR_OK)
		(void)pb_channel_detach(&channel);
	if (!good) {
		const int code = complain(program, path);

		(void)fclose(file);
		return code;
	}
	if (fclose(file) != 0)
		return complain(program, path);
	printf("%s: %u bytes of card memory, %u answers%s%s\n", path, figures.memory_bytes, figures.answers,
	       asked != PB_ERROR_OK ? ": " : "",
	       asked != PB_ERROR_OK ? pb_error_meaning((uint32_t)asked) : "");
	return 0;
}

int pb_dump_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = NULL,
		.parser = parse,
		.args_doc = "FILE",
		.doc = "Save card memory, and what the firmware answers about its queues.\v"
		       "Commands that observe a card read FILE with --memory instead. A card whose firmware "
		       "is dead is "
		       "saved without answers.\n\n"
		       "Exit code: 0 success; 1 there is no card, or the file cannot be written; 2 wrong "
		       "arguments.",
		.children = pb_card_arguments,
	};
	struct arguments arguments = {.file = NULL};

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	return pb_ask_card(&arguments.card, save, argv[0], &arguments);
}
