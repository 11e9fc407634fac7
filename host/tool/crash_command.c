/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/crash_command.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/card_arguments.h"
#include "host/tool/crash_core.h"
#include "host/tool/crash_report.h"
#include "host/tool/memory_file.h"
#include "host/tool/open_card.h"
#include "patchbay/patchbay.h"

enum option_key {
	KEY_JSON = 0x100,
	KEY_IMAGE,
	KEY_MEMORY,
	KEY_CORE,
};

struct arguments {
	struct pb_open_options card;
	const char *file;
	const char *image;
	const char *core;
	bool json;
};

static const struct argp_option option_table[] = {
	{"image", KEY_IMAGE, "FILE.elf", 0, "The image that crashed, for function names and source lines", 0},
	{"json", KEY_JSON, NULL, 0, "Print one JSON object", 0},
	{"core", KEY_CORE, "FILE", 0,
	 "Write an ELF core, which gdb opens beside the image: registers, and the part of the stack that was "
	 "saved",
	 0},
	{"memory", KEY_MEMORY, "FILE.bin", 0, "Read saved card memory, as FILE.bin alone does", 0},
	{0},
};

static void check(const struct arguments *arguments, struct argp_state *state)
{
	if (pb_names_card(&arguments->card) == (arguments->file != NULL))
		argp_error(state, "give one of --card, --link and FILE.bin");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_JSON:
		arguments->json = true;
		return 0;
	case KEY_CORE:
		arguments->core = text;
		return 0;
	case KEY_IMAGE:
		arguments->image = text;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->card;
		return 0;
	case KEY_MEMORY:
	case ARGP_KEY_ARG:
		if (arguments->file != NULL)
			argp_error(state, "give one FILE.bin");
		arguments->file = text;
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * Opens the image's symbols. @return false: it is not the image that crashed, or no image; the error has been printed
 */
static bool open_symbols(const char *program, const char *image, struct pb_crash_view *view)
{
	char text[PB_SYMBOL_TEXT_BYTES];
	uint8_t id[20];

	view->symbols = pb_symbols_open(image, text);
	if (view->symbols == NULL) {
		fprintf(stderr, "%s: %s: %s\n", program, image, text);
		return false;
	}
	if (pb_symbols_build_id(view->symbols, id) && memcmp(id, view->record->build_id, sizeof(id)) == 0)
		return true;
	fprintf(stderr, "%s: %s: its build id differs from that of the image that crashed; it is not used\n",
		program, image);
	pb_symbols_close(view->symbols);
	view->symbols = NULL;
	return false;
}

/* Writes the core. @return false: the error has been printed */
static bool write_core(const char *program, const char *path, const struct pb_crash_record *record)
{
	int reason = 0;
	FILE *file;

	if (!pb_crash_has_core(record)) {
		fprintf(stderr, "%s: %s: the crash record has no registers of a CPU\n", program, path);
		return false;
	}
	file = fopen(path, "wb");
	if (file == NULL || !pb_crash_write_core(file, record))
		reason = errno;
	if (file != NULL && fclose(file) != 0)
		reason = errno;
	if (reason != 0)
		fprintf(stderr, "%s: %s: %s\n", program, path, strerror(reason));
	return reason == 0;
}

static int show(const char *program, const struct arguments *arguments, struct pb_crash_view *view)
{
	bool good = true;

	if (arguments->core != NULL && !write_core(program, arguments->core, view->record))
		return 1;
	if (arguments->image != NULL)
		good = open_symbols(program, arguments->image, view);
	if (arguments->json)
		good = pb_crash_print_json(stdout, view) && good;
	else
		pb_crash_print(stdout, view);
	if (view->symbols != NULL)
		pb_symbols_close(view->symbols);
	return good ? 0 : 1;
}

static int report_crash(const char *program, const struct arguments *arguments, const struct pb_link *link)
{
	struct pb_crash_record record;
	struct pb_card_info info = {0};
	enum pb_error error = pb_crash_read(link, &record);

	if (error == PB_ERROR_OK && record.magic == 0) {
		fprintf(stderr, "%s: there is no crash record\n", program);
		return 1;
	}
	if (error == PB_ERROR_OK)
		error = pb_card_read(link, &info);
	if (error != PB_ERROR_OK) {
		fprintf(stderr, "%s: %s: %s\n", program, pb_error_name(error), pb_error_meaning(error));
		return 1;
	}
	return show(program, arguments,
		    &(struct pb_crash_view){.record = &record, .incarnation = info.incarnation});
}

/* Reports the crash in saved card memory. */
static int report_file(const char *program, const struct arguments *arguments)
{
	struct pb_link link;
	int code;

	if (!pb_memory_file_read(program, arguments->file, &link))
		return 1;
	code = report_crash(program, arguments, &link);
	free(link.memory);
	return code;
}

int pb_crash_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.args_doc = "[FILE.bin]",
		.doc = "Explain the last crash of a card's firmware: registers, calls, and the notes before "
		       "it.\v"
		       "The record stays until the next crash, also across restarts of the firmware. "
		       "FILE.bin is saved card memory, from its first byte on. Function names and source "
		       "lines need the image that crashed.\n\n"
		       "Exit code: 0 success; 1 there is no record, or the image is not the one that "
		       "crashed; 2 wrong arguments.",
		.children = pb_card_arguments,
	};
	struct arguments arguments = {0};
	struct pb_open_card card;
	int code;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (arguments.file != NULL)
		return report_file(argv[0], &arguments);
	code = pb_open_card(&arguments.card, PB_OPEN_READ, &card);
	if (code != 0)
		return code;
	code = report_crash(argv[0], &arguments, card.link);
	pb_close_card(&card);
	return code;
}
